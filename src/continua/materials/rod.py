"""The material of strands: thin elastic rods that stretch, bend and twist."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, PLAIN, NonNegative, Positive
from continua._validation import raises
from continua.errors import MaterialError

HalfAxes = tuple[Positive, Positive]


@raises(MaterialError)
@dataclass(config=CONFIG)
class Rod:
    """Elastic rods of round or elliptic section, for `ct.Strands`: hair, ropes, wires, blades of grass.

    They resist stretching by E A, bending by E I along each half axis and twisting by G J with G = E / (2 (1 + nu)),
    and return to the shape that they have at rest, straight or curled (Be08, W20 section 4.3.2).
    """

    E: Positive = Field(default=1e9, description="Young's modulus [Pa]")
    radius: Positive | Annotated[HalfAxes, PLAIN] = Field(
        default=1e-3, description="radius of the section [m], or its two half axes"
    )
    nu: Annotated[float, Field(strict=True, gt=-1.0, le=0.5), PLAIN] = Field(
        default=0.3, description="Poisson's ratio, which only twisting knows"
    )
    density: Positive = Field(default=1300.0, description="mass per undeformed volume [kg/m^3]")
    bending: NonNegative = Field(
        default=1.0, description="factor on the bending stiffness; 0 for threads that have none"
    )
    twisting: NonNegative = Field(
        default=1.0, description="factor on the twisting stiffness; 0 for threads that have none"
    )
    type: Literal["rod"] = Field(default="rod", kw_only=True, repr=False)

    @classmethod
    def hair(cls, radius: float | tuple[float, float] = (40e-6, 30e-6)) -> Rod:
        """Human hair of this radius or these half axes [m]: E = 3.89 GPa, G = 0.89 GPa, 1320 kg/m^3 (Ro12).

        It is not isotropic: with nu = 0.3 it would have G = 1.5 GPa, of which twisting = 0.595 leaves the measured one.
        """
        return cls(E=3.89e9, radius=radius, density=1320.0, twisting=0.595)

    @property
    def label(self) -> str:
        """Name shown to users."""
        return self.type

    @property
    def half_axes(self) -> tuple[float, float]:
        """Of the section [m]; equal where it is round."""
        return self.radius if isinstance(self.radius, tuple) else (self.radius, self.radius)

    @property
    def mean_radius(self) -> float:
        """Of a circle of the same area [m]."""
        return math.sqrt(math.prod(self.half_axes))

    @property
    def area(self) -> float:
        """Of the section [m^2]."""
        return math.pi * math.prod(self.half_axes)

    @property
    def stretching_stiffness(self) -> float:
        """E A [N]."""
        return self.E * self.area

    @property
    def bending_stiffness(self) -> tuple[float, float]:
        """E I for bending along the first half axis and along the second one, with the factor `bending` [N m^2]."""
        a, b = self.half_axes
        return (
            self.bending * self.stretching_stiffness * a**2 / 4,
            self.bending * self.stretching_stiffness * b**2 / 4,
        )

    @property
    def twisting_stiffness(self) -> float:
        """G A (a^2 + b^2)/4 with the factor `twisting` [N m^2]: that of a section that stays flat."""
        a, b = self.half_axes
        return self.twisting * self.E / (2 * (1 + self.nu)) * self.area * (a**2 + b**2) / 4
