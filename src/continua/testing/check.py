"""Runs all gates on a material."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from continua.materials.base import NativeMaterial
from continua.materials.python import PythonMaterial
from continua.testing import elastic, flow
from continua.testing.probe import DoesNotApply, Probe
from continua.testing.report import Gate, Report

GATES: dict[str, Callable[[Probe], tuple[float, float]]] = {
    "stress is the slope of the energy": elastic.stress_is_slope,
    "zero at rest": elastic.zero_at_rest,
    "linear limit": elastic.linear_limit,
    "modulus bounds the stiffness": elastic.modulus_bounds_stiffness,
    "objective": elastic.objective,
    "isotropic": elastic.isotropic,
    "symmetric Kirchhoff stress": elastic.symmetric,
    "energy not negative": elastic.not_negative,
    "no NaN when inverted": elastic.no_nan_when_inverted,
    "projection idempotent": flow.idempotent,
    "projection admissible": flow.admissible,
    "projection does not raise energy": flow.energy_not_raised,
    "projection dissipates": flow.dissipates,
    "projection leaves elastic states": flow.elastic_untouched,
    "projection objective": flow.objective,
    "projection keeps the volume": flow.keeps_volume,
}
# Rules that a good material need not obey.
PROPERTIES = ("isotropic", "projection keeps the volume")
# What built-in materials are known to break, by model.
KNOWN = {
    ("snow", "projection does not raise energy"): "a clamp of stretches is not the flow of a yield surface",
    ("snow", "projection dissipates"): "a clamp of stretches is not the flow of a yield surface",
}


def check_material(
    material: NativeMaterial | PythonMaterial,
    *,
    dimension: int | Sequence[int] = (2, 3),
    seed: int = 0,
    isotropic: bool = False,
    skip: Sequence[str] = (),
) -> Report:
    """Measure how well a material obeys the rules of elasticity and of plastic flow.

    dimension: 2, 3 or both. seed: of the random deformation gradients. isotropic: also require isotropy,
    which is otherwise only reported. skip: names of gates that are known not to apply.
    """
    report = Report(getattr(material, "label", type(material).__name__))
    required = ("isotropic",) if isotropic else ()
    for d in (dimension,) if isinstance(dimension, int) else dimension:
        probe = Probe(material, d, seed)
        for name in GATES:
            if name in skip:
                report.gates.append(Gate(name, d, None, note="skipped on request"))
            else:
                report.gates.append(_measure(probe, name, required=name in required))
    return report


def _measure(probe: Probe, name: str, *, required: bool) -> Gate:
    d = probe.d
    try:
        with np.errstate(all="ignore"):
            value, tolerance = GATES[name](probe)
    except DoesNotApply as reason:
        return Gate(name, d, None, note=str(reason))
    except Exception as error:  # whatever a user's formula raises is a failed gate, not a crash
        return Gate(name, d, False, note=f"{type(error).__name__}: {error}")
    passed = bool(value <= tolerance)
    if name in PROPERTIES and not required:
        return Gate(name, d, None, value, tolerance, "yes" if passed else "no")
    known = KNOWN.get((probe.material.model, name), "")
    if known and not passed:
        return Gate(name, d, None, value, tolerance, known)
    return Gate(name, d, passed, value, tolerance)
