"""Gates of plastic and viscous flow. Each returns the measured value and its tolerance.

States are compared by their stress and their response to further deformation, not by F, see `Probe.response`.
"""

from __future__ import annotations

import numpy as np

from continua.materials.base import Array
from continua.testing.probe import DoesNotApply, Probe, State, history_difference, largest, log_strain


def _projected(p: Probe) -> tuple[Array, State]:
    if not p.plastic:
        raise DoesNotApply("the material is elastic")
    return p.project(p.F)


def idempotent(p: Probe) -> tuple[float, float]:
    """What has flowed is at rest."""
    F, state = _projected(p)
    if p.takes_time:
        raise DoesNotApply("the flow takes time, it goes on in the next step")
    return p.distance(p.project(F, state), (F, state)), 1e-12


def admissible(p: Probe) -> tuple[float, float]:
    """After the flow the material's own yield function is not positive."""
    F, state = _projected(p)
    f = p.yield_function(F, state)
    if p.takes_time:
        raise DoesNotApply("the flow takes time, stress beyond yield is what drives it")
    return max(0.0, float(np.nan_to_num(f, nan=np.inf).max()) / p.modulus), 1e-12


def energy_not_raised(p: Probe) -> tuple[float, float]:
    F, _ = _projected(p)  # compared at the old history: hardening itself may store energy
    before, after = p.energy(p.F, p.state), p.energy(F, p.state)
    return max(0.0, float(np.nan_to_num(after - before, nan=np.inf).max()) / p.modulus), 1e-12


def dissipates(p: Probe) -> tuple[float, float]:
    """Plastic work tau':(e - e') is not negative; e is the logarithmic strain before, e' after the flow."""
    F, _ = _projected(p)
    work = (p.kirchhoff(F, p.state) * (log_strain(p.F) - log_strain(F))).sum(axis=(1, 2))
    return max(0.0, -float(np.nan_to_num(work, nan=-np.inf).min()) / p.modulus), 1e-12


def _inside(p: Probe) -> tuple[Array, State]:
    """States that must not flow: where the yield function is negative or, without one, half way (in logarithmic
    strain) from rest to a projected state."""
    F, state = _projected(p)
    U, s, Vt = np.linalg.svd(F)
    halfway = (U * np.sqrt(s)[:, None]) @ Vt
    try:
        inside = p.yield_function(halfway, p.state) < -1e-9 * p.modulus
    except DoesNotApply:
        if p.takes_time:
            raise DoesNotApply("everything flows, given time") from None
        return halfway, state
    if not inside.any():
        raise DoesNotApply("no sample is elastic")
    # The others stand at rest, where nothing flows either.
    return np.where(inside[:, None, None], halfway, np.eye(p.d)), p.state


def elastic_untouched(p: Probe) -> tuple[float, float]:
    inside, state = _inside(p)
    return p.distance(p.project(inside, state), (inside, state)), 1e-12


def objective(p: Probe) -> tuple[float, float]:
    """Turned material flows as it would have, turned."""
    F, state = _projected(p)
    turned, history = p.project(p.Q @ p.F)
    Q, back = p.Q, p.Q.transpose(0, 2, 1)
    B = 0.1 * p.D
    expected = p.response(F, state, B).reshape(2, *F.shape)
    seen = p.response(turned, history, Q @ B @ back).reshape(2, *F.shape)
    difference = largest(seen - Q @ expected @ back) / max(p.modulus, largest(expected))
    return max(difference, history_difference(history, state)), 1e-12


def keeps_volume(p: Probe) -> tuple[float, float]:
    """det FP = 1."""
    F, _ = _projected(p)
    return largest(np.linalg.det(F) / np.linalg.det(p.F) - 1), 1e-12
