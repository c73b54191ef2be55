"""How much memory a simulation will take, and whether the machine has it; known before anything is made."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from continua import _core
from continua.errors import SetupError
from continua.grid.blocks import CHANNELS, SIDE, Lattice
from continua.io.machine import as_bytes, available_memory

if TYPE_CHECKING:
    from continua.bodies.points import ParticleBody
    from continua.simulation import Simulation
    from continua.world import World

NODE_ARRAYS = {  # that a step takes at most: in double precision, and in that of the particles
    "explicit": (0.0, 1.0),
    "implicit": (7.0, 6.5),
    "incompressible": (5.0, 5.0),
}
FLIP_ARRAYS = 2.0  # more of an explicit step, for differences of velocities
HESSIANS = 2  # of a mesh body, and as much in vectors, that a solve takes; one more where it is damped
ENERGY = 2.5  # copies of F in double precision that the energies of the diagnostics take at once
NEW = 1.5  # room that a body makes when it grows, in units of what it needs
SINGLE = 1.6  # times less memory that single precision takes at least


def run_memory(sim: Simulation, duration: float = 0.0) -> int:
    """Largest memory [bytes] that a run of so many seconds takes: arrays, grids, and copies for diagnostics and
    checkpoints."""
    world = sim.world
    total = grid_bytes(world)
    for body in world.particle_bodies:
        more = emitted(sim, body, duration)
        count = len(body) + more
        room = NEW if more else 1.0
        total += count * (room * body_bytes(body) + transient_bytes(body) + solver_bytes(world, body))
        total += more * full_grid_bytes(world)
    for mesh in world.mesh_bodies:
        total += (HESSIANS + (mesh.damping > 0)) * mesh.hessian_bytes
    total += sum(body.nbytes for body in world.bodies if body not in world.particle_bodies)
    return int(total)


def body_bytes(body: ParticleBody) -> float:
    """Of one particle [bytes]: two sets of arrays and what sorting needs."""
    arrays = body.set.arrays
    return 2 * arrays.nbytes / arrays.capacity + 5


def transient_bytes(body: ParticleBody) -> float:
    """Of one particle [bytes]: the copy that a checkpoint writes, or what the energies take, whichever is more."""
    arrays = body.set.arrays
    return max(arrays.nbytes / arrays.capacity, ENERGY * 8 * body.dimension**2)


def grid_bytes(world: World) -> float:
    """Of the grids of all continua under the particles that there are [bytes]."""
    world.join_grids()
    lattice = _lattice(world)
    return sum(_continuum_bytes(world, name, lattice) for name in world.continua)


def _continuum_bytes(world: World, continuum: str, lattice: Lattice) -> float:
    """Of the nodes of the grid of a continuum [bytes]."""
    d, integrator = world.dimension, world.integrator_of(continuum)
    orders = []
    for body in world.bodies_of(continuum):
        for particles in body.particle_sets():
            orders.append(_core.Order())
            arrays = particles.arrays
            orders[-1].sort(arrays.x, arrays.count, lattice, d, world.degree)
    kind = (
        "incompressible" if integrator.incompressible else "implicit" if integrator.implicit else "explicit"
    )
    double, own = NODE_ARRAYS[kind]
    if kind == "explicit" and world.transfer_of(continuum).flip:
        own += FLIP_ARRAYS
    rim = integrator.incompressible  # viscosity needs one
    keys = _core.grid_blocks([order.keys for order in orders], lattice, d, rim)
    size = np.dtype(world.dtype).itemsize
    nodes = len(keys) * SIDE**d
    solved = nodes  # implicit steps solve at nodes with mass only
    if kind == "implicit":
        solved = min(nodes, sum(order.count for order in orders) * (world.degree + 1) ** d)
    return CHANNELS * (solved * 8 * double + nodes * size * own)


def _lattice(world: World) -> Lattice:
    """That of the world, or before it has one a lattice with its origin amid the material."""
    lattice = world.lattice()
    places = [particles.x for body in world.bodies for particles in body.particle_sets() if len(particles.x)]
    if world.offset is not None or not places:
        return lattice
    ends = np.array([[x.min(axis=0), x.max(axis=0)] for x in places], np.float64)
    block = SIDE * lattice.dx
    middle = block * np.round(0.5 * (ends[:, 0].min(axis=0) + ends[:, 1].max(axis=0)) / block)
    return Lattice(lattice.dx, np.where(lattice.period > 0, lattice.origin, middle), lattice.period)


def full_grid_bytes(world: World) -> float:
    """Of one particle of solid material [bytes]: its share of about three blocks per full one, rim included."""
    return 3 / 2**world.dimension * CHANNELS * np.dtype(world.dtype).itemsize


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
    each = body_bytes(body) + transient_bytes(body) + full_grid_bytes(world) + solver_bytes(world, body)
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
