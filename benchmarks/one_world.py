"""Time two trees of Continua against each other, in turn, so that a busy machine disturbs both alike.

    python benchmarks/one_world.py --before ../before --after .                  # about five minutes
    python benchmarks/one_world.py --before ../before --after . --rounds 4 --particles 1e5 --cases float32

For every case both trees build the same world, each in its own process, and wait (`turns.py`). Then they take turns: a
few steps of one, the same steps of the other, the first one alternating. The table shows the median over the rounds of
the ratio after / before, with its quartiles, of wall time and of the CPU time of all threads, and the ratio of the
fastest turns; below 1 the second tree is faster. When the machine is not quiet, read the last two, with --threads 1 if
need be: threads that wait for each other use CPU time. `before_after.py` does the same with larger worlds.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import asdict
from pathlib import Path
from typing import Any

from turns import Spread, Turn, alternate, machine

CASES = {
    "explicit-float32": {"precision": "single"},
    "explicit-float64": {"precision": "double"},
    "floor-float32": {"precision": "single", "floor": True},
    "floor-float64": {"precision": "double", "floor": True},
    "krylov-float32": {"precision": "single", "implicit": True},
    "krylov-float64": {"precision": "double", "implicit": True},
}


def cost(answer: dict[str, Any]) -> dict[str, float]:
    """Seconds of a step, or of one product of a Krylov solve with all that belongs to it."""
    if not answer.get("products"):
        return {clock: answer[clock] / answer["steps"] for clock in ("wall", "cpu")}
    wall = answer["seconds_solve"] / answer["products"]
    return {"wall": wall, "cpu": answer["cpu"] / answer["wall"] * wall}


def compare(case: str, options: argparse.Namespace) -> dict[str, Any]:
    """Both trees in turn on one case."""
    world = {"world": "cube", "particles": options.particles, "threads": options.threads, **CASES[case]}
    trees = [Turn(path, world) for path in (options.before, options.after)]
    rounds = [[cost(a) for a in pair] for pair in alternate(trees, options.rounds, options.seconds)]
    for tree in trees:
        tree.close()
    found: dict[str, Any] = {"case": case, "particles": trees[0].particles, "rounds": rounds}
    for clock in ("wall", "cpu"):
        found[f"{clock}_ratio"] = asdict(
            Spread.of([after[clock] / before[clock] for before, after in rounds])
        )
        found[f"{clock}_ms"] = [1e3 * statistics.median(pair[k][clock] for pair in rounds) for k in (0, 1)]
    return found


def row(found: dict[str, Any]) -> str:
    """Line of the table."""
    cells = [found["case"], f"{found['particles']}"]
    for clock in ("wall", "cpu"):
        before, after = found[f"{clock}_ms"]
        cells += [f"{before:.2f}", f"{after:.2f}", str(Spread(**found[f"{clock}_ratio"]))]
    before, after = (min(pair[k]["wall"] for pair in found["rounds"]) for k in (0, 1))
    return "| " + " | ".join([*cells, f"{after / before:.3f}"]) + " |"


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="tree to compare with")
    parser.add_argument("--after", type=Path, required=True, help="tree to look at")
    parser.add_argument("--particles", type=float, default=2e5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=12, help="turns of each tree")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn, about")
    parser.add_argument(
        "--cases", nargs="*", default=[""], help="parts of the names of cases: " + ", ".join(CASES)
    )
    parser.add_argument("--json", type=Path, help="where to write all numbers")
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, write the JSON."""
    options = parse()
    load = machine()["load"]
    print(f"{options.threads} threads, {options.rounds} rounds, load {load} before the start\n")
    print("| case | particles | wall ms before | after | ratio | CPU ms before | after | ratio | fastest |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    results = []
    for case in CASES:
        if any(part in case for part in options.cases):
            results.append(compare(case, options))
            print(row(results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
