"""How strands that move on their own meet each other and everything else, as users describe it."""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, Fraction, NonNegative, Positive
from continua._validation import raises
from continua.errors import SetupError
from continua.materials.elastic import PoissonRatio
from continua.materials.plastic import DruckerPrager

SMALLEST_ANGLE = 1e-6  # [degrees] of friction: a cone needs one


@raises(SetupError)
@dataclass(config=CONFIG)
class StrandContact:
    """Strands move as rods, and meet twice: as a continuum on the grid, and segment by segment (W20 section 4.5).

    Their vertices, or points on their segments, are particles of a grid with a law of their own: a heap of strands
    resists compression and shear between them up to Coulomb's limit, and comes apart freely. So thousands of contacts
    are resolved at once, as far as a grid can see them. What is smaller than a cell is left to impulses between pairs
    of segments, which keep strands from going through each other. Other continua and obstacles are met at the nodes.
    """

    friction: NonNegative = Field(default=0.0, description="Coulomb coefficient between strands")
    stiffness: Positive = Field(
        default=1e4,
        description="Young's modulus of strands as a continuum [Pa], per volume of the strands themselves",
    )
    nu: PoissonRatio = Field(default=0.3, description="Poisson's ratio of that continuum, below 0.5")
    pic: Fraction = Field(
        default=0.05,
        description="part of the velocity that is taken from the grid in every step; the rest only takes the change",
    )
    points: Annotated[int, Field(strict=True, ge=0, le=64)] = Field(
        default=0, description="points on every segment that are particles; 0: the vertices themselves are"
    )
    sweeps: Annotated[int, Field(strict=True, ge=0, le=1000)] = Field(
        default=5, description="of impulses over all pairs of segments in every step; 0: the grid alone"
    )
    radius: Positive | None = Field(
        default=None,
        description="half the distance at which segments touch [m]; left out: the radius of the rods",
    )
    type: Literal["strands"] = Field(default="strands", kw_only=True, repr=False)

    def law(self, density: float) -> DruckerPrager:
        """The continuum, for strands of a density [kg/m^3].

        Its cone touches that of Mohr and Coulomb in compression, with the angle whose tangent is the friction
        coefficient: no plane slips unless its shear is that part of its pressure.
        """
        angle = max(float(np.degrees(np.arctan(self.friction))), SMALLEST_ANGLE)
        return DruckerPrager(self.stiffness, self.nu, density, friction_angle=angle, volume_correction=False)
