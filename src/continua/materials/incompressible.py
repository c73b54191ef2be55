"""Fluids that keep their volume exactly; they need the incompressible integrator."""

from typing import Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, NonNegative, Positive
from continua._validation import raises
from continua.errors import MaterialError
from continua.materials.base import Material


@raises(MaterialError)
@dataclass(config=CONFIG)
class IncompressibleFluid(Material):
    """Incompressible Newtonian fluid, for `integrator="incompressible"`. No sound, so time steps follow the flow alone.

    `Liquid` is its weakly compressible relative, which shares the grid with all other materials.
    """

    density: Positive = Field(default=1000.0, description="density [kg/m^3]")
    viscosity: NonNegative = Field(default=0.0, description="dynamic viscosity [Pa s]")
    type: Literal["incompressible-fluid"] = Field(default="incompressible-fluid", kw_only=True, repr=False)

    def modulus(self) -> float:
        return 0.0

    @property
    def keeps_stress(self) -> bool:
        return False

    @classmethod
    def water(cls) -> "IncompressibleFluid":
        """Water at 20 degrees Celsius (Hy16)."""
        return cls(998.0, 1.0e-3)
