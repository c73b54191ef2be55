"""Rules that span several keys of a scene: names, dimension, something to simulate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticCustomError

from continua.bodies.body import HOMES, MAIN, SOLIDS
from continua.bodies.fields import mistake
from continua.bodies.variation import Gradient, check_range, numeric_fields, same_kind
from continua.contact.penalty import ExactContact, GridContact
from continua.errors import MaterialError
from continua.geometry.meshes import Cloth, Fur
from continua.integrators import Optimization
from continua.materials import Material, NativeMaterial
from continua.materials.base import CATALOGUE
from continua.materials.incompressible import IncompressibleFluid
from continua.scene.messages import suggestion
from continua.scene.places import Path, dimensions
from continua.timestep import beyond_stability

if TYPE_CHECKING:
    from continua.scene.models import Scene

FREE_OR_HELD = ("free", "held")  # roots of strands that follow nothing


def problem(path: Path, message: str) -> PydanticCustomError:
    """Validation error about one key; `message` goes on the sentence that the key begins."""
    return PydanticCustomError("scene_rule", "{message}", {"message": message, "path": path})


def default_names(scene: Scene) -> None:
    """Give unnamed bodies, meshes, emitters and drains names: body1, body2, ..., solid1, ..., emitter1, ..."""
    kinds = ("body", "solid", "springs", "strands", "rigid", "emitter", "drain")
    groups: dict[str, list[Any]] = {kind: list(getattr(scene, kind)) for kind in kinds}
    taken = {item.name for items in (*groups.values(), scene.collider) for item in items if item.name}
    for kind, items in groups.items():
        for index, item in enumerate(items, start=1):
            if not item.name:
                item.name = free_name(f"{kind}{index}", taken)
                taken.add(item.name)


def free_name(wanted: str, taken: set[str | None]) -> str:
    """`wanted`, or `wanted_2`, `wanted_3`, ... when it is taken."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    return name


def check_scene(scene: Scene) -> None:
    """Raise a validation error for the first rule the scene breaks."""
    if not (scene.body or scene.solid or scene.springs or scene.strands or scene.rigid or scene.emitter):
        raise problem(
            (),
            "has nothing to simulate: add at least one [[body]], [[solid]], [[springs]], [[strands]], [[rigid]] or "
            "[[emitter]]",
        )
    if wrong := beyond_stability(scene.simulation.elastic_cfl, scene.simulation.force_dt):
        raise problem(("simulation", "elastic_cfl"), wrong)
    check_names(scene)
    check_continua(scene)
    check_meshes(scene)
    check_strands(scene)
    check_rigid(scene)
    check_materials(scene)
    check_contacts(scene)
    check_dimension(scene)
    check_axes(scene)
    check_variation(scene)
    check_fields(scene)
    check_drains(scene)
    check_hidden(scene)
    if scene.render.camera is not None and scene.dimension == 2:
        raise problem(("render", "camera"), "is for 3D scenes; leave it out here")


def check_names(scene: Scene) -> None:
    """No two bodies, meshes, emitters, drains, colliders or boundaries share a name."""
    seen: dict[str, str] = {}
    for kind in ("body", "solid", "springs", "strands", "rigid", "emitter", "drain", "collider", "boundary"):
        for index, item in enumerate(getattr(scene, kind)):
            name = getattr(item, "name", None)
            if name in seen:
                raise problem((kind, index, "name"), f'repeats "{name}", which {seen[name]} has already')
            if name is not None:
                seen[name] = f"{kind}[{index}]"


def members(scene: Scene) -> Iterator[tuple[str, int, Any]]:
    """(kind, number, settings) of everything that belongs to a continuum."""
    for kind in ("body", "solid", "springs", "strands", "rigid", "emitter"):
        for index, item in enumerate(getattr(scene, kind)):
            yield kind, index, item


def moves_itself(item: Any) -> bool:
    """Whether a body moves on its own and only shows the grid its surface."""
    if hasattr(item, "self_moving"):
        return bool(item.self_moving)
    return hasattr(item, "home") or isinstance(getattr(item, "contact", None), (GridContact, ExactContact))


def home_of(item: Any) -> str:
    """The continuum that a table belongs to."""
    return str(item.continuum or getattr(item, "home", SOLIDS if moves_itself(item) else MAIN))


