"""From a scene to a Simulation, and from a run folder back to its scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from continua.errors import ContinuaError, OutputError, SceneError
from continua.io.checksum import file_checksum, text_checksum
from continua.scene import catalogue
from continua.scene.checks import FREE_OR_HELD
from continua.scene.load import LoadedScene, from_source, open_scene, read, to_data, validate

if TYPE_CHECKING:
    from continua.bodies.body import Body
    from continua.bodies.strands import Strands
    from continua.scene.models import RigidSettings, Scene, SolidSettings, SpringSettings, StrandsSettings
    from continua.simulation import Simulation

    MadeSettings = SolidSettings | SpringSettings | RigidSettings | StrandsSettings


def build(scene: Scene) -> Simulation:
    """Simulation with everything the scene names, at time 0."""
    from continua.simulation import Simulation

    settings = scene.simulation
    names = set(type(settings).model_fields) - {"dx", "gravity"}
    options: dict[str, Any] = {name: getattr(settings, name) for name in names}
    simulation = Simulation(settings.dx, settings.gravity, **options)
    for continuum in scene.continuum:
        simulation.add(continuum)
    for body in scene.body:
        simulation.add(
            body.shape,
            body.material,
            velocity=body.velocity,
            name=body.name,
            particles_per_cell=body.particles_per_cell,
            sampling=body.sampling,
            vary=body.vary,
            regions=[(region.shape, region.material) for region in body.regions],
            fields=body.fields,
            continuum=body.continuum,
        )
    named: dict[str | None, Any] = {collider.name: collider for collider in scene.collider}
    made: list[MadeSettings] = [*scene.solid, *scene.springs, *scene.rigid, *scene.strands]
    for table in made:
        add_made(simulation, table, named)
    for part in (*scene.collider, *scene.boundary, *scene.emitter, *scene.drain, *scene.contact):
        simulation.add(part)
    return simulation


def add_made(simulation: Simulation, settings: MadeSettings, named: dict[str | None, Any]) -> None:
    """Add the body that a table describes, and note it under its name, for others that name it."""
    from continua.scene.models import RigidSettings

    what = "rigid body" if isinstance(settings, RigidSettings) else "mesh body"
    try:
        named[settings.name] = simulation.add(made_body(settings, named))
    except ContinuaError as error:
        raise SceneError(f'{what} "{settings.name}": {error}') from None


def made_body(settings: MadeSettings, named: dict[str | None, Any]) -> Body:
    """The body that a table [[solid]], [[springs]], [[rigid]] or [[strands]] describes; `named`: what it may name."""
    from continua.bodies.rigid_body import RigidBody
    from continua.bodies.solid_body import SolidBody
    from continua.bodies.spring_body import SpringBody
    from continua.scene.models import RigidSettings, SolidSettings, StrandsSettings

    options: dict[str, Any] = {name: getattr(settings, name) for name in type(settings).model_fields}
    if isinstance(settings, SolidSettings):
        options["regions"] = [(region.shape, region.material) for region in settings.regions]
        return SolidBody(options.pop("mesh"), options.pop("material"), **options)
    if isinstance(settings, StrandsSettings):
        return _strands(options, named)
    if isinstance(settings, RigidSettings):
        return RigidBody(options.pop("shape"), **options)
    return SpringBody(options.pop("springs"), **options)


def _strands(options: dict[str, Any], named: dict[str | None, Any]) -> Strands:
    """Strands, with others in place of their names."""
    from continua.bodies.strands import Strands
    from continua.contact.colliders import Collider
    from continua.geometry.meshes import Fur

    curves, roots = options.pop("curves"), options["roots"]
    if isinstance(curves, Fur) and isinstance(curves.on, str):
        curves = dataclasses.replace(curves, on=named[curves.on])
    if isinstance(roots, str) and roots not in FREE_OR_HELD:
        options["roots"] = named[roots].movement if isinstance(named[roots], Collider) else named[roots]
    return Strands(curves, options.pop("material"), **options)


def describe(loaded: LoadedScene) -> dict[str, Any]:
    """What run.json keeps of a scene: all that drawing needs as data, and enough to build it again.

    `scene` is the resolved scene, or None when it holds Python functions or materials; then only the source of the
    scene, which must be run, gives it back.
    """
    named = loaded.name in catalogue.names() and loaded.path == catalogue.path(loaded.name)
    return {
        "name": loaded.name,
        "title": loaded.scene.title,
        "render": loaded.scene.render.model_dump(mode="json"),
        "scene": resolved(loaded.scene),
        "source": loaded.source if loaded.path.suffix == ".py" else None,
        "gallery": named,
        "scene_file": str(loaded.path.resolve()),
        "scene_sha256": loaded.checksum or None,
        "files": list(files_of(to_data(loaded.scene))),
        "overrides": loaded.overrides,
    }


def holds_code(description: dict[str, Any]) -> bool:
    """Whether the scene of a run is Python code that does not come with the library."""
    return description.get("scene") is None and not description.get("gallery")


def files_of(data: Any) -> Iterator[dict[str, str]]:
    """Path and checksum of every mesh and point file that the data of a scene name."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        if key == "path" and isinstance(value, (str, Path)):
            yield {"file": str(value), "sha256": file_checksum(Path(value))}
        else:
            yield from files_of(value)


def resolved(scene: Scene) -> dict[str, Any] | None:
    """The scene as JSON data, or None where that would lose something (functions, Python materials)."""
    try:
        data = scene.model_dump(mode="json")
        return data if type(scene).model_validate(data) == scene else None
    except (PydanticSerializationError, ValidationError, ContinuaError):
        return None


def rebuild(
    description: dict[str, Any], where: str, *, file: Path | None = None, trust: bool = False
) -> LoadedScene:
    """Scene of a run folder from its run.json, without running code that came with the folder.

    A scene that is data is built from the data. One that holds Python functions comes from the installed gallery, from
    the scene file that the user names, or, if the user trusts it, from the source in run.json.
    """
    path = Path(description.get("scene_file") or "scene.py")
    name, source = description.get("name") or path.stem, description.get("source")
    overrides, checksum = description.get("overrides") or [], description.get("scene_sha256") or ""
    if file is not None:
        return dataclasses.replace(open_scene(file, overrides), name=name)
    if description.get("scene") is not None:
        scene = validate(description["scene"], where)
        return LoadedScene(scene, name, path, source or "", overrides, checksum)
    if description.get("gallery") and name in catalogue.names():
        return open_scene(name, overrides)
    if source is None:
        raise OutputError(
            f"{where} holds no scene because the run was started from Python: "
            "continue it there with simulation.run(..., resume=True)"
        )
    if not trust:
        raise SceneError(
            f"the scene of this run is Python code, which going on would execute: name the file if you have it, "
            f'--scene {path.name}, or read the code under "source" in {where} and give --trust'
        )
    return LoadedScene(from_source(source, path, overrides), name, path, source, overrides, checksum)


def changed_file(description: dict[str, Any]) -> Path | None:
    """The scene file of a run if it is still there but no longer the same."""
    path, checksum = description.get("scene_file"), description.get("scene_sha256")
    if not path or not checksum or not Path(path).is_file():
        return None
    try:
        return Path(path) if text_checksum(read(Path(path))) != checksum else None
    except SceneError:  # no longer a text
        return Path(path)
