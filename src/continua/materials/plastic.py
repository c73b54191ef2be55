"""Solids that yield: Hencky elasticity inside a yield surface (W20 section 3.3).

Limits are on the Kirchhoff stress tau; |dev tau| is the Frobenius norm of its deviator, which is sqrt(2) times the
stress of simple shear and sqrt(2/3) times the stress of a uniaxial test.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, PLAIN, Flag, NonNegative, Positive
from continua._validation import raises
from continua.errors import MaterialError
from continua.materials.base import Array, State
from continua.materials.elastic import Isotropic, PoissonRatio

Degrees = Annotated[float, Field(strict=True, gt=0, lt=90), PLAIN]


class HenckyPlastic(Isotropic):
    """Shared by materials that yield: what their yield functions are made of."""

    def principal_strain(self, F: ArrayLike) -> Array:
        """Principal logarithmic strains (N, d), largest first; NaN where det F <= 0."""
        F = np.asarray(F, dtype=np.float64)
        stretches = np.linalg.svd(F, compute_uv=False)
        feasible = (np.linalg.det(F) > 0)[:, None] & (stretches > 0)
        e: Array = np.where(feasible, np.log(np.where(feasible, stretches, 1.0)), np.nan)
        return e

    def _history(self, name: str, state: State | None) -> Array:
        """A history variable, the initial value where there is none."""
        return np.asarray((state or {}).get(name, self.states[name]), dtype=np.float64)


def _outside(f: Array) -> Array:
    """Yield function (N,), +inf where the deformation is not admissible at all."""
    return np.where(np.isnan(f), np.inf, f)


def _deviator_norm(e: Array) -> Array:
    norm: Array = np.linalg.norm(e - e.mean(axis=1, keepdims=True), axis=1)
    return norm


@raises(MaterialError)
@dataclass(config=CONFIG)
class VonMises(HenckyPlastic):
    """Flows when |dev tau| exceeds the yield stress, keeping its volume: clay, metal, dough.

    A uniaxial test yields at sqrt(3/2) times `yield_stress`, simple shear at 1/sqrt(2) times.
    """

    E: Positive = Field(default=1e6, description="Young's modulus [Pa]")
    nu: PoissonRatio = Field(default=0.3, description="Poisson's ratio, below 0.5")
    density: Positive = Field(default=1800.0, description="mass per undeformed volume [kg/m^3]")
    yield_stress: Positive = Field(default=2e4, description="largest |dev tau| without flow [Pa]")
    hardening: NonNegative = Field(
        default=0.0, description="growth of the yield stress with plastic strain [Pa]"
    )
    type: Literal["von-mises"] = Field(default="von-mises", kw_only=True, repr=False)
    model: ClassVar[str] = "von-mises"
    states: ClassVar[dict[str, float]] = {"plastic_strain": 0.0}

    def parameters(self) -> dict[str, float]:
        return super().parameters() | {"yield": self.yield_stress, "hardening": self.hardening}

    def yield_function(self, F: ArrayLike, state: State | None = None) -> Array:
        """Yield function (N,) [Pa] of F (N, d, d): |dev tau| - yield, not positive when elastic."""
        strength = self.yield_stress + self.hardening * self._history("plastic_strain", state)
        deviator = 2 * self.parameters()["mu"] * _deviator_norm(self.principal_strain(F))
        return _outside(deviator - strength)

    @classmethod
    def metal(cls) -> "VonMises":
        """Annealed aluminium 1100-O: 69 GPa, 0.33, 2710 kg/m^3, uniaxial yield 34 MPa (As90)."""
        return cls(E=6.9e10, nu=0.33, density=2710.0, yield_stress=float(np.sqrt(2.0 / 3.0)) * 3.4e7)


@raises(MaterialError)
@dataclass(config=CONFIG)
class Rankine(HenckyPlastic):
    """Cannot bear more tension than `strength` in any direction, elastic in compression: plaster, dry clods."""

    E: Positive = Field(default=1e6, description="Young's modulus [Pa]")
    nu: PoissonRatio = Field(default=0.3, description="Poisson's ratio, below 0.5")
    density: Positive = Field(default=1500.0, description="mass per undeformed volume [kg/m^3]")
    strength: NonNegative = Field(default=2e4, description="largest principal stress [Pa]")
    type: Literal["rankine"] = Field(default="rankine", kw_only=True, repr=False)
    model: ClassVar[str] = "rankine"
    states: ClassVar[dict[str, float]] = {"plastic_strain": 0.0}

    def parameters(self) -> dict[str, float]:
        return super().parameters() | {"strength": self.strength}

    def yield_function(self, F: ArrayLike, state: State | None = None) -> Array:
        """Yield function (N,) [Pa] of F (N, d, d): largest principal stress - strength, not positive when elastic."""
        values, e = self.parameters(), self.principal_strain(F)
        return _outside(2 * values["mu"] * e[:, 0] + values["lam"] * e.sum(axis=1) - self.strength)


@raises(MaterialError)
@dataclass(config=CONFIG)
class DruckerPrager(HenckyPlastic):
    """Friction between grains: shear stress grows with pressure, no dilation, separation in tension: sand, soil.

    The cone touches Mohr and Coulomb's in triaxial compression. Volume gained while grains are apart is remembered and
    given back before they press on each other again, so that a heap does not swell.
    """

    E: Positive = Field(default=1e6, description="Young's modulus [Pa]")
    nu: PoissonRatio = Field(default=0.3, description="Poisson's ratio, below 0.5")
    density: Positive = Field(default=1600.0, description="mass per undeformed volume [kg/m^3]")
    friction_angle: Degrees = Field(default=33.0, description="angle of internal friction [degrees]")
    cohesion: NonNegative = Field(default=0.0, description="shear strength without pressure [Pa]")
    volume_correction: Flag = Field(default=True, description="remember volume gained in separation")
    type: Literal["drucker-prager"] = Field(default="drucker-prager", kw_only=True, repr=False)
    model: ClassVar[str] = "drucker-prager"
    states: ClassVar[dict[str, float]] = {"plastic_strain": 0.0, "gained_volume": 0.0}

    def parameters(self) -> dict[str, float]:
        angle = np.radians(self.friction_angle)
        sine = np.sin(angle)
        return super().parameters() | {
            "alpha": np.sqrt(2 / 3) * 2 * sine / (3 - sine),
            "tip": self.cohesion / np.tan(angle),
            "remember": float(self.volume_correction),
        }

    def yield_function(self, F: ArrayLike, state: State | None = None) -> Array:
        """Yield function (N,) [Pa] of F (N, d, d): |dev tau| + alpha (tr tau - d c cot(friction_angle)).

        Not positive where the stress can be borne; volume gained in separation has no stress and is not counted.
        """
        values, e = self.parameters(), self.principal_strain(F)
        mu, d = values["mu"], e.shape[1]
        mean = (d * values["lam"] + 2 * mu) * e.sum(axis=1) - d * values["tip"]
        return _outside(2 * mu * _deviator_norm(e) + values["alpha"] * mean)


@raises(MaterialError)
@dataclass(config=CONFIG)
class HerschelBulkley(HenckyPlastic):
    """Yield-stress fluid: rigid below the yield stress, then shear stress = yield + consistency * rate^exponent.

    Exponent below 1 thins, above 1 thickens, 1 is a Bingham fluid. All three refer to simple shear. The flow acts on
    the deviator of the Hencky strain and is taken implicitly over the step, so thick fluids do not limit dt.
    """

    E: Positive = Field(default=1e4, description="Young's modulus below yield [Pa]")
    nu: PoissonRatio = Field(default=0.4, description="Poisson's ratio, below 0.5")
    density: Positive = Field(default=1000.0, description="mass per undeformed volume [kg/m^3]")
    yield_stress: NonNegative = Field(default=30.0, description="shear stress at which flow begins [Pa]")
    consistency: NonNegative = Field(
        default=10.0, description="shear stress above yield at rate 1/s [Pa s^n]"
    )
    exponent: Annotated[float, Field(strict=True, ge=0.1, le=10), PLAIN] = Field(
        default=0.5, description="flow exponent n: below 1 thinning, above 1 thickening"
    )
    type: Literal["herschel-bulkley"] = Field(default="herschel-bulkley", kw_only=True, repr=False)
    model: ClassVar[str] = "herschel-bulkley"
    states: ClassVar[dict[str, float]] = {"plastic_strain": 0.0}

    def parameters(self) -> dict[str, float]:
        return super().parameters() | {
            "yield": self.yield_stress,
            "consistency": self.consistency,
            "exponent": self.exponent,
        }

    def yield_function(self, F: ArrayLike, state: State | None = None) -> Array:
        """Yield function (N,) [Pa] of F (N, d, d): |dev tau|/sqrt(2) - yield, not positive when elastic."""
        shear = float(np.sqrt(2.0)) * self.parameters()["mu"] * _deviator_norm(self.principal_strain(F))
        return _outside(shear - self.yield_stress)
