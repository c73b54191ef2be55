"""How much memory a simulation will take, and whether the machine has it; known before anything is made."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from continua import _core
from continua.errors import SetupError
from continua.grid.blocks import CHANNELS, SIDE
from continua.io.machine import as_bytes, available_memory

if TYPE_CHECKING:
    from continua.bodies.points import ParticleBody
    from continua.simulation import Simulation
    from continua.world import World

ENERGY = 2.5  # copies of F in double precision that the energies of the diagnostics take at once
NEW = 1.5  # room that a body makes when it grows, in units of what it needs
SINGLE = 1.6  # times less memory that single precision takes at least


def run_memory(sim: Simulation, duration: float = 0.0) -> int:
    """Largest memory [bytes] that a run of so many seconds takes: arrays, grids, and copies for diagnostics and
    checkpoints."""
    world, steps = sim.world, sim.steps
    total = 0.0
    for body in world.particle_bodies:
        count = len(body) + emitted(sim, body, duration)
        room = NEW if count > len(body) else 1.0
        total += room * count * body_bytes(body) + count * transient_bytes(body)
        if not steps:
            total += count * (grid_bytes(world) + solver_bytes(world, body))
    total += sum(body.nbytes for body in world.mesh_bodies)
    if steps:
        total += sum(stepper.nbytes for stepper in sim.steppers.values())
    return int(total)


def body_bytes(body: ParticleBody) -> float:
    """Of one particle [bytes]: two sets of arrays and what sorting needs."""
    arrays = body.set.arrays
    return 2 * arrays.nbytes / arrays.capacity + 8


def transient_bytes(body: ParticleBody) -> float:
    """Of one particle [bytes]: the copy that a checkpoint writes, or what the energies take, whichever is more."""
    arrays = body.set.arrays
    return max(arrays.nbytes / arrays.capacity, ENERGY * 8 * body.dimension**2)


def grid_bytes(world: World) -> float:
    """Of one particle [bytes]: its share of a grid of about three blocks per full block of particles, rim included."""
    nodes = SIDE**world.dimension
    tile = _core.tile_nodes(world.dimension, world.degree)
    return 3 / (2**world.dimension * nodes) * (nodes + tile) * CHANNELS * np.dtype(world.dtype).itemsize


def solver_bytes(world: World, body: ParticleBody) -> float:
    """Of one particle [bytes]: the second derivatives of its energy where steps are implicit."""
    if not world.integrator_of(world.continuum_of(body)).implicit:
        return 0.0
    rows = _core.tangent_rows(body.material.model, world.dimension)
    return float(rows * np.dtype(world.dtype).itemsize)


def emitted(sim: Simulation, body: ParticleBody, duration: float) -> int:
    """Particles that the emitter of a body, if it is one, adds within so many seconds from now."""
    for emitter, own, spacing in sim.world.emitters:
        if own is body:
            layer = spacing / float(np.linalg.norm(emitter.velocity))
            end = sim.time + duration if emitter.stop is None else min(emitter.stop, sim.time + duration)
            time = max(end - max(emitter.start, sim.time), 0.0)
            ends = [emitter.start + k * layer for k in range(5)]
            count = sum(len(emitter.released(*pair, spacing)) for pair in itertools.pairwise(ends))
            return round(count * time / (4 * layer))
    return 0


def check_run(sim: Simulation, duration: float) -> None:
    """Refuse a run that would not fit into memory."""
    free = available_memory()
    held = sum(body.nbytes for body in sim.bodies)  # taken already
    more = run_memory(sim, duration) - held
    if free is not None and more > free:
        raise SetupError(
            f"this run needs about {as_bytes(more)} more memory, but {as_bytes(free)} are free: "
            f"{advice(sim.world, (more + held) / (free + held))}"
        )


def most_particles(world: World, body: ParticleBody) -> float:
    """How many particles a new body may have at most to fit into memory."""
    free = available_memory()
    each = body_bytes(body) + transient_bytes(body) + grid_bytes(world) + solver_bytes(world, body)
    return float("inf") if free is None else free / each


def too_many(world: World, body: ParticleBody, count: float, most: float) -> SetupError:
    """Error for a body of about so many particles, where at most `most` fit."""
    free = available_memory() or 0
    return SetupError(
        f'body "{body.name}" would have about {count:.2g} particles, which need {as_bytes(free * count / most)} of '
        f"memory in {world.precision} precision, but {as_bytes(free)} are free: {advice(world, count / most)}"
    )


def advice(world: World, excess: float) -> str:
    """What to change so that a world takes that many times less memory."""
    dx = world.dx * excess ** (1 / world.dimension)
    single = ', or precision="single"' if world.precision == "double" and excess < SINGLE else ""
    return f"use a larger dx (from about {dx:.2g} m on it fits){single}"
