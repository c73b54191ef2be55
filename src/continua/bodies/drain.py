"""Drains: regions in which particles leave the simulation."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, NonNegative, Positive
from continua._validation import raises
from continua.bodies.points import ParticleBody
from continua.errors import SetupError
from continua.geometry.shapes import AnyShape


@raises(SetupError)
@dataclass(config=CONFIG)
class Drain:
    """A region that removes the particles found inside it after each step, between `start` and `stop`."""

    shape: AnyShape = Field(description="region in which particles are removed")
    start: NonNegative = Field(default=0.0, description="when it opens [s]")
    stop: Positive | None = Field(default=None, description="when it closes [s]; left out: never")
    name: str | None = Field(
        default=None, kw_only=True, min_length=1, description="name, unique in the scene"
    )
    body: str | None = Field(
        default=None,
        kw_only=True,
        min_length=1,
        description="the body or emitter whose particles it removes; left out: those of all",
    )
    type: Literal["drain"] = Field(default="drain", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.stop is not None and self.stop <= self.start:
            raise ValueError("stop must be later than start")

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.shape.dimension

    def is_open(self, t: float) -> bool:
        """Whether it removes particles at time t [s]."""
        return self.start <= t and (self.stop is None or t < self.stop)

    def inside(self, x: NDArray) -> NDArray[np.bool_]:
        """Which particles at x (N, d) [m] it would remove, (N,)."""
        lower, upper = self.shape.bounds()  # far cheaper than distances, and most particles are elsewhere
        found: NDArray[np.bool_] = np.all((x >= lower) & (x <= upper), axis=1)
        found[found] = self.shape.contains(x[found])
        return found

    def drain(self, body: ParticleBody) -> float:
        """Remove the particles of a body that are inside; returns their mass [kg]."""
        if self.body not in (None, body.name) or not len(body):
            return 0.0
        found = self.inside(body.x)
        mass = float(body.mass[found].sum(dtype=np.float64))
        body.remove(found)
        return mass
