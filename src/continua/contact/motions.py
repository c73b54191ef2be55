"""How a collider moves: where its points are at any time, and how fast they go.

A point that sits at x in the collider as it was defined is at `position + rotation @ x` at time t.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass as plain_dataclass
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field, InstanceOf, PlainSerializer
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema
from scipy.interpolate import PchipInterpolator

from continua._model import CONFIG, Finite, Vector
from continua._validation import raises
from continua.errors import SetupError
from continua.geometry.rotation import cross_matrix, rotation_matrix, unit_axis

Array = NDArray[np.float64]
STEP = 1e-5  # [s], step of the finite differences that give the velocity of a Python function


@plain_dataclass(frozen=True)
class Pose:
    """Where a collider is and how it moves at one moment.

    The collider's point x is at `position + rotation @ x`, and a point that is at y now moves with
    `velocity + angular x (y - position)`.
    """

    position: Array  # (d,) [m]
    rotation: Array  # (d, d)
    velocity: Array  # (d,) [m/s]
    angular: Array  # (3,) [rad/s]; (0, 0, w) in 2D

    def velocity_at(self, y: Array) -> Array:
        """Velocities (N, d) [m/s] of the collider's points that are at y (N, d) [m] now."""
        d = len(self.position)
        return self.velocity + (y - self.position) @ cross_matrix(self.angular)[:d, :d].T


class Motion(ABC):
    """Pose as a function of time."""

    @property
    @abstractmethod
    def dimension(self) -> int | None:
        """2 or 3, or None where both are possible."""

    @abstractmethod
    def _pose(self, t: float, dimension: int) -> Pose: ...

    def pose(self, t: float, dimension: int | None = None) -> Pose:
        """Pose at time t [s]; `dimension` is checked, and decides where the motion leaves it open."""
        own = self.dimension
        if dimension is not None and own is not None and own != dimension:
            raise SetupError(f"a {own}D {type(self).__name__} motion cannot move a {dimension}D collider")
        return self._pose(t, own or dimension or 3)


def _pose(
    shift: Array, shift_rate: Array, angle: float, rate: float, axis: Vector | None, center: Array
) -> Pose:
    """Turn by `angle` [rad] about `center`, then displace by `shift`: y = shift + center + R (x - center)."""
    d = len(center)
    rotation = rotation_matrix(angle, axis, d)
    angular = rate * unit_axis(axis, d)
    arm = -rotation @ center  # from the centre, where it is now, to the collider's origin
    return Pose(shift + center + arm, rotation, shift_rate + cross_matrix(angular)[:d, :d] @ arm, angular)


@raises(SetupError)
@dataclass(config=CONFIG)
class Fixed(Motion):
    """Stays where it is."""

    type: Literal["fixed"] = Field(default="fixed", kw_only=True, repr=False)

    @property
    def dimension(self) -> None:
        return None

    def _pose(self, t: float, dimension: int) -> Pose:
        return Pose(np.zeros(dimension), np.eye(dimension), np.zeros(dimension), np.zeros(3))


