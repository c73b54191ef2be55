"""How a simulation advances in time, as users choose it."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic.dataclasses import dataclass
from pydantic_core import ArgsKwargs

from continua._model import CONFIG, Count, Flag, Fraction, Positive
from continua._validation import raises, shown
from continua.errors import SetupError
from continua.optimize import Scheme


class Integrator:
    """A way to advance in time."""

    @property
    def incompressible(self) -> bool:
        """Whether it is for incompressible fluids on a MAC grid; else for all other materials, at nodes."""
        return False

    @property
    def implicit(self) -> bool:
        """Whether elastic forces are taken at the end of the step, so that sound does not limit it."""
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
class SemiImplicit(Integrator):
    """Backward Euler with one Newton step: linear in the forces (J15 section 2.2 step 7). Stable for moderate steps."""

    implicitness: Fraction = Field(
        default=1.0,
        description="part of the change of the forces that is foreseen; 1/2 loses less energy but is less stable",
    )

    krylov: Literal["cg", "minres", "cr"] = Field(
        default="cg", description="linear solver; minres and cr also take indefinite matrices"
    )
    positive: Flag = Field(default=True, description="whether negative stiffness of particles is left out")
    tolerance: Positive = Field(
        default=1e-6, description="forces left over by the linear solve, relative to those that act"
    )
    max_iterations: Count = Field(default=500, description="most iterations of the solve")
    positions: Literal["explicit", "implicit"] = Field(
        default="explicit",
        description="particles move with the velocity where they were, or where they arrive",
    )
    type: Literal["semi-implicit"] = Field(default="semi-implicit", kw_only=True, repr=False)

    @property
    def implicit(self) -> bool:
        return True


MOVED = {  # what was said of mesh bodies once, and where it is said now
    "collisions": "collisions",
    "collision_stiffness": "stiffness",
    "penalty": "obstacle_stiffness",
    "friction": "friction",
}


@raises(SetupError)
@dataclass(config=CONFIG)
class Optimization(Integrator):
    """Backward Euler as the minimum of an energy, which is there for steps of any size (J15 A.2, A.6)."""

    tolerance: Positive = Field(
        default=1e-5,
        description="forces left over at which a step is done, relative to those that act: loads, inertia, elasticity",
    )
    absolute_tolerance: Positive | None = Field(
        default=None,
        description="forces left over at which a step is done in any case [N], as the norm over all points or nodes; "
        "left out: what rounding makes of the stiffness and size of the bodies",
    )
    krylov: Literal["cg", "minres"] = Field(default="cg", description="solver of the Newton steps")
    positive: Flag | None = Field(
        default=None,
        description="whether Newton steps go without negative stiffness; if not given: those after one that met some",
    )
    max_iterations: Count = Field(default=100, description="most Newton steps")
    positions: Literal["explicit", "implicit"] = Field(
        default="implicit",
        description="particles move with the velocity where they were, or where they arrive",
    )
    scheme: Scheme = Field(
        default="backward-euler",
        description="of mesh bodies: backward-euler (order 1, loses energy), trapezoid or bdf2 (order 2)",
    )
    type: Literal["optimization"] = Field(default="optimization", kw_only=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _not_moved(cls, given: Any) -> Any:
        keys = given.kwargs if isinstance(given, ArgsKwargs) else given
        for old in MOVED:
            if isinstance(keys, dict) and old in keys:
                raise ValueError(
                    f"{old} belongs to the mesh bodies now: give each SolidBody contact=PenaltyContact("
                    f"{MOVED[old]}=...), in scene files solid.contact.{MOVED[old]}"
                )
        return given

    @property
    def implicit(self) -> bool:
        return True


@raises(SetupError)
@dataclass(config=CONFIG)
class Incompressible(Integrator):
    """Incompressible flow on a staggered (MAC) grid: pressure projection, implicit viscosity, free surface
    (J15 section 5.4, G20 section 2.5)."""

    tolerance: Positive = Field(
        default=1e-5,
        description="largest outflow of a cell after the projection, relative to the fastest flow",
    )
    max_iterations: Count = Field(
        default=200, description="most iterations of a linear solve; more end the run with an error"
    )
    volume_control: Fraction = Field(
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


SCHEMES: dict[str, type[Integrator]] = {
    "symplectic": Symplectic,
    "semi-implicit": SemiImplicit,
    "optimization": Optimization,
    "incompressible": Incompressible,
}


def _by_name(value: object) -> object:
    if isinstance(value, str):
        if value.lower() not in SCHEMES:
            raise ValueError(f'unknown integrator "{value}", use one of {", ".join(SCHEMES)}')
        return SCHEMES[value.lower()]()
    return value


_Scheme = Annotated[Symplectic | SemiImplicit | Optimization | Incompressible, Field(discriminator="type")]
_Name = Literal["symplectic", "semi-implicit", "optimization", "incompressible"]
AnyIntegrator = Annotated[
    _Scheme,
    BeforeValidator(_by_name, json_schema_input_type=_Name | _Scheme),
]


def as_integrator(value: str | Integrator) -> Integrator:
    """The integrator named or given."""
    try:
        scheme = _by_name(value)
    except ValueError as error:
        raise SetupError(str(error)) from None
    if not isinstance(scheme, Integrator):
        raise SetupError(
            f"integrator must be a name or an object of continua.integrators, not {shown(value)}"
        )
    return scheme
