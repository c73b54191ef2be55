"""Continua and contacts as users describe them."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, NonNegative
from continua._validation import raises
from continua.bodies.body import Body
from continua.contact.colliders import Collider
from continua.errors import SetupError
from continua.integrators.schemes import AnyIntegrator
from continua.transfers import AnyTransfer

SLACK = 0.25  # cells by which particles may overlap before their extents count as contact

Name = Annotated[str, Field(min_length=1)]


def _name_of(value: Any) -> Any:
    if not isinstance(value, (Body, Collider)):
        return value
    if value.name is None:
        raise ValueError("the body or collider has no name yet; add it to the simulation first, or name it")
    return value.name


Side = Annotated[Name, BeforeValidator(_name_of)]


@raises(SetupError)
@dataclass(config=CONFIG)
class Continuum:
    """Bodies that share one velocity field: they stick to each other as one continuous material.

    Where bodies of two continua meet they touch instead: they push, rub and part. A continuum advances with its own
    integrator and transfer, all of them in the same time steps.
    """

    name: Name = Field(description="name that bodies and contacts use")
    integrator: AnyIntegrator | None = Field(
        default=None, kw_only=True, description="how its velocities advance; left out: as the simulation says"
    )
    transfer: AnyTransfer | None = Field(
        default=None,
        kw_only=True,
        description="how its particles and grid exchange momentum; left out: as the simulation says",
    )


@raises(SetupError)
@dataclass(config=CONFIG)
class Contact:
    """What happens between two continua where both have mass: they push and rub, and never pull.

    a and b name continua, or bodies that are alone in theirs; in Python they may be those bodies and colliders
    themselves. Continua without a contact part freely and slide without
    friction. A contact of two solid mesh bodies that move on their own gives their friction; one of a collider gives
    the friction between it and a continuum in place of the collider's own.
    """

    a: Side = Field(description="a continuum, body or collider")
    b: Side = Field(description="another one")
    friction: NonNegative = Field(default=0.0, kw_only=True, description="Coulomb friction coefficient")
    slack: NonNegative | None = Field(
        default=None,
        kw_only=True,
        description="overlap of particles [cells] beyond which they touch although they do not fill the nodes between "
        "them; 0 for sheets thinner than a cell; left out: 0.25, or 0 where one moves on its own",
    )

    def __post_init__(self) -> None:
        if self.a == self.b:
            raise ValueError(
                f'a contact is between two different things, not between "{self.a}" and itself: bodies inside one '
                "continuum stick to each other; put one of them into another continuum"
            )
