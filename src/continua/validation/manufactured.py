"""Manufactured solutions: the motion is chosen first, and the body force that it needs follows.

Symplectic Euler is a leapfrog for the positions if the velocity starts half a step early, so runs do, and what is left
is the error of the method in space and of second order in time.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from continua.bodies.force import BodyForce
from continua.bodies.points import ParticleBody
from continua.contact.boundaries import Periodic
from continua.geometry.shapes import Points
from continua.materials import NeoHookean
from continua.simulation import Simulation
from continua.validation.case import Measurement, at_least, at_most, reported

Array = NDArray[np.float64]


class ManufacturedMotion(ABC):
    """A prescribed motion of a neo-Hookean body; X (N, d) are the places of its points without deformation [m]."""

    material: NeoHookean
    duration: float  # [s]
    period: float | None = None  # the world repeats after this length along every axis [m]
    size: float = 1.0  # displacement that counts as an error of 1 [m]

    @abstractmethod
    def points(self, spacing: float) -> tuple[Array, Array]:
        """Points X (N, d) and their volumes (N,)."""

    @abstractmethod
    def position(self, X: Array, t: float) -> Array:
        """Positions (N, d) [m]."""

    @abstractmethod
    def velocity(self, X: Array, t: float) -> Array:
        """Velocities (N, d) [m/s]."""

    @abstractmethod
    def deformation(self, X: Array, t: float) -> Array:
        """Deformation gradients (N, d, d)."""

    @abstractmethod
    def rate(self, X: Array, t: float) -> Array:
        """Velocity gradients dv/dx (N, d, d) [1/s]."""

    @abstractmethod
    def force(self, X: Array, t: float) -> Array:
        """Force per mass (N, d) [m/s^2]."""


def displacement_error(motion: ManufacturedMotion, dx: float, transfer: str, *, courant: float) -> float:
    """Largest error of the displacement in time, root mean square over the body, relative to `motion.size`.

    A wave of the undeformed material crosses `courant` cells per step.
    """
    steps = int(np.ceil(motion.duration * motion.material.wave_speed() / (courant * dx)))
    dt = motion.duration / steps
    sim = Simulation(dx, (0, 0), transfer=transfer, dt=dt, force_dt=True)
    X, body = _place(sim, motion, dt)
    worst = 0.0
    for step in range(1, steps + 1):
        sim.step()
        if step % 8 == 0 or step == steps:
            worst = max(worst, _error(motion, body, X, sim.time))
    return worst / motion.size


def _place(sim: Simulation, motion: ManufacturedMotion, dt: float) -> tuple[Array, ParticleBody]:
    if motion.period is not None:
        for axis in (0, 1):
            sim.add(Periodic(axis, 0.0, motion.period))
    X, volumes = motion.points(sim.dx / 2)
    start = motion.velocity(X, -dt / 2)
    body = sim.add(Points(motion.position(X, 0.0), volumes), motion.material, velocity=lambda x: start)
    body.F = motion.deformation(X, 0.0)
    if sim.world.transfer.affine:
        body.C = motion.rate(X, -dt / 2)
    body.refresh()
    sim.add(BodyForce(lambda body, t: motion.force(X[body.ids], t)))
    return X, body


def _error(motion: ManufacturedMotion, body: ParticleBody, X: Array, t: float) -> float:
    away = body.x - motion.position(X[body.ids], t)
    if motion.period is not None:
        away -= motion.period * np.round(away / motion.period)
    return float(np.sqrt(body.volume @ (away**2).sum(axis=1) / body.volume.sum()))


def convergence(
    motion: ManufacturedMotion,
    transfer: str,
    spacings: NDArray[np.float64],
    *,
    courant: float,
    limit: float | None = None,
    slope: float = 0.0,
) -> list[Measurement]:
    """Errors on all grids and the observed order.

    The error on the finest grid must stay below `limit` and the order above `slope`; without a limit nothing is asked.
    """
    errors = [displacement_error(motion, dx, transfer, courant=courant) for dx in spacings]
    order = float(np.polyfit(np.log(spacings), np.log(errors), 1)[0])
    names = [f"{transfer}: displacement error, dx = {dx:.4f} m" for dx in spacings]
    coarse = [reported(name, error) for name, error in zip(names[:-1], errors)]
    if limit is None:
        return [*coarse, reported(names[-1], errors[-1]), reported(f"{transfer}: order", order)]
    last = at_most(names[-1], errors[-1], limit)
    return [*coarse, last, at_least(f"{transfer}: order", order, slope, reference=2.0)]
