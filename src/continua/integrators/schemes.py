"""How a simulation advances in time, as users choose it."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, Positive
from continua._validation import raises
from continua.errors import SetupError


class Integrator:
    """A way to advance in time."""

    @property
    def incompressible(self) -> bool:
        """Whether it is for incompressible fluids on a MAC grid; else for all other materials, at nodes."""
        return False

    @property
    def kernel(self) -> str:
        """B-splines used unless others are asked for."""
        return "quadratic"


@raises(SetupError)
@dataclass(config=CONFIG)
class Symplectic(Integrator):
    """Explicit symplectic Euler (J15 section 2.2), for all materials but incompressible fluids."""

    type: Literal["symplectic"] = Field(default="symplectic", kw_only=True, repr=False)


@raises(SetupError)
@dataclass(config=CONFIG)
class Incompressible(Integrator):
    """Incompressible flow on a staggered (MAC) grid: pressure projection, implicit viscosity, free surface
    (J15 section 5.4, G20 section 2.5)."""

    tolerance: Positive = Field(
        default=1e-5,
        description="largest outflow of a cell after the projection, relative to the fastest flow",
    )
    max_iterations: Annotated[int, Field(ge=1)] = Field(
        default=200, description="most iterations of a linear solve; more end the run with an error"
    )
    volume_control: Annotated[float, Field(ge=0, le=1)] = Field(
        default=0.5,
        description="part of the crowding of particles that is spread out in every step, 0 = none",
    )
    viscous_tolerance: Positive = Field(
        default=1e-6, description="residual of the viscous solve, relative to the fastest flow"
    )
    type: Literal["incompressible"] = Field(default="incompressible", kw_only=True, repr=False)

    @property
    def incompressible(self) -> bool:
        return True

    @property
    def kernel(self) -> str:
        return "linear"


SCHEMES: dict[str, type[Integrator]] = {"symplectic": Symplectic, "incompressible": Incompressible}


def _by_name(value: object) -> object:
    if isinstance(value, str):
        if value.lower() not in SCHEMES:
            raise ValueError(f'unknown integrator "{value}", use one of {", ".join(SCHEMES)}')
        return SCHEMES[value.lower()]()
    return value


_Scheme = Annotated[Symplectic | Incompressible, Field(discriminator="type")]
AnyIntegrator = Annotated[
    _Scheme,
    BeforeValidator(_by_name, json_schema_input_type=Literal["symplectic", "incompressible"] | _Scheme),
]


def as_integrator(value: str | Integrator) -> Integrator:
    """The integrator named or given."""
    try:
        scheme = _by_name(value)
    except ValueError as error:
        raise SetupError(str(error)) from None
    if not isinstance(scheme, Integrator):
        raise SetupError(f"integrator must be a name or an object of continua.integrators, not {value!r}")
    return scheme
