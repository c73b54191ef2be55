"""What a rigid body is at first: its mass and inertia, its velocities, and what its vertices stand for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua._validation import positive_number, real_array, shown
from continua.bodies.axle import Axle
from continua.bodies.rigid_motion import RigidMotion, RigidState
from continua.bodies.velocity import Rigid
from continua.errors import SetupError
from continua.geometry.boundary import Boundary
from continua.geometry.moments import moments_of

Array = NDArray[np.float64]


def motion_of(
    boundary: Boundary, density: float | None, mass: float | None, axle: Axle | None
) -> tuple[RigidMotion, Array]:
    """Equations of motion of a solid, and its middle of mass (3,) [m]."""
    d = boundary.points.shape[1]
    if (density is None) == (mass is None):
        raise SetupError("a rigid body needs a density or a mass, one of the two")
    if axle is not None and not isinstance(axle, Axle):
        raise SetupError(f"axle must be an Axle, not {shown(axle)}")
    if axle is not None and axle.dimension != d:
        raise SetupError(f"a {axle.dimension}D axle cannot hold a {d}D body")
    moments = moments_of(boundary.points, boundary.facets)
    if density is not None:
        density = positive_number("density", density, SetupError)
    else:
        density = positive_number("mass", mass, SetupError) / moments.volume
    center = np.zeros(3)
    center[:d] = moments.center
    hinge = None if axle is None else axle.hinge()
    return RigidMotion(density * moments.volume, density * moments.inertia(), d == 2, hinge), center


def first_twist(
    motion: RigidMotion,
    start: RigidState,
    velocity: Rigid | ArrayLike | None,
    spin: float | ArrayLike | None,
    d: int,
) -> Array:
    """(V, w) (6,) of a body from what a user says of it."""
    if motion.hinge is not None:
        if velocity is not None:
            raise SetupError("a rigid body on an axle only turns: leave velocity out and give its spin")
        rate = 0.0 if spin is None else float(_vector("spin about an axle", spin, ()))
        return rate * motion.hinge.twist(start.X)
    twist = np.zeros(6)
    if isinstance(velocity, Rigid):
        if spin is not None:
            raise SetupError("give the spin of a rigid body in its velocity, or apart from it, but not twice")
        if len(velocity.linear) != d:
            raise SetupError(f"a {len(velocity.linear)}D velocity cannot move a {d}D body")
        arm = np.zeros(3)
        if velocity.center is not None:
            arm[:d] = start.X[:d] - np.array(velocity.center)
        angular = velocity.angular
        twist[3:] = angular if isinstance(angular, tuple) else (0.0, 0.0, angular)
        twist[:d] = velocity.linear
        twist[:3] += np.cross(twist[3:], arm)
        return twist
    if velocity is not None:
        twist[:d] = _vector("velocity of a rigid body", velocity, (d,))
    if spin is not None and d == 2:
        twist[5] = float(_vector("spin of a 2D body", spin, ()))
    elif spin is not None:
        twist[3:] = _vector("spin of a 3D body", spin, (3,))
    return twist


def _vector(name: str, value: object, shape: tuple[int, ...]) -> Array:
    wanted = f"{shape[0]} numbers" if shape else "a number"
    try:
        array = real_array(value)
    except (TypeError, ValueError):
        raise SetupError(f"{name} must be {wanted}, not {shown(value)}") from None
    if array.shape != shape or not np.isfinite(array).all():
        raise SetupError(f"{name} must be {wanted}, finite, not {shown(value)}")
    return array


def vertex_shares(boundary: Boundary, center: Array) -> Array:
    """Shares (N,) of the mass at the points of a solid, by which a force that is linear in space has its true sum.

    Every facet has the simplex between it and the centre of mass (d,), a third of it (half in 2D) at each corner. The
    corner at the centre is left out, which changes no force; torques come out too large by `TORQUE`.
    """
    d = len(center)
    corners = (boundary.points - center)[boundary.facets]
    volumes = np.linalg.det(corners)
    shares = np.zeros(len(boundary.points))
    for column in boundary.facets.T:
        np.add.at(shares, column, volumes / d)
    return np.asarray(shares / volumes.sum())


def torque_factor(d: int) -> float:
    """What torques by `vertex_shares` are to be multiplied with.

    A force A r has the torque of A S with S the integral of r r^T. Over a simplex with a corner at zero, and corners
    that are close to each other, this is (d + d^2)/((d+1)(d+2)) V r r^T.
    """
    return d / (d + 2)
