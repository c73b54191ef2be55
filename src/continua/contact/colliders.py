"""Rigid obstacles: a shape, a motion and a contact rule. The signed distance is negative inside."""

from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua import _core
from continua._model import CONFIG, WHOLE, Flag, NonNegative, Positive, Vector
from continua._validation import raises
from continua.contact.motions import Motion, MotionLike, as_motion
from continua.errors import GeometryError, SetupError
from continua.geometry.arrays import Coordinates, Triangles, same_value
from continua.geometry.base import Shape as GeometryShape
from continua.geometry.combine import AnyShape
from continua.geometry.mesh import Mesh as MeshShape
from continua.geometry.mesh import SampledDistance, sample_distance
from continua.geometry.primitives import Box as BoxShape
from continua.geometry.primitives import Capsule as CapsuleShape
from continua.geometry.primitives import Sphere as SphereShape
from continua.geometry.sampled_shape import sample_shape, solid

Array = NDArray[np.float64]
Mode = Literal["separate", "slip", "sticky"]
Resolution = Annotated[int, Field(strict=True, ge=8, le=512), WHOLE]
KINDS = ("plane", "box", "sphere", "capsule", "mesh", "region")  # numbered as in the core
MODES = ("separate", "slip", "sticky")
FAR = 1e30  # half size of 2D boxes in the third direction


@raises(SetupError)
@dataclass(config=CONFIG)
class Collider(ABC):
    """What all colliders share; keyword arguments.

    - mode: `separate` (material may leave), `slip` (it may only slide), `sticky` (it moves with the collider);
    - friction: Coulomb coefficient;
    - inverted: the outside is solid, so the shape is a container;
    - motion: how it moves, `None` for at rest.
    """

    mode: Mode = Field(default="separate", kw_only=True, description="contact rule: separate, slip or sticky")
    friction: NonNegative = Field(default=0.0, kw_only=True, description="Coulomb friction coefficient")
    inverted: Flag = Field(
        default=False, kw_only=True, description="solid outside, hollow inside (a container)"
    )
    motion: MotionLike | None = Field(
        default=None, kw_only=True, description="how it moves; left out: at rest"
    )
    name: str | None = Field(
        default=None, kw_only=True, min_length=1, description="name, unique in the scene"
    )
    kind: ClassVar[str] = ""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """2 or 3."""

    def as_shape(self) -> GeometryShape | None:
        """The solid as a shape, where it is defined; None for one without end."""
        found: GeometryShape | None = getattr(self, "shape", None)
        return found

    @property
    def bounded(self) -> bool:
        """Whether the solid is of finite size, so that it has images on periodic axes."""
        return not self.inverted and self.kind != "plane"

    def thickness(self) -> float:
        """Width of the solid where it is thinnest [m]; infinite for planes and containers."""
        return float("inf")

    @property
    def core_kind(self) -> str:
        """How the core sees it, one of `KINDS`."""
        return self.kind

    @abstractmethod
    def shape_row(self) -> list[float]:
        """The numbers that describe the shape to the core."""

    @property
    def samples(self) -> tuple[Array, Array, float] | None:
        """Signed distance on a lattice, for shapes without a formula."""
        return None

    @cached_property
    def movement(self) -> Motion:
        """The motion as an object."""
        return as_motion(self.motion)

    def row(self, t: float) -> Array:
        """Row of the core's collider table at time t [s]."""
        pose = self.movement.pose(t, self.dimension)
        d = self.dimension
        row = np.zeros(_core.collider_columns)
        row[:4] = (
            KINDS.index(self.core_kind),
            MODES.index(self.mode),
            self.friction,
            -1.0 if self.inverted else 1.0,
        )
        rotation = np.eye(3)
        rotation[:d, :d] = pose.rotation
        row[4 : 4 + d] = pose.position
        row[7:16] = rotation.ravel()
        row[16 : 16 + d] = pose.velocity
        row[19:22] = pose.angular
        shape = self.shape_row()
        row[22 : 22 + len(shape)] = shape
        return row

    def signed_distance(self, x: Array, t: float = 0.0) -> tuple[Array, Array]:
        """Signed distance (N,) [m] and outward normal (N, d) at points x (N, d) [m]."""
        points = np.zeros((len(x), 3))
        points[:, : self.dimension] = x
        phi, normal = np.empty(len(x)), np.empty((len(x), 3))
        _core.collider_surface(self.row(t)[None].copy(), [self.samples], points, phi, normal)
        return phi, normal[:, : self.dimension].copy()


