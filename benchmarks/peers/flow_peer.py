"""What the flow peers have in common: a step in three phases, each with its time."""

from __future__ import annotations

import time

PHASES = ("to_grid", "project", "to_particles")


class FlowPeer:
    """Liquid in a tank of cells^3 cells; see `peers.flow_scene` for the scene and the units."""

    def __init__(self) -> None:
        self.tolerance = 0.0  # of the sum of face velocities out of a cell in this step [m/s]
        self.seconds = dict.fromkeys(PHASES, 0.0)  # spent so far
        self.iterations: list[int] = []  # of the pressure solve, in each step

    def step(self, n: int = 1) -> None:
        """Advance by n time steps and wait for them."""
        for _ in range(n):
            for phase in PHASES:
                start = time.perf_counter()
                getattr(self, phase)()
                self.seconds[phase] += time.perf_counter() - start
