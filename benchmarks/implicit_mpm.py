"""Steps and time of implicit MPM on snowballs: table 2.1 of J15 at small scale, in 2D.

    python benchmarks/implicit_mpm.py                      # 2000 particles per ball, three scenes, four schemes
    python benchmarks/implicit_mpm.py --particles 1e4 --scenes drop --schemes explicit optimization

Every scheme takes the longest steps with which it is stable: its CFL number starts at 0.6 and is halved until the
energy of the snow no longer rises by more than 2 % of the impact and no particle is deeper than 1.5 cells in an
obstacle. Two semi-implicit forms that keep obstacles out of the linear solve stand for comparison: "contact before the
solve" is that of J15 section 2.2, steps 6 and 7, without a collision of particles; "contact around the solve" stops the
nodes after it as well and foresees half of the change of the forces, which is no published scheme that we know of.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua.integrators import ImplicitGrid, Integrator, Optimization, SemiImplicit, Symplectic
from continua.integrators.grid_contact import NodeContact
from continua.integrators.implicit import Array, GridEnergy
from continua.optimize.krylov import Stopping, cg

SPEED = 10.0  # of every ball [m/s]
RADIUS = 0.25  # [m]
DEPTH = 1.5  # cells that a particle may sink into obstacles
GAIN = 0.02  # of the energy of the impact that a stable run may gain
BEFORE, AROUND = "contact before the solve", "contact around the solve"
SCHEMES: dict[str, Integrator] = {
    "explicit": Symplectic(),
    BEFORE: SemiImplicit(),
    AROUND: SemiImplicit(implicitness=0.5),
    "semi-implicit": SemiImplicit(),
    "optimization": Optimization(),
}
SCENES = ("drop", "wall", "two balls")


def contact_outside_the_solve(
    grid: ImplicitGrid, energy: GridEnergy, contact: NodeContact, target: Array, *, after: bool
) -> tuple[Array, Array]:
    """In place of ImplicitGrid._one_newton_step; `after`: nodes are stopped after the solve, too."""
    assert isinstance(grid.settings, SemiImplicit)
    part, mass = grid.settings.implicitness, energy.mass
    still = np.zeros_like(target)
    energy.prepare(still)
    forced = np.divide(-energy.gradient(still), mass, out=np.zeros_like(target), where=mass > 0)
    stopped = contact.project(forced)

    def product(u: Array) -> Array:
        return np.where(mass > 0, energy.product(u, part), 0.0)

    found = cg(
        product, mass * stopped - product(stopped), energy.precondition, Stopping(grid.settings.tolerance)
    )
    grid._count(newton_iterations=1, krylov_iterations=found.iterations)
    v = stopped + found.x
    return contact.project(v) if after else v, np.zeros_like(target)


@contextmanager
def solver(scheme: str) -> Iterator[None]:
    """Semi-implicit steps as the scheme wants them."""
    usual = ImplicitGrid._one_newton_step
    if scheme in (BEFORE, AROUND):
        step = partialmethod(contact_outside_the_solve, after=scheme == AROUND)
        ImplicitGrid._one_newton_step = step  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        ImplicitGrid._one_newton_step = usual  # type: ignore[method-assign]


def world(scene: str, integrator: Integrator, particles: float, cfl: float) -> ct.Simulation:
    """Snowballs of so many particles each at 10 m/s: onto the floor, against a wall, against each other."""
    dx = RADIUS * float(np.sqrt(4 * np.pi / particles))
    gravity = (0.0, 0.0) if scene == "two balls" else (0.0, -9.81)
    sim = ct.Simulation(dx, gravity, integrator=integrator, transfer="flip:0.95", cfl=cfl, push_out=None)

    def ball(x: float, y: float, velocity: tuple[float, float]) -> None:
        shape = ct.shapes.Sphere((x, y), RADIUS)
        sim.add(shape, ct.materials.Snow(), velocity=velocity, sampling="jittered")

    if scene == "two balls":
        ball(-RADIUS - dx, 0.0, (SPEED, 0.0))
        ball(RADIUS + dx, RADIUS / 2, (-SPEED, 0.0))
        return sim
    normal = (0.0, 1.0) if scene == "drop" else (-1.0, 0.0)
    ball(
        normal[0] * (RADIUS + 3 * dx), normal[1] * (RADIUS + 3 * dx), (-SPEED * normal[0], -SPEED * normal[1])
    )
    sim.add(ct.colliders.Plane(normal, (1e-9 * normal[0], 1e-9 * normal[1]), mode="sticky"))
    return sim


@dataclass
class Impact:
    """What a run took."""

    cfl: float
    mean_dt: float  # [s]
    min_dt: float  # [s], but for the last step of a frame
    newton: float  # iterations per step
    krylov: float
    fastest: float  # particle [m/s]
    gain: float  # of energy, relative to that of the impact
    deepest: float  # particle in the floor or wall, in cells
    seconds: float  # of stepping

    @property
    def stable(self) -> bool:
        """Whether no energy came from nowhere and nothing sank into an obstacle."""
        return self.gain < GAIN and self.deepest < DEPTH


def throw(
    scheme: str, scene: str = "drop", particles: float = 2e3, cfl: float = 0.6, duration: float = 0.2
) -> Impact:
    """Run a scene [s]; ends early when it has become unstable beyond doubt."""
    sim = world(scene, SCHEMES[scheme], particles, cfl)
    lowest = sim.diagnostics()["total"]
    impact = sim.diagnostics()["kinetic"]
    gain = seconds = fastest = deepest = 0.0
    steps = []
    with solver(scheme), np.errstate(all="ignore"):
        while sim.time < duration and gain < 2 * GAIN:
            begin = time.perf_counter()
            try:
                steps.append(sim.step(duration - sim.time))
            except ct.InstabilityError:
                gain = np.inf
                break
            seconds += time.perf_counter() - begin
            energy = sim.diagnostics()["total"]
            gain, lowest = max(gain, (energy - lowest) / impact), min(lowest, energy)
            fastest = max(fastest, *(body.max_speed for body in sim.bodies))
            for collider in sim.colliders:
                depth = -collider.signed_distance(sim.bodies[0].x, sim.time)[0].min() / sim.dx
                deepest = max(deepest, float(depth))
    work = sim.integrator.report
    newton, krylov = (work.get(f"total_{name}_iterations", 0.0) for name in ("newton", "krylov"))
    count = max(len(steps), 1)
    return Impact(
        cfl,
        sim.time / count,
        min(steps, default=0.0),
        newton / count,
        krylov / count,
        fastest,
        gain,
        deepest,
        seconds,
    )


def longest_steps(scheme: str, scene: str, particles: float) -> Impact:
    """The run with the largest CFL number 0.6, 0.3, ... that is stable."""
    cfl = 0.6
    while not (run := throw(scheme, scene, particles, cfl)).stable and cfl > 0.01:
        cfl /= 2
    return run


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--particles", type=float, default=2e3, help="per ball")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=SCENES)
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=list(SCHEMES))
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    if options.threads:
        ct.set_threads(options.threads)
    table = Table(box=MARKDOWN)
    for name in (
        "scene",
        "scheme",
        "CFL",
        "mean dt [s]",
        "min dt [s]",
        "Newton",
        "Krylov",
        "fastest",
        "deepest",
        "s",
    ):
        table.add_column(name)
    for scene in options.scenes:
        for scheme in options.schemes:
            run = longest_steps(scheme, scene, options.particles)
            table.add_row(
                scene,
                scheme,
                f"{run.cfl:g}" + ("" if run.stable else " (unstable)"),
                f"{run.mean_dt:.2e}",
                f"{run.min_dt:.2e}",
                f"{run.newton:.1f}",
                f"{run.krylov:.1f}",
                f"{run.fastest:.1f}",
                f"{run.deepest:.2f}",
                f"{run.seconds:.2f}",
            )
    console = Console(width=160)
    console.print(
        f"{options.particles:.0f} particles per ball, {ct.threads()} threads, load {os.getloadavg()[0]:.1f}"
    )
    console.print(table)


if __name__ == "__main__":
    main()