def _three(vector: tuple[float, ...], fill: float = 0.0) -> list[float]:
    return [*vector, fill] if len(vector) == 2 else list(vector)


def _same_length(**vectors: tuple[float, ...]) -> None:
    if len({len(v) for v in vectors.values()}) > 1:
        raise ValueError(f"{' and '.join(vectors)} must have the same number of entries")


@raises(SetupError)
@dataclass(config=CONFIG)
class Plane(Collider):
    """Half space: solid below the plane through `point`, `normal` points out of the solid."""

    normal: Vector = Field(description="direction out of the solid")
    point: Vector | None = Field(default=None, description="a point of the plane [m]; left out: the origin")
    type: Literal["plane"] = Field(default="plane", kw_only=True, repr=False)
    kind: ClassVar[str] = "plane"

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.normal) > 0:
            raise ValueError("normal must not be zero")
        if self.point is not None:
            _same_length(normal=self.normal, point=self.point)

    @property
    def dimension(self) -> int:
        return len(self.normal)

    def shape_row(self) -> list[float]:
        unit = np.array(self.normal) / np.linalg.norm(self.normal)
        offset = 0.0 if self.point is None else float(unit @ np.array(self.point))
        return [*_three(tuple(unit)), offset]


@raises(SetupError)
@dataclass(config=CONFIG)
class Box(Collider):
    """Axis-aligned box (rotate it with a motion)."""

    center: Vector = Field(description="centre [m]")
    size: Vector = Field(description="side lengths [m]")
    type: Literal["box"] = Field(default="box", kw_only=True, repr=False)
    kind: ClassVar[str] = "box"

    def __post_init__(self) -> None:
        _same_length(center=self.center, size=self.size)
        if min(self.size) <= 0:
            raise ValueError("size must be positive in every direction")

    @property
    def dimension(self) -> int:
        return len(self.center)

    def thickness(self) -> float:
        return float("inf") if self.inverted else min(self.size)

    def as_shape(self) -> BoxShape:
        return BoxShape(self.center, self.size)

    def shape_row(self) -> list[float]:
        half = tuple(s / 2 for s in self.size)
        return [*_three(self.center), *_three(half, FAR)]


@raises(SetupError)
@dataclass(config=CONFIG)
class Sphere(Collider):
    """Ball (disc in 2D)."""

    center: Vector = Field(description="centre [m]")
    radius: Positive = Field(description="radius [m]")
    type: Literal["sphere"] = Field(default="sphere", kw_only=True, repr=False)
    kind: ClassVar[str] = "sphere"

    @property
    def dimension(self) -> int:
        return len(self.center)

    def thickness(self) -> float:
        return float("inf") if self.inverted else 2 * self.radius

    def as_shape(self) -> SphereShape:
        return SphereShape(self.center, self.radius)

    def shape_row(self) -> list[float]:
        return [*_three(self.center), self.radius]


@raises(SetupError)
@dataclass(config=CONFIG)
class Capsule(Collider):
    """All points within `radius` of a segment."""

    start: Vector = Field(description="one end of the axis [m]")
    end: Vector = Field(description="other end of the axis [m]")
    radius: Positive = Field(description="radius [m]")
    type: Literal["capsule"] = Field(default="capsule", kw_only=True, repr=False)
    kind: ClassVar[str] = "capsule"

    def __post_init__(self) -> None:
        _same_length(start=self.start, end=self.end)

    @property
    def dimension(self) -> int:
        return len(self.start)

    def thickness(self) -> float:
        return float("inf") if self.inverted else 2 * self.radius

    def as_shape(self) -> CapsuleShape:
        return CapsuleShape(self.start, self.end, self.radius)

    def shape_row(self) -> list[float]:
        return [*_three(self.start), *_three(self.end), self.radius]


