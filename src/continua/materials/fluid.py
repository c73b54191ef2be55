"""Materials that flow: viscoelastic fluids, foams and sponges (J15 chapter 4), and weakly compressible liquids."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, PLAIN, Flag, NonNegative, Positive
from continua._validation import raises
from continua.errors import MaterialError
from continua.materials.base import CATALOGUE, Array, NativeMaterial

PositiveOrInfinite = Annotated[float, Field(strict=True, gt=0, allow_inf_nan=True), PLAIN]


@raises(MaterialError)
@dataclass(config=CONFIG)
class OldroydB(NativeMaterial):
    """Elastic for short times, flowing for long ones, at constant volume (J15 chapter 4).

    Stress relaxes with the relaxation time; an infinite one makes an elastic sponge, a short one a fluid of
    viscosity mu * relaxation_time + viscosity. `stretch_scale` relates the conformation b to the elastic F:
    b = stretch_scale F F^T.
    """

    mu: Positive = Field(default=5.0, description="shear modulus [Pa]")
    lam: NonNegative = Field(default=50.0, description="second Lame modulus, resists changes of volume [Pa]")
    density: Positive = Field(default=0.2, description="mass per undeformed volume [kg/m^3]")
    relaxation_time: PositiveOrInfinite = Field(
        default=0.5, description='time in which elastic stress fades [s] ("Wi" in J15); inf: never'
    )
    viscosity: NonNegative = Field(
        default=0.0, description="Newtonian viscosity beside the elastic part [Pa s]"
    )
    printed: Flag = Field(
        default=False,
        description="update as printed, J15 (4.13), instead of the form that stays positive definite",
    )
    type: Literal["oldroyd-b"] = Field(default="oldroyd-b", kw_only=True, repr=False)
    model: ClassVar[str] = "oldroyd-b"
    states: ClassVar[dict[str, float]] = {"stretch_scale": 1.0}

    def parameters(self) -> dict[str, float]:
        return {
            "mu": self.mu,
            "lam": self.lam,
            "viscosity": self.viscosity,
            "rate": 1 / self.relaxation_time,
            "printed": float(self.printed),
            "relaxed": 0.0,
        }

    def parameters_over(self, dt: float) -> Array:
        """Parameters (n, 1) that make `energy`, `stress` and `differential` those of an implicit step of dt [s]:
        they then count the relaxation during the step."""
        values = self.parameters() | {"relaxed": -float(np.expm1(-dt / self.relaxation_time))}
        return np.array([[values[name]] for name in CATALOGUE[self.model]["parameters"]])

    def modulus(self) -> float:
        return self.lam + 2 * self.mu

    def dynamic_viscosity(self) -> float:
        return self.viscosity

    @classmethod
    def from_table(
        cls, density: float, mu: float, lam: float, mu_n: float, wi: float, *, dt: float | None = None
    ) -> "OldroydB":
        """Numbers as in J15 table 4.1, whose units are not stated.

        The stress printed in J15 section 4.2 means viscosity = mu_n / 2. The potential printed in (4.9) lacks the step:
        it acts like viscosity = mu_n / dt, which is what the table was used with; give dt to reproduce that.
        """
        return cls(mu, lam, density, wi, mu_n / 2 if dt is None else mu_n / dt)

    @classmethod
    def sponge(cls) -> "OldroydB":
        """Twisting sponge of J15 table 4.1."""
        return cls.from_table(2.0, 3.6e2, 1.4e3, 0.0, 50.0)

    @classmethod
    def light_sponge(cls) -> "OldroydB":
        """Shooting sponge of J15 table 4.1."""
        return cls.from_table(1.0, 3.6e2, 1.4e3, 0.0, 50.0)

    @classmethod
    def shaving_foam(cls) -> "OldroydB":
        """Shaving foam of J15 table 4.1."""
        return cls.from_table(0.2, 5.0, 50.0, 1e-4, 0.5)

    @classmethod
    def toothpaste(cls) -> "OldroydB":
        """Toothpaste of J15 table 4.1."""
        return cls.from_table(1.0, 0.839, 8.39, 1e-1, 0.4)

    @classmethod
    def viennetta(cls) -> "OldroydB":
        """Ice cream folded on a belt, J15 table 4.1."""
        return cls.from_table(1.0, 1.0, 10.0, 5e-5, 0.1)

    @classmethod
    def whipped_cream(cls) -> "OldroydB":
        """Pie cream of J15 table 4.1."""
        return cls.from_table(0.2, 5.0, 50.0, 1e-7, 1e-4)

    @classmethod
    def pie_crust(cls) -> "OldroydB":
        """Pie crust of J15 table 4.1: stiff and elastic."""
        return cls.from_table(0.5, 5e5, 4e6, 1e-8, 1e30)

    @classmethod
    def scored_pie_crust(cls) -> "OldroydB":
        """The weak lines along which the crust of J15 table 4.1 breaks; give it to a region of the crust."""
        return cls.from_table(0.5, 5.0, 10.0, 1e-5, 1.0)


@raises(MaterialError)
@dataclass(config=CONFIG)
class Liquid(NativeMaterial):
    """Weakly compressible liquid: pressure by Tait's equation p = K/n ((rho/rho0)^n - 1), plus Newtonian viscosity.

    Choose the bulk modulus K so that sound, sqrt(K/density), is ten times as fast as the liquid: then its density
    changes by about one percent. The true K of water, 2.2 GPa, would make time steps needlessly small.
    """

    bulk_modulus: Positive = Field(default=2e6, description="resistance to compression K [Pa]")
    density: Positive = Field(default=1000.0, description="density at rest [kg/m^3]")
    viscosity: NonNegative = Field(default=1e-3, description="dynamic viscosity [Pa s]")
    exponent: Annotated[float, Field(strict=True, ge=1, le=20), PLAIN] = Field(
        default=7.0, description="exponent n of Tait's equation; 1 is linear in the density"
    )
    tension: Flag = Field(default=True, description="whether the expanded liquid pulls itself together")
    type: Literal["liquid"] = Field(default="liquid", kw_only=True, repr=False)
    model: ClassVar[str] = "liquid"

    def parameters(self) -> dict[str, float]:
        return {
            "bulk": self.bulk_modulus,
            "exponent": self.exponent,
            "viscosity": self.viscosity,
            "tension": float(self.tension),
        }

    def modulus(self) -> float:
        return self.bulk_modulus

    def dynamic_viscosity(self) -> float:
        return self.viscosity

    @classmethod
    def water(cls, fastest: float = 4.5) -> "Liquid":
        """Water (Hy16) that moves at up to `fastest` [m/s]; 4.5 m/s is a fall of one metre. Sound is ten times as fast
        (Mo94)."""
        return cls(bulk_modulus=1000.0 * (10 * fastest) ** 2)
