"""The benchmark step in Continua, through its public API."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import continua as ct

from .scene import FLOOR, GRAVITY

MATERIALS = {"fixed-corotated": ct.materials.FixedCorotated, "neo-hookean": ct.materials.NeoHookean}


class Peer:
    """Elastic particles on a slip floor; see `peers.scene` for the scene and the units."""

    def __init__(
        self,
        x: NDArray[np.float32],
        v: NDArray[np.float32],
        dx: float,
        material: str,
        E: float,
        nu: float,
        density: float,
        dt: float,
        threads: int = 1,
        *,
        precision: str = "single",
        stress_transfer: str = "mls",
    ) -> None:
        ct.set_threads(threads)
        self.simulation = ct.Simulation(
            dx,
            GRAVITY,
            precision=precision,
            transfer="apic",
            stress_transfer=stress_transfer,
            dt=dt,
            force_dt=True,
        )
        points = ct.shapes.Points(x.astype(np.float64), np.full(len(x), dx**3 / 8))
        solid = MATERIALS[material](E=E, nu=nu, density=density)
        self.body = self.simulation.add(points, solid, velocity=lambda _: v.astype(np.float64))
        self.simulation.add(ct.colliders.Plane((0.0, 1.0, 0.0), (0.0, FLOOR * dx, 0.0), mode="slip"))

    def x(self) -> NDArray[Any]:
        """Positions (N, 3) [m] in the order the particles were given."""
        return self.body.fields()["x"]

    def v(self) -> NDArray[Any]:
        """Velocities (N, 3) [m/s] in the order the particles were given."""
        return self.body.fields()["v"]

    def step(self, n: int = 1) -> None:
        """Advance by n time steps."""
        for _ in range(n):
            self.simulation.step()
