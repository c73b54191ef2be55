"""What to tell the user when a step fails: where, with which state, and what to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from continua.bodies.points import Body
from continua.errors import InstabilityError
from continua.integrators import BadParticle
from continua.timestep import Bound

if TYPE_CHECKING:
    from continua.simulation import Simulation


def _particle(body: Body, index: int) -> tuple[str, str]:
    """Position and deformation gradient of a particle as text."""
    a = body.arrays
    F = np.array2string(a.F[:, index].reshape(body.dimension, -1), precision=4, separator=", ").replace(
        "\n", ""
    )
    return ", ".join(f"{value:.5g}" for value in a.x[:, index]), F


def unstable(sim: Simulation, bad: BadParticle, bound: Bound) -> InstabilityError:
    """A particle became non-finite or left the grid in the step that was just tried."""
    body = bad.body
    x, F = _particle(body, bad.index)
    return InstabilityError(
        f'particle {body.arrays.ids[bad.index]} of body "{body.name}" ({body.material.label}) is no longer finite or '
        f"left the grid at step {sim.steps + 1}, t = {sim.time:.6g} s: before the step it was at ({x}) m with F = {F}, "
        f"dt = {bound.dt:.4g} s set by {bound}; lower elastic_cfl or cfl, use a smaller dx, or check the material"
    )


def runaway(sim: Simulation, bound: Bound) -> InstabilityError:
    """Particles are so fast that the time step collapses."""
    body = max((b for b in sim.bodies if len(b)), key=lambda b: b.max_speed)
    index = int(np.argmax((body.v**2).sum(axis=1)))
    x, F = _particle(body, index)
    return InstabilityError(
        f"particles run away at step {sim.steps + 1}, t = {sim.time:.6g} s: particle {body.ids[index]} of body "
        f'"{body.name}" ({body.material.label}) at ({x}) m moves at {body.max_speed:.4g} m/s with F = {F}, and dt '
        f"would have to shrink to {bound.dt:.3g} s ({bound}); lower elastic_cfl, use a smaller dx, or check the "
        f"material and the initial state"
    )
