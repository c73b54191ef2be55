"""Numbers that tell whether a simulation is healthy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from continua import _core
from continua.bodies.vertices import Vertices

if TYPE_CHECKING:
    from continua.simulation import Simulation


def diagnose(sim: Simulation) -> dict[str, float]:
    """See `Simulation.diagnostics`."""
    totals = np.zeros(3)  # mass, kinetic, elastic
    momentum, angular, moment = np.zeros(3), np.zeros(3), np.zeros(3)
    integrator = sim.integrator
    for body in sim.grid_bodies:
        if not len(body):
            continue
        elastic = body.energy_density() * body.volume.astype(np.float64)
        if isinstance(body, Vertices):
            totals[2] += body.mesh.energy.value(body.mesh.x)
        sums = _core.particle_sums(
            body.arrays,
            integrator.lattice,
            integrator.plan,
            sim.dimension,
            integrator.degree,
            elastic,
            integrator.staggered,
        )
        totals += sums["mass"], sums["kinetic"], sums["elastic"]
        momentum += sums["momentum"]
        angular += sums["angular"]
        moment += sums["first_moment"]
    for mesh in sim.free_meshes:
        d = sim.dimension
        p = mesh.mass[:, None] * mesh.v
        totals += mesh.mass.sum(), 0.5 * (p * mesh.v).sum(), mesh.energy.value(mesh.x)
        momentum[:d] += p.sum(axis=0)
        moment[:d] += mesh.mass @ mesh.x
        arm, push = np.zeros((len(mesh), 3)), np.zeros((len(mesh), 3))
        arm[:, :d], push[:, :d] = mesh.x, p
        angular += np.cross(arm, push).sum(axis=0)
    if sim.free_meshes and sim.mesh_stepper.collision is not None:
        totals[2] += sim.mesh_stepper.collision.value(np.concatenate([mesh.x for mesh in sim.free_meshes]))
    mass, kinetic, stored = (float(v) for v in totals)
    potential = -float(sim.gravity @ moment[: sim.dimension])
    row: dict[str, float] = {"time": sim.time, "step": sim.steps, "dt": sim.dt, "mass": mass}
    if sim.drains:
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
    row |= {"particles": sim.particles, "blocks": integrator.grid.blocks}
    speeds = [b.max_speed for b in sim.bodies] + [m.max_speed for m in sim.meshes]
    row |= {"max_speed": max(speeds, default=0.0)}
    row |= integrator.report
    row |= {f"seconds_{phase}": seconds for phase, seconds in integrator.seconds.items()}
    if sim.free_meshes:
        for name, value in sim.mesh_stepper.report.items():
            row[name] = row.get(name, 0.0) + value
        row["seconds_meshes"] = sim.mesh_stepper.seconds
    return row
