"""Strands that grow out of a surface."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, InstanceOf
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema

from continua._model import CONFIG, WHOLE, Count, Fraction, Positive, Seed, Vector
from continua._validation import raises
from continua.errors import GeometryError
from continua.geometry.base import Array, Shape
from continua.geometry.combine import AnyShape
from continua.geometry.curves import Curves
from continua.geometry.skin import Shaped, Surfaced, skin_of, spread

RISE = 0.1  # sine of the angle under which strands that lean still leave the surface
TURN = 6  # segments that a turn of a curl needs

RootedSegments = Annotated[int, Field(strict=True, ge=2), WHOLE]


@raises(GeometryError)
@dataclass(config=CONFIG)
class Curl:
    """Helix that strands wind about their middle line."""

    radius: Positive = Field(description="radius of the helix [m]")
    turns: Positive = Field(description="turns from root to tip")


@raises(GeometryError)
@dataclass(config=CONFIG)
class Fur:
    """Strands that grow out of a surface along its outward normals, spread evenly over its area (3D only).

    The first vertex of a strand lies on the surface and the second on the normal there, whatever lean and curl do to
    the rest.
    """

    on: AnyShape | SkipJsonSchema[InstanceOf[Surfaced] | InstanceOf[Shaped]] | str = Field(
        description="what they grow on: a shape, or in scene files the name of a mesh body or collider; in Python any "
        "collider, or body with a surface"
    )
    count: Count = Field(description="number of strands")
    length: Positive = Field(description="length of a strand along its middle line [m]")
    segments: RootedSegments = Field(description="segments of a strand; the first is its root")
    seed: Seed = Field(default=0, kw_only=True, description="equal seeds grow equal strands")
    part: AnyShape | None = Field(
        default=None, kw_only=True, description="roots only inside this shape; left out: all over the surface"
    )
    variation: Fraction = Field(
        default=0.0, kw_only=True, description="part of the length that the shortest strands lack"
    )
    lean: Vector | None = Field(
        default=None,
        kw_only=True,
        description="direction to which strands turn on their way to the tip; of length 1: half way between it and "
        "the normal, longer: further",
    )
    curl: Curl | None = Field(default=None, kw_only=True, description="how they curl; left out: not at all")
    type: Literal["fur"] = Field(default="fur", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.lean is not None and len(self.lean) != 3:
            raise ValueError("lean needs 3 coordinates")
        for name in ("on", "part"):
            shape = getattr(self, name)
            if isinstance(shape, Shape) and getattr(shape, "path", None) is None and shape.dimension != 3:
                raise ValueError(f"{name} must be a 3D shape")
        if self.variation == 1:
            raise ValueError("variation must be less than 1, or strands have no length")
        if self.curl is not None and self.segments < TURN * self.curl.turns:
            raise ValueError(
                f"a curl of {self.curl.turns:g} turns needs at least {TURN * self.curl.turns:g} segments"
            )

    def build(self) -> Curves:
        """The strands."""
        if isinstance(self.on, str):
            raise GeometryError(
                f'Fur on "{self.on}": only scene files know others by their names; in Python give the body itself'
            )
        roots, normals = spread(skin_of(self.on), self.count, seed=self.seed, part=self.part)
        rng = np.random.default_rng([self.seed, 2])
        lengths = self.length * (1 - self.variation * rng.random(self.count))
        steps = _directions(normals, np.array(self.lean or (0.0, 0.0, 0.0)), self.segments)
        points = np.empty((self.count, self.segments + 1, 3))
        points[:, 0] = roots
        points[:, 1:] = roots[:, None] + np.cumsum(steps, axis=1) * (lengths / self.segments)[:, None, None]
        if self.curl is not None:
            phase, hand = rng.uniform(0, 2 * np.pi, self.count), rng.choice([-1.0, 1.0], self.count)
            points += _helix(steps, self.curl, phase, hand)
        return Curves(points.reshape(-1, 3), np.full(self.count, self.segments + 1))


def _directions(normals: Array, lean: Array, segments: int) -> Array:
    """Unit directions (n, segments, 3): along the normals (n, 3) at first, then turning evenly towards the lean.

    No strand turns back into the tangent plane of its root.
    """
    end = normals + lean
    rise = np.einsum("nc,nc->n", end, normals)[:, None]
    flat = end - rise * normals
    along = np.linalg.norm(flat, axis=1, keepdims=True)
    angle = np.arctan2(along, np.maximum(rise, RISE * along))  # zero where there is no way to turn
    side = flat / np.maximum(along, 1e-300)
    part = np.arange(segments)[None, :, None] / (segments - 1)
    turn = part * angle[:, None]
    return np.asarray(np.cos(turn) * normals[:, None] + np.sin(turn) * side[:, None])


def _helix(steps: Array, curl: Curl, phase: Array, hand: Array) -> Array:
    """Displacements (n, segments + 1, 3) [m] of vertices from the middle line of directions (n, segments, 3).

    The radius grows from nothing at the second vertex, over the first turn at most.
    """
    count, segments = steps.shape[:2]
    first = perpendicular(steps[:, 0])
    moved = np.zeros((count, segments + 1, 3))
    for k in range(2, segments + 1):
        first = transported(first, steps[:, k - 2], steps[:, k - 1])
        part = k / segments
        angle = phase + hand * 2 * np.pi * curl.turns * part
        grown = min(1.0, (k - 1) / (segments - 1) * max(curl.turns, 2.0))
        second = np.cross(steps[:, k - 1], first)
        moved[:, k] = curl.radius * grown * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second)
    return moved


def perpendicular(t: Array) -> Array:
    """A unit vector (n, 3) across each of the unit vectors t (n, 3)."""
    axis = np.eye(3)[np.abs(t).argmin(axis=1)]
    across = np.cross(t, axis)
    return np.asarray(across / np.linalg.norm(across, axis=1, keepdims=True))


def transported(u: Array, before: Array, after: Array) -> Array:
    """Vectors u (n, 3) across unit directions before (n, 3), turned with these to after (n, 3) without twist."""
    dot = np.einsum("nc,nc->n", before, after)[:, None]
    # by the smallest rotation that takes one direction to the other
    turned = u - np.einsum("nc,nc->n", after, u)[:, None] / np.maximum(1 + dot, 1e-12) * (before + after)
    return np.asarray(turned / np.linalg.norm(turned, axis=1, keepdims=True))
