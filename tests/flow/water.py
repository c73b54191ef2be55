"""Small worlds of water."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.transfers import FLIP, PIC, RPIC, PolyPIC

WATER = IncompressibleFluid(1000.0)
G, DX = 9.81, 0.1
both = pytest.mark.parametrize("d", [2, 3])
SCHEMES = {"pic": PIC(), "flip": FLIP(0.95), "rpic": RPIC(), "apic": "apic", "polypic": PolyPIC()}
schemes = pytest.mark.parametrize("scheme", SCHEMES)


def world(d: int, dx: float = DX, gravity: tuple[float, ...] = (0, -G, 0), **options) -> ct.Simulation:
    settings = options.pop("settings", {})
    return ct.Simulation(dx, gravity[:d], integrator=Incompressible(**settings), **options)


def advance(sim: ct.Simulation, end: float, dt: float = np.inf) -> None:
    while sim.time < end - 1e-12:
        sim.step(min(dt, end - sim.time))


def box(low: NDArray | tuple, high: NDArray | tuple) -> ct.shapes.Box:
    low, high = np.array(low), np.array(high)
    return ct.shapes.Box(tuple(0.5 * (low + high)), tuple(high - low))


def room(low: NDArray | tuple, high: NDArray | tuple) -> ct.colliders.Collider:
    """Walls around a box."""
    shape = box(low, high)
    return ct.colliders.Box(shape.center, shape.size, inverted=True)


def dam(d: int = 2, **options) -> tuple[ct.Simulation, ct.Body]:
    """A column collapses onto a dry floor and against a ball."""
    sim = world(d, **options)
    sim.add(room((0.0,) * d, (1.6, 1.2, 0.4)[:d]))
    sim.add(ct.colliders.Sphere((1.03, 0.0, 0.2)[:d], 0.21))
    return sim, sim.add(box((0.0,) * d, (0.6, 0.8, 0.4)[:d]), WATER, sampling="jittered")
