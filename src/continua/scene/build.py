"""From a scene to a Simulation, and from a run folder back to its scene."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from continua.errors import ContinuaError, OutputError, SceneError
from continua.scene.load import LoadedScene, from_source, validate

if TYPE_CHECKING:
    from continua.bodies.solid_body import SolidBody
    from continua.bodies.spring_body import SpringBody
    from continua.scene.models import Scene, SolidSettings, SpringSettings
    from continua.simulation import Simulation


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
    meshes: list[SolidSettings | SpringSettings] = [*scene.solid, *scene.springs]
    for mesh in meshes:
        try:
            simulation.add(mesh_body(mesh))
        except ContinuaError as error:
            raise SceneError(f'mesh body "{mesh.name}": {error}') from None
    for part in (*scene.collider, *scene.boundary, *scene.emitter, *scene.drain, *scene.contact):
        simulation.add(part)
    return simulation


def mesh_body(settings: SolidSettings | SpringSettings) -> SolidBody | SpringBody:
    """The body that a table [[solid]] or [[springs]] describes."""
    from continua.bodies.solid_body import SolidBody
    from continua.bodies.spring_body import SpringBody
    from continua.scene.models import SolidSettings

    options: dict[str, Any] = {name: getattr(settings, name) for name in type(settings).model_fields}
    if isinstance(settings, SolidSettings):
        options["regions"] = [(region.shape, region.material) for region in settings.regions]
        return SolidBody(options.pop("mesh"), options.pop("material"), **options)
    return SpringBody(options.pop("springs"), **options)


def describe(loaded: LoadedScene) -> dict[str, Any]:
    """What run.json keeps of a scene, enough to build it again.

    `scene` is the resolved scene, or None when it holds Python functions or materials; then the source of the
    scene is run again.
    """
    return {
        "name": loaded.name,
        "scene": resolved(loaded.scene),
        "source": loaded.source if loaded.path.suffix == ".py" else None,
        "scene_file": str(loaded.path.resolve()),
        "overrides": loaded.overrides,
    }


def resolved(scene: Scene) -> dict[str, Any] | None:
    """The scene as JSON data, or None where that would lose something (functions, Python materials)."""
    try:
        data = scene.model_dump(mode="json")
        return data if type(scene).model_validate(data) == scene else None
    except (PydanticSerializationError, ValidationError, ContinuaError):
        return None


def rebuild(description: dict[str, Any], where: str) -> LoadedScene:
    """Scene of a run folder from its run.json."""
    path = Path(description.get("scene_file") or "scene.py")
    source, overrides = description.get("source"), description.get("overrides") or []
    if description.get("scene") is not None:
        scene = validate(description["scene"], where)
    elif source is not None:
        scene = from_source(source, path, overrides)
    else:
        raise OutputError(
            f"{where} holds no scene because the run was started from Python: "
            "continue it there with simulation.run(..., resume=True)"
        )
    return LoadedScene(scene, description.get("name") or path.stem, path, source or "", overrides)
