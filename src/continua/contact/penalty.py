"""How mesh bodies that move on their own meet others, as users describe it."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, Flag, Fraction, NonNegative, Positive
from continua._validation import raises
from continua.contact.strand_contact import StrandContact
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


@raises(SetupError)
@dataclass(config=CONFIG)
class GridContact:
    """A solid moves as a mesh, and the grid only tells its surface what it meets (W20 section 4.4, G20 section 4.2).

    Collision particles on the surface give their velocities to a grid and read back one that cannot cross itself; where
    that pushes the surface, the difference is an impulse, cut by Coulomb's law. So solids of one continuum, and parts
    of one solid, touch without any search for collisions; everything else they meet as continua do. Bodies keep a
    distance of about a cell, and parts thinner than half a cell feel their own other side.
    """

    friction: NonNegative = Field(
        default=0.0, description="Coulomb coefficient with itself and with solids of the same continuum"
    )
    restitution: Fraction = Field(
        default=0.0,
        description="part e of the impulse (1 + e) that is given back; 1 is that of the publications",
    )
    gate: Flag = Field(
        default=True,
        description="whether collision particles without others to meet nearby move freely; without it, smoothing "
        "takes the spin of a body in free flight",
    )
    affine: Flag = Field(
        default=False,
        description="whether collision particles also give the grid the velocity gradient of their element",
    )
    scatter: Literal["exact", "averaged"] = Field(
        default="exact",
        description="how impulses reach the vertices: as they are, which keeps momentum, or averaged over the "
        "collision particles around",
    )
    spacing: Annotated[float, Field(strict=True, gt=0, le=2)] = Field(
        default=0.5, description="mean distance of collision particles [cells]"
    )
    type: Literal["grid"] = Field(default="grid", kw_only=True, repr=False)


# Settings of ExactContact that act on the grid only
OF_AUGURY = {"grip": "coulomb", "share": 0.1, "gate": "impacts"}


@raises(SetupError)
@dataclass(config=CONFIG)
class ExactContact:
    """Surfaces of solids that never pass through each other or through themselves (M23).

    A step is first taken without contact. What would collide is found exactly, on the straight paths of the step, and
    stopped by impulses with friction; the inside of the bodies then follows its surface. Before that a grid may foresee
    contact (`augury`): it makes velocities of surfaces fit each other, and takes back where it holds together what
    parts. Momentum is kept by all of it. For all solids of a world together, with scripted vertices and colliders as
    bodies of infinite mass; other bodies are met on the grid, as by all that move on their own.
    """

    friction: NonNegative = Field(
        default=0.0,
        description="Coulomb coefficient; two bodies have the mean of theirs, colliders their own",
    )
    augury: Annotated[int, Field(strict=True, ge=0, le=1000)] | Literal["off"] = Field(
        default="off",
        description="whether a grid foresees impacts, and how often it takes back where it holds surfaces together, 5 "
        "in the publication: far fewer impulses, but it takes energy and gets friction wrong",
    )
    grip: Literal["coulomb", "all", "none"] = Field(
        default="coulomb",
        description="what the grid keeps of the tangential part of contact: what friction allows, all, or nothing",
    )
    share: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        default=0.1,
        description="part of the mass that the grid sees at the vertices of a surface; the rest is spread in facets",
    )
    gate: Literal["impacts", "neighbours", "off"] = Field(
        default="impacts",
        description="where the grid acts: on facets near what is about to collide in the step, on all that have others "
        "to meet nearby, or everywhere; the more, the more it damps",
    )
    thickness: Positive | None = Field(
        default=None,
        description="distance at which surfaces begin to repel [m]; left out: a thousandth of the mean edge",
    )
    gap: Positive | None = Field(
        default=None,
        description="distance that impacts leave between surfaces [m]; left out: a tenth of that thickness",
    )
    impulses: Literal["exact", "naive"] = Field(
        default="exact",
        description="exact: impacts keep angular momentum; naive: as published, along the normal at the impact",
    )
    final_velocity: Literal["recoil", "printed"] = Field(
        default="recoil",
        description="recoil: surfaces feel what the inside does when it follows them, which keeps momentum; printed: "
        "they do not",
    )
    push_apart: Flag = Field(
        default=False,
        description="whether bodies that overlap at the start are moved apart; else that is an error",
    )
    type: Literal["exact"] = Field(default="exact", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        for name, usual in OF_AUGURY.items():
            if self.augury == "off" and getattr(self, name) != usual:
                raise ValueError(
                    f'{name} is for the grid, which augury = "off" leaves out: give augury a number'
                )


def _penalty_unless_said(value: Any) -> Any:
    return {"type": "penalty", **value} if isinstance(value, dict) else value


def _strands_unless_said(value: Any) -> Any:
    return {"type": "strands", **value} if isinstance(value, dict) else value


MeshContactSetting = PenaltyContact | GridContact | ExactContact | StrandContact
SolidContact = GridContact | ExactContact  # of solids that move on their own among everything else
AnyMeshContact = Annotated[
    PenaltyContact | GridContact | ExactContact,
    Field(discriminator="type"),
    BeforeValidator(_penalty_unless_said),
]
AnyStrandContact = Annotated[
    StrandContact | PenaltyContact, Field(discriminator="type"), BeforeValidator(_strands_unless_said)
]
