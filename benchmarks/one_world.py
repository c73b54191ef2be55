"""Time two trees of Continua against each other, in turn, so that a busy machine disturbs both alike.

    python benchmarks/one_world.py --before ../before --after .                  # about five minutes
    python benchmarks/one_world.py --before ../before --after . --rounds 4 --particles 1e5 --cases float32

A tree is a checkout with an interpreter of its own in .venv or .dev, or the path of an interpreter. For every case both
trees build the same world, each in its own process, and wait. Then they take turns: a few steps of one, the same steps
of the other, the first one alternating. The table shows the median over the rounds of the ratio after / before, with
its quartiles, of wall time and of the CPU time of all threads, and the ratio of the fastest turns; below 1 the second
tree is faster. When the machine is not quiet, read the last two, with --threads 1 if need be: threads that wait for
each other use CPU time. Only what both trees surely have is used: `Simulation`, `add`, `step`, `diagnostics`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

WARM_UP = 3  # steps before the clock starts
CASES = {
    "explicit-float32": {"precision": "single"},
    "explicit-float64": {"precision": "double"},
    "floor-float32": {"precision": "single", "floor": True},
    "floor-float64": {"precision": "double", "floor": True},
    "krylov-float32": {"precision": "single", "implicit": True},
    "krylov-float64": {"precision": "double", "implicit": True},
}


# ---- in a tree ----------------------------------------------------------------------------------------------------


def world(particles: float, precision: str, floor: bool = False, implicit: bool = False) -> Any:
    """A cube of one material, 8 particles per cell, with a smooth velocity; on a floor if asked for."""
    import numpy as np

    import continua as ct

    dx, side = 0.01, 0.01 * round((particles / 8) ** (1 / 3))
    stiff = ct.materials.FixedCorotated(1e5, 0.3, 1000.0)
    dt = 2e-3 if implicit else 0.3 * dx / stiff.wave_speed()
    options = {"integrator": "semi-implicit"} if implicit else {}
    sim = ct.Simulation(dx, (0.0, -9.81, 0.0), precision=precision, dt=dt, force_dt=True, **options)
    cube = ct.shapes.Box((0.0, side / 2, 0.0), (side,) * 3)
    sim.add(cube, stiff, velocity=lambda x: 0.05 * np.sin(9.0 * x[:, [1, 2, 0]] / side), sampling="jittered")
    if floor:
        sim.add(ct.colliders.Plane((0, 1, 0), friction=0.3))
    return sim


def work(case: str, particles: float, threads: int) -> None:
    """Answer every number of steps on the standard input with what they took; the first answer tells who this is."""
    import continua as ct

    ct.set_threads(threads)
    settings = dict(CASES[case])
    sim = world(particles, **settings)
    for _ in range(WARM_UP):
        sim.step()
    print(json.dumps({"continua": ct.__file__, "particles": sim.particles}), flush=True)
    for line in sys.stdin:
        print(json.dumps(timed(sim, int(line), bool(settings.get("implicit")))), flush=True)


def timed(sim: Any, steps: int, implicit: bool) -> dict[str, float]:
    """Seconds of a step, or of one product of a Krylov solve with all that belongs to it."""
    before, wall, cpu = sim.diagnostics(), time.perf_counter(), time.process_time()
    for _ in range(steps):
        sim.step()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if not implicit:
        return {"wall": wall / steps, "cpu": cpu / steps}
    after = sim.diagnostics()
    products = after["total_krylov_iterations"] - before["total_krylov_iterations"]
    solving = after["seconds_solve"] - before["seconds_solve"]
    return {"wall": solving / products, "cpu": cpu * solving / wall / products, "products": products / steps}


# ---- between trees ------------------------------------------------------------------------------------------------


class Tree:
    """A process that waits in one tree."""

    def __init__(self, path: Path, case: str, options: argparse.Namespace) -> None:
        words = [interpreter(path), __file__, "--work", case]
        words += ["--particles", options.particles, "--threads", options.threads]
        self.process = subprocess.Popen(
            list(map(str, words)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.about = self.answer()
        home = Path(self.about["continua"]).resolve()
        if path.is_dir() and path.resolve() not in home.parents:
            sys.exit(f"the interpreter of {path} imports {home}, which is another tree")

    def answer(self) -> dict[str, Any]:
        """Next line that the process prints."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args} has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def steps(self, count: int) -> dict[str, Any]:
        """Time some steps."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def interpreter(path: Path) -> Path:
    """Python of a tree, or the path itself if it is one."""
    if path.is_file():
        return path
    for folder in (".dev", ".venv"):
        if (path / folder / "bin/python").exists():
            return (path / folder / "bin/python").absolute()
    sys.exit(f"{path} has no .dev/bin/python or .venv/bin/python; give the path of an interpreter")


def compare(case: str, options: argparse.Namespace) -> dict[str, Any]:
    """Both trees in turn on one case."""
    trees = [Tree(path, case, options) for path in (options.before, options.after)]
    step = min(tree.steps(1)["wall"] * tree.steps(1).get("products", 1) for tree in trees)
    count = max(1, round(options.seconds / step))
    rounds = []
    for number in range(options.rounds):
        pair: list[dict[str, Any]] = [{}, {}]
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            pair[which] = trees[which].steps(count)
        rounds.append(pair)
    for tree in trees:
        tree.close()
    found = {"case": case, "particles": trees[0].about["particles"], "steps": count, "rounds": rounds}
    for clock in ("wall", "cpu"):
        ratios = [after[clock] / before[clock] for before, after in rounds]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        found[f"{clock}_ratio"] = {"low": low, "median": middle, "high": high}
        found[f"{clock}_ms"] = [1e3 * statistics.median(pair[k][clock] for pair in rounds) for k in (0, 1)]
    return found


def row(found: dict[str, Any]) -> str:
    """Line of the table."""
    cells = [found["case"], f"{found['particles']}"]
    for clock in ("wall", "cpu"):
        ratio, (before, after) = found[f"{clock}_ratio"], found[f"{clock}_ms"]
        cells += [
            f"{before:.2f}",
            f"{after:.2f}",
            f"{ratio['median']:.3f} ({ratio['low']:.3f}-{ratio['high']:.3f})",
        ]
    before, after = (min(pair[k]["wall"] for pair in found["rounds"]) for k in (0, 1))
    return "| " + " | ".join([*cells, f"{after / before:.3f}"]) + " |"


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--before", type=Path, help="tree to compare with")
    parser.add_argument("--after", type=Path, help="tree to look at")
    parser.add_argument("--particles", type=float, default=2e5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=12, help="turns of each tree")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn, about")
    parser.add_argument(
        "--cases", nargs="*", default=[""], help="parts of the names of cases: " + ", ".join(CASES)
    )
    parser.add_argument("--json", type=Path, help="where to write all numbers")
    parser.add_argument("--work", choices=CASES, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, write the JSON."""
    options = parse()
    if options.work:
        work(options.work, options.particles, options.threads)
        return
    if options.before is None or options.after is None:
        sys.exit("give two trees: --before TREE --after TREE")
    load = Path("/proc/loadavg").read_text().split()[0] if Path("/proc/loadavg").exists() else "unknown"
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
