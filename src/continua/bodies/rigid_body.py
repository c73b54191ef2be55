"""Rigid bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua._validation import finite_number, positive_number, shown
from continua.bodies.axle import Axle
from continua.bodies.body import (
    RIGID,
    Body,
    GridMotion,
    MeetingSurface,
    Prediction,
    Surroundings,
    Totals,
    too_fast,
)
from continua.bodies.particles import Limits, ParticleSet
from continua.bodies.rigid_motion import RigidState
from continua.bodies.rigid_setup import first_twist, motion_of, torque_factor, vertex_shares
from continua.bodies.rigid_surface import RigidSurface
from continua.bodies.velocity import Rigid
from continua.contact.rigid_contact import QUICK, Contacts, contacts_of, displacement, per_row, strike
from continua.errors import SetupError
from continua.geometry.base import Shape
from continua.geometry.boundary import Boundary, boundary_of, touch_points
from continua.geometry.meshes import BoxMesh, FileMesh, ShapeMesh, SimplexMesh
from continua.transfers.exchange import Exchange

Array = NDArray[np.float64]
MARGIN = 2.0  # times the way of the fastest point, within which obstacles are looked at
OUT = 0.2  # cells by which a point that is inside an obstacle is set back in a step, at most
STILL = 1e-9  # cells per second: what moves slower rests, as far as the time step is concerned
SKIN = 1e-3  # of the size of the body, within which points count as near
COARSEST, FINEST = 16, 64  # points at which it may touch obstacles, along its longest side


class RigidBody(Body):
    """A body that moves and turns, but does not deform.

    shape: any shape of finite size, a closed surface (`ct.shapes.Mesh`), a `SimplexMesh`, or a description of one.
    Keyword arguments:

    - density [kg/m^3], or mass [kg]; in 2D per metre of depth. One of them is needed;
    - velocity: of its middle of mass [m/s], a vector, or a `Rigid` with the spin as well;
    - spin: angular velocity [rad/s], a vector in 3D, a number in 2D or about an axle;
    - axle: an `Axle` about which it turns and does nothing else; left out: it is free;
    - friction: Coulomb coefficient with other rigid bodies of its continuum;
    - restitution: speed after an impact on a collider over that before, 0 to 1. Slow impacts do not bounce;
    - size: length of the facets of round shapes [m]; left out: a 32nd of the longest side;
    - name: unique in the simulation;
    - continuum: name of the one it belongs to; left out: "rigid".

    It meets colliders at points of its surface, where friction is that of the collider, and other bodies through the
    grid. Round shapes are round where they touch; a mesh has the facets that it has, and rolls on them. Bodies stacked
    on each other are outside of the method: through the grid they keep a distance of about a cell, and towers fall.
    """

    kind = "mesh"
    stem = "rigid"

    def __init__(
        self,
        shape: Shape | SimplexMesh | BoxMesh | ShapeMesh | FileMesh,
        *,
        density: float | None = None,
        mass: float | None = None,
        velocity: Rigid | ArrayLike | None = None,
        spin: float | ArrayLike | None = None,
        axle: Axle | None = None,
        friction: float = 0.0,
        restitution: float = 0.0,
        size: float | None = None,
        name: str | None = None,
        continuum: str | None = None,
    ) -> None:
        self.name, self.continuum = name, continuum
        size = None if size is None else positive_number("size", size, SetupError)
        self.boundary: Boundary = boundary_of(shape, size)
        self.dimension = int(self.boundary.points.shape[1])
        self.motion, center = motion_of(self.boundary, density, mass, axle)
        self.axle = axle
        self.friction = finite_number("friction", friction, SetupError)
        if self.friction < 0:
            raise SetupError(f"friction must not be negative, not {shown(friction)}")
        self.restitution = finite_number("restitution", restitution, SetupError)
        if not 0 <= self.restitution <= 1:
            raise SetupError(f"restitution must lie between 0 and 1, not {shown(restitution)}")
        d = self.dimension
        self._local = np.zeros(
            (len(self.boundary.points), 3)
        )  # from the middle, in the first orientation [m]
        self._local[:, :d] = self.boundary.points - center[:d]
        self._first = center  # where the middle was at first (3,) [m]
        start = RigidState(center, np.eye(3), np.zeros(3), np.zeros(3))
        self.state = self.motion.with_twist(start, first_twist(self.motion, start, velocity, spin, d))
        self._radius = float(np.sqrt((self._local**2).sum(axis=1).max()))
        self._shares = vertex_shares(self.boundary, center[:d])
        self.pull = np.zeros(3)  # impulse that the bearing of its axle has given so far [N s]
        self._next, self._next_pull = self.state, self.pull
        self._predicted = self.state
        self._dx, self._points = np.inf, touch_points(self.boundary, 2 * self._radius / COARSEST)
        self._wrap: Callable[[NDArray], NDArray] = _nowhere
        self._push: Array | None = None
        self._around: Surroundings | None = None
        self._hits = np.zeros((0, 3))
        self.skin: RigidSurface | None = None  # its surface on the grid
        self._stored: dict[str, NDArray] = {}  # of the surface, until there is one
        self._weight = 0.0  # gravity [m/s^2]

    def __len__(self) -> int:
        return len(self._local)

    # ---- what it is ------------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        return "rigid"

    @property
    def x(self) -> Array:
        """Positions (N, d) [m] of the points of its surface."""
        return self._places(self.state)

    def _places(self, state: RigidState) -> Array:
        return np.ascontiguousarray((state.X + self._local @ state.R.T)[:, : self.dimension])

    @property
    def v(self) -> Array:
        """Their velocities (N, d) [m/s]."""
        return self._velocities(self.state)

    def velocity_at(self, x: Array) -> Array:
        """Velocities (n, d) [m/s] of its material at points x (n, d) [m]."""
        arms = np.zeros((len(x), 3))
        arms[:, : self.dimension] = x - self.center
        return np.ascontiguousarray((self.state.V + np.cross(self.spin, arms))[:, : self.dimension])

    @property
    def mass(self) -> Array:
        """Shares (N,) [kg] of its mass that stand at its points."""
        return self.motion.mass * self._shares

    @property
    def center(self) -> Array:
        """Its middle of mass (d,) [m]."""
        return self.state.X[: self.dimension].copy()

    @property
    def rotation(self) -> Array:
        """(d, d) from its first orientation to the present one."""
        return self.state.R[: self.dimension, : self.dimension].copy()

    @property
    def velocity(self) -> Array:
        """Of its middle of mass (d,) [m/s]."""
        return self.state.V[: self.dimension].copy()

    @property
    def spin(self) -> Array:
        """Angular velocity (3,) [rad/s]; (0, 0, w) in 2D."""
        return self.motion.spin(self.state)

    @property
    def max_speed(self) -> float:
        return float(np.sqrt((self.v**2).sum(axis=1).max()))

    def _velocities(self, state: RigidState) -> Array:
        """Of its points (N, d) [m/s]."""
        twist = self.motion.twist(state)
        return np.ascontiguousarray(
            (twist[:3] + np.cross(twist[3:], self._local @ state.R.T))[:, : self.dimension]
        )

    # ---- a step ----------------------------------------------------------------------------------------------

    @property
    def self_moving(self) -> bool:
        return True

    @property
    def home(self) -> str:
        return RIGID

    @property
    def walls(self) -> bool:
        return False

    def be_free(self, dtype: type[np.floating], dx: float, *, explicit: bool) -> None:
        self.skin = RigidSurface(
            str(self.name),
            self.boundary.points,
            self.boundary.facets,
            mass=self.motion.mass,
            friction=self.friction,
            dx=dx,
            dtype=dtype,
        )
        if self._stored:
            self.skin.restore(self._stored)

    def particle_sets(self) -> Sequence[ParticleSet]:
        return () if self.skin is None else (self.skin.set,)

    def contact_surfaces(self) -> Sequence[MeetingSurface]:
        return () if self.skin is None else [MeetingSurface(True, self.skin.areas)]

    def ready(self, wrap: Callable[[NDArray], NDArray], dx: float, steps: int) -> None:
        self._wrap = wrap
        if dx != self._dx:
            self._dx = dx
            self._points = touch_points(self.boundary, max(dx, 2 * self._radius / FINEST))
        if self.skin is not None:
            self.skin.place(self.x, self.rotation, wrap)
            speed = self.max_speed
            self.skin.set.limits = Limits(speed if speed > STILL * dx else 0.0, self.skin.wave)

    def begin(self, t: float) -> None:
        self._push = None

    def accelerate(self, push: Array) -> None:
        self._push = push

    def surround(self, obstacles: Surroundings) -> None:
        self._around = obstacles

    def predict(self, t: float, dt: float, gravity: Array, move: Prediction) -> str:
        motion, state = self.motion, self.state
        P, T = np.zeros(3), np.zeros(3)
        P[: self.dimension] = motion.mass * dt * gravity
        self._weight = float(np.linalg.norm(gravity))
        if self._push is not None:
            push = np.zeros((len(self), 3))
            push[:, : self.dimension] = self.mass[:, None] * self._push
            P += push.sum(axis=0)
            arms = self._local @ state.R.T
            T += torque_factor(self.dimension) * np.cross(arms, push).sum(axis=0)
        self._predicted = self._turned(motion.pushed(state, P, T), dt)
        self._next_pull = self.pull + motion.mass * (self._predicted.V - state.V) - P
        v = self._velocities(self._predicted)
        if self.skin is not None:
            self.skin.give(v)
        return too_fast(self, v, dt, self._dx)

    def _turned(self, state: RigidState, dt: float) -> RigidState:
        """By the motor and the drag of its axle; drag is implicit, so that it never turns the body round."""
        if self.axle is None:
            return state
        inertia = self.motion.axial_inertia(state)
        hinge = self.axle.hinge()
        rate = float(self.motion.spin(state) @ hinge.direction)
        after = rate
        if self.axle.motor is not None:
            after += self.axle.motor.impulse(rate, inertia, dt) / inertia
        after /= 1 + dt * self.axle.drag / inertia
        return self.motion.with_twist(state, after * hinge.twist(state.X))

    def press(self, exchanges: Sequence[Exchange], nodes: GridMotion, dt: float) -> None:
        if self.skin is not None:
            self.skin.press(exchanges[0], nodes, dt, self._weight)

    def respond(self, exchanges: Sequence[Exchange], nodes: GridMotion | None, dt: float) -> str:
        state = self._predicted
        if nodes is not None and self.skin is not None:
            given = np.zeros((len(self), 3))
            given[:, : self.dimension] = self.skin.impulses(exchanges[0], nodes)
            state = self._pushed(state, given, self._local @ self.state.R.T)
        state = self._struck(state, dt)
        self._next = self._freed(self.motion.moved(state, dt))
        self._next_pull = self._next_pull + self.motion.mass * (self._next.V - state.V)  # of the axle
        if self.skin is not None:
            self.skin.follow(self._next.R[: self.dimension, : self.dimension])
        return too_fast(self, self._velocities(state), dt, self._dx)

    def _pushed(self, state: RigidState, impulses: Array, arms: Array) -> RigidState:
        """After impulses (n, 3) [N s] at arms (n, 3) [m]; what the axle does not let through, its bearing takes."""
        P = impulses.sum(axis=0)
        after = self.motion.pushed(state, P, np.cross(arms, impulses).sum(axis=0))
        self._next_pull = self._next_pull + self.motion.mass * (after.V - state.V) - P
        return after

    def _struck(self, state: RigidState, dt: float) -> RigidState:
        """After the impulses of obstacles."""
        around = self._around
        self._hits = np.zeros((0 if around is None else len(around.rows), 3))
        fastest = float(np.sqrt((self._velocities(state) ** 2).sum(axis=1).max()))
        within = MARGIN * dt * fastest + SKIN * self._radius
        contacts = self._contacts(state, within, dt)
        if contacts is None:
            return state
        twist = self.motion.twist(state)
        slow = QUICK * float(np.linalg.norm(state.V - self.state.V))
        struck = strike(contacts, self.motion.mobility(state), twist, dt, self.restitution, slow)
        self._hits = per_row(contacts, struck.impulses, len(self._hits))
        return self._pushed(state, struck.impulses, contacts.arms)

    def _contacts(self, state: RigidState, within: float, dt: float) -> Contacts | None:
        """Where it may touch obstacles; None where it is far from all of them."""
        if self._around is None or not len(self._around.rows):
            return None
        X = state.X.copy()
        X[: self.dimension] = self._wrap(X[None, : self.dimension].copy())[0]
        origin, rows = self._first[: self.dimension], self._around.rows
        found = contacts_of(self._points, X, state.R, origin, rows, self._around.samples, within, dt)
        return found if len(found) else None

    def _freed(self, state: RigidState) -> RigidState:
        """Set back where turning, or obstacles, have brought points inside; that is no motion, and has no energy."""
        contacts = self._contacts(state, SKIN * self._radius, 0.0)
        if contacts is None or not (contacts.gaps < 0).any():
            return state
        most = OUT * min(self._dx, self._radius)
        return self.motion.shifted(state, displacement(contacts, self.motion.mobility(state), most))

    @property
    def obstacle_impulses(self) -> Array:
        return self._hits

    def accept(self, dt: float, limits: Sequence[Limits], period: Array) -> None:
        self.state, self.pull = self._next, self._next_pull
        if self.skin is not None:
            self.skin.accept()

    # ---- looking and saving ----------------------------------------------------------------------------------

    def totals(self) -> Totals:
        X, V, L = self.state.X, self.state.V, self.state.L
        p = self.motion.mass * V
        return Totals(
            mass=self.motion.mass,
            kinetic=self.motion.kinetic(self.state),
            momentum=p,
            angular=np.cross(X, p) + L,
            first_moment=self.motion.mass * X,
        )

    @property
    def nbytes(self) -> int:
        held = 10 * self._local.nbytes + 8 * self._points.points.nbytes
        return int(held) + sum(one.nbytes for one in self.particle_sets())

    def topology(self) -> tuple[NDArray[np.int32] | None, NDArray[np.int32] | None]:
        return self.boundary.cells, self.boundary.facets

    def described(self) -> dict[str, Any]:
        table = self.boundary.facets if self.boundary.cells is None else self.boundary.cells
        return {"cells": len(table), "cell": "triangle"}

    def setup(self) -> dict[str, Any]:
        arrays = {
            "points": self.boundary.points,
            "inertia": self.motion.J,
            "mass": np.array(self.motion.mass),
        }
        settings = {"axle": self.axle, "friction": self.friction, "restitution": self.restitution}
        return settings | {"arrays": arrays}

    def fields(self) -> dict[str, NDArray]:
        """Data of its points for frames: id, x, v."""
        return {"id": np.arange(len(self), dtype=np.int32), "x": self.x, "v": self.v}

    def snapshot(self) -> dict[str, NDArray]:
        state = self.state
        data = {"X": state.X, "R": state.R, "V": state.V, "L": state.L, "pull": self.pull}
        surface = self._stored if self.skin is None else self.skin.snapshot()
        return {name: array.copy() for name, array in {**data, **surface}.items()}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        if missing := ", ".join(sorted({"X", "R", "V", "L", "pull"} - set(data))):
            raise SetupError(f'the stored body "{self.name}" is no rigid body, it has no {missing}')
        self.state = RigidState(*(np.array(data[key]) for key in ("X", "R", "V", "L")))
        self.pull = np.array(data["pull"])
        self._stored = {name: np.array(data[name]) for name in ("fibres", "wave") if name in data}
        if self.skin is not None and self._stored:
            self.skin.restore(self._stored)


def _nowhere(x: NDArray) -> NDArray:
    """Positions where no axis is periodic."""
    return x
