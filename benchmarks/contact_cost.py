"""What contact costs: a step of two continua that touch, over the sum of the steps of each alone; and of obstacles.

    python benchmarks/contact_cost.py --particles 2e5 --threads 1

Both are measured in turn in one run, and given as ratios of CPU time, median over the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import continua as ct

JELLY = ct.materials.FixedCorotated(E=1e5, nu=0.3, density=1000.0)
DX = 0.02


def world(
    count: float, precision: str, *, parts: tuple[int, ...], continua: bool, floor: bool
) -> ct.Simulation:
    """Two cubes of particles on each other, or one of them, pressed together."""
    cells = max(4, round((count / 16) ** (1 / 3)))
    side = cells * DX
    sim = ct.Simulation(DX, (0.0, -9.81, 0.0), precision=precision)
    for number in parts:
        middle = (side / 2, side * (number + 0.5), side / 2)
        sim.add(
            ct.shapes.Box(middle, (side,) * 3),
            JELLY,
            velocity=(0.0, 0.1 - 0.2 * number, 0.0),
            continuum=f"part{number}" if continua else None,
        )
    if floor:
        sim.add(ct.colliders.Plane((0.0, 1.0, 0.0)))
    for _ in range(3):
        sim.step()
    return sim


def cpu(sim: ct.Simulation, steps: int) -> float:
    """CPU seconds of a step."""
    start = time.process_time()
    for _ in range(steps):
        sim.step()
    return (time.process_time() - start) / steps


def ratio(
    rounds: int, steps: int, make: Callable[[], tuple[list[ct.Simulation], list[ct.Simulation]]]
) -> float:
    """Of the first simulations over the others, in turn."""
    first, others = make()
    found = []
    for _ in range(rounds):
        found.append(sum(cpu(sim, steps) for sim in first) / sum(cpu(sim, steps) for sim in others))
    return statistics.median(found)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--particles", type=float, default=2e5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    ct.set_threads(options.threads)
    print("| case | float32 | float64 |\n|---|---|---|")
    for name, settings, base in (
        ("two continua / sum of both alone", {"parts": (0, 1), "continua": True, "floor": False}, (0, 1)),
        ("on a floor / without", {"parts": (0, 1), "continua": False, "floor": True}, None),
    ):
        row = []
        for precision in ("single", "double"):

            def make(
                settings: dict = settings, base: tuple[int, ...] | None = base, precision: str = precision
            ) -> tuple[list[ct.Simulation], list[ct.Simulation]]:
                first = world(options.particles, precision, **settings)
                plain = {"continua": False, "floor": False}
                alone = [(n,) for n in base] if base else [(0, 1)]
                return [first], [world(options.particles, precision, parts=p, **plain) for p in alone]

            row.append(f"{ratio(options.rounds, options.steps, make):.2f}")
        print(f"| {name} | {' | '.join(row)} |")


if __name__ == "__main__":
    main()
