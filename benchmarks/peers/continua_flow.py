"""The flow benchmark's step in Continua, through its public API."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import continua as ct

from .flow_scene import DENSITY, TOLERANCE
from .scene import GRAVITY


class Peer:
    """Liquid in a tank of cells^3 cells; see `peers.flow_scene` for the scene and the units.

    Control of volume, which the other libraries' programs do not have, is off unless `style` is "volume control".
    """

    def __init__(
        self,
        x: NDArray[np.float32],
        v: NDArray[np.float32],
        cells: int,
        dx: float,
        dt: float,
        threads: int = 1,
        style: str = "",
    ) -> None:
        ct.set_threads(threads)
        integrator = ct.integrators.Incompressible(tolerance=TOLERANCE)
        if style != "volume control":
            integrator = replace(integrator, volume_control=0.0)
        self.simulation = ct.Simulation(
            dx, GRAVITY, precision="single", transfer="apic", integrator=integrator, dt=dt, force_dt=True
        )
        points = ct.shapes.Points(x.astype(np.float64), np.full(len(x), dx**3 / 8))
        liquid = ct.materials.IncompressibleFluid(density=DENSITY)
        self.body = self.simulation.add(points, liquid, velocity=lambda _: v.astype(np.float64))
        edge = cells * dx
        self.simulation.add(ct.colliders.Box((edge / 2,) * 3, (edge,) * 3, inverted=True, mode="slip"))
        self.iterations: list[int] = []

    @property
    def seconds(self) -> dict[str, float]:
        """Time [s] spent so far in each phase."""
        return dict(self.simulation.steppers["main"].seconds)

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
            self.iterations.append(int(self.simulation.steppers["main"].report["pressure_iterations"]))
