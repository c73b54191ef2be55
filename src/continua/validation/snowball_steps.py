"""How long steps may be when snowballs hit things: after table 2.1 of J15, at small scale, in 2D.

A ball of snow at 10 m/s hits a sticky floor or a sticky wall. Every scheme takes the longest steps with which it is
stable: its CFL number starts at 0.5 and is halved until no particle is faster than twice the ball or deeper than 1.5
cells in the obstacle, no energy comes from nowhere, and the heap is as high as with explicit steps.

Gates hold the minimiser against the printed semi-implicit method, which leaves obstacles out of its solve. Against our
own one, which does not, the gain of the table is not reproduced: it takes steps as long and is faster. Those numbers,
those of two balls, and times have no gate.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from continua.contact.colliders import Plane
from continua.errors import InstabilityError
from continua.geometry.shapes import Sphere
from continua.integrators import Integrator, Optimization, SemiImplicit, Symplectic
from continua.materials import Snow
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_least, at_most, near, reported
from continua.validation.contact_outside import AroundSimulation, OutsideSimulation

SPEED = 10.0  # of every ball [m/s]
RADIUS = 0.25  # [m]
CFL = 0.5  # cells that a particle may cross in a step, at most
DEPTH = 1.5  # cells that a particle may sink into obstacles
GAIN = 0.02  # of the energy of the impact that a stable run may gain
HEIGHT = 0.05  # relative error of the height of a heap

EXPLICIT, MINIMISER = "explicit", "optimization"
PRINTED, PRINTED_HALF = "contact before the solve", "contact before the solve, 1/2"
AROUND_HALF = "contact around the solve, 1/2"
INSIDE, INSIDE_HALF = "semi-implicit", "semi-implicit, 1/2"
HALF = SemiImplicit(implicitness=0.5)
SCHEMES: dict[str, tuple[type[Simulation], Integrator]] = {
    EXPLICIT: (Simulation, Symplectic()),
    PRINTED: (OutsideSimulation, SemiImplicit()),
    PRINTED_HALF: (OutsideSimulation, HALF),
    AROUND_HALF: (AroundSimulation, HALF),
    INSIDE: (Simulation, SemiImplicit()),
    INSIDE_HALF: (Simulation, HALF),
    MINIMISER: (Simulation, Optimization()),
}
SCENES = ("drop", "wall", "two balls")


def world(scheme: str, scene: str, particles: float, cfl: float = CFL) -> Simulation:
    """Snowballs of so many particles each: onto the floor, against a wall, against each other."""
    dx = RADIUS * float(np.sqrt(4 * np.pi / particles))
    gravity = (0.0, 0.0) if scene == "two balls" else (0.0, -9.81)
    make, integrator = SCHEMES[scheme]
    sim = make(dx, gravity, integrator=integrator, transfer="flip:0.95", cfl=cfl, push_out=None)

    def throw_ball(x: float, y: float, velocity: tuple[float, float]) -> None:
        sim.add(Sphere((x, y), RADIUS), Snow(), velocity=velocity, sampling="jittered")

    if scene == "two balls":
        throw_ball(-RADIUS - dx, 0.0, (SPEED, 0.0))
        throw_ball(RADIUS + dx, RADIUS / 2, (-SPEED, 0.0))
        return sim
    nx, ny = (0.0, 1.0) if scene == "drop" else (-1.0, 0.0)
    away = RADIUS + 3 * dx
    throw_ball(away * nx, away * ny, (-SPEED * nx, -SPEED * ny))
    sim.add(Plane((nx, ny), mode="sticky"))
    return sim


def height(sim: Simulation) -> float:
    """How far the snow reaches from the obstacle, or two balls along their way, in diameters; without loose grains."""
    x = np.concatenate([body.x for body in sim.world.particle_bodies])
    if not sim.colliders:
        return float(np.ptp(np.percentile(x[:, 0], (1, 99)))) / (2 * RADIUS)
    distance, _ = sim.colliders[0].signed_distance(x)
    return float(np.percentile(distance, 99)) / (2 * RADIUS)


@dataclass
class Impact:
    """What a run took and gave."""

    cfl: float
    steps: list[float] = field(default_factory=list)  # [s]
    seconds: float = 0.0  # processor time of stepping, which a busy machine does not change
    newton: float = 0.0  # iterations
    krylov: float = 0.0
    fastest: float = 0.0  # particle [m/s]
    gain: float = 0.0  # of energy, relative to that of the impact
    deepest: float = 0.0  # particle in the floor or wall, in cells
    height: float = np.nan  # at the end, in diameters; nan if the run was given up or broke down

    @property
    def mean_dt(self) -> float:
        """[s]"""
        return float(np.mean(self.steps)) if self.steps else 0.0

    @property
    def min_dt(self) -> float:
        """[s]; the last two may be cut to end in time"""
        return min(self.steps[:-2], default=0.0)

    @property
    def bounded(self) -> bool:
        """Whether no energy came from nowhere and nothing sank into an obstacle."""
        return self.gain < GAIN and self.fastest < 2 * SPEED and self.deepest < DEPTH

    def agrees(self, reference: Impact) -> bool:
        """Whether it is bounded and ended as the reference did."""
        return self.bounded and abs(self.height / reference.height - 1) < HEIGHT


def throw(
    scheme: str,
    scene: str,
    particles: float,
    cfl: float = CFL,
    duration: float = 0.2,
    *,
    patient: bool = True,
) -> Impact:
    """Run a scene for `duration` [s]; if not patient, only until the steps are known to be too long."""
    sim, run = world(scheme, scene, particles, cfl), Impact(cfl)
    start = sim.diagnostics()
    lowest = start["total"]
    with np.errstate(all="ignore"):
        for energy in _energies(sim, run, duration):
            run.gain = max(run.gain, (energy - lowest) / start["kinetic"])
            lowest = min(lowest, energy)
            if not patient and not run.bounded:
                return run
    if np.isfinite(run.gain):  # else it broke down, and what it left is no heap
        run.height = height(sim)
    run.newton, run.krylov = (
        sim.steppers["main"].report.get(f"total_{name}_iterations", 0.0) for name in ("newton", "krylov")
    )
    return run


def _energies(sim: Simulation, run: Impact, duration: float) -> Iterator[float]:
    """Total energy after every step, with what the run took so far; infinite when it broke down."""
    while sim.time < duration * (1 - 1e-12):
        begin = time.process_time()
        try:
            run.steps.append(sim.step(duration - sim.time))
        except InstabilityError:
            yield np.inf
            return
        run.seconds += time.process_time() - begin
        run.fastest = max(run.fastest, *(body.max_speed for body in sim.world.particle_bodies))
        for collider in sim.colliders:
            depth = -collider.signed_distance(sim.world.particle_bodies[0].x, sim.time)[0].min() / sim.dx
            run.deepest = max(run.deepest, float(depth))
        yield sim.diagnostics()["total"]


@cache
def reference(scene: str, particles: float, duration: float = 0.2) -> Impact:
    """The explicit run."""
    return throw(EXPLICIT, scene, particles, duration=duration)


@cache
def longest_steps(scheme: str, scene: str, particles: float, duration: float = 0.2) -> Impact:
    """The run with the largest CFL number 0.5, 0.25, ... that is stable; the last one tried if none is."""
    explicit = reference(scene, particles, duration)
    cfl = CFL
    while True:
        run = throw(scheme, scene, particles, cfl, duration, patient=False)
        if run.agrees(explicit) or cfl < 0.01:
            return run
        cfl /= 2


def compare(
    scheme: str, scene: str, printed: tuple[str, ...], particles: float, duration: float
) -> list[Measurement]:
    """Steps at the CFL limit beside the longest ones of printed methods; steps that are too long gain nothing."""
    explicit = reference(scene, particles, duration)
    run = throw(scheme, scene, particles, CFL, duration)
    found = [
        near(f"{scene}: height of the heap over the diameter", run.height, explicit.height, HEIGHT),
        at_most(f"{scene}: deepest particle [cells]", run.deepest, DEPTH),
        reported(f"{scene}: mean dt [s]", run.mean_dt),
        reported(f"{scene}: shortest dt [s]", run.min_dt),
    ]
    worth = float(run.agrees(explicit))
    for name in printed:
        other = longest_steps(name, scene, particles, duration)
        beside = f"over {name} (CFL {other.cfl:.2g})"
        found.append(at_least(f"{scene}: mean dt {beside}", worth * run.mean_dt / other.mean_dt, 5.0))
        found.append(reported(f"{scene}: speed {beside}", worth * other.seconds / run.seconds))
    return found


def beside_our_own(scene: str, particles: float, duration: float) -> list[Measurement]:
    """The minimiser beside explicit steps, and beside one Newton step that knows of the obstacles."""
    run = longest_steps(MINIMISER, scene, particles, duration)
    others = {EXPLICIT: reference(scene, particles, duration)}
    others |= {name: longest_steps(name, scene, particles, duration) for name in (INSIDE_HALF, INSIDE)}
    found = []
    for name, other in others.items():
        beside = f"over {name} (CFL {other.cfl:.2g})"
        found.append(reported(f"{scene}: mean dt {beside}", run.mean_dt / other.mean_dt))
        found.append(reported(f"{scene}: speed {beside}", other.seconds / run.seconds))
    return found


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    particles, duration = 2e3, 0.1 if quick else 0.2
    found = []
    for scene in ("drop",) if quick else ("drop", "wall"):
        printed = (PRINTED_HALF,) if quick else (PRINTED_HALF, PRINTED)
        found += compare(PRINTED if wrong else MINIMISER, scene, printed, particles, duration)
    if not quick and not wrong:
        for scene in SCENES:
            found += beside_our_own(scene, particles, 0.06 if scene == "two balls" else duration)
    return found


CASE = Case(
    name="snowball-steps",
    title="Snowballs on the longest steps that a scheme bears",
    source="our explicit steps; the method printed in J15 as programmed here (table 2.1: 7.7 and 10.7 times its dt)",
    kind="comparison",
    cost="1 min",
    control="the printed method, obstacles left out of the solve, at the CFL limit",
    measure=measure,
)
