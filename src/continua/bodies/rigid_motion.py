"""How a rigid body moves: freely, or about an axle. Everything in three dimensions; a 2D body turns about z only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.geometry.rotation import cross_matrix

Array = NDArray[np.float64]
FINE = 0.01  # [rad] by which a body turns in a part of a step: near its middle axis the energy errs by 4e-6 in 10 s


@dataclass(frozen=True)
class RigidState:
    """Where a rigid body is and how it moves."""

    X: Array  # (3,) middle of mass [m]
    R: Array  # (3, 3) a point that was at x0 from the middle is at R x0 from it
    V: Array  # (3,) [m/s]
    L: Array  # (3,) angular momentum about the middle [kg m^2/s]


def turn(vector: Array) -> Array:
    """exp of the cross matrix of a vector (3,) [rad]: the rotation (3, 3) about it by its length (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    K = cross_matrix(vector)
    # sin(a)/a and (1 - cos(a))/a^2 without dividing small numbers
    one = np.sinc(angle / np.pi)
    two = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2
    return np.asarray(np.eye(3) + one * K + two * (K @ K))


def orthonormal(R: Array) -> Array:
    """R without what rounding has left beside the rotation: one step of the iteration to the polar factor."""
    return np.asarray(R @ (1.5 * np.eye(3) - 0.5 * R.T @ R))


@dataclass(frozen=True)
class Hinge:
    """An axle in the world: a point (3,) [m] and a unit direction (3,)."""

    point: Array
    direction: Array

    def twist(self, X: Array) -> Array:
        """(V, w) (6,) of a body with its middle at X that turns with 1 rad/s."""
        return np.concatenate([np.cross(self.direction, X - self.point), self.direction])


@dataclass(frozen=True)
class RigidMotion:
    """Equations of motion of a body of some mass [kg] and inertia J (3, 3) [kg m^2] in its first orientation.

    Everything that acts is an impulse P (3,) [N s] with an angular impulse T (3,) [N m s] about the middle.
    """

    mass: float
    J: Array
    planar: bool = False
    hinge: Hinge | None = None

    def inertia(self, R: Array) -> Array:
        """In the world (3, 3)."""
        return np.asarray(R @ self.J @ R.T)

    def axial_inertia(self, state: RigidState) -> float:
        """About the axle [kg m^2]: that of the middle and a J a (Steiner)."""
        assert self.hinge is not None
        b = self.hinge.twist(state.X)
        return float(self.mass * b[:3] @ b[:3] + b[3:] @ self.inertia(state.R) @ b[3:])

    def mobility(self, state: RigidState) -> Array:
        """Twist per impulse, W (6, 6): (V, w) += W (P, T)."""
        W = np.zeros((6, 6))
        if self.hinge is not None:
            b = self.hinge.twist(state.X)
            return np.outer(b, b) / self.axial_inertia(state)
        if self.planar:
            W[0, 0] = W[1, 1] = 1 / self.mass
            W[5, 5] = 1 / self.J[2, 2]
            return W
        W[:3, :3] = np.eye(3) / self.mass
        W[3:, 3:] = np.linalg.inv(self.inertia(state.R))
        return W

    def spin(self, state: RigidState) -> Array:
        """Angular velocity (3,) [rad/s]."""
        if self.planar:
            return np.array([0.0, 0.0, state.L[2] / self.J[2, 2]])
        return np.asarray(state.R @ np.linalg.solve(self.J, state.R.T @ state.L))

    def twist(self, state: RigidState) -> Array:
        """(V, w) (6,)."""
        return np.concatenate([state.V, self.spin(state)])

    def with_twist(self, state: RigidState, twist: Array) -> RigidState:
        """The same place with other velocities."""
        return RigidState(state.X, state.R, twist[:3].copy(), self.inertia(state.R) @ twist[3:])

    def pushed(self, state: RigidState, P: Array, T: Array) -> RigidState:
        """After an impulse: W (P, T) added to the twist, where a free body keeps V and L apart, without rounding."""
        if self.hinge is not None:
            return self.with_twist(state, self.twist(state) + self.mobility(state) @ np.concatenate([P, T]))
        if self.planar:
            P, T = P * [1.0, 1.0, 0.0], T * [0.0, 0.0, 1.0]
        return RigidState(state.X, state.R, state.V + P / self.mass, state.L + T)

    def moved(self, state: RigidState, dt: float) -> RigidState:
        """After dt [s] without forces.

        A free body turns with the angular velocity of half the step, for which L stays and the energy nearly does
        (with the one of the beginning the energy would drift), in parts of a step that turn it by at most FINE.
        """
        if self.hinge is not None:
            return self.shifted(state, dt * self.twist(state))
        parts = 1 if self.planar else max(1, math.ceil(dt * float(np.linalg.norm(self.spin(state))) / FINE))
        now, part = state, dt / parts
        for _ in range(parts):
            half = RigidState(now.X, turn(0.5 * part * self.spin(now)) @ now.R, now.V, now.L)
            now = RigidState(now.X, orthonormal(turn(part * self.spin(half)) @ now.R), now.V, now.L)
        return RigidState(state.X + dt * state.V, now.R, state.V, state.L)

    def shifted(self, state: RigidState, shift: Array) -> RigidState:
        """Displaced by a twist (6,) [m, rad]. A free body keeps V and L, one on an axle its angular velocity."""
        rotation = turn(shift[3:])
        R = orthonormal(rotation @ state.R)
        if self.hinge is None:
            return RigidState(state.X + shift[:3], R, state.V, state.L)
        rate = self.spin(state) @ self.hinge.direction
        X = self.hinge.point + rotation @ (state.X - self.hinge.point)
        there = RigidState(X, R, state.V, state.L)
        return self.with_twist(there, rate * self.hinge.twist(X))

    def kinetic(self, state: RigidState) -> float:
        """[J]."""
        return float(0.5 * self.mass * state.V @ state.V + 0.5 * self.spin(state) @ state.L)
