"""How mesh bodies that move on their own meet others, as users describe it."""

from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, NonNegative, Positive
from continua._validation import raises
from continua.errors import SetupError


@raises(SetupError)
@dataclass(config=CONFIG)
class PenaltyContact:
    """Energies that push points of a mesh out of other solids and of sampled obstacles (J15 A.5).

    For bodies that move on their own under `integrator="optimization"`; on a grid bodies meet as continua do. Where
    two bodies name different stiffnesses the larger one counts; their friction is that of a `Contact` between them,
    else the mean of the two.
    """

    collisions: Literal["off", "others", "all"] = Field(
        default="others",
        description="what a solid pushes out: nothing, points of other solids, or also its own",
    )
    stiffness: Positive | None = Field(
        default=None,
        description="between solids [N/m^2], energy over depth^3; left out: 10 times that of the stiffest body",
    )
    obstacle_stiffness: Positive | None = Field(
        default=None,
        description="of sampled obstacles towards it [N/m^2]; left out: 10 times that of the stiffest body",
    )
    friction: NonNegative = Field(default=0.0, description="Coulomb coefficient with other solids")
    type: Literal["penalty"] = Field(default="penalty", kw_only=True, repr=False)
