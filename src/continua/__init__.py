"""Continua: continua that meet. Snow, jelly and other materials on one background grid."""

from typing import Any

from continua import materials, transfers
from continua._core import set_threads, threads
from continua._version import __version__
from continua.bodies import velocity as velocities
from continua.bodies.emitter import Emitter
from continua.bodies.points import Body
from continua.contact import boundaries, colliders, motions
from continua.errors import ContinuaError
from continua.geometry import shapes
from continua.simulation import Simulation

__all__ = [
    "Body",
    "ContinuaError",
    "Emitter",
    "Simulation",
    "__version__",
    "boundaries",
    "colliders",
    "materials",
    "motions",
    "set_threads",
    "shapes",
    "testing",
    "threads",
    "transfers",
    "velocities",
]


def __getattr__(name: str) -> Any:
    if name in ("testing", "render", "scene", "io", "gallery"):
        import importlib

        return importlib.import_module(f"continua.{name}")
    raise AttributeError(f"module 'continua' has no attribute '{name}'")
