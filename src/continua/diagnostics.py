"""Numbers that tell whether a simulation is healthy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from continua import _core

if TYPE_CHECKING:
    from continua.simulation import Simulation


def diagnose(sim: Simulation) -> dict[str, float]:
    """See `Simulation.diagnostics`."""
    totals = np.zeros(3)  # mass, kinetic, elastic
    momentum, angular, moment = np.zeros(3), np.zeros(3), np.zeros(3)
    steppers = sim.steppers
    for body in sim.bodies:
        own = body.totals()
        totals += own.mass, own.kinetic, own.elastic
        momentum += own.momentum
        angular += own.angular
        moment += own.first_moment
        field = steppers[sim.world.continuum_of(body)].field
        for particles in () if body.self_moving else body.particle_sets():
            if not len(particles):
                continue
            sums = _core.particle_sums(
                particles.arrays,
                field.lattice,
                field.rule.plan,
                field.dimension,
                field.degree,
                body.elastic_energies(),
                field.staggered,
            )
            totals += sums["mass"], sums["kinetic"], sums["elastic"]
            momentum += sums["momentum"]
            angular += sums["angular"]
            moment += sums["first_moment"]
    free = sim.world.free_meshes
    if free and sim.mesh_stepper.collision is not None:
        totals[2] += sim.mesh_stepper.collision.value(np.concatenate([mesh.x for mesh in free]))
    mass, kinetic, stored = (float(v) for v in totals)
    potential = -float(sim.gravity @ moment[: sim.dimension])
    row: dict[str, float] = {"time": sim.time, "step": sim.steps, "dt": sim.dt, "mass": mass}
    if sim.world.drains:
        row["drained"] = sum(sim.drained.values())
    row |= {
        "kinetic": kinetic,
        "elastic": stored,
        "potential": potential,
        "total": kinetic + stored + potential,
    }
    row |= {f"momentum_{'xyz'[a]}": float(momentum[a]) for a in range(sim.dimension)}
    row |= {f"angular_{'xyz'[a]}": float(angular[a]) for a in ((2,) if sim.dimension == 2 else (0, 1, 2))}
    row |= {f"center_{'xyz'[a]}": float(moment[a] / mass) if mass else 0.0 for a in range(sim.dimension)}
    for pair, impulse in sim.contact_impulses.items():
        row |= {f"contact_{pair}_{'xyz'[a]}": float(impulse[a]) for a in range(sim.dimension)}
    row |= {"particles": sim.particles, "blocks": sum(s.field.grid.blocks for s in steppers.values())}
    row |= {"max_speed": max((body.max_speed for body in sim.bodies), default=0.0)}
    for body in sim.bodies:
        _add(row, body.report())
    for stepper in steppers.values():
        _add(row, stepper.report)
        _add(row, {f"seconds_{phase}": seconds for phase, seconds in stepper.seconds.items()})
    if free:
        _add(row, sim.mesh_stepper.report)
        row["seconds_meshes"] = sim.mesh_stepper.seconds
    return row


def _add(row: dict[str, float], more: Mapping[str, float]) -> None:
    for name, value in more.items():
        row[name] = row.get(name, 0.0) + value
