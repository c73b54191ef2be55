"""Small worlds of mesh bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import continua as ct
from continua.integrators import Optimization

Array = NDArray[np.float64]
FRAME = 1 / 24


def jelly(E: float = 1e5, nu: float = 0.3) -> ct.materials.FixedCorotated:
    return ct.materials.FixedCorotated(E=E, nu=nu, density=1000.0)


def world(
    gravity: tuple[float, ...] = (0.0, -9.81), dt: float | None = None, **settings: Any
) -> ct.Simulation:
    return ct.Simulation(0.1, gravity, dt=dt, integrator=Optimization(**settings))


def block(
    sim: ct.Simulation,
    *,
    height: float = 0.0,
    cells: int = 3,
    E: float = 1e5,
    nu: float = 0.3,
    **options: Any,
) -> ct.SolidBody:
    """Unit square or cube whose lowest points are at `height`."""
    d = sim.dimension
    lower = np.eye(d)[1] * height
    mesh = ct.meshes.box_mesh(lower, lower + 1, (cells,) * d)
    return sim.add(ct.SolidBody(mesh, jelly(E, nu), **options))


def energy_terms(sim: ct.Simulation, body: ct.SolidBody) -> float:
    """Potential energy: elastic and of gravity [J]."""
    return body.energy.value(body.x) - float(body.mass @ (body.x @ sim.gravity))


def norm_m(body: ct.SolidBody, v: Array) -> float:
    """v^T M v."""
    return float(body.mass @ (v * v).sum(axis=1))


def forces(sim: ct.Simulation, steps: int = 1) -> Array:
    """Mean force of every collider over some steps, (n, 3) [N]."""
    before, t = sim.impulses.copy(), sim.time
    for _ in range(steps):
        sim.step()
    return (sim.impulses - before) / (sim.time - t)