def continua(scene: Scene) -> list[str]:
    """Names of all continua, those that are declared first."""
    names = [continuum.name for continuum in scene.continuum]
    return list(dict.fromkeys([*names, *(home_of(item) for _, _, item in members(scene))]))


def integrator_of(scene: Scene, continuum: str | None) -> Any:
    """How a continuum advances."""
    own = [item.integrator for item in scene.continuum if item.name == (continuum or MAIN)]
    return (own and own[0]) or scene.simulation.integrator


def check_continua(scene: Scene) -> None:
    """Continua are declared once, bodies name those that are, and an incompressible one has no other beside it."""
    declared = [continuum.name for continuum in scene.continuum]
    for index, name in enumerate(declared):
        if name in declared[:index]:
            raise problem(
                ("continuum", index, "name"),
                f'repeats "{name}", which continuum[{declared.index(name)}] has already',
            )
    known = list(dict.fromkeys([*declared, *HOMES]))
    for kind, index, item in members(scene):
        if declared and item.continuum is not None and item.continuum not in known:
            raise problem(
                (kind, index, "continuum"),
                f'is "{item.continuum}", but there is no such continuum{suggestion(item.continuum, known)} '
                f"(known: {', '.join(known)}); correct it, or add a [[continuum]] of that name",
            )
    names = continua(scene)
    for name in names:
        if len(names) > 1 and integrator_of(scene, name).incompressible:
            own = name in declared and scene.continuum[declared.index(name)].integrator is not None
            place: Path = ("continuum", declared.index(name)) if own else ("simulation",)
            raise problem(
                (*place, "integrator"),
                f'is "incompressible", which lives on a staggered grid and cannot meet another continuum yet (there '
                f'are: {", ".join(names)}): use the material "liquid" and "symplectic", or one continuum',
            )


def check_materials(scene: Scene) -> None:
    """Particles are made of what the integrator of their continuum can move."""
    for kind, index, item in members(scene):
        if kind not in ("body", "emitter"):
            continue
        integrator, material = integrator_of(scene, home_of(item)), item.material
        fluid = isinstance(material, IncompressibleFluid)
        if fluid and not integrator.incompressible:
            raise problem(
                (kind, index, "material"),
                'is an incompressible fluid, which needs integrator = "incompressible"; or use "liquid" instead',
            )
        if integrator.incompressible and not fluid:
            raise problem(
                (kind, index, "material"),
                f'is {material.label}, but integrator = "incompressible" moves incompressible fluids only; use '
                'integrator = "symplectic"',
            )
        if integrator.implicit and not isinstance(material, NativeMaterial):
            raise problem(
                (kind, index, "material"),
                "is written in Python and has no second derivatives, which implicit integrators need; use integrator = "
                '"symplectic", or another continuum for it',
            )


def check_contacts(scene: Scene) -> None:
    """Contacts name two different things that can meet, and each pair once."""
    seen: dict[frozenset[str], int] = {}
    for index, contact in enumerate(scene.contact):
        pair = frozenset((contact.a, contact.b))
        if pair in seen:
            raise problem(
                ("contact", index), f'is between "{contact.a}" and "{contact.b}" like contact[{seen[pair]}]'
            )
        seen[pair] = index
        sides = [side_of(scene, getattr(contact, end), ("contact", index, end)) for end in ("a", "b")]
        if sides[0] == sides[1] and not all(is_free(scene, name) for name in pair):
            own = any(moves_itself(item) for _, _, item in members(scene) if home_of(item) == sides[0])
            how = "meet as each says by its own contact" if own else "stick to each other"
            raise problem(
                ("contact", index, "b"),
                f'is "{contact.b}", which is in the continuum "{sides[0]}" together with "{contact.a}", so that they '
                f"{how}: give one of them another continuum",
            )
        if all(side.startswith("collider ") for side in sides):
            raise problem(
                ("contact", index, "b"), f'is a collider like "{contact.a}": name a continuum instead'
            )


