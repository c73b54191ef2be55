"""Elastic rods: segments per second of energy, forces and second derivatives; see README.md.

    python benchmarks/rods.py                                # 500 strands of 60 segments, one thread
    python benchmarks/rods.py --strands 2000 --threads 2

Rods are bent and a step away from their accepted state. Every kernel is timed in turn, several rounds; the shortest
time counts. A second table has whole steps of clamped hair under the optimizer for more and more strands.
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
from continua.geometry.curves import Curves
from continua.materials import Rod
from continua.mesh import Rods

Array = NDArray[np.float64]
SEGMENTS, LENGTH = 60, 0.3  # of a strand; [m]
ROUND, ELLIPTIC = Rod(E=1e7, radius=2e-4), Rod(E=1e7, radius=(2e-4, 1e-4))
STEPS = 3


def roots(strands: int) -> Array:
    side = int(np.ceil(np.sqrt(strands)))
    grid = np.stack(np.meshgrid(np.arange(side), [0], np.arange(side), indexing="ij"), -1).reshape(-1, 3)
    return 0.005 * grid[:strands]


def hair(strands: int, curl: float) -> Curves:
    """Upright strands, each a coil of this radius [m]."""
    s = np.linspace(0, 1, SEGMENTS + 1)
    one = np.stack([curl * (np.cos(10 * s) - 1), LENGTH * s, curl * np.sin(10 * s)], axis=1)
    points = (roots(strands)[:, None] + one).reshape(-1, 3)
    return Curves(points, [SEGMENTS + 1] * strands)


def bent(x: Array, amount: float) -> Array:
    """All strands bent and shaken a little."""
    height, rng = x[:, 1:2] / LENGTH, np.random.default_rng(0)
    return (
        x
        + amount * np.hstack([np.sin(2 * height), 0 * height, 0.3 * height**2])
        + 0.001 * amount * rng.normal(size=x.shape)
    )


def shortest(functions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Shortest time [s] of every function, measured in turn."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def kernels(curves: Curves, material: Rod, rounds: int) -> dict[str, float]:
    """Segments per second [1e6]."""
    rods = Rods(curves, material)
    rods.accept(bent(curves.points, 0.03))
    x = bent(curves.points, 0.031)
    hessian = rods.hessian(x)
    found = shortest(
        {
            "energy": lambda: rods.value(x),
            "forces": lambda: rods.gradient(x),
            "derivatives": lambda: rods.hessian(x, into=hessian),
            "product": lambda: hessian.product(x),
            "diagonal": hessian.diagonal,
        },
        rounds,
    )
    return {name: len(curves.segments) / seconds / 1e6 for name, seconds in found.items()}


def steps(strands: int) -> tuple[float, float, int]:
    """Seconds per step, its Krylov iterations, bytes per point of hair that falls over."""
    curves = hair(strands, 0.0)
    sim = ct.Simulation(0.01, (3.0, -9.81, 0.0), integrator="optimization")
    clamp = ct.Scripted(np.concatenate([curves.offsets[:-1], curves.offsets[:-1] + 1]))
    body = sim.add(
        ct.Strands(curves, ROUND, scripted=clamp, drag=1.0, contact=ct.PenaltyContact(collisions="off"))
    )
    sim.step(2e-3)
    start, iterations = time.perf_counter(), 0.0
    for _ in range(STEPS):
        sim.step(2e-3)
        iterations += sim.diagnostics()["krylov_iterations"]
    return (time.perf_counter() - start) / STEPS, iterations / STEPS, body.nbytes // len(body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--strands", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    ct.set_threads(arguments.threads)
    console = Console()
    table = Table("rod", "energy", "forces", "derivatives", "product", "diagonal", box=MARKDOWN)
    for name, material, curl in (
        ("round, straight", ROUND, 0.0),
        ("elliptic, straight", ELLIPTIC, 0.0),
        ("round, curled", ROUND, 0.02),
        ("elliptic, curled", ELLIPTIC, 0.02),
    ):
        speeds = kernels(hair(arguments.strands, curl), material, arguments.rounds)
        table.add_row(name, *(f"{speed:.1f}" for speed in speeds.values()))
    console.print("10^6 segments per second")
    console.print(table)
    table = Table(
        "strands",
        "s per step",
        "Krylov iterations",
        "us per segment and step",
        "bytes per point",
        box=MARKDOWN,
    )
    for strands in (200, 2000, 20000):
        seconds, iterations, size = steps(strands)
        table.add_row(
            str(strands),
            f"{seconds:.3f}",
            f"{iterations:.0f}",
            f"{1e6 * seconds / strands / SEGMENTS:.2f}",
            str(size),
        )
    console.print(table)


if __name__ == "__main__":
    main()
