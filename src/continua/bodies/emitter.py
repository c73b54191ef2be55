"""Emitters: bodies whose particles enter over time."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, Count, NonNegative, Positive, Vector
from continua._validation import raises
from continua.bodies.fields import PassiveLike, mistake
from continua.errors import SetupError
from continua.geometry.shapes import AnyShape
from continua.materials import AnyMaterial

Array = NDArray[np.float64]


@raises(SetupError)
@dataclass(config=CONFIG)
class Emitter:
    """Material streaming out of a region with constant velocity between `start` and `stop`.

    Think of an endless lattice of particles that moves with `velocity`: a particle is released when its lattice
    point enters the region, so the stream has the material's density at any speed and any time step.
    """

    shape: AnyShape = Field(description="region the stream flows into")
    material: AnyMaterial = Field(description="what is emitted")
    velocity: Vector = Field(description="velocity of the stream [m/s]")
    start: NonNegative = Field(default=0.0, description="when it begins [s]")
    stop: Positive | None = Field(default=None, description="when it ends [s]; left out: never")
    name: str | None = Field(
        default=None, kw_only=True, min_length=1, description="name, unique in the scene"
    )
    particles_per_cell: Count | None = Field(
        default=None, kw_only=True, description="left out: 4 in 2D, 8 in 3D"
    )
    sampling: Literal["regular", "jittered"] = Field(
        default="regular",
        kw_only=True,
        description="particles on the lattice, or anywhere in their cells of it",
    )
    fields: dict[str, PassiveLike] = Field(
        default_factory=dict,
        kw_only=True,
        description="passive fields such as dye that the particles carry, each a number or a gradient",
    )
    continuum: str | None = Field(
        default=None, kw_only=True, min_length=1, description='continuum of what it emits; left out: "main"'
    )
    type: Literal["emitter"] = Field(default="emitter", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.velocity) > 0:
            raise ValueError("velocity must not be zero")
        if len(self.velocity) != self.shape.dimension:
            raise ValueError("velocity must have as many entries as the shape has dimensions")
        if self.stop is not None and self.stop <= self.start:
            raise ValueError("stop must be later than start")
        for name, value in self.fields.items():
            if wrong := mistake(name, value, self.material, self.dimension):
                raise ValueError(f"the field {name!r} {wrong}")

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.velocity)

    def runs(self, t: float) -> bool:
        """Whether it is on at time t [s]."""
        return self.start <= t and (self.stop is None or t < self.stop)

    def released(self, t0: float, t1: float, spacing: float) -> Array:
        """Points (N, d) [m], at time t1, whose lattice point entered the region during (t0, t1] [s]."""
        t0, t1 = max(t0, self.start), t1 if self.stop is None else min(t1, self.stop)
        if t1 <= t0:
            return np.empty((0, self.dimension))
        velocity = np.array(self.velocity)
        lower, upper = self.shape.bounds()
        shift = velocity * (t1 - self.start)
        first = np.floor((lower - shift) / spacing).astype(int)
        last = np.ceil((upper - shift) / spacing).astype(int)
        axes = [np.arange(a, b + 1) for a, b in zip(first, last, strict=True)]
        index = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, self.dimension)
        x = (index + 0.5) * spacing + shift
        entered = self.shape.contains(x)
        # Rounded as at the end of the step before, so that none is released twice or forgotten.
        before = (index[entered] + 0.5) * spacing + velocity * (t0 - self.start)
        entered[entered] = ~self.shape.contains(before)
        x, index = x[entered], index[entered]
        return x if self.sampling == "regular" else x + (_scatter(index) - 0.5) * spacing


def _scatter(index: NDArray[np.int64]) -> Array:
    """Numbers in [0, 1), (N, d), that depend on the lattice points (N, d) alone, so that a resumed run repeats them."""
    mixed = np.zeros(len(index), np.uint64)
    columns = []
    for axis in range(2 * index.shape[1]):  # once around to mix all axes, once more to draw
        mixed = (mixed ^ index[:, axis % index.shape[1]].astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
        columns.append((mixed >> np.uint64(11)) * 2.0**-53)
    return np.stack(columns[index.shape[1] :], axis=1)
