"""What a simulation will cost and do, before it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from continua import _core
from continua.grid.blocks import CHANNELS, SIDE
from continua.timestep import Bound, strictest

if TYPE_CHECKING:
    from continua.simulation import Simulation


@dataclass(frozen=True)
class BodySummary:
    """One body: particles or points of its mesh, mass [kg], wave speed [m/s] where it limits the step.

    A mesh has `cells`, each a `cell`: "triangle", "tetrahedron" or "spring".
    """

    name: str
    material: str
    particles: int
    mass: float
    wave_speed: float
    cells: int = 0
    cell: str = ""


@dataclass(frozen=True)
class Summary:
    """A simulation at a glance. SI units; memory in bytes."""

    dimension: int
    dx: float
    bodies: list[BodySummary]
    particles: int
    mass: float
    wave_speed: float
    expected_dt: float
    dt_bound: str
    memory: int
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
    bodies = [
        BodySummary(b.name, b.material.label, len(b), float(b.mass.sum(dtype=np.float64)), b.max_wave_speed)
        for b in sim.bodies
    ] + [
        BodySummary(str(m.name), m.label, len(m), float(m.mass.sum()), 0.0, len(m.cells), m.cell)
        for m in sim.meshes
    ]
    bounds = sim._bounds()
    bound = strictest(bounds) if bounds else sim.choose_dt()
    if sim.fixed_dt is not None:
        bound = Bound(sim.fixed_dt, "fixed")
    return Summary(
        dimension=sim.dimension,
        dx=sim.dx,
        bodies=bodies,
        particles=sim.particles,
        mass=sum(b.mass for b in bodies),
        wave_speed=max((b.wave_speed for b in bodies), default=0.0),
        expected_dt=bound.dt,
        dt_bound=str(bound),
        memory=_memory(sim),
        warnings=list(sim.warnings),
    )


def _memory(sim: Simulation) -> int:
    """Particle arrays, sorting, meshes, and a grid of about three blocks per full block of particles (its rim
    included)."""
    arrays = sum(b.arrays.nbytes + b.next_arrays.nbytes + 8 * b.arrays.capacity for b in sim.bodies)
    arrays += sum(mesh.nbytes for mesh in sim.meshes)
    if sim.steps:
        return arrays + sim.integrator.workspace.nbytes
    nodes = SIDE**sim.dimension
    blocks = 3 * sim.particles / (2**sim.dimension * nodes) + 8
    tile = _core.tile_nodes(sim.dimension, sim.degree)
    return int(arrays + blocks * (nodes + tile) * CHANNELS * np.dtype(sim.dtype).itemsize)
