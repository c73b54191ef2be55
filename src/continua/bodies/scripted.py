"""Vertices of a mesh that go where they are told."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, InstanceOf, PlainSerializer, PlainValidator, WithJsonSchema
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema

from continua._model import CONFIG, FUNCTION_NAME, Finite
from continua._validation import raises
from continua.contact.motions import AnyMotion, Fixed, FunctionMotion, Motion
from continua.errors import SetupError
from continua.geometry.base import Shape
from continua.geometry.combine import AnyShape

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Choice = Callable[[Array], ArrayLike]
Path = Callable[[float], ArrayLike]


def _numbers(value: Any) -> NDArray[Any]:
    array = np.asarray(value)
    if array.ndim != 1 or not (array.dtype == np.bool_ or np.issubdtype(array.dtype, np.integer)):
        raise ValueError("expected vertex numbers (n,), or a mask (N,) with True for every chosen vertex")
    return array


VertexNumbers = Annotated[
    NDArray[Any],
    PlainValidator(_numbers),
    PlainSerializer(lambda array: array.tolist(), when_used="json"),
    WithJsonSchema({"type": "array", "items": {"type": "integer", "minimum": 0}}),
]


@raises(SetupError)
@dataclass(config=CONFIG, eq=False)
class Scripted:
    """Some vertices of a mesh body and where they go.

    A motion moves them rigidly from where they are at rest; a function t [s] -> positions (n, d) [m] moves each on
    its own; left out, they stay at rest. From Python the vertices may also be chosen by a function of the rest
    positions, x (N, d) [m] -> mask (N,).
    """

    vertices: Annotated[
        AnyShape | VertexNumbers | SkipJsonSchema[Annotated[Choice, FUNCTION_NAME]],
        Field(union_mode="left_to_right", description="those in a shape at rest, or their numbers"),
    ]
    motion: AnyMotion | SkipJsonSchema[InstanceOf[FunctionMotion] | Annotated[Path, FUNCTION_NAME]] | None = (
        Field(default=None, description="how they move; left out: not at all")
    )
    start: Finite | None = Field(
        default=None, kw_only=True, description="free before this time [s]; left out: held from the beginning"
    )
    stop: Finite | None = Field(
        default=None, kw_only=True, description="free after this time [s]; left out: held to the end"
    )
    type: Literal["scripted"] = Field(default="scripted", kw_only=True, repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scripted):
            return NotImplemented
        one: Any = self.vertices
        another: Any = other.vertices
        same = (self.motion, self.start, self.stop) == (other.motion, other.start, other.stop)
        return same and np.array_equal(one, another)

    def chosen(self, rest: Array) -> Indices:
        """Numbers (n,) of the vertices, given the rest positions (N, d) [m] of all."""
        picked = self.vertices
        if isinstance(picked, Shape):
            if picked.dimension != rest.shape[1]:
                raise SetupError(
                    f"a {picked.dimension}D shape cannot choose vertices of a {rest.shape[1]}D mesh"
                )
            hair = 1e-9 * float(
                np.ptp(rest, axis=0).max()
            )  # vertices on the surface of the shape belong to it
            array: NDArray[Any] = picked.signed_distance(rest) <= hair
        else:
            array = _numbers(picked(rest.copy()) if callable(picked) else picked)
        if array.dtype == np.bool_:
            if len(array) != len(rest):
                raise SetupError(f"a mask of scripted vertices needs {len(rest)} entries, not {len(array)}")
            array = np.flatnonzero(array)
        if not len(array):
            raise SetupError("no vertex of the mesh is chosen to be scripted; enlarge the shape or the mask")
        if array.min() < 0 or array.max() >= len(rest):
            raise SetupError(f"scripted vertices must have numbers from 0 to {len(rest) - 1}")
        return np.unique(array)

    def holds(self, t: float) -> bool:
        """Whether the vertices are scripted at time t [s]."""
        slack = 1e-9 * max(1.0, abs(t))
        begun = self.start is None or self.start - slack <= t
        return begun and (self.stop is None or t <= self.stop + slack)

    def positions(self, t: float, rest: Array) -> Array:
        """Where the chosen vertices, at rest (n, d) [m], are at time t [s]."""
        motion = Fixed() if self.motion is None else self.motion
        if isinstance(motion, Motion):
            pose = motion.pose(t, rest.shape[1])
            return pose.position + rest @ pose.rotation.T
        try:
            found = np.array(motion(t), dtype=np.float64)
        except (TypeError, ValueError):
            found = np.full(1, np.nan)
        if found.shape != rest.shape or not np.isfinite(found).all():
            raise SetupError(
                f"the function of scripted vertices must give finite positions of shape {rest.shape} at t = {t:g} s"
            )
        return found
