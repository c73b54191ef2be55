"""What a simulation will cost and do, before it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from continua.continuum.rules import pairs
from continua.memory import run_memory
from continua.timestep import Bound, strictest

if TYPE_CHECKING:
    from continua.simulation import Simulation


@dataclass(frozen=True)
class BodySummary:
    """One body: particles or points of its mesh, mass [kg], wave speed [m/s] where it limits the step.

    A mesh has `cells`, each a `cell`: "triangle", "tetrahedron" or "spring". `continuum` names the one it belongs to.
    """

    name: str
    material: str
    particles: int
    mass: float
    wave_speed: float
    cells: int = 0
    cell: str = ""
    continuum: str = "main"


@dataclass(frozen=True)
class ContinuumSummary:
    """One continuum: its bodies, and how it advances."""

    name: str
    bodies: list[str]
    integrator: str
    transfer: str


@dataclass(frozen=True)
class PairSummary:
    """Two continua that may meet, and the friction between them."""

    a: str
    b: str
    friction: float


@dataclass(frozen=True)
class Summary:
    """A simulation at a glance. SI units; memory in bytes is the most that a run takes, without what emitters add."""

    dimension: int
    dx: float
    bodies: list[BodySummary]
    particles: int
    mass: float
    wave_speed: float
    expected_dt: float
    dt_bound: str
    memory: int
    continua: list[ContinuumSummary] = field(default_factory=list)
    pairs: list[PairSummary] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Progress:
    """Where a run is. Times in seconds; `eta` is the expected time left."""

    frame: int
    frames: int
    time: float
    duration: float
    dt: float
    bound: str
    steps: int
    steps_per_second: float
    particle_steps_per_second: float
    vertex_steps_per_second: float
    eta: float
    seconds: float


def summarise(sim: Simulation) -> Summary:
    """See `Simulation.summary`."""
    world = sim.world
    bodies = [
        BodySummary(
            str(body.name),
            body.label,
            len(body),
            float(body.mass.sum(dtype=np.float64)),
            body.max_wave_speed,
            continuum=world.continuum_of(body),
            **body.described(),
        )
        for body in world.bodies
    ]
    bounds = sim._bounds()
    bound = strictest(bounds) if bounds else sim.choose_dt()
    if world.fixed_dt is not None:
        bound = Bound(world.fixed_dt, "fixed")
    return Summary(
        dimension=sim.dimension,
        dx=sim.dx,
        bodies=bodies,
        particles=sim.particles,
        mass=sum(b.mass for b in bodies),
        wave_speed=max((b.wave_speed for b in bodies), default=0.0),
        expected_dt=bound.dt,
        dt_bound=str(bound),
        memory=run_memory(sim),
        continua=[
            ContinuumSummary(
                name,
                [str(body.name) for body in world.bodies_of(name)],
                _word(world.integrator_of(name)),
                _word(world.transfer_of(name)),
            )
            for name in world.continua
        ],
        pairs=[PairSummary(pair.a, pair.b, pair.friction) for pair in pairs(world)],
        warnings=list(world.warnings),
    )


def _word(scheme: object) -> str:
    """What scene files call a scheme."""
    return str(getattr(scheme, "type", type(scheme).__name__))