@raises(SetupError)
@dataclass(config=CONFIG, eq=False)
class Mesh(Collider):
    """Closed triangle mesh (3D), as a signed distance sampled on a lattice of `resolution` cells along its
    longest side."""

    path: Path | None = Field(default=None, description="OBJ, PLY or STL file")
    vertices: Coordinates | None = Field(
        default=None, kw_only=True, description="instead of a file: vertices (V, 3) [m]"
    )
    faces: Triangles | None = Field(
        default=None, kw_only=True, description="vertex numbers of the triangles (F, 3)"
    )
    scale: Positive = Field(
        default=1.0, kw_only=True, description="factor on all coordinates, before translate"
    )
    translate: Vector = Field(default=(0.0, 0.0, 0.0), kw_only=True, description="displacement [m]")
    resolution: Resolution = Field(
        default=64, kw_only=True, description="lattice cells along the longest side"
    )
    type: Literal["mesh"] = Field(default="mesh", kw_only=True, repr=False)
    kind: ClassVar[str] = "mesh"

    def __post_init__(self) -> None:
        self.shape  # noqa: B018  (checks the arguments now)

    def __eq__(self, other: Any) -> bool:
        names = (
            *("path", "vertices", "faces", "scale", "translate", "resolution"),
            *("mode", "friction", "inverted", "motion", "name"),
        )
        return isinstance(other, Mesh) and all(same_value(getattr(self, n), getattr(other, n)) for n in names)

    @cached_property
    def shape(self) -> MeshShape:
        """The solid as a shape."""
        return MeshShape(
            self.path, vertices=self.vertices, faces=self.faces, scale=self.scale, translate=self.translate
        )

    @property
    def dimension(self) -> int:
        return 3

    @cached_property
    def distance(self) -> SampledDistance:
        """Signed distance on the lattice."""
        surface = self.shape.surface
        return sample_distance(surface.vertices, surface.faces, self.resolution)

    @property
    def samples(self) -> tuple[Array, Array, float] | None:
        return self.distance.values, self.distance.origin, self.distance.spacing

    def thickness(self) -> float:
        return float("inf") if self.inverted else float(-2 * self.distance.values.min())

    def shape_row(self) -> list[float]:
        return []


@raises(SetupError)
@dataclass(config=CONFIG)
class Shape(Collider):
    """Any shape: torus, ellipsoid, rotated shapes, unions, differences and so on. Boxes, spheres and capsules are
    exact; others are a signed distance sampled on a lattice of `resolution` cells along their longest side."""

    shape: AnyShape = Field(description="the solid")
    resolution: Resolution = Field(
        default=64, kw_only=True, description="lattice cells along the longest side"
    )
    type: Literal["shape"] = Field(default="shape", kw_only=True, repr=False)
    kind: ClassVar[str] = "shape"

    def __post_init__(self) -> None:
        if not solid(self.shape):
            raise ValueError("points have no inside, use another shape")

    @property
    def dimension(self) -> int:
        return self.shape.dimension

    @cached_property
    def _formula(self) -> Collider | None:
        """The same solid as a collider that the core knows by a formula, if it does."""
        match self.shape:
            case BoxShape(center=center, size=size):
                return Box(center, size, inverted=self.inverted)
            case SphereShape(center=center, radius=radius):
                return Sphere(center, radius, inverted=self.inverted)
            case CapsuleShape(start=start, end=end, radius=radius):
                return Capsule(start, end, radius, inverted=self.inverted)
        return None

    @property
    def core_kind(self) -> str:
        return "mesh" if self._formula is None else self._formula.core_kind

    @cached_property
    def distance(self) -> SampledDistance:
        """Signed distance on the lattice."""
        try:
            return sample_shape(self.shape, self.resolution)
        except GeometryError as error:
            raise SetupError(f"shape collider: {error}") from None

    @property
    def samples(self) -> tuple[Array, Array, float] | None:
        if self._formula is not None:
            return None
        return self.distance.values, self.distance.origin, self.distance.spacing

    def thickness(self) -> float:
        """Diameter of the largest ball inside [m]: a shape may have thinner parts."""
        if self._formula is not None:
            return self._formula.thickness()
        return float("inf") if self.inverted else float(-2 * self.distance.values.min())

    def shape_row(self) -> list[float]:
        return [] if self._formula is None else self._formula.shape_row()


AnyCollider = Annotated[Plane | Box | Sphere | Capsule | Mesh | Shape, Field(discriminator="type")]
