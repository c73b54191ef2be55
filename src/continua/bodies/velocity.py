"""Velocity of a body at the start: one vector, rigid motion, affine motion, or any function of position."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema

from continua._model import CONFIG, FUNCTION_NAME, Finite, Vector
from continua._validation import raises, real_array
from continua.errors import SetupError
from continua.geometry.rotation import cross_matrix

Array = NDArray[np.float64]
VelocityFunction = Callable[[Array], ArrayLike]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


@raises(SetupError)
@dataclass(config=CONFIG)
class Rigid:
    """Translation and rotation: v = linear + angular x (x - center)."""

    linear: Vector = Field(description="velocity at the centre [m/s]")
    angular: Annotated[Finite | Vector, BeforeValidator(_plain)] = Field(
        description="angular velocity [rad/s], a number in 2D, a vector in 3D"
    )
    center: Vector | None = Field(default=None, description="centre [m]; left out: the mean of all points")
    type: Literal["rigid"] = Field(default="rigid", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        d = len(self.linear)
        _require_length("center", self.center, d)
        components = len(self.angular) if isinstance(self.angular, tuple) else 1
        if components != (1 if d == 2 else 3):
            raise ValueError(
                f"angular must be {'one number in 2D' if d == 2 else 'a vector of 3 numbers in 3D'}"
            )

    def gradient(self) -> Array:
        """dv_a / dx_b, (d, d) [1/s]."""
        w = self.angular if isinstance(self.angular, tuple) else (0.0, 0.0, self.angular)
        d = len(self.linear)
        return cross_matrix(np.array(w))[:d, :d]


@raises(SetupError)
@dataclass(config=CONFIG)
class Affine:
    """Velocity that is linear in position: v = linear + gradient (x - center)."""

    linear: Vector = Field(description="velocity at the centre [m/s]")
    gradient: Annotated[tuple[Vector, ...], BeforeValidator(_plain)] = Field(
        description="dv_a / dx_b, rows a, columns b [1/s]"
    )
    center: Vector | None = Field(default=None, description="centre [m]; left out: the mean of all points")
    type: Literal["affine"] = Field(default="affine", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        d = len(self.linear)
        _require_length("center", self.center, d)
        if len(self.gradient) != d or any(len(row) != d for row in self.gradient):
            raise ValueError(f"gradient must be a {d} x {d} matrix like linear")


def _require_length(name: str, vector: tuple[float, ...] | None, d: int) -> None:
    if vector is not None and len(vector) != d:
        raise ValueError(f"{name} needs {d} coordinates like linear")


AnyVelocity = Annotated[Rigid | Affine, Field(discriminator="type")] | Vector

# What bodies accept from Python: also functions, which scene files and their schema cannot hold.
VelocityLike = AnyVelocity | SkipJsonSchema[Annotated[VelocityFunction, FUNCTION_NAME]]
GivenVelocity = Rigid | Affine | ArrayLike | VelocityFunction | None  # what Python users may give


def evaluate(velocity: GivenVelocity, x: Array) -> tuple[Array, Array]:
    """Velocities (N, d) [m/s] at points x (N, d) [m], and their gradients dv_a / dx_b (N, d, d) [1/s].

    None means at rest. The gradient of a Python function is taken as zero.
    """
    count, d = x.shape
    if isinstance(velocity, (Rigid, Affine)):
        if len(velocity.linear) != d:
            raise SetupError(f"a {len(velocity.linear)}D velocity cannot move a {d}D body")
        gradient = velocity.gradient() if isinstance(velocity, Rigid) else np.array(velocity.gradient)
        center = x.mean(axis=0) if velocity.center is None else np.array(velocity.center)
        return np.array(velocity.linear) + (x - center) @ gradient.T, np.tile(gradient, (count, 1, 1))
    rest = np.zeros((count, d, d))
    if velocity is None:
        return np.zeros((count, d)), rest
    if callable(velocity):
        return _numbers(velocity(x.copy()), (count, d), "a velocity function"), rest
    return np.tile(_numbers(velocity, (d,), "a velocity"), (count, 1)), rest


def _numbers(value: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    try:
        array = real_array(value)
    except (TypeError, ValueError):
        raise SetupError(f"{name} must give numbers in an array of shape {shape}") from None
    if array.shape != shape:
        raise SetupError(f"{name} must give an array of shape {shape}, not {array.shape}")
    if not np.isfinite(array).all():
        raise SetupError(f"{name} must give finite numbers")
    return array
