"""Speed of the kernels of an implicit step: energy, forces, tangents, Hessian products, positions.

    python benchmarks/implicit.py                                # 1e6 particles, 3D, quadratic, double
    python benchmarks/implicit.py --particles 1e5 --material snow --kernel cubic

A jittered cube at 8 particles per cell under a smooth velocity. All kernels run in turn, for comparison also the
transfer to the grid of an explicit step, and the median over the rounds is reported.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua import _core, materials
from continua.bodies.points import ParticleBody
from continua.geometry.shapes import Box
from continua.simulation import Simulation

DX = 0.01  # [m]
MATERIALS = {
    "fixed-corotated": materials.FixedCorotated(1e6, 0.3),
    "neo-hookean": materials.NeoHookean(1e6, 0.3),
    "snow": materials.Snow(),
    "drucker-prager": materials.DruckerPrager(),
}
GATE = 5.0  # million products of a particle per second: fixed corotated, quadratic, 3D, double, two cores


def cube(particles: int, material: materials.NativeMaterial, kernel: str, precision: str) -> Simulation:
    """A jittered cube that has moved for a few steps, so that F is not the identity."""
    cells = max(2, round((particles / 8) ** (1 / 3)))
    side = cells * DX
    dt = 0.3 * DX / material.wave_speed()
    sim = Simulation(DX, precision=precision, kernel=kernel, dt=dt, force_dt=True)

    def shaking(x: np.ndarray) -> np.ndarray:
        return 2.0 * np.sin(x[:, [1, 2, 0]] * (2 * np.pi / side))

    sim.add(Box((0, 0, 0), (side, side, side)), material, velocity=shaking, sampling="jittered")
    for _ in range(3):
        sim.step()
    return sim


class Kernels:
    """The calls of one implicit step, with their arguments."""

    def __init__(self, sim: Simulation, dt: float) -> None:
        field, body = sim.steppers["main"].field, sim.bodies[0]
        assert isinstance(body, ParticleBody) and isinstance(body.material, materials.NativeMaterial)
        field.sort([body])
        grid, exchange, particles = field.grid, field.exchanges[0][0], body.set
        d, dtype, model = sim.dimension, field.dtype, body.material.model
        self.velocity = np.zeros(grid.node_shape(), dtype)
        x = grid.node_positions()
        self.velocity[..., :d] = 0.5 * np.sin(20 * x[..., [1, 2, 0]])
        self.velocity[..., 3] = 1
        self.nodes = np.empty_like(self.velocity)
        tangents = np.empty((_core.tangent_rows(model, d), particles.arrays.capacity), dtype)
        place = {
            "particles": particles.arrays,
            "lattice": field.lattice,
            "order": exchange.order,
            "dimension": d,
            "degree": field.degree,
        }
        law = {"parameters": body.parameters, "material": model, "dt": dt}
        read = {"links": exchange.links, "velocity": self.velocity}
        write = {"add": False, "nodes": self.nodes}
        self.calls: dict[str, Callable[[], object]] = {
            "energy": lambda: _core.implicit_energy(**place, **law, **read),
            "forces": lambda: _core.implicit_forces(**place, **law, **read, **write),
            "tangents": lambda: _core.implicit_prepare(
                **place, **law, **read, positive=False, tangents=tangents
            ),
            "tangents, projected": lambda: _core.implicit_prepare(
                **place, **law, **read, positive=True, tangents=tangents
            ),
            "product": lambda: _core.implicit_product(
                **place, links=exchange.links, direction=self.velocity, tangents=tangents, **write
            ),
            "diagonal": lambda: _core.implicit_diagonal(**place, **law, links=exchange.links, **write),
            "positions": lambda: _core.implicit_positions(
                **place, out=particles.next_arrays, keys=grid.keys, velocity=self.velocity, dt=dt
            ),
            "explicit P2G": lambda: field.scatter(self.nodes, dt, momentum=True, stress=True),
        }


def seconds_of(call: Callable[[], object], least: float) -> float:
    """Mean duration [s] of one call, repeated for at least that long."""
    call()
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < least or count < 2:
        call()
        count += 1
    return spent / count


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--particles", type=float, default=1e6)
    parser.add_argument("--material", choices=MATERIALS, default="fixed-corotated")
    parser.add_argument("--kernel", choices=("linear", "quadratic", "cubic"), default="quadratic")
    parser.add_argument("--precision", choices=("single", "double"), default="double")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="per kernel and round")
    options = parser.parse_args()
    ct.set_threads(options.threads)
    sim = cube(int(options.particles), MATERIALS[options.material], options.kernel, options.precision)
    kernels = Kernels(sim, dt=1e-3)
    skip = {"positions"} if options.kernel == "linear" else set()
    times: dict[str, list[float]] = {name: [] for name in kernels.calls if name not in skip}
    for _ in range(options.rounds):
        for name in times:
            times[name].append(seconds_of(kernels.calls[name], options.seconds))
    setting = (options.material, options.kernel, options.precision, f"{options.threads} threads")
    title = f"{sim.particles} particles, {', '.join(setting)}"
    table = Table("kernel", "ns/particle", "million/s", title=title, box=MARKDOWN)
    for name, found in times.items():
        rate = sim.particles / statistics.median(found)
        table.add_row(name, f"{1e9 / rate:.1f}", f"{1e-6 * rate:.2f}")
    console = Console()
    console.print(table)
    console.print(f"gate: {GATE:g} million products/s for fixed corotated, quadratic, double, two threads")


if __name__ == "__main__":
    main()
