"""Cost of the transfer schemes: whole explicit 3D steps relative to APIC; see README.md.

    python benchmarks/transfers.py                       # 1e6 particles
    python benchmarks/transfers.py --particles 1e5 --rounds 1

Float32, quadratic splines, the gradient form of the force. All schemes run in turn, APIC first and last in every round;
a ratio is taken within the round, against the mean of its two APIC runs, and its median over the rounds reported.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua import benchmark, materials, transfers
from continua.integrators import SymplecticEuler
from continua.transfers import Transfer

SCHEMES: dict[str, Transfer] = {
    "pic": transfers.PIC(),
    "flip": transfers.FLIP(),
    "rpic": transfers.RPIC(),
    **{f"polypic {modes}": transfers.PolyPIC(modes=modes) for modes in (8, 11, 14, 18, 27)},
}
TRANSFERS = ("p2g", "g2p")  # phases that differ between schemes


def measure(scheme: Transfer, particles: int, seconds: float) -> dict[str, float]:
    """Nanoseconds per particle and step: every phase and their total."""
    sim = benchmark.cube(particles, materials.FixedCorotated(), precision="single", transfer=scheme)
    return benchmark.measure(sim, seconds)


def one_round(particles: int, seconds: float) -> dict[str, dict[str, float]]:
    """Every scheme once, APIC twice (its mean)."""
    first = measure(transfers.APIC(), particles, seconds)
    rows = {name: measure(scheme, particles, seconds) for name, scheme in SCHEMES.items()}
    last = measure(transfers.APIC(), particles, seconds)
    return {"apic": {key: (first[key] + last[key]) / 2 for key in first}} | rows


def step_table(rounds: Sequence[dict[str, dict[str, float]]], title: str) -> Table:
    """Speed, and cost over APIC of the whole step and of the two transfers alone."""
    table = Table(title=title, box=MARKDOWN)
    columns = (
        "scheme",
        "million/s",
        *(f"{phase} ns" for phase in SymplecticEuler.PHASES[:4]),
        "step / apic",
        "transfers / apic",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "scheme" else "right")
    for name in rounds[0]:
        times = {key: statistics.median(r[name][key] for r in rounds) for key in rounds[0][name]}
        whole = statistics.median(r[name]["total ns"] / r["apic"]["total ns"] for r in rounds)
        alone = statistics.median(transfer_time(r[name]) / transfer_time(r["apic"]) for r in rounds)
        phases = [f"{times[f'{phase} ns']:.0f}" for phase in SymplecticEuler.PHASES[:4]]
        table.add_row(name, f"{times['million/s']:.2f}", *phases, f"{whole:.2f}", f"{alone:.2f}")
    return table


def transfer_time(row: dict[str, float]) -> float:
    """Nanoseconds of both transfers."""
    return sum(row[f"{phase} ns"] for phase in TRANSFERS)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--particles", type=float, default=1e6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="per measurement")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    ct.set_threads(given.threads)
    load = os.getloadavg()[0]
    rounds = [one_round(int(given.particles), given.seconds) for _ in range(given.rounds)]
    title = f"whole step, {int(given.particles):,} particles, float32, {given.threads} threads, load {load:.1f} before"
    Console(width=120).print(step_table(rounds, title))


if __name__ == "__main__":
    main()