@raises(SetupError)
@dataclass(config=CONFIG)
class Linear(Motion):
    """Moves at constant velocity from `start` until `stop`, and rests before and after."""

    velocity: Vector = Field(description="velocity [m/s]")
    start: Finite = Field(default=0.0, description="time at which it sets off [s]")
    stop: Finite | None = Field(default=None, description="time at which it stops [s]; left out: never")
    type: Literal["linear"] = Field(default="linear", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.stop is not None and self.stop < self.start:
            raise ValueError("stop must not be before start")

    @property
    def dimension(self) -> int:
        return len(self.velocity)

    def _pose(self, t: float, dimension: int) -> Pose:
        stop = math.inf if self.stop is None else self.stop
        velocity = np.array(self.velocity)
        travelled = velocity * (min(max(t, self.start), stop) - self.start)
        moving = self.start <= t < stop
        return Pose(travelled, np.eye(dimension), velocity if moving else np.zeros(dimension), np.zeros(3))


@raises(SetupError)
@dataclass(config=CONFIG)
class Spin(Motion):
    """Turns at a constant rate, counter-clockwise about a fixed point (and axis in 3D)."""

    rate: Finite = Field(description="angular velocity [rad/s]")
    center: Vector = Field(description="point on the axis [m]")
    axis: Vector | None = Field(default=None, description="direction of the axis, in 3D only")
    type: Literal["spin"] = Field(default="spin", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        unit_axis(self.axis, len(self.center))

    @property
    def dimension(self) -> int:
        return len(self.center)

    def _pose(self, t: float, dimension: int) -> Pose:
        still = np.zeros(dimension)
        return _pose(still, still, self.rate * t, self.rate, self.axis, np.array(self.center))


def _plain_list(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


@raises(SetupError)
@dataclass(config=CONFIG)
class Keyframes(Motion):
    """Goes through displacements and angles at given times; rests before the first and after the last."""

    times: Annotated[list[Finite], BeforeValidator(_plain_list)] = Field(
        min_length=2, description="increasing times [s]"
    )
    positions: Annotated[list[Vector], BeforeValidator(_plain_list)] = Field(
        description="displacement from the place of definition at each time [m]"
    )
    angles: Annotated[list[Finite], BeforeValidator(_plain_list)] | None = Field(
        default=None, description="angle at each time [degrees], counter-clockwise; left out: no rotation"
    )
    axis: Vector | None = Field(default=None, description="direction of the axis of rotation, in 3D only")
    center: Vector | None = Field(
        default=None,
        description="point about which it turns, before the displacement [m]; left out: the origin",
    )
    interpolation: Literal["linear", "smooth"] = Field(
        default="linear",
        kw_only=True,
        description="straight between keys, or smooth: continuous velocity, no overshoot, rest at the ends",
    )
    type: Literal["keyframes"] = Field(default="keyframes", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if any(b <= a for a, b in zip(self.times, self.times[1:], strict=False)):
            raise ValueError("times must increase")
        if len(self.positions) != len(self.times):
            raise ValueError(f"{len(self.times)} times need as many positions, not {len(self.positions)}")
        if len({len(p) for p in self.positions} | {len(self.center or self.positions[0])}) != 1:
            raise ValueError("positions and center must all have the same number of coordinates")
        if self.angles is None:
            if self.axis is not None:
                raise ValueError("axis has no meaning without angles")
            return
        if len(self.angles) != len(self.times):
            raise ValueError(f"{len(self.times)} times need as many angles, not {len(self.angles)}")
        unit_axis(self.axis, self.dimension)

    @property
    def dimension(self) -> int:
        return len(self.positions[0])

    @cached_property
    def _keys(self) -> Array:
        """Displacement [m] and angle [rad] at each time, (K, d + 1)."""
        angles = np.radians(self.angles) if self.angles is not None else np.zeros(len(self.times))
        return np.column_stack([np.array(self.positions), angles])

    @cached_property
    def _smooth(self) -> PchipInterpolator:
        """Monotone cubic; a copy of the key at either end makes it start and stop at rest."""
        times = [self.times[0] - 1, *self.times, self.times[-1] + 1]
        return PchipInterpolator(times, self._keys[[0, *range(len(self.times)), -1]])

    def _value_and_rate(self, t: float) -> tuple[Array, Array]:
        times, keys = self.times, self._keys
        if t < times[0] or t >= times[-1]:
            return keys[0 if t < times[0] else -1], np.zeros(keys.shape[1])
        if self.interpolation == "smooth":
            return self._smooth(t), self._smooth(t, 1)
        k = int(np.searchsorted(times, t, side="right")) - 1
        rate = (keys[k + 1] - keys[k]) / (times[k + 1] - times[k])
        return keys[k] + (t - times[k]) * rate, rate

    def _pose(self, t: float, dimension: int) -> Pose:
        value, rate = self._value_and_rate(t)
        center = np.array(self.center if self.center is not None else (0.0,) * dimension)
        axis = self.axis if self.angles is not None or dimension == 2 else (0.0, 0.0, 1.0)
        return _pose(value[:-1], rate[:-1], float(value[-1]), float(rate[-1]), axis, center)


MotionFunction = Callable[[float], tuple[ArrayLike, ArrayLike]]


@plain_dataclass(frozen=True)
class FunctionMotion(Motion):
    """Motion given by a Python function t -> (position (d,), rotation (d, d)).

    Velocities come from central differences with a step of 1e-5 s (before 1e-5 s from forward ones of the
    same order, so that the function never sees negative times); it should be smooth on that scale.
    """

    function: MotionFunction

    @cached_property
    def dimension(self) -> int:
        return len(self._at(0.0)[0])

    def _at(self, t: float) -> tuple[Array, Array]:
        try:
            position, rotation = (np.array(part, dtype=np.float64) for part in self.function(t))
        except (TypeError, ValueError) as error:
            raise SetupError("a motion function must return a position (d,) and a rotation (d, d)") from error
        d = position.size
        if position.shape not in ((2,), (3,)) or rotation.shape != (d, d):
            raise SetupError(
                f"a motion function must return a position (d,) and a rotation (d, d), not arrays of shape "
                f"{position.shape} and {rotation.shape}"
            )
        if not np.isfinite(position).all():
            raise SetupError(f"the motion function gives a position that is not finite at t = {t:g} s")
        if not (np.abs(rotation.T @ rotation - np.eye(d)).max() < 1e-6 and np.linalg.det(rotation) > 0):
            raise SetupError(f"the motion function gives a matrix that is not a rotation at t = {t:g} s")
        return position, rotation

    def _pose(self, t: float, dimension: int) -> Pose:
        position, rotation = self._at(t)
        weights = {-STEP: -0.5, STEP: 0.5} if t >= STEP else {0.0: -1.5, STEP: 2.0, 2 * STEP: -0.5}
        samples = [(weight / STEP, *self._at(t + offset)) for offset, weight in weights.items()]
        velocity = sum((w * x for w, x, _ in samples), np.zeros(dimension))
        W = sum((w * R for w, _, R in samples), np.zeros((dimension, dimension))) @ rotation.T
        W = (W - W.T) / 2
        spin = np.array([W[2, 1], W[0, 2], W[1, 0]]) if dimension == 3 else np.array([0.0, 0.0, W[1, 0]])
        return Pose(position, rotation, velocity, spin)


AnyMotion = Annotated[Fixed | Linear | Spin | Keyframes, Field(discriminator="type")]

# What a collider accepts from Python: also functions, which scene files and their schema cannot hold.
_function_name = PlainSerializer(
    lambda f: f"<python function {getattr(f, '__name__', '')}>", when_used="json"
)
MotionLike = (
    AnyMotion
    | SkipJsonSchema[InstanceOf[FunctionMotion]]
    | SkipJsonSchema[Annotated[MotionFunction, _function_name]]
)


def as_motion(value: Motion | MotionFunction | None) -> Motion:
    """Motion for a collider: None stays fixed, a function is wrapped."""
    if value is None:
        return Fixed()
    if isinstance(value, Motion):
        return value
    if callable(value):
        return FunctionMotion(value)
    raise SetupError(f"a motion must be a motion object or a function of time, not {type(value).__name__}")
