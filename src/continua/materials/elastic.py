"""Hyperelastic solids."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, PLAIN, Positive
from continua._validation import raises
from continua.errors import MaterialError
from continua.materials.base import NativeMaterial, lame

# Poisson's ratio of a compressible isotropic solid; at 0.5 the bulk modulus is infinite.
PoissonRatio = Annotated[float, Field(strict=True, gt=-1.0, lt=0.5), PLAIN]


class Isotropic(NativeMaterial):
    """Shared by materials given by Young's modulus and Poisson's ratio."""

    E: float
    nu: float

    def parameters(self) -> dict[str, float]:
        mu, lam = lame(self.E, self.nu)
        return {"mu": mu, "lam": lam}

    def modulus(self) -> float:
        mu, lam = lame(self.E, self.nu)
        return lam + 2 * mu


@dataclass(config=CONFIG)
class _Elastic(Isotropic):
    """The parameters of all hyperelastic solids."""

    E: Positive = Field(default=1e5, description="Young's modulus [Pa]")
    nu: PoissonRatio = Field(default=0.3, description="Poisson's ratio, below 0.5")
    density: Positive = Field(default=1000.0, description="mass per undeformed volume [kg/m^3]")


@raises(MaterialError)
@dataclass(config=CONFIG)
class FixedCorotated(_Elastic):
    """Fixed corotated elasticity (J15 section 3.1.3): robust for every deformation, also inverted."""

    type: Literal["fixed-corotated"] = Field(default="fixed-corotated", kw_only=True, repr=False)
    model: ClassVar[str] = "fixed-corotated"


@raises(MaterialError)
@dataclass(config=CONFIG)
class NeoHookean(_Elastic):
    """Neo-Hookean elasticity with a logarithmic volume term (J15 section 3.1.2); needs det F > 0."""

    type: Literal["neo-hookean"] = Field(default="neo-hookean", kw_only=True, repr=False)
    model: ClassVar[str] = "neo-hookean"


@raises(MaterialError)
@dataclass(config=CONFIG)
class QuadraticNeoHookean(_Elastic):
    """Neo-Hookean elasticity with a quadratic volume term (J15 (4.7)), as in `OldroydB`; needs det F > 0."""

    type: Literal["quadratic-neo-hookean"] = Field(default="quadratic-neo-hookean", kw_only=True, repr=False)
    model: ClassVar[str] = "quadratic-neo-hookean"


@raises(MaterialError)
@dataclass(config=CONFIG)
class DeviatoricCorotated(_Elastic):
    """Fixed corotated elasticity of the change of shape, with the volume apart (J15 (6.7)); needs det F > 0."""

    type: Literal["deviatoric-corotated"] = Field(default="deviatoric-corotated", kw_only=True, repr=False)
    model: ClassVar[str] = "deviatoric-corotated"


@raises(MaterialError)
@dataclass(config=CONFIG)
class Hencky(_Elastic):
    """Quadratic energy of the logarithmic strain (W20 section 3.3.1), on which the plastic models are built.

    It softens in extension: the nominal stress of a bar peaks when it is stretched 2.7 times. Needs det F > 0.
    """

    type: Literal["hencky"] = Field(default="hencky", kw_only=True, repr=False)
    model: ClassVar[str] = "hencky"
