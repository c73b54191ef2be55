"""How particles and grid exchange momentum."""

from dataclasses import fields
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, PLAIN, Fraction, Whole
from continua._validation import raises, shown
from continua.errors import SetupError
from continua.transfers.plan import GRADIENT, MOMENT, SPIN, Plan, resolve_modes, split


class Transfer:
    """A transfer scheme: which velocity modes particles carry, and how much of their own velocity they keep."""

    @property
    def affine(self) -> bool:
        """Particles carry C."""
        return False

    @property
    def flip(self) -> float:
        """Fraction of FLIP: 0 takes the grid velocity, 1 adds the grid's change to the particle's own velocity."""
        return 0.0

    def plan(self, dimension: int, degree: int) -> Plan:
        """Settings for the core in 2D or 3D with splines of a degree."""
        return Plan(flip=self.flip, linear=np.zeros(dimension, np.int32))


@raises(SetupError)
@dataclass(config=CONFIG)
class PIC(Transfer):
    """Particle-in-cell: simple, stable, very damped (J15 5.1)."""

    type: Literal["pic"] = Field(default="pic", kw_only=True, repr=False)


@raises(SetupError)
@dataclass(config=CONFIG)
class FLIP(Transfer):
    """FLIP/PIC blend (J15 section 2.2 step 8): little damping, noisy; fraction 0.95 to 0.99 is usual."""

    fraction: Fraction = Field(default=1.0, description="FLIP fraction, 1 = pure FLIP")
    type: Literal["flip"] = Field(default="flip", kw_only=True, repr=False)

    @property
    def flip(self) -> float:
        return self.fraction


@raises(SetupError)
@dataclass(config=CONFIG)
class RPIC(Transfer):
    """Rigid particle-in-cell (J15 5.4): particles spin; keeps angular momentum, damps shear like PIC."""

    type: Literal["rpic"] = Field(default="rpic", kw_only=True, repr=False)

    @property
    def affine(self) -> bool:
        return True

    def plan(self, dimension: int, degree: int) -> Plan:
        every = np.ones(dimension, np.int32)
        # With linear splines the spread of a particle depends on where it is, so its spin is kept instead of C.
        if degree == 1:
            return Plan(SPIN, linear=every)
        return Plan(GRADIENT, shear_damping=1.0, linear=every)


@raises(SetupError)
@dataclass(config=CONFIG)
class APIC(Transfer):
    """Affine particle-in-cell (J15 chapter 5): keeps angular momentum, filters noise."""

    blend: Fraction = Field(default=1.0, description="factor on C in every step, below 1 blends with PIC")
    shear_damping: Fraction = Field(
        default=0.0,
        description="part of the shear in C removed in every step, 1 = RPIC; spin stays (G20 3.52)",
    )
    store: Literal["C", "B"] = Field(
        default="C", description="what linear splines keep: C for affine fields, B for angular momentum"
    )
    position_map: Literal["translate", "affine"] = Field(
        default="translate",
        description="where C is taken from: the moved particle, or its neighbourhood moved with it (conserves less)",
    )
    type: Literal["apic"] = Field(default="apic", kw_only=True, repr=False)

    @property
    def affine(self) -> bool:
        return True

    def plan(self, dimension: int, degree: int) -> Plan:
        if degree == 1 and self.shear_damping > 0:
            raise SetupError("APIC cannot damp shear on linear splines; use RPIC, or the quadratic kernel")
        return Plan(
            MOMENT if degree == 1 and self.store == "B" else GRADIENT,
            keep=self.blend,
            shear_damping=self.shear_damping,
            moving_map=self.position_map == "affine",
            linear=np.ones(dimension, np.int32),
        )


@raises(SetupError)
@dataclass(config=CONFIG)
class PolyPIC(Transfer):
    """Polynomial particle-in-cell (G20 chapter 2): more velocity modes, less damping, up to a lossless transfer.

    Counted in the order of G20 A.6, with quadratic splines in 2D: 1 = PIC, 3 = APIC, 4, 6, 8, 9; in 3D: 1 = PIC,
    4 = APIC, 8, 11, 14, 18, 27.
    """

    modes: Whole | list[tuple[Whole, ...]] | None = Field(
        default=None,
        description="number of modes, or their exponents per axis; left out: all products of linear factors",
    )
    light_node: Annotated[float, Field(strict=True, ge=0, lt=1), PLAIN] = Field(
        default=1e-2,
        description="nodes lighter than this fraction of a particle switch off its modes with squares; 0 = never",
    )
    store: Literal["C", "B"] = Field(
        default="C", description="what linear splines keep: C for affine fields, B for angular momentum"
    )
    type: Literal["polypic"] = Field(default="polypic", kw_only=True, repr=False)

    @property
    def affine(self) -> bool:
        return self.modes != 1

    def plan(self, dimension: int, degree: int) -> Plan:
        modes = resolve_modes(self.modes, dimension, degree)
        linear, high = split(modes)
        if len(modes) == 1:
            return Plan(linear=linear)
        kept = MOMENT if degree == 1 and self.store == "B" else GRADIENT
        return Plan(kept, light=self.light_node, linear=linear, high=high)


SCHEMES: dict[str, type[Transfer]] = {
    "pic": PIC,
    "flip": FLIP,
    "rpic": RPIC,
    "apic": APIC,
    "polypic": PolyPIC,
}


def _by_name(value: object) -> object:
    """`"apic"`, or with the first parameter of the scheme, `"flip:0.95"`, as the scheme; all else as it is."""
    if not isinstance(value, str):
        return value
    name, colon, number = value.lower().partition(":")
    if name not in SCHEMES:
        raise ValueError(f'unknown transfer "{value}", use one of {", ".join(SCHEMES)}')
    scheme = SCHEMES[name]
    if not colon:
        return scheme()
    parameter = fields(scheme)[0].name  # type: ignore[arg-type]
    if parameter == "type":
        raise ValueError(f'{name} has no number; write "{name}"')
    try:
        return scheme(**{parameter: int(number) if parameter == "modes" else float(number)})
    except ValueError:
        raise ValueError(
            f'"{number}" is no number for {name}; write it like flip:0.95 or polypic:6'
        ) from None
    except SetupError as error:
        raise ValueError(str(error)) from None


_Name = Literal["pic", "flip", "rpic", "apic", "polypic"]
_NameAndNumber = Annotated[str, Field(pattern=r"^(flip|apic|polypic):\s*[0-9.]+$")]
_Scheme = Annotated[PIC | FLIP | RPIC | APIC | PolyPIC, Field(discriminator="type")]
AnyTransfer = Annotated[
    _Scheme, BeforeValidator(_by_name, json_schema_input_type=_Name | _NameAndNumber | _Scheme)
]


def as_transfer(value: str | Transfer) -> Transfer:
    """The scheme named, such as "apic" or "flip:0.95", or given."""
    try:
        scheme = _by_name(value)
    except ValueError as error:
        raise SetupError(str(error)) from None
    if not isinstance(scheme, Transfer):
        raise SetupError(f"transfer must be a name or an object of continua.transfers, not {shown(value)}")
    return scheme
