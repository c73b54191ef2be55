"""What the gallery scenes of mesh bodies in contact measure."""

import numpy as np

from continua import Simulation
from continua.contact.mesh_contact import ContactSurface
from continua.integrators import Optimization
from continua.integrators.mesh_collisions import collision_of


def clearance(sim: Simulation) -> float:
    """Distance [m] from the analytic colliders to the vertex that is nearest to one, or deepest in it if negative."""
    x = np.concatenate([mesh.x for mesh in sim.world.mesh_bodies])
    surfaces = [
        s for k, collider in enumerate(sim.colliders) for s in ContactSurface.of(collider, k, sim.time)
    ]
    return min(float(s.at(x)[0].min()) for s in surfaces if not s.sampled)


def overlap(sim: Simulation, own_body: bool = False) -> float:
    """Depth [m] of the vertex that is deepest in another body, or also in its own one; 0 if there is none.

    Found anew, so that it does not matter whether the simulation looks for such collisions.
    """
    energy = collision_of(sim.world.mesh_bodies, Optimization(collisions="all" if own_body else "bodies"))
    if energy is None:
        return 0.0
    return float(
        energy.pairs(np.concatenate([mesh.x for mesh in sim.world.mesh_bodies])).depths.max(initial=0.0)
    )


def newton_per_step(sim: Simulation) -> float:
    """Mean number of Newton iterations, one linear solve each."""
    return sim.diagnostics()["total_newton_iterations"] / sim.steps