def side_of(scene: Scene, name: str, path: Path) -> str:
    """The continuum, or the collider, that one end of a contact means."""
    if name in [collider.name for collider in scene.collider]:
        return f"collider {name}"
    names = continua(scene)
    if name in names:
        return name
    bodies = {str(item.name): item for _, _, item in members(scene)}
    if name not in bodies:
        known = list(dict.fromkeys([*names, *bodies, *(str(c.name) for c in scene.collider if c.name)]))
        raise problem(
            path,
            f'is "{name}", but there is no such continuum, body or collider{suggestion(name, known)} '
            f"(known: {', '.join(known)})",
        )
    continuum = home_of(bodies[name])
    others = [other for other, item in bodies.items() if home_of(item) == continuum and other != name]
    if others and not is_free(scene, name):
        raise problem(
            path,
            f'is "{name}", which shares the continuum "{continuum}" with "{others[0]}": name the continuum, or give '
            f'"{name}" one of its own',
        )
    return continuum


def is_free(scene: Scene, name: str) -> bool:
    """Whether this is a mesh that moves on its own, not with a grid."""
    for mesh in (*scene.solid, *scene.springs, *scene.strands):
        if mesh.name == name and not moves_itself(mesh):
            optimized = isinstance(integrator_of(scene, home_of(mesh)), Optimization)
            alone = optimized and not (scene.body or scene.emitter)
            return alone if mesh.on_grid is None else not mesh.on_grid
    return False


def check_meshes(scene: Scene) -> None:
    """Mesh bodies have a mass, a material that meshes can be made of, and an integrator that moves them."""
    meshes = [entry for entry in members(scene) if entry[0] in ("solid", "springs", "strands")]
    for kind, index, body in meshes:
        integrator = integrator_of(scene, home_of(body))
        if integrator.incompressible:
            raise problem(
                (kind, index),
                'cannot move in an incompressible flow: set simulation.integrator to "optimization", "symplectic" or '
                '"semi-implicit"',
            )
        if moves_itself(body):
            check_self_moving(kind, index, body)
        elif body.on_grid is False and not isinstance(integrator, Optimization):
            raise problem(
                (kind, index, "on_grid"),
                'is false, but only integrator = "optimization" moves meshes on their own',
            )
    for index, solid in enumerate(scene.solid):
        if wrong := unusable(solid.material):
            raise problem(("solid", index, "material"), wrong)
    for index, body in enumerate(scene.springs):
        if (body.mass is None) == (body.density is None):
            raise problem(("springs", index), "needs either mass or density, and not both")
        if isinstance(body.springs, Cloth) and scene.dimension == 2:
            raise problem(("springs", index, "springs"), "is a cloth, which needs a 3D scene")


def check_strands(scene: Scene) -> None:
    """Strands live in 3D, and name what they grow on or are rooted in."""
    for index, body in enumerate(scene.strands):
        if scene.dimension == 2:
            raise problem(
                ("strands", index),
                "is for 3D scenes: give simulation.gravity three numbers, or use [[springs]]",
            )
        if body.friction is not None and (body.contact is not None or body.on_grid is not None):
            raise problem(
                ("strands", index, "friction"),
                "is that of strands that move on their own: leave it out, or contact and on_grid",
            )
        kinds = ("solid", "springs", "rigid", "collider")
        if isinstance(body.curves, Fur) and isinstance(body.curves.on, str):
            check_known(scene, body.curves.on, ("strands", index, "curves", "on"), *kinds)
        if isinstance(body.roots, str) and body.roots not in FREE_OR_HELD:
            check_known(scene, body.roots, ("strands", index, "roots"), *kinds)


def check_rigid(scene: Scene) -> None:
    """Rigid bodies have a mass, and an axle or a velocity."""
    for index, body in enumerate(scene.rigid):
        if (body.mass is None) == (body.density is None):
            raise problem(("rigid", index), "needs either mass or density, and not both")
        if body.axle is not None and body.velocity is not None:
            raise problem(
                ("rigid", index, "velocity"), "does not fit an axle, about which a body only turns: use spin"
            )
        if integrator_of(scene, home_of(body)).incompressible:
            raise problem(
                ("rigid", index),
                'cannot move in an incompressible flow: set simulation.integrator to "symplectic"',
            )


