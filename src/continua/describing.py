"""What run.json keeps of a simulation, as data: what drawing needs, and what tells that the setup has changed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter

from continua._version import __version__
from continua.contact.colliders import AnyCollider
from continua.io import machine
from continua.io.checksum import array_checksum, file_checksum
from continua.plan import RunPlan

if TYPE_CHECKING:
    from continua.bodies.body import Body
    from continua.simulation import Simulation
    from continua.world import World

SETTINGS = (
    *(
        "gravity",
        "transfer",
        "integrator",
        "kernel",
        "stress_transfer",
        "deformation",
        "fixed_dt",
        "force_dt",
    ),
    *("cfl", "elastic_cfl", "push_out"),
)


def describe(sim: Simulation, plan: RunPlan, start: float, extra: dict[str, Any]) -> dict[str, Any]:
    """Description of a run that begins at `start` [s]; `extra` adds to it."""
    adapter: TypeAdapter[Any] = TypeAdapter(AnyCollider)
    return {
        "version": __version__,
        "machine": machine(),
        "seed": sim.world.seed,
        "dimension": sim.dimension,
        "dx": sim.dx,
        "precision": sim.world.precision,
        "start": start,
        "duration": plan.duration,
        "fps": plan.fps,
        "frames": plan.frames,
        "bodies": [
            {
                "name": b.name,
                "material": b.label,
                "particles": len(b),
                "continuum": sim.world.continuum_of(b),
            }
            | b.described()
            for b in sim.bodies
        ],
        "colliders": [adapter.dump_python(c, mode="json", exclude={"motion"}) for c in sim.colliders],
        "setup": setup_of(sim.world),
        "scene": None,
        "source": None,
    } | extra


def setup_of(world: World) -> dict[str, Any]:
    """All that decides how a state goes on, but the state: settings, materials, obstacles, sources, meshes.

    Functions are there by name only, files and arrays by their checksum.
    """
    kinds = ("contacts", "colliders", "boundaries", "drains", "forces")
    return {
        **{name: as_data(getattr(world, name)) for name in SETTINGS},
        "continua": [as_data(continuum) for continuum in world.continua.values()],
        "bodies": [body_data(body, world.continuum_of(body)) for body in world.bodies],
        **{kind: as_data(getattr(world, kind)) for kind in kinds},
        "emitters": [as_data(emitter) for emitter, _, _ in world.emitters],
    }


def body_data(body: Body, continuum: str) -> dict[str, Any]:
    """Name, kind, material, mesh and settings of a body."""
    tables = [table for table in body.topology() if table is not None]
    setup = body.setup()
    if "arrays" in setup:
        setup["arrays"] = {name: array_checksum(array) for name, array in setup["arrays"].items()}
    return {
        "name": body.name,
        "kind": body.kind,
        "continuum": continuum,
        "material": as_data(getattr(body, "material", None)),
        "mesh": [array_checksum(table) for table in tables],
        **as_data(setup),
    }


def as_data(value: Any) -> Any:
    """Plain tables, lists, numbers and texts of an object of the library."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= 16 else array_checksum(value)
    if isinstance(value, Path):
        return {"file": value.name, "sha256": file_checksum(value)}
    if isinstance(value, (list, tuple)):
        return [as_data(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): as_data(entry) for key, entry in value.items()}
    if dataclasses.is_dataclass(value):
        fields = {field.name: as_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"class": type(value).__name__, **fields}
    return f"<python {getattr(value, '__name__', type(value).__name__)}>"
