"""Cost of hair in contact: per segment and step, per frame, and memory, from 200 strands to 20,000.

    python benchmarks/hair.py                        # 200, 2,000 and 20,000 strands of 60 segments, on one thread
    python benchmarks/hair.py --strands 200 2000 --steps 10

A small ball with 200 hairs is shaken until they lie over each other. Copies of it side by side are what is measured, so
that every size has the same contacts per segment; their roots are held. All sizes take some steps in turn, round after
round, and the shortest time of a step counts. A frame is 1/24 s, and all of its steps are taken to last as long.
What the strands hold is counted by their arrays; the peak of the process has the grid of sparse hair as well, and what
a step needs for a moment.

Published: 122 s per frame for a ball of 32,000 strands of 60 segments on 20 threads, 83 s of it impulses between
segments (W20 table 4.1). Its stiffness and time step are not: times per frame compare scenes, too.
"""

from __future__ import annotations

import argparse
import math
import resource
import time

import numpy as np
from numpy.typing import NDArray
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from scipy.interpolate import CubicSpline

import continua as ct
from continua.geometry.curves import Curves

UNIT = 200  # strands of a ball
COARSE, FINE = 12, 60  # segments of a strand, while it is shaken and when it is measured
RADIUS, LENGTH, APART = 0.05, 0.2, 0.7  # of a ball, of a hair, between balls [m]
ROD = ct.materials.Rod(E=1e6, radius=1e-3, density=1300.0)
CONTACT = ct.StrandContact(friction=0.2, stiffness=300.0)
DX = 0.02  # [m]
SHAKEN = 0.3  # [s]
FPS = 24.0
PUBLISHED = 122.0 * 20 / (32_000 * 60)  # seconds of a core per segment and frame

Array = NDArray[np.float64]


def shaken() -> tuple[Array, Array, Array]:
    """A ball of hair: vertices at rest, where they are and how fast (strands, FINE + 1, 3)."""
    sim = ct.Simulation(dx=DX, gravity=(0.0, -9.81, 0.0))
    way: list[tuple[float, ...]] = [(0.0, 0.0, 0.0), (0.07, 0.0, 0.0), (-0.07, 0.02, 0.0), (0.0, 0.0, 0.0)]
    motion = ct.motions.Keyframes(times=[0.0, 0.08, 0.2, 0.28], positions=way, interpolation="smooth")
    ball = sim.add(ct.colliders.Sphere((0.0, 0.0, 0.0), RADIUS, motion=motion))
    hair = ct.Strands(ct.meshes.Fur(ball, count=UNIT, length=LENGTH, segments=COARSE), ROD, contact=CONTACT)
    sim.add(hair)
    while sim.time < SHAKEN:
        sim.step()
    coarse, fine = np.linspace(0, 1, COARSE + 1), np.linspace(0, 1, FINE + 1)
    rest, x, v = (
        CubicSpline(coarse, a.reshape(UNIT, -1, 3), axis=1)(fine)
        for a in (hair.curves.points, hair.x, hair.v)
    )
    return rest, x, v


class Measured:
    """So many strands: what is timed, and the shortest time of a step so far [s]."""

    def __init__(self, count: int, unit: tuple[Array, Array, Array]) -> None:
        balls = max(1, round(count / UNIT))
        side = math.ceil(balls ** (1 / 3))
        place = APART * np.stack(np.unravel_index(np.arange(balls), (side,) * 3), axis=1)
        rest, x = ((a[None] + place[:, None, None]).reshape(-1, 3) for a in unit[:2])
        v = np.tile(unit[2].reshape(-1, 3), (balls, 1))
        self.strands, self.segments, self.vertices = balls * UNIT, balls * UNIT * FINE, len(x)
        before = resident()
        curves = Curves(rest, np.full(self.strands, FINE + 1))
        self.sim = ct.Simulation(dx=DX, gravity=(0.0, -9.81, 0.0))
        self.hair = ct.Strands(curves, ROD, roots="held", start=lambda _: x, contact=CONTACT)
        self.sim.add(self.hair)
        self.hair.v[:] = v
        for _ in range(2):
            self.sim.step()
        self.bytes = (resident() - before) / self.vertices
        self.best = math.inf
        self.first = self.hair.free.contacts  # type: ignore[union-attr]
        self.taken = 0

    def round(self, steps: int) -> None:
        """Take some steps."""
        for _ in range(steps):
            start = time.process_time()
            self.sim.step()
            self.best = min(self.best, time.process_time() - start)
        self.taken += steps

    @property
    def per_segment(self) -> float:
        """Of a core, per segment and step [s]."""
        return self.best / self.segments

    @property
    def frame(self) -> float:
        """Of a core [s]."""
        return self.best / (FPS * self.sim.dt)

    @property
    def contacts(self) -> float:
        """Pairs that act in a step, per segment."""
        return (self.hair.free.contacts - self.first) / self.taken / self.segments  # type: ignore[union-attr]


def resident() -> float:
    """Memory of this process at its most [B]: what a size adds counts only while sizes grow."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--strands", type=int, nargs="+", default=[200, 2000, 20_000])
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    ct.set_threads(1)  # process time is that of a core
    unit = shaken()
    sizes = [Measured(count, unit) for count in sorted(given.strands)]
    for _ in range(given.rounds):
        for size in sizes:
            size.round(given.steps)
    table = Table(title=f"Hair of {FINE} segments in contact, one thread", box=MARKDOWN)
    columns = (
        "strands",
        "contacts/segment",
        "ms per step",
        "us per segment and step",
        "over first",
        "dt [s]",
    )
    for column in (*columns, "s per frame", "published / ours", "held [B/vertex]", "peak [B/vertex]"):
        table.add_column(column, justify="right")
    for size in sizes:
        table.add_row(
            f"{size.strands:,}",
            f"{size.contacts:.3f}",
            f"{1e3 * size.best:.1f}",
            f"{1e6 * size.per_segment:.2f}",
            f"{size.per_segment / sizes[0].per_segment:.2f}",
            f"{size.sim.dt:.2g}",
            f"{size.frame:.1f}",
            f"{PUBLISHED * size.segments / size.frame:.2f}",
            f"{size.hair.nbytes / size.vertices:.0f}",
            f"{size.bytes:.0f}",
        )
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
