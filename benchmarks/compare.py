"""Compare Continua with Taichi, Warp and Numba, and with itself, on one scene; see README.md.

    python benchmarks/compare.py                                  # all sizes, all materials, 3 rounds
    python benchmarks/compare.py --sizes 1e5 --rounds 1           # a quick look

Contenders run in turn (A B C, A B C, ...), each in its own process. A ratio is taken within each round and
its median over the rounds is reported: a machine that slows down for a while slows both sides.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import turns
from measure import Contender, installed
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

MATERIALS = ("fixed-corotated", "neo-hookean")
PEERS = ("taichi", "warp", "numba", "numba_tuned")
SINGLE_THREADED = ("warp",)  # Warp runs CPU kernels on one thread


@dataclass
class Results:
    """Rates of every contender, one per finished round, in million particle-steps per second."""

    rates: dict[Contender, list[float]] = field(default_factory=dict)
    cpu: dict[Contender, list[float]] = field(default_factory=dict)  # nanoseconds per particle-step
    particles: dict[Contender, int] = field(default_factory=dict)

    def rate(self, contender: Contender) -> float:
        """Median rate over the rounds."""
        return statistics.median(self.rates[contender])

    def ratio(self, fast: Contender, slow: Contender) -> float:
        """Median over the rounds of the ratio within a round."""
        pairs = zip(self.rates[fast], self.rates[slow], strict=True)
        return statistics.median(a / b for a, b in pairs)


@dataclass(frozen=True)
class Comparison:
    """One row about Continua alone: how much faster the first setting is than the second."""

    name: str
    fast: Contender
    slow: Contender


def main() -> None:
    """Read the command line, measure, print the tables, write the JSON."""
    options = parse()
    rows = peer_rows(options)
    comparisons = own_comparisons(options)
    wanted = unique([*rows, *(c for pair in comparisons for c in (pair.fast, pair.slow))])
    host = machine()  # before the runs, so that the load it notes is not our own
    results = measure_in_turn(wanted, options.rounds, options.seconds)
    console = Console(width=140)
    if rows:
        console.print(peer_table(rows, results, options.threads))
    if comparisons:
        console.print(own_table(comparisons, results))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report(host, results, rows, comparisons, options), indent=2) + "\n")
    print(f"wrote {options.output}")


def count(text: str) -> int:
    """Number of particles from text such as 1e6."""
    return int(float(text))


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description="Speed of Continua next to other libraries and to itself.")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("--sizes", type=count, nargs="+", default=[100_000, 1_000_000, 4_000_000])
    parser.add_argument("--materials", nargs="+", choices=MATERIALS, default=list(MATERIALS))
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=None, help="default: those installed")
    parser.add_argument(
        "--threads", type=int, default=cores, help="threads of the parallel runs (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="measured time per contender and round")
    parser.add_argument("--base", type=count, help="size of the rows about Continua alone")
    parser.add_argument("--only", choices=("peers", "own"), help="measure one of the two tables")
    parser.add_argument("--without-continua", action="store_true", help="measure the peers alone")
    parser.add_argument("--output", type=Path, default=Path("out/benchmarks/compare.json"))
    options = parser.parse_args()
    options.sizes = sorted(set(options.sizes))
    options.base = options.base or (1_000_000 if 1_000_000 in options.sizes else options.sizes[-1])
    missing = [name for name in PEERS if not installed(name)]
    if options.peers is None:
        options.peers = [name for name in PEERS if name not in missing]
        if missing:
            print(f"left out, not installed (see README.md): {', '.join(missing)}", file=sys.stderr)
    elif set(options.peers) & set(missing):
        parser.error(f"not installed: {', '.join(missing)}; see benchmarks/README.md")
    if not options.without_continua and not installed("continua"):
        parser.error("continua is not installed; install it, or pass --without-continua")
    return options


def peer_rows(options: argparse.Namespace) -> list[Contender]:
    """Contenders of the first table, grouped by size and material."""
    if options.only == "own":
        return []
    rows: list[Contender] = []
    for particles in options.sizes:
        for material in options.materials:
            base = Contender("continua", particles, material, options.threads)
            if not options.without_continua:
                rows += [base, replace(base, stress_transfer="gradient"), replace(base, threads=1)]
            for name in options.peers:
                threads = 1 if name in SINGLE_THREADED else options.threads
                rows.append(replace(base, name=name, threads=threads))
    return unique(rows)


def own_comparisons(options: argparse.Namespace) -> list[Comparison]:
    """Rows of the second table: what each choice costs, measured around one base case."""
    if options.only == "peers" or options.without_continua:
        return []
    base = Contender("continua", options.base, options.materials[0], options.threads)
    rows = [
        Comparison("MLS over gradient stress transfer", base, replace(base, stress_transfer="gradient")),
        Comparison("float32 over float64", base, replace(base, precision="double")),
    ]
    if options.threads > 1:
        rows.append(Comparison(f"{options.threads} threads over 1", base, replace(base, threads=1)))
    for particles in options.sizes:
        if particles != options.base:
            large = replace(base, particles=particles)
            rows.append(Comparison(f"{particles:.0e} over {options.base:.0e} particles", large, base))
    return rows


def unique(contenders: Iterable[Contender]) -> list[Contender]:
    """The contenders without repeats, in order."""
    return list(dict.fromkeys(contenders))


def measure_in_turn(contenders: list[Contender], rounds: int, seconds: float) -> Results:
    """Measure every contender once per round, in turn, each in a fresh process."""
    results = Results()
    for turn in range(rounds):
        for contender in contenders:
            answer = run_worker(contender, seconds)
            results.rates.setdefault(contender, []).append(answer["rate"])
            results.cpu.setdefault(contender, []).append(answer["cpu_ns"])
            results.particles[contender] = answer["particles"]
            print(
                f"round {turn + 1}/{rounds}  {answer['particles']:>9,d}  {contender.material:<15s}  "
                f"{contender.label:<20s}  {contender.threads} threads  {answer['rate']:8.2f} M/s",
                file=sys.stderr,
                flush=True,
            )
    return results


def run_worker(contender: Contender, seconds: float) -> dict[str, Any]:
    """Answer of `measure.py` in a process of its own."""
    request = json.dumps({**asdict(contender), "seconds": seconds})
    script = Path(__file__).with_name("measure.py")
    done = subprocess.run([sys.executable, str(script), request], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{contender} failed:\n{done.stderr.strip()[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def peer_table(rows: list[Contender], results: Results, threads: int) -> Table:
    """Rates of all libraries, and Continua's rate over theirs with all threads and with one."""
    table = Table(title="Million particle-steps per second (float32, MLS form)", box=MARKDOWN)
    table.add_column("material")
    table.add_column("library")
    headings = (
        "particles",
        "threads",
        "CPU ns",
        "M/s",
        f"continua x{threads} over it",
        "continua x1 over it",
    )
    for heading in headings if threads > 1 else headings[:-1]:
        table.add_column(heading, justify="right")
    for row in rows:
        cpu = statistics.median(results.cpu[row])
        cells = [f"{results.particles[row]:,d}", str(row.threads), f"{cpu:.0f}", f"{results.rate(row):.2f}"]
        for number in thread_counts(threads):
            continua = Contender("continua", row.particles, row.material, number)
            cells.append(f"{results.ratio(continua, row):.2f}" if continua in results.rates else "")
        table.add_row(row.material, row.label, *cells)
    return table


