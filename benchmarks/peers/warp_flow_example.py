"""The APIC fluid example that Warp ships, run as it is: `warp.examples.fem.example_apic_fluid`.

Water falls into a half-ball: another scene, a sparse collocated grid, finite elements with assembled matrices and
conjugate residuals to a relative 1e-6. It is made for GPUs; on a CPU the tiled sums of `warp.optim.linear` take most
of its time. Per particle and step its speed can still be put beside the others'.
"""

from __future__ import annotations

import time
from typing import Any

import warp as wp
import warp.examples.fem.example_apic_fluid as example
import warp.examples.fem.utils as example_utils

from . import warp_mpm as _settings  # noqa: F401  (compiler options)
from .scene import cells_per_edge

EDGE = 10.0  # of the example's cube of water [m]
CAPACITY = (
    2.0  # voxels it reserves, in those of the first step; its default of 16 only costs time in a short run
)


class Peer:
    """The example with about that many particles, eight per voxel, without pictures."""

    def __init__(self, particles: int) -> None:
        wp.set_device("cpu")
        self.seconds = {"project": 0.0}  # its linear solve only
        self.iterations: list[int] = []
        # A little less than the exact size, which could round to a voxel fewer.
        voxel = EDGE / cells_per_edge(particles) * (1 - 1e-9)
        self.example = example.Example(
            quiet=True, stage_path=None, voxel_size=voxel, grid_capacity_ratio=CAPACITY
        )
        self.particles = len(self.example.state_0.particle_q)
        self.solve = example_utils.bsr_cg
        example_utils.bsr_cg = self.timed_solve

    def timed_solve(self, *arguments: Any, **options: Any) -> Any:
        """The example's linear solve, with its time and iterations noted."""
        start = time.perf_counter()
        error, iterations = self.solve(*arguments, **options)
        self.seconds["project"] += time.perf_counter() - start
        self.iterations.append(iterations)
        return error, iterations

    def step(self, n: int = 1) -> None:
        """Advance by n time steps and wait for them."""
        for _ in range(n):
            self.example.step()
        wp.synchronize_device("cpu")
