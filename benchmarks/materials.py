"""Cost of the materials: stress and flow alone, the polar SVD, and whole steps; see README.md.

    python benchmarks/materials.py                       # everything, 1e6 particles
    python benchmarks/materials.py --particles 1e5 --rounds 1

Kernels run on one thread over arrays that fit into the cache. Whole steps run in turn, neo-Hookean against every other
material, several rounds; a ratio is taken within each round and its median reported.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua import _core, benchmark, materials
from continua.materials import NativeMaterial

MATERIALS: list[NativeMaterial] = [
    materials.NeoHookean(),
    materials.FixedCorotated(),
    materials.QuadraticNeoHookean(),
    materials.DeviatoricCorotated(),
    materials.Hencky(),
    materials.Snow(),
    materials.Rankine(),
    materials.VonMises(),
    materials.DruckerPrager(),
    materials.OldroydB(),
    materials.HerschelBulkley(),
    materials.Liquid(),
]
POINTS = 2048  # per call of a kernel: about 200 kB in double precision


def best(function: Callable[[], None], count: int, repeats: int = 200) -> float:
    """Shortest time of a call [ns] per point."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times) / count * 1e9


def kernel_times(material: NativeMaterial, dtype: type[np.floating]) -> tuple[float, float]:
    """Nanoseconds per particle and core of the Kirchhoff stress and of the flow, 3D, strains of about 5 %."""
    rng = np.random.default_rng(0)
    F = np.eye(3).reshape(9, 1) + 0.05 * rng.normal(size=(9, POINTS))
    trial, grad_v = F.astype(dtype), rng.normal(size=F.shape).astype(dtype)
    parameters = np.repeat(material.parameter_values()[:, None], POINTS, axis=1).astype(dtype)
    initial = (
        np.array([np.full(POINTS, v) for v in material.states.values()]).reshape(-1, POINTS).astype(dtype)
    )
    f, z, out = trial.copy(), initial.copy(), np.empty_like(trial)

    def stress() -> None:
        _core.material_kirchhoff(material.model, trial, grad_v, parameters, initial, out)

    def flow() -> None:
        f[:], z[:] = trial, initial
        _core.material_flow(material.model, f, 1e-3, grad_v, parameters, z)

    return best(stress, POINTS), best(flow, POINTS) if material.flows else 0.0


def kernel_table() -> Table:
    """Stress and flow of every material in both precisions."""
    table = Table(title="ns per particle and core", box=MARKDOWN)
    for column in ("material", "stress f32", "flow f32", "stress f64", "flow f64"):
        table.add_column(column, justify="left" if column == "material" else "right")
    for material in MATERIALS:
        cells = [f"{ns:.0f}" for dtype in (np.float32, np.float64) for ns in kernel_times(material, dtype)]
        table.add_row(material.label, *cells)
    return table


def svd_table() -> Table:
    """The polar SVD beside NumPy: all matrices in one call, and one call per matrix."""
    rng = np.random.default_rng(0)
    table = Table(title="3 x 3 SVD, random matrices, ns per matrix and core", box=MARKDOWN)
    for column in ("precision", "continua", "numpy, loop", "ratio", "numpy, batch", "ratio", "error / |F|"):
        table.add_column(column, justify="right")
    for dtype in (np.float32, np.float64):
        F = rng.normal(size=(9, POINTS)).astype(dtype)
        U, s, V = np.empty_like(F), np.empty((3, POINTS), dtype), np.empty_like(F)
        stack = np.ascontiguousarray(F.T).reshape(-1, 3, 3)
        ours = best(lambda F=F, U=U, s=s, V=V: _core.polar_svd(F, U, s, V), POINTS)
        few = stack[:256]
        loop = best(lambda few=few: [np.linalg.svd(m) for m in few] and None, len(few), 10)
        batch = best(lambda stack=stack: np.linalg.svd(stack) and None, POINTS, 20)
        u, v = (m.T.reshape(-1, 3, 3).astype(np.float64) for m in (U, V))
        error = np.abs((u * s.T[:, None]) @ v.transpose(0, 2, 1) - stack).max(axis=(1, 2))
        relative = (error / np.linalg.norm(stack, axis=(1, 2))).max()
        row = [f"{ours:.0f}", f"{loop:.0f}", f"{loop / ours:.0f}", f"{batch:.0f}", f"{batch / ours:.0f}"]
        table.add_row(np.dtype(dtype).name, *row, f"{relative:.1e}")
    return table


def step_table(particles: int, rounds: int, seconds: float, threads: int) -> Table:
    """Whole explicit steps relative to neo-Hookean, float32."""
    ct.set_threads(threads)
    reference, *others = MATERIALS
    table = Table(title=f"whole step, {particles:,} particles, float32, {threads} threads", box=MARKDOWN)
    for column in ("material", "form", "million/s", "cost / neo-Hookean"):
        table.add_column(column, justify="left" if column in ("material", "form") else "right")
    for material in others:
        for form in ("gradient", "mls"):
            rates, ratios = [], []
            for _ in range(rounds):
                pair = [speed(m, form, particles, seconds) for m in (reference, material)]
                rates.append(pair[1])
                ratios.append(pair[0] / pair[1])
            median = statistics.median
            table.add_row(material.label, form, f"{median(rates):.2f}", f"{median(ratios):.2f}")
    return table


def speed(material: NativeMaterial, form: str, particles: int, seconds: float) -> float:
    """Million particle-steps per second."""
    sim = benchmark.cube(particles, material, precision="single", stress_transfer=form)
    return float(benchmark.measure(sim, seconds)["million/s"])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--particles", type=float, default=1e6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="per measurement of whole steps")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=("kernels", "svd", "steps"))
    given = parser.parse_args()
    console = Console(width=100)
    ct.set_threads(1)
    if given.only in (None, "kernels"):
        console.print(kernel_table())
    if given.only in (None, "svd"):
        console.print(svd_table())
    if given.only in (None, "steps"):
        console.print(step_table(int(given.particles), given.rounds, given.seconds, given.threads))


if __name__ == "__main__":
    main()