def check_self_moving(kind: str, index: int, body: Any) -> None:
    """What only shows the grid its surface is a solid, or strands, and not on the grid."""
    if kind == "springs":
        raise problem(
            (kind, index, "contact"),
            f'is of the type "{body.contact.type}", which is for solids: leave type out',
        )
    if body.on_grid:
        raise problem(
            (kind, index, "on_grid"),
            f'is true, but with contact.type = "{body.contact.type}" only what touches others is there: leave one of '
            "them out",
        )


def unusable(material: Material) -> str:
    """Why elements cannot be made of a material, or nothing."""
    if not isinstance(material, NativeMaterial) or material.model not in CATALOGUE:
        return f"is {material.label}, which does not work on meshes: use a built-in solid instead"
    if material.dynamic_viscosity() > 0:
        return f"is {material.label} with a viscosity, which meshes do not have: set it to 0 and use damping"
    return ""


def check_dimension(scene: Scene) -> None:
    """Every shape and every vector has as many components as gravity."""
    d = scene.dimension
    for path, found in dimensions(scene):
        if found != d:
            raise problem(
                path, f"is {found}D, but the {d} numbers of simulation.gravity make this scene {d}D"
            )


def check_axes(scene: Scene) -> None:
    """A 2D scene has no axis 2."""
    for index, boundary in enumerate(scene.boundary):
        axis = getattr(boundary, "axis", 0)
        if axis >= scene.dimension:
            raise problem(("boundary", index, "axis"), f"is {axis}, but a 2D scene has only the axes 0 and 1")


def check_variation(scene: Scene) -> None:
    """`vary` names numbers of the material and keeps them in range; regions have the body's kind of material."""
    bodies: list[tuple[Path, Any]] = [(("body", index), body) for index, body in enumerate(scene.body)]
    bodies += [(("solid", index), solid) for index, solid in enumerate(scene.solid)]
    for path, body in bodies:
        if (body.vary or body.regions) and not isinstance(body.material, NativeMaterial):
            raise problem(
                (*path, "material"),
                "is written in Python, but vary and regions need a built-in material",
            )
        for name, values in body.vary.items():
            check_vary(body.material, name, values, (*path, "vary", name), scene.dimension)
        for number, region in enumerate(body.regions):
            if not same_kind(body.material, region.material):
                raise problem(
                    (*path, "regions", number, "material"),
                    f'is "{region.material.label}", but must be "{body.material.label}" like the material of the '
                    "body, with the same options; only numbers may differ",
                )


def check_vary(material: Material, name: str, values: Any, path: Path, dimension: int) -> None:
    """One entry of `vary`."""
    known = numeric_fields(material)
    if name not in known:
        raise problem(
            path, f"is no number of {material.label}{suggestion(name, known)} (allowed: {', '.join(known)})"
        )
    if isinstance(values, Gradient):
        if values.axis >= dimension:
            raise problem((*path, "axis"), f"is {values.axis}, but a 2D scene has only the axes 0 and 1")
        try:
            check_range(material, name, values.values)
        except MaterialError as error:
            raise problem((*path, "values"), f"is wrong: {error}") from None


def check_fields(scene: Scene) -> None:
    """Passive fields of bodies; those of emitters are checked where an emitter is made."""
    for index, body in enumerate(scene.body):
        for name, value in body.fields.items():
            if wrong := mistake(name, value, body.material, scene.dimension):
                raise problem(("body", index, "fields", name), wrong)


def check_drains(scene: Scene) -> None:
    """A drain that is for one body names it."""
    for index, drain in enumerate(scene.drain):
        if drain.body is not None:
            check_known(scene, drain.body, ("drain", index, "body"), "body", "emitter")


def check_hidden(scene: Scene) -> None:
    """What is hidden in pictures is there."""
    for index, name in enumerate(scene.render.hide):
        check_known(
            scene, name, ("render", "hide", index), "body", "solid", "springs", "strands", "rigid", "emitter"
        )


def check_known(scene: Scene, name: str, path: Path, *kinds: str) -> None:
    """`name` is the name of something of one of these kinds."""
    known = [item.name for kind in kinds for item in getattr(scene, kind) if item.name is not None]
    if name not in known:
        what = f"{', '.join(kinds[:-1])} or {kinds[-1]}{suggestion(name, known)}"
        raise problem(path, f'is "{name}", but there is no such {what} (known: {", ".join(known) or "none"})')
