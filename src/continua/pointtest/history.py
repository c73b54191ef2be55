"""What a driven point went through: stresses, strains, and where the work went."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from continua.pointtest.paths import Array, Path

FLOW = 1e-10  # stress lost by `project`, over the modulus, that counts as flow


@dataclass(frozen=True)
class Summary:
    """A history in a few numbers; stresses and densities per undeformed volume in Pa.

    yield_strain: where the material first flowed, None if it stayed elastic.
    peak_stress: the stress of largest size, reached at peak_strain.
    balance_error: |work - stored - plastic_work - viscous_work + hardening| over the work of all steps.
    least_dissipation: smallest dissipation of a step; below zero by more than the error of integration means
    that the material gives away energy.
    """

    yield_strain: float | None
    peak_stress: float
    peak_strain: float
    final_stress: float
    final_volume: float
    work: float
    stored: float
    plastic_work: float
    viscous_work: float
    hardening: float
    dissipation: float
    balance_error: float
    least_dissipation: float


@dataclass(frozen=True)
class History:
    """Rows 0 to n of a driven point; row 0 is the undeformed material.

    F_total, F: (n+1, d, d) total and elastic deformation gradient.
    tau: (n+1, d, d) Kirchhoff stress [Pa], viscous part included.
    energy: (n+1,) stored energy per undeformed volume [Pa].
    work: (n+1,) integral of tau:D, the area under the curve (trapezoidal rule) [Pa].
    plastic_work: (n+1,) energy that projections took away, at the history variables before them [Pa].
    viscous_work: (n+1,) work of the Newtonian stress [Pa].
    hardening: (n+1,) energy that changes of the history variables added at fixed F [Pa].
    flow: (n+1,) stress that the projection of each step took away, over the modulus.
    state: history variables (n+1,) by name.
    """

    material: str
    path: Path
    F_total: Array
    F: Array
    tau: Array
    energy: Array
    work: Array
    plastic_work: Array
    viscous_work: Array
    hardening: Array
    flow: Array
    state: dict[str, Array]

    @property
    def time(self) -> Array:
        """(n+1,) [s]."""
        return self.path.time

    @property
    def strain(self) -> Array:
        """(n+1,) the strain the path prescribes."""
        return self.path.strain

    @property
    def volume(self) -> Array:
        """(n+1,) total volume ratio J."""
        return np.linalg.det(self.F_total)

    @property
    def cauchy(self) -> Array:
        """(n+1, d, d) Cauchy stress tau / J [Pa]."""
        return self.tau / self.volume[:, None, None]

    @property
    def dissipation(self) -> Array:
        """(n+1,) work that is not stored any more [Pa]."""
        return self.work - (self.energy - self.energy[0])

    @property
    def stress(self) -> Array:
        """(n+1,) the component of tau that the path is about [Pa].

        shear: tau_xy; axial: tau_xx; deviator: tau_yy - tau_xx, positive in compression along x;
        pressure: -tr(tau)/d; equivalent: sqrt(3/2) |dev tau|, the tension a von Mises material compares it to.
        """
        tau, d = self.tau, self.path.dimension
        mean = np.trace(tau, axis1=1, axis2=2) / d
        if self.path.measure == "shear":
            return tau[:, 0, 1]
        if self.path.measure == "axial":
            return tau[:, 0, 0]
        if self.path.measure == "deviator":
            return tau[:, 1, 1] - tau[:, 0, 0]
        if self.path.measure == "pressure":
            return -mean
        return np.sqrt(1.5) * np.linalg.norm(tau - mean[:, None, None] * np.eye(d), axis=(1, 2))

    @property
    def elastic_strain(self) -> Array:
        """(n+1, d) principal logarithmic strains of the elastic part, largest first."""
        return np.log(np.linalg.svd(self.F, compute_uv=False))

    @property
    def total_strain(self) -> Array:
        """(n+1, d) principal logarithmic strains of the whole deformation, largest first."""
        return np.log(np.linalg.svd(self.F_total, compute_uv=False))

    def summary(self) -> Summary:
        """The history in a few numbers."""
        flowing = np.flatnonzero(self.flow > FLOW)
        peak = int(np.abs(self.stress).argmax())
        stored = float(self.energy[-1] - self.energy[0])
        spent = self.plastic_work[-1] + self.viscous_work[-1] - self.hardening[-1]
        scale = max(float(np.abs(np.diff(self.work)).sum()), abs(stored) + abs(spent))
        return Summary(
            yield_strain=float(self.strain[flowing[0]]) if len(flowing) else None,
            peak_stress=float(self.stress[peak]),
            peak_strain=float(self.strain[peak]),
            final_stress=float(self.stress[-1]),
            final_volume=float(self.volume[-1]),
            work=float(self.work[-1]),
            stored=stored,
            plastic_work=float(self.plastic_work[-1]),
            viscous_work=float(self.viscous_work[-1]),
            hardening=float(self.hardening[-1]),
            dissipation=float(self.dissipation[-1]),
            balance_error=float(abs(self.work[-1] - stored - spent) / scale) if scale > 0 else 0.0,
            least_dissipation=float(np.diff(self.dissipation).min()),
        )

    def as_dict(self) -> dict[str, Any]:
        """Everything as numbers and lists, for JSON."""
        rows = {
            name: getattr(self, name).tolist()
            for name in (
                *("time", "strain", "stress", "volume", "F_total", "F", "tau"),
                *("energy", "work", "plastic_work", "viscous_work", "hardening", "dissipation"),
            )
        }
        return {
            "material": self.material,
            "summary": asdict(self.summary()),
            **rows,
            "state": {name: values.tolist() for name, values in self.state.items()},
        }
