"""Axis-aligned displacement: a square stretches and shrinks along both axes, out of step.

u_i = A sin(pi X_i) sin(c pi t + phi_i) with c = sqrt(E / density) has a diagonal deformation gradient. It repeats
after a length of 2, so the world is periodic and the error is that of the method alone, without boundaries.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from continua.materials import NeoHookean
from continua.materials.base import lame
from continua.validation.case import Case, Measurement
from continua.validation.manufactured import Array, ManufacturedMotion, convergence

AMPLITUDE = 0.05  # [m]
PHASES = np.array([0.0, 2 * np.pi / 3])


@dataclass
class AxisAligned(ManufacturedMotion):
    """The motion; `coupling` scales the pressure's part of the force."""

    coupling: float = 1.0
    material = NeoHookean(E=1e4, nu=0.3, density=1000.0)
    speed = float(np.sqrt(1e4 / 1000.0))  # c [m/s]
    duration = 2 / speed  # one oscillation
    period = 2.0
    size = AMPLITUDE

    def points(self, spacing: float) -> tuple[Array, Array]:
        g = (np.arange(round(self.period / spacing)) + 0.5) * spacing
        X = np.stack(np.meshgrid(g, g, indexing="ij"), axis=-1).reshape(-1, 2)
        return X, np.full(len(X), spacing**2)

    def _swing(self, t: float) -> Array:
        """A sin(c pi t + phi_i), (2,)."""
        return AMPLITUDE * np.sin(self.speed * np.pi * t + PHASES)

    def _swing_rate(self, t: float) -> Array:
        return AMPLITUDE * self.speed * np.pi * np.cos(self.speed * np.pi * t + PHASES)

    def _stretch(self, X: Array, t: float) -> Array:
        """F_ii, (N, 2)."""
        return 1 + np.pi * np.cos(np.pi * X) * self._swing(t)

    def position(self, X: Array, t: float) -> Array:
        return X + np.sin(np.pi * X) * self._swing(t)

    def velocity(self, X: Array, t: float) -> Array:
        return np.sin(np.pi * X) * self._swing_rate(t)

    def deformation(self, X: Array, t: float) -> Array:
        return self._stretch(X, t)[:, :, None] * np.eye(2)

    def rate(self, X: Array, t: float) -> Array:
        stretch_rate = np.pi * np.cos(np.pi * X) * self._swing_rate(t)
        return (stretch_rate / self._stretch(X, t))[:, :, None] * np.eye(2)

    def force(self, X: Array, t: float) -> Array:
        mu, lam = lame(self.material.E, self.material.nu)
        F = self._stretch(X, t)
        pressure = self.coupling * lam * (1 - np.log(F.prod(axis=1, keepdims=True))) / F**2
        stiffness = pressure + mu * (1 + 1 / F**2) - self.material.E
        return np.pi**2 * np.sin(np.pi * X) * self._swing(t) * stiffness / self.material.density


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    """APIC and FLIP are held to second order; PIC is shown."""
    motion = AxisAligned(coupling=0.9 if wrong else 1.0)
    if quick:
        return convergence(motion, "apic", 2 / np.array([16, 32]), courant=0.2, limit=0.04, slope=1.7)
    spacings = 2 / np.array([16, 32, 64])
    found = [
        *convergence(motion, "apic", spacings, courant=0.2, limit=0.01, slope=1.7),
        *convergence(motion, "flip", spacings, courant=0.2, limit=0.025, slope=1.7),
    ]
    return found if wrong else [*found, *convergence(motion, "pic", spacings, courant=0.2)]


CASE = Case(
    name="axis-aligned",
    title="Manufactured solution: axis-aligned displacement",
    source="exact by construction",
    kind="manufactured",
    cost="15 s",
    control="10 % less pressure in the force",
    measure=measure,
)
