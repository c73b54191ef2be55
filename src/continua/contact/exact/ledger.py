"""What every part of a step does to momentum and angular momentum (M23 sections 5 to 7)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from continua.contact.exact.angular import axial, cross

Array = NDArray[np.float64]
STAGES = ("elastic", "grid", "impulses", "follow")


def affine_spin(mass: Array, A: Array, dx: float) -> Array:
    """Angular momentum (n_w,) [N m s] that points carry in their affine velocities A (N, d, d) [1/s] on a grid of
    spacing dx [m], for quadratic splines."""
    return np.asarray(0.25 * dx**2 * mass @ axial(A), float)


class Ledger:
    """Momentum [N s] and angular momentum [N m s] about a fixed point (d,) [m], entry by entry of a step."""

    def __init__(self, about: Array) -> None:
        self._about = about
        self._last: tuple[Array, Array] | None = None
        self.changes: dict[str, tuple[float, float]] = {}

    def enter(
        self, stage: str, x: Array, momenta: Array, affine: Array, outside: Array | float = 0.0
    ) -> None:
        """The state after a stage; the first entry is that before the step.

        x (N, d) [m], momenta (N, d) [N s]; affine: angular momentum of affine velocities; outside (d,) [N s]: momentum
        that came from outside of all bodies.
        """
        now = momenta.sum(axis=0), cross(x - self._about, momenta).sum(axis=0) + affine
        if self._last is not None:
            P = now[0] - self._last[0] - outside
            self.changes[stage] = float(np.linalg.norm(P)), float(np.linalg.norm(now[1] - self._last[1]))
        self._last = now

    def columns(self) -> dict[str, float]:
        """For the diagnostics: how much each stage of the last step changed, as sizes of vectors."""
        found: dict[str, float] = {}
        for stage in STAGES:
            P, L = self.changes.get(stage, (0.0, 0.0))
            found |= {f"ledger_{stage}_momentum": P, f"ledger_{stage}_angular": L}
        return found
