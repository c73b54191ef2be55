"""Generalized vortex: a ring is sheared by a rotation that depends on the radius, and comes back.

A point at radius R turns by the angle alpha = sin(pi t) h(R), h = (1 - 16 (R - 1)^2)^2. The ring 0.75 <= R <= 1.25 then
neither moves nor feels a traction at its edges, its volume is constant, and no boundary conditions are needed, while
the shear in it reaches 6.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from continua.materials import NeoHookean
from continua.materials.base import lame
from continua.validation.case import Case, Measurement
from continua.validation.manufactured import Array, ManufacturedMotion, convergence

INNER, OUTER = 0.75, 1.25  # [m]
WIDTH = OUTER - INNER
QUARTER_TURN = np.array([[0.0, -1.0], [1.0, 0.0]])


@dataclass
class Vortex(ManufacturedMotion):
    """The motion. `misprint` turns the sign of the last term of the force in the direction of theta (not turned by
    alpha), as two public codes do."""

    misprint: bool = False
    material = NeoHookean(E=1000.0, nu=0.3, density=1000.0)
    duration = 1.0

    def points(self, spacing: float) -> tuple[Array, Array]:
        layers = round(WIDTH / spacing)
        width = WIDTH / layers
        points, volumes = [], []
        for layer in range(layers):
            R = INNER + (layer + 0.5) * width
            count = round(2 * np.pi * R / spacing)
            angle = 2 * np.pi * (np.arange(count) + 0.5 * (layer % 2)) / count
            points.append(R * np.stack([np.cos(angle), np.sin(angle)], axis=1))
            volumes.append(np.full(count, 2 * np.pi * R * width / count))
        return np.concatenate(points), np.concatenate(volumes)

    def _turn(self, X: Array, t: float) -> tuple[Array, Array, Array, Array]:
        """Radius (N,), h (N,), dh/dR (N,), rotation (N, 2, 2)."""
        R = np.linalg.norm(X, axis=1)
        s = R - 1
        h, slope = (1 - 16 * s**2) ** 2, -64 * s * (1 - 16 * s**2)
        c, s = np.cos(np.sin(np.pi * t) * h), np.sin(np.sin(np.pi * t) * h)
        return R, h, slope, np.moveaxis(np.array([[c, -s], [s, c]]), -1, 0)

    def position(self, X: Array, t: float) -> Array:
        return np.einsum("nab,nb->na", self._turn(X, t)[3], X)

    def velocity(self, X: Array, t: float) -> Array:
        _, h, _, _ = self._turn(X, t)
        return np.pi * np.cos(np.pi * t) * h[:, None] * (self.position(X, t) @ QUARTER_TURN.T)

    def deformation(self, X: Array, t: float) -> Array:
        R, _, slope, rotation = self._turn(X, t)
        around = self.position(X, t) @ QUARTER_TURN.T
        return rotation + np.sin(np.pi * t) * np.einsum("n,na,nb->nab", slope / R, around, X)

    def rate(self, X: Array, t: float) -> Array:
        R, h, slope, _ = self._turn(X, t)
        x = self.position(X, t)
        shear = np.einsum("n,na,nb->nab", slope / R, x @ QUARTER_TURN.T, x)
        return np.pi * np.cos(np.pi * t) * (h[:, None, None] * QUARTER_TURN + shear)

    def force(self, X: Array, t: float) -> Array:
        R, sine, rate = np.linalg.norm(X, axis=1), np.sin(np.pi * t), np.pi * np.cos(np.pi * t)
        stiffness = lame(self.material.E, self.material.nu)[0] / self.material.density
        edge = (4 * R - 3) * (4 * R - 5)
        radial = -R * rate**2 * edge**4 + 4096 * stiffness * R * (R - 1) ** 2 * edge**2 * sine**2
        elastic = 64 * stiffness * (96 * R**3 - 240 * R**2 + 188 * R - 45)
        tangential = -sine * (R * np.pi**2 * edge**2 + elastic)
        out = self.position(X, t) / R[:, None]
        total = radial[:, None] * out + tangential[:, None] * (out @ QUARTER_TURN.T)
        if self.misprint:  # + r (g' h)^2 sin(alpha) for - r (g' h)^2 sin(alpha)
            h = edge**2
            total += (2 * (rate * h) ** 2 * np.sin(sine * h))[:, None] * (X @ QUARTER_TURN.T)
        return total


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    """APIC, PolyPIC and FLIP are held to second order. PIC and RPIC are shown: both filter the shear of every cell once
    per step, a viscosity of the order of dx, which is too strong for this problem."""
    motion = Vortex(misprint=wrong)
    cells, courant = ([8, 12], 0.15) if quick else ([8, 16, 32], 0.075)
    spacings = WIDTH / np.array(cells)
    limits = {"apic": 0.06, "polypic": 0.06} if quick else {"apic": 0.01, "polypic": 0.02, "flip": 0.03}
    found = []
    for transfer, limit in limits.items():
        found += convergence(motion, transfer, spacings, courant=courant, limit=limit, slope=1.7)
    for transfer in () if quick or wrong else ("rpic", "pic"):
        found += convergence(motion, transfer, spacings, courant=courant)
    return found


CASE = Case(
    name="vortex",
    title="Manufactured solution: generalized vortex",
    source="Kamojjala et al. 2015, exact by construction",
    kind="manufactured",
    cost="5 min",
    control="the sign error in the force that two public codes share",
    measure=measure,
)
