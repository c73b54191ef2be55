"""What to tell the user when a step fails: where, with which state, and what to change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from continua.bodies.body import Body
from continua.bodies.particles import ParticleSet
from continua.errors import InstabilityError
from continua.grid.reach import REACH, range_of
from continua.integrators import BadParticle, Incompressible
from continua.integrators.incompressible import VISCOUS_PATIENCE
from continua.timestep import Bound

if TYPE_CHECKING:
    from continua.simulation import Simulation

SOLVER = "solver: "  # begins the name of a bound on dt by a solve that ended with the status behind it
CONTACT = "exact contact: "  # the same for surfaces that must not pass through each other
WITHOUT_END = (
    SOLVER,
    CONTACT,
)  # begin the names of steps that bodies cannot end, whoever insists on their length
MEANING = {
    "max_iter": "no iterations left",
    "stuck": "no way down found",
    "breakdown": "the linear solve broke down",
    "negative-curvature": "the linear solve met negative stiffness",
    "contact": "nodes kept changing between touching obstacles and leaving them",
    "positions": "particles did not find the place where they arrive",
}
# Linear solves of incompressible flow: name, what their residual is, iterations in terms of max_iterations, and what
# there is to set besides max_iterations.
FLOW = {
    "viscous": ("viscosity", "a residual", VISCOUS_PATIENCE, "raise viscous_tolerance"),
    "pressure": ("pressure", "an outflow from a cell", 1, "raise tolerance"),
    "volume": ("volume control", "a part of the crowding", 1, "set volume_control to 0"),
}


def _particle(particles: ParticleSet, index: int) -> str:
    """Position and deformation gradient of a particle as text."""
    a = particles.arrays
    text = "(" + ", ".join(f"{value:.5g}" for value in a.x[:, index]) + ") m"
    if not a.deforms:
        return text
    F = np.array2string(a.F[:, index].reshape(particles.dimension, -1), precision=4, separator=", ")
    return f"{text} with F = {F}".replace("\n", "")


def _most(
    sim: Simulation, of: Callable[[ParticleSet], float], *, implicit: bool = False
) -> tuple[Body, ParticleSet]:
    """The particles, of all or of implicit continua, for which a number is largest, and their body."""
    world = sim.world
    bodies = [
        b for b in world.grid_bodies if not implicit or world.integrator_of(world.continuum_of(b)).implicit
    ]
    found = [(body, p) for body in bodies for p in body.particle_sets() if len(p)]
    return max(found, key=lambda pair: of(pair[1]))


def nowhere(sim: Simulation, bad: BadParticle) -> InstabilityError:
    """A particle has no place on the grid before a step: it is not finite, or farther out than nodes have names."""
    particles = bad.body.particle_sets()[bad.set]
    x, v = (np.asarray(array[bad.index], np.float64) for array in (particles.x, particles.v))
    place = "(" + ", ".join(f"{value:.6g}" for value in x) + ") m"
    which = f'particle {particles.ids[bad.index]} of body "{bad.body.name}" ({bad.body.label}) is at {place}'
    when = f"before step {sim.steps + 1}, t = {sim.time:.6g} s"
    if not np.isfinite(x).all():
        return InstabilityError(
            f"{which} {when}, which is no place; give it finite coordinates, or leave it out"
        )
    lattice = sim.world.lattice()
    axis = max(range(sim.dimension), key=lambda a: abs(x[a] - lattice.origin[a]) * (lattice.period[a] == 0))
    low, high = range_of(lattice, axis)
    return InstabilityError(
        f"{which} {when}, moving at {np.linalg.norm(v):.4g} m/s, but the grid reaches from {low:.6g} m to {high:.6g} m "
        f"along {'xyz'[axis]} ({REACH} cells of dx = {sim.dx:.4g} m either way); stop it with a wall, remove it with a "
        "drain, use a larger dx or, if it was thrown out, lower elastic_cfl or cfl"
    )


def unstable(sim: Simulation, bad: BadParticle, bound: Bound) -> InstabilityError:
    """A particle became non-finite in the step that was just tried."""
    body = bad.body
    particles = body.particle_sets()[bad.set]
    return InstabilityError(
        f'particle {particles.ids[bad.index]} of body "{body.name}" ({body.label}) is no longer finite '
        f"at step {sim.steps + 1}, t = {sim.time:.6g} s: before the step it was at "
        f"{_particle(particles, bad.index)}, "
        f"dt = {bound.dt:.4g} s set by {bound}; lower elastic_cfl or cfl, use a smaller dx, or check the material"
    )


def runaway(sim: Simulation, bound: Bound) -> InstabilityError:
    """The time step collapses: particles are too fast, or the solver does not converge."""
    if bound.name.startswith(SOLVER):
        for name in sim.world.continua:
            integrator = sim.world.integrator_of(name)
            if isinstance(integrator, Incompressible):
                return _unsolved_flow(sim, name, integrator, bound)
        return _unsolved(sim, bound)
    if bound.name.startswith(CONTACT):
        return InstabilityError(
            f"exact contact found no way to keep surfaces apart at step {sim.steps + 1}, t = {sim.time:.6g} s, however "
            f"short the step was made, down to {2 * bound.dt:.3g} s ({bound.name.removeprefix(CONTACT)}); look whether "
            "scripted vertices or colliders pass through each other or crush what is between them"
        )
    body, particles = _most(sim, lambda p: p.limits.speed)
    index = int(np.argmax((particles.v**2).sum(axis=1)))
    return InstabilityError(
        f"particles run away at step {sim.steps + 1}, t = {sim.time:.6g} s: particle {particles.ids[index]} of "
        f'body "{body.name}" ({body.label}) at {_particle(particles, index)} moves at '
        f"{particles.limits.speed:.4g} m/s, and dt would have to shrink to {bound.dt:.3g} s ({bound}); "
        f"lower elastic_cfl, use a smaller dx, or check the "
        f"material and the initial state"
    )


def _unsolved(sim: Simulation, bound: Bound) -> InstabilityError:
    """No step is short enough for the implicit solve to converge."""
    status = bound.name.removeprefix(SOLVER)
    # Iterations grow with the cells that sound crosses in a step.
    body, particles = _most(sim, lambda p: p.limits.wave_speed, implicit=True)
    integrator = sim.world.integrator_of(sim.world.continuum_of(body))
    now = ", ".join(
        f"{name} = {getattr(integrator, name)}" for name in ("max_iterations", "tolerance", "positive")
    )
    return InstabilityError(
        f'the implicit solve of step {sim.steps + 1} from t = {sim.time:.6g} s ended as "{status}" '
        f"({MEANING.get(status, 'not converged')}), however short the step was made, down to {2 * bound.dt:.3g} s; "
        f'the stiffest body is "{body.name}" ({body.label}), where sound moves at {particles.limits.wave_speed:.4g} '
        f"m/s and particles at up to {particles.limits.speed:.4g} m/s; raise max_iterations or tolerance of the "
        f"integrator or set its positive to true (now {now}), use a smaller cfl, or integrator symplectic"
    )


def _unsolved_flow(sim: Simulation, continuum: str, scheme: Incompressible, bound: Bound) -> InstabilityError:
    """No step is short enough for a linear solve of incompressible flow."""
    solve = bound.name.removeprefix(SOLVER)
    name, what, patience, remedy = FLOW[solve]
    iterations, residual = (
        sim.steppers[continuum].report[f"{solve}_{key}"] for key in ("iterations", "residual")
    )
    most = patience * scheme.max_iterations
    why = "raise max_iterations, or" if iterations >= most else "rounding allows no less:"
    scale = "the largest one" if solve == "volume" else "the fastest flow"
    setting = remedy.split()[1]
    return InstabilityError(
        f"the {name} of step {sim.steps + 1} from t = {sim.time:.6g} s did not converge, however short the step was "
        f"made, down to {2 * bound.dt:.3g} s: {iterations:.0f} of {most} iterations left {what} of {residual:.3g} of "
        f"{scale}; {why} {remedy} of the integrator (now max_iterations = {scheme.max_iterations}, {setting} = "
        f"{getattr(scheme, setting):g})"
    )
