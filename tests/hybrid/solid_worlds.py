"""Small worlds of solids that meet others by collision particles, and what is counted in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import continua as ct

Array = NDArray[np.float64]


def jelly(E: float = 1e4, nu: float = 0.3, density: float = 1000.0) -> ct.materials.FixedCorotated:
    return ct.materials.FixedCorotated(E=E, nu=nu, density=density)


def block(
    sim: ct.Simulation,
    lower: ArrayLike,
    size: float | ArrayLike,
    cells: int,
    *,
    material: Any = None,
    contact: ct.GridContact | None = None,
    **options: Any,
) -> ct.SolidBody:
    """A box whose lowest corner is `lower`, of so many cells along its shortest side."""
    lower = np.asarray(lower, float)
    sides = np.broadcast_to(np.asarray(size, float), lower.shape)
    counts = tuple(int(n) for n in np.maximum(1, np.round(sides / sides.min() * cells)))
    mesh = ct.meshes.box_mesh(lower, lower + sides, counts)
    return sim.add(ct.SolidBody(mesh, material or jelly(), contact=contact or ct.GridContact(), **options))


def run(sim: ct.Simulation, duration: float, after: Callable[[], None] | None = None) -> None:
    end = sim.time + duration
    while end - sim.time > 1e-12:
        sim.step(end - sim.time)
        if after is not None:
            after()


def momentum(body: ct.SolidBody) -> Array:
    """(d,) [kg m/s]."""
    total: Array = body.mass @ body.v
    return total


def center(body: ct.SolidBody) -> Array:
    """(d,) [m]."""
    middle: Array = body.mass @ body.x / body.mass.sum()
    return middle


def spin(body: ct.SolidBody) -> Array:
    """Angular momentum about the centre of mass: one number in 2D, (3,) in 3D [kg m^2/s]."""
    arm, v = body.x - center(body), body.v - momentum(body) / body.mass.sum()
    if body.dimension == 2:
        return np.array([body.mass @ (arm[:, 0] * v[:, 1] - arm[:, 1] * v[:, 0])])
    return np.asarray(body.mass @ np.cross(arm, v), float)


def kinetic(body: ct.SolidBody) -> float:
    return float(0.5 * body.mass @ (body.v**2).sum(axis=1))


def energy(body: ct.SolidBody) -> float:
    """Kinetic and elastic [J]."""
    return kinetic(body) + body.energy.value(body.x)


def bits(sim: ct.Simulation) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in sim.state().items()}
