"""Snow: elastic inside a small range of stretches, plastic outside, harder when compacted."""

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


@raises(MaterialError)
@dataclass(config=CONFIG)
class Snow(Isotropic):
    """Snow (J15 section 3.2): fixed corotated elasticity whose singular values stay in
    [1 - compression, 1 + stretch]; the moduli grow by exp(hardening (1 - Jp)) with the plastic volume ratio Jp.
    """

    E: Positive = Field(default=1.4e5, description="Young's modulus of fresh snow [Pa]")
    nu: PoissonRatio = Field(default=0.2, description="Poisson's ratio, below 0.5")
    density: Positive = Field(default=400.0, description="mass per undeformed volume [kg/m^3]")
    compression: Annotated[float, Field(strict=True, ge=0, lt=1), PLAIN] = Field(
        default=2.5e-2, description="largest elastic compression (critical compression)"
    )
    stretch: NonNegative = Field(default=7.5e-3, description="largest elastic stretch (critical stretch)")
    hardening: NonNegative = Field(default=10.0, description="hardening exponent")
    preserve_volume: Flag = Field(
        default=False, description="plastic flow keeps the volume (J15 section 6.4.1), so nothing hardens"
    )
    type: Literal["snow"] = Field(default="snow", kw_only=True, repr=False)
    model: ClassVar[str] = "snow"
    states: ClassVar[dict[str, float]] = {"Jp": 1.0}

    def parameters(self) -> dict[str, float]:
        return super().parameters() | {
            "lower": 1 - self.compression,
            "upper": 1 + self.stretch,
            "hardening": self.hardening,
            "preserve": float(self.preserve_volume),
        }

    def yield_function(self, F: ArrayLike, state: State | None = None) -> Array:
        """How far the stretches of F (N, d, d) are out of range (N,), times the modulus [Pa]; not positive inside.

        With `preserve_volume` the flow may end outside: its dilation takes the stretches out of the range again.
        """
        F = np.asarray(F, dtype=np.float64)
        s = np.linalg.svd(F, compute_uv=False)
        s[:, -1] *= np.where(np.linalg.det(F) < 0, -1.0, 1.0)
        outside = np.maximum(s[:, 0] - (1 + self.stretch), (1 - self.compression) - s[:, -1])
        return self.modulus() * outside

    @classmethod
    def dry_sand(cls) -> "Snow":
        """The clamp without cohesion, as used for dry sand in J15 section 3.2.2."""
        return cls(stretch=0.0)
