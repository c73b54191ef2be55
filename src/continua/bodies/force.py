"""Body forces: accelerations that differ from particle to particle, beside uniform gravity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua._validation import shown
from continua.bodies.body import Body
from continua.errors import SetupError


@dataclass(frozen=True)
class BodyForce:
    """Force per mass on the particles and mesh points of all bodies, added to gravity.

    `acceleration(body, t)` gives (N, d) [m/s^2] at time t [s] for the points of a body that was added, in the order of
    its rows, which is that of its vertices for a mesh, on and off the grid:
    `sim.add(BodyForce(lambda body, t: -k * body.x))` is a spring to the origin, and `body.ids` picks values that
    belong to the material rather than to the place. It is called once per step and body, at the beginning of the
    step. Python only: scene files cannot hold functions.
    """

    acceleration: Callable[[Any, float], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.acceleration):
            raise SetupError(
                f"a body force is a function of a body and a time, not {shown(self.acceleration)}"
            )

    def at(self, body: Body, t: float) -> NDArray[np.float64]:
        """Accelerations (N, d) [m/s^2], checked."""
        try:
            value = np.asarray(self.acceleration(body, t), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise SetupError(f"a body force does not give numbers ({error})") from error
        if value.shape != body.x.shape:
            raise SetupError(f"a body force must give an array of shape {body.x.shape}, not {value.shape}")
        if not np.isfinite(value).all():
            raise SetupError(f"a body force gives a number that is not finite at t = {t:g} s")
        return value


@contextmanager
def pushed(bodies: Sequence[Body], forces: Sequence[BodyForce], t: float, dt: float) -> Iterator[None]:
    """While a step reads them, particles have dt times the body forces more velocity.

    The grid then receives the impulse with the weights of the momentum, and FLIP keeps it on the particle.
    """
    if not forces:
        yield
        return
    pushes = [dt * np.sum([force.at(body, t) for force in forces], axis=0) for body in bodies]
    sets = [particles for body in bodies for particles in body.particle_sets()]
    before = [particles.v.copy() for particles in sets]
    for body, push in zip(bodies, pushes, strict=True):
        body.accelerate(push)
    try:
        yield
    finally:
        for particles, v in zip(sets, before, strict=True):
            particles.v[:] = v