def thread_counts(threads: int) -> list[int]:
    """Thread counts Continua is compared with: all, then one."""
    return [threads, 1] if threads > 1 else [1]


def own_table(comparisons: list[Comparison], results: Results) -> Table:
    """What each choice costs inside Continua."""
    table = Table(title="Continua against itself, million particle-steps per second", box=MARKDOWN)
    for heading in ("comparison", "first", "second", "ratio"):
        table.add_column(heading, justify="left" if heading == "comparison" else "right")
    for row in comparisons:
        fast, slow = results.rate(row.fast), results.rate(row.slow)
        table.add_row(row.name, f"{fast:.2f}", f"{slow:.2f}", f"{results.ratio(row.fast, row.slow):.2f}")
    return table


def report(
    host: dict[str, Any],
    results: Results,
    rows: list[Contender],
    comparisons: list[Comparison],
    options: argparse.Namespace,
) -> dict[str, Any]:
    """Everything measured, for the JSON file."""
    ratios = []
    for row in rows:
        for number in thread_counts(options.threads):
            continua = Contender("continua", row.particles, row.material, number)
            if row.name != "continua" and continua in results.rates:
                ratios.append(
                    {"over": asdict(row), "continua": asdict(continua), "ratio": results.ratio(continua, row)}
                )
    return {
        "unit": "million particle-steps per second",
        "machine": host,
        "rounds": options.rounds,
        "measurements": [
            {
                **asdict(c),
                "actual_particles": results.particles[c],
                "rates": rates,
                "median": results.rate(c),
                "cpu_ns": results.cpu[c],
            }
            for c, rates in results.rates.items()
        ],
        "continua_over_peers": ratios,
        "own": [{**asdict(row), "ratio": results.ratio(row.fast, row.slow)} for row in comparisons],
    }


def machine() -> dict[str, Any]:
    """Processor, cores, load and library versions, so that numbers can be read later."""
    versions = {}
    for package in ("continua", "taichi", "warp-lang", "numba", "numpy"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {**turns.machine(), "python": platform.python_version(), "versions": versions}


if __name__ == "__main__":
    main()
