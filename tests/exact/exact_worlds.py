"""Small worlds of solids whose surfaces never pass through each other, and what is counted in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import continua as ct
from continua.contact.exact.certificate import Certificate
from continua.geometry.simplex_mesh import SimplexMesh

Array = NDArray[np.float64]
BE = ct.integrators.Optimization(tolerance=1e-9)


def jelly(E: float = 5e4, nu: float = 0.3, density: float = 1000.0) -> ct.materials.FixedCorotated:
    return ct.materials.FixedCorotated(E=E, nu=nu, density=density)


def block(
    sim: ct.Simulation,
    lower: ArrayLike,
    size: ArrayLike,
    cells: int | tuple[int, ...] = 2,
    *,
    contact: Any = None,
    material: Any = None,
    **options: Any,
) -> ct.SolidBody:
    """A box of so many cells along each side, or along its shortest one."""
    lower = np.asarray(lower, float)
    sides = np.broadcast_to(np.asarray(size, float), lower.shape)
    counts = (
        tuple(int(n) for n in np.maximum(1, np.round(sides / sides.min() * cells)))
        if isinstance(cells, int)
        else cells
    )
    mesh = ct.meshes.box_mesh(lower, lower + sides, counts)
    body = ct.SolidBody(mesh, material or jelly(), contact=contact or ct.ExactContact(), **options)
    return sim.add(body)


def balls(
    sim: ct.Simulation, *, radius: float = 0.25, size: float = 0.14, speed: float = 1.0, spin: float = 0.0,
    offset: float = 0.05, gap: float = 0.03, contact: Any = None, **options: Any,
) -> list[ct.SolidBody]:  # fmt: skip
    """Two balls (discs) that fly at each other, not quite head-on, a gap apart."""
    d, found = sim.dimension, []
    mesh = ct.meshes.ShapeMesh(ct.shapes.Sphere((0.0,) * d, radius), size).build()
    left, right = mesh.points[:, 0].min(), mesh.points[:, 0].max()
    for side in (-1.0, 1.0):
        shift = np.zeros(d)
        shift[:2] = (-0.5 * gap - right if side < 0 else 0.5 * gap - left), side * offset
        velocity = np.zeros(d)
        velocity[0] = -side * speed
        turning = spin if d == 2 else (0.0, 0.3 * spin, spin)
        start = ct.velocities.Rigid(tuple(velocity), turning, tuple(shift))
        body = ct.SolidBody(
            SimplexMesh(mesh.points + shift, mesh.cells),
            jelly(),
            velocity=start,
            contact=contact or ct.ExactContact(friction=0.3),
            **options,
        )
        found.append(sim.add(body))
    return found


class Watched:
    """Steps of a world, each of which must leave surfaces that do not pass through each other."""

    def __init__(self, sim: ct.Simulation) -> None:
        self.sim, self._certificate = sim, None

    def solids(self) -> list[ct.SolidBody]:
        solids = [body for body in self.sim.bodies if isinstance(body, ct.SolidBody)]
        return [body for body in solids if isinstance(body.contact, ct.ExactContact)]

    def crosses(self) -> bool:
        """Whether any surface passes through another or itself."""
        ends = np.cumsum([0, *(len(body) for body in self.solids())])
        x = np.concatenate([body.x for body in self.solids()])
        if self._certificate is None:
            facets = [body.surface + k for body, k in zip(self.solids(), ends, strict=False)]
            rest = np.concatenate([body.rest for body in self.solids()])
            self._certificate = Certificate(rest, np.concatenate(facets).astype(np.int32))
        return not self._certificate.holds(x)

    def run(self, steps: int, after: Callable[[], None] | None = None) -> None:
        for _ in range(steps):
            self.sim.step()
            assert not self.crosses(), f"step {self.sim.steps}"
            if after is not None:
                after()


def momenta(sim: ct.Simulation) -> tuple[Array, Array]:
    """Momentum and angular momentum of a world, with what affine velocities hold."""
    row = sim.diagnostics()
    P = np.array([row[f"momentum_{a}"] for a in "xyz"[: sim.dimension]])
    L = np.array([row[f"angular_{a}"] for a in ("z" if sim.dimension == 2 else "xyz")])
    return P, L


def motion(sim: ct.Simulation) -> float:
    """Sum of m |v| [N s], against which momentum is small."""
    return sum(float(body.mass @ np.linalg.norm(body.v, axis=1)) for body in sim.bodies)


def bits(sim: ct.Simulation) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in sim.state().items()}
