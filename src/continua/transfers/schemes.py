"""How particles and grid exchange momentum."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG
from continua._validation import raises
from continua.errors import SetupError


class Transfer:
    """A transfer scheme: whether particles carry an affine velocity C, and how much of their own velocity they keep."""

    @property
    def affine(self) -> bool:
        """Particles carry C."""
        return False

    @property
    def flip(self) -> float:
        """Fraction of FLIP: 0 takes the grid velocity, 1 adds the grid's change to the particle's own velocity."""
        return 0.0


@raises(SetupError)
@dataclass(config=CONFIG)
class PIC(Transfer):
    """Particle-in-cell: simple, stable, very damped (J15 5.1)."""

    type: Literal["pic"] = Field(default="pic", kw_only=True, repr=False)


@raises(SetupError)
@dataclass(config=CONFIG)
class FLIP(Transfer):
    """FLIP/PIC blend (J15 section 2.2 step 8): little damping, noisy; fraction 0.95 to 0.99 is usual."""

    fraction: Annotated[float, Field(ge=0, le=1)] = Field(
        default=1.0, description="FLIP fraction, 1 = pure FLIP"
    )
    type: Literal["flip"] = Field(default="flip", kw_only=True, repr=False)

    @property
    def flip(self) -> float:
        return self.fraction


@raises(SetupError)
@dataclass(config=CONFIG)
class APIC(Transfer):
    """Affine particle-in-cell (J15 chapter 5): keeps angular momentum, filters noise."""

    type: Literal["apic"] = Field(default="apic", kw_only=True, repr=False)

    @property
    def affine(self) -> bool:
        return True


SCHEMES: dict[str, type[Transfer]] = {"pic": PIC, "flip": FLIP, "apic": APIC}


def _by_name(value: object) -> object:
    if isinstance(value, str):
        if value.lower() not in SCHEMES:
            raise ValueError(f'unknown transfer "{value}", use one of {", ".join(SCHEMES)}')
        return SCHEMES[value.lower()]()
    return value


AnyTransfer = Annotated[
    Annotated[PIC | FLIP | APIC, Field(discriminator="type")],
    BeforeValidator(_by_name, json_schema_input_type=Literal["pic", "flip", "apic"] | PIC | FLIP | APIC),
]


def as_transfer(value: str | Transfer) -> Transfer:
    """The scheme named or given."""
    try:
        scheme = _by_name(value)
    except ValueError as error:
        raise SetupError(str(error)) from None
    if not isinstance(scheme, Transfer):
        raise SetupError(f"transfer must be a name or an object of continua.transfers, not {value!r}")
    return scheme
