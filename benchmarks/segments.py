"""Contact of strands: what a segment costs, from few strands to many, at the same density.

    python benchmarks/segments.py                   # 200 to 20,000 strands of 60 segments
    python benchmarks/segments.py --strands 200 2000 --threads 1

Strands are smooth random walks in a periodic-looking heap: the box grows with their number, so that every segment has
as many others near it. Every size is measured in turn, round after round, and the shortest time of each counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua.contact.segments import SegmentPairs, crossed_segments, nearby_segments

SEGMENTS = 60  # of a strand
LENGTH = 0.005  # of a segment [m]
RADIUS = 2e-4  # [m]
DISTANCE = 2e-3  # of the search [m]
DENSITY = 2.5e6  # segments per volume [1/m^3]
DT = 1e-3  # [s]
SPEED = 0.5  # of a vertex, in a random direction [m/s]

Array = NDArray[np.float64]


def heap(strands: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.int32]]:
    """Vertices and segments of so many strands."""
    side = (strands * SEGMENTS / DENSITY) ** (1 / 3)
    turn = rng.normal(size=(strands, SEGMENTS, 3)) * 0.15
    way = rng.normal(size=(strands, 1, 3))
    way = way / np.linalg.norm(way, axis=2, keepdims=True) + np.cumsum(turn, axis=1)
    way *= LENGTH / np.linalg.norm(way, axis=2, keepdims=True)
    x = rng.uniform(0, side, (strands, 1, 3)) + np.concatenate(
        [0 * way[:, :1], np.cumsum(way, axis=1)], axis=1
    )
    x = side - np.abs((x % (2 * side)) - side)  # reflected at the walls of the box
    order = np.lexsort(
        np.floor(x[:, 0] / (0.1 * side)).T
    )  # neighbours are near in memory, as roots of hair are
    x = x[order].reshape(-1, 3)
    first = np.arange(len(x), dtype=np.int32).reshape(strands, -1)[:, :-1].ravel()
    return x, np.stack([first, first + 1], axis=1)


class Measured:
    """One size: what is timed, and the shortest times so far [s]."""

    def __init__(self, strands: int) -> None:
        rng = np.random.default_rng(strands)
        self.strands = strands
        self.x, self.segments = heap(strands, rng)
        v = rng.normal(size=self.x.shape) * SPEED
        after = self.x + DT * v
        inverse_mass = np.ones(len(self.x))
        found = nearby_segments(self.x, self.segments, DISTANCE)
        pairs = SegmentPairs(self.x, self.segments, found)
        self.pairs, self.contacts = (
            len(found),
            pairs.resolve(v, inverse_mass, radius=RADIUS, dt=DT, sweeps=1).contacts,
        )
        self.steps: dict[str, Callable[[], object]] = {
            "search": lambda: nearby_segments(self.x, self.segments, DISTANCE),
            "on the way": lambda: nearby_segments(self.x, self.segments, 2 * RADIUS, motion=DT * v),
            "closest points": lambda: SegmentPairs(self.x, self.segments, found),
            "5 sweeps": lambda: pairs.resolve(v, inverse_mass, radius=RADIUS, dt=DT, sweeps=5),
            "crossings": lambda: crossed_segments(self.x, after, self.segments),
        }
        self.times = dict.fromkeys(self.steps, np.inf)

    def round(self) -> None:
        """Time everything once; small problems are repeated, as their times are short."""
        repeats = max(1, 20_000 // len(self.segments))
        for name, step in self.steps.items():
            start = time.perf_counter()
            for _ in range(repeats):
                step()
            self.times[name] = min(self.times[name], (time.perf_counter() - start) / repeats)

    def cost(self, name: str) -> float:
        """Nanoseconds per segment."""
        return 1e9 * self.times[name] / len(self.segments)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--strands", type=int, nargs="+", default=[200, 632, 2000, 6325, 20_000])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    ct.set_threads(given.threads)
    sizes = [Measured(strands) for strands in given.strands]
    for _ in range(given.rounds):
        for size in sizes:
            size.round()
    table = Table(
        title=f"Contact of strands of {SEGMENTS} segments, ns per segment, threads: {given.threads}",
        box=MARKDOWN,
    )
    for column in (
        "strands",
        "pairs/segment",
        *sizes[0].steps,
        "sum",
        "sum / first",
        "search, million pairs/s",
    ):
        table.add_column(column, justify="right")
    sums = [sum(size.cost(name) for name in size.steps) for size in sizes]
    for size, total in zip(sizes, sums, strict=True):
        table.add_row(
            f"{size.strands:,}",
            f"{size.pairs / len(size.segments):.2f}",
            *(f"{size.cost(name):.0f}" for name in size.steps),
            f"{total:.0f}",
            f"{total / sums[0]:.2f}",
            f"{size.pairs / size.times['search'] / 1e6:.2f}",
        )
    Console(width=130).print(table)


if __name__ == "__main__":
    main()
