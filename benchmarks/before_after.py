"""What changes between two trees of Continua, and what its choices cost: one table with the goal of every row.

    python benchmarks/before_after.py --before ../before                      # 1e6 particles, a quarter of an hour
    python benchmarks/before_after.py --before ../before --particles 1e5 --sizes 2e5 --rounds 3 --seconds 0.3
    python benchmarks/before_after.py --only sizes                            # one tree, up to 2e7 particles

Each row is a pair of worlds that take turns (`turns.py`): of two trees ("trees"), or of one tree with two settings
("choices") or two numbers of particles ("sizes"). The ratio is taken within a round, of wall time and of the CPU time
of all threads; the table shows its median and quartiles. The numbers are written to out/benchmarks/before_after.json.
`demo.py` compares the run of `make demo`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from turns import Spread, Turn, alternate, machine

MLS = {"stress_transfer": "mls"}
GROUPS = ("trees", "choices", "sizes")


@dataclass(frozen=True)
class Row:
    """How much faster the first world is than the second, per particle; or, if `of_time`, how much longer it takes."""

    group: str
    name: str
    goal: str
    first: dict[str, Any]  # settings of the world
    second: dict[str, Any]
    of_time: bool = False
    trees: tuple[str, str] = ("after", "after")


@dataclass
class Result:
    """What a row has found."""

    row: Row
    particles: tuple[int, int]
    rates: tuple[float, float]  # million particle-steps per second, medians
    wall: Spread
    cpu: Spread
    peak_bytes: tuple[int, int]  # of the two processes, set-up included
    rounds: list[list[dict[str, Any]]] = field(repr=False)

    def line(self) -> str:
        """Line of the table."""
        kind = "time" if self.row.of_time else "speed"
        peaks = " / ".join(f"{peak / 2**30:.2f}" for peak in self.peak_bytes)
        cells = [self.row.name, f"{self.particles[0]:,}", *(f"{rate:.2f}" for rate in self.rates), kind]
        return "| " + " | ".join([*cells, str(self.wall), str(self.cpu), self.row.goal, peaks]) + " |"


def rows(options: argparse.Namespace) -> list[Row]:
    """All rows of the groups asked for."""
    base = {"world": "cube", "particles": options.particles, "threads": options.threads}
    found = [*tree_rows(base), *choice_rows(base), *size_rows(base, options.sizes)]
    return [row for row in found if row.group in options.only]


def tree_rows(base: dict[str, Any]) -> list[Row]:
    """The same world in two trees: speed of the second over the first."""
    cases = {
        "fixed corotated, float32, MLS": (MLS, ">= 2.5 AVX-512, 1.8 AVX2"),
        "fixed corotated, float32, gradient": ({}, ""),
        "neo-Hookean, float32, MLS": ({"material": "neo-hookean", **MLS}, ""),
        "fixed corotated, float64, gradient": ({"precision": "double"}, ""),
        "snow, float64, gradient": ({"material": "snow", "precision": "double"}, ">= 2"),
        "spray, 1 per cell, float32, gradient": ({"world": "spray"}, ""),
    }
    return [
        Row("trees", f"{name}: after / before", goal, base | case, base | case, trees=("after", "before"))
        for name, (case, goal) in cases.items()
    ]


def choice_rows(base: dict[str, Any]) -> list[Row]:
    """What a choice costs in one tree."""
    mls = base | MLS
    several, one = base["threads"], {"threads": 1}
    found = [
        Row("choices", "gradient / MLS", "<= 1.25", base, mls, of_time=True),
        *(
            Row("choices", f"PolyPIC {modes} / APIC", goal, base | {"modes": modes}, base, of_time=True)
            for modes, goal in ((8, "<= 1.15"), (11, "<= 1.15"), (27, "<= 1.5"))
        ),
        Row("choices", "float64 / float32, MLS", ">= 0.55", mls | {"precision": "double"}, mls),
        Row("choices", "float64 / float32, gradient", ">= 0.55", base | {"precision": "double"}, base),
        Row("choices", "spray / cube, MLS", "", mls | {"world": "spray"}, mls),
    ]
    if several > 1:
        found.append(Row("choices", f"{several} threads / 1, MLS", ">= 1.85", mls, mls | one))
        found.append(Row("choices", f"{several} threads / 1, gradient", ">= 1.85", base, base | one))
    return found


def size_rows(base: dict[str, Any], sizes: list[float]) -> list[Row]:
    """Throughput and memory with more particles."""
    mls = base | MLS
    return [
        Row(
            "sizes",
            f"{size:.0e} / {base['particles']:.0e} particles, MLS",
            ">= 0.9" + ("; <= 24 GiB" if size >= 2e7 else ""),
            mls | {"particles": size},
            mls,
        )
        for size in sizes
    ]


def measure(row: Row, options: argparse.Namespace) -> Result:
    """Both worlds of a row in turn."""
    trees = {"before": options.before, "after": options.after}
    pair = [Turn(trees[tree], world) for tree, world in zip(row.trees, (row.first, row.second), strict=True)]
    rounds = alternate(pair, options.rounds, options.seconds)
    for turn in pair:
        turn.close()
    ratios = {}
    for clock in ("wall", "cpu"):
        times = [[a[clock] / a["particle_steps"] for a in answers] for answers in rounds]
        ratios[clock] = Spread.of([a / b if row.of_time else b / a for a, b in times])
    rates = [statistics.median(r[k]["particle_steps"] / r[k]["wall"] for r in rounds) / 1e6 for k in (0, 1)]
    peaks = [max(r[k]["peak_bytes"] for r in rounds) for k in (0, 1)]
    return Result(
        row,
        (pair[0].particles, pair[1].particles),
        (rates[0], rates[1]),
        ratios["wall"],
        ratios["cpu"],
        (peaks[0], peaks[1]),
        rounds,
    )


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--before", type=Path, help="tree to compare with")
    parser.add_argument("--after", type=Path, default=Path(), help="tree to look at (default: this folder)")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=list(GROUPS), help="groups of rows")
    parser.add_argument("--rows", nargs="+", default=[""], help="parts of the names of rows")
    parser.add_argument("--particles", type=float, default=1e6)
    parser.add_argument("--sizes", type=float, nargs="+", default=[4e6, 2e7])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9, help="turns of each world")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a turn, about")
    parser.add_argument("--output", type=Path, default=Path("out/benchmarks/before_after.json"))
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, write the JSON."""
    options = parse()
    if options.before is None and "trees" in options.only:
        sys.exit("give the tree to compare with: --before TREE; or --only choices sizes")
    host, results = machine(), []
    print(
        f"{host['processor']}, {host['widest']}, {options.threads} threads, load {host['load']:.2f} before\n"
    )
    print("| case | particles | first M/s | second M/s | ratio of | wall | CPU | goal | peak GiB |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for row in rows(options):
        if any(part in row.name for part in options.rows):
            results.append(measure(row, options))
            print(results[-1].line(), flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    found = {"machine": host, "rows": [asdict(result) for result in results]}
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\nwrote {options.output}")


if __name__ == "__main__":
    main()
