"""Gates of the elastic part. Each returns the measured value and its tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np

from continua.materials.base import Array, lame
from continua.testing.probe import DoesNotApply, Probe, State, largest, norm, slope

STEP = 1e-5  # of the finite differences of the energy
STRESS_STEP = 1e-4  # of the finite differences of the stress


def stress_is_slope(p: Probe) -> tuple[float, float]:
    worst, tolerance = 0.0, 1e-8
    for state in p.states():

        def energy(F: Array, state: State = state) -> Array:
            return p.energy(F, state)

        P = p.stress(p.F, state)
        scale = norm(P) + 1e-3 * norm(P).max()
        numeric, finer = slope(energy, p.F, p.D, STEP), slope(energy, p.F, p.D, STEP / 2)
        error = (numeric - (P * p.D).sum(axis=(1, 2))) / scale
        # At a kink of the stress, such as the loss of contact, differences of the energy say nothing.
        kink = np.abs(numeric - finer) > tolerance * scale
        worst = max(worst, largest(np.where(kink, 0.0, error) if kink.mean() < 0.1 else error))
    return worst, tolerance


def zero_at_rest(p: Probe) -> tuple[float, float]:
    psi, P = p.energy(p.Q, p.state), p.stress(p.Q, p.state)
    return max(largest(psi), largest(P)) / p.modulus, 1e-12


def _moduli(p: Probe) -> tuple[float, float]:
    """mu and lam of the material, from its own fields."""
    fields: list[Any] = [getattr(p.material, name, None) for name in ("E", "nu", "mu", "lam")]
    if None not in fields[:2]:
        mu, lam = lame(*fields[:2])
    elif None not in fields[2:]:
        mu, lam = fields[2:]
    else:
        raise DoesNotApply("the material has neither E and nu nor mu and lam")
    if abs(lam + 2 * mu - p.modulus) > 1e-9 * p.modulus:
        raise DoesNotApply("E and nu do not give modulus()")
    return mu, lam


def linear_limit(p: Probe) -> tuple[float, float]:
    mu, lam = _moduli(p)
    identity = np.broadcast_to(np.eye(p.d), p.F.shape)
    numeric = slope(lambda F: p.stress(F, p.state), identity, p.D, STRESS_STEP)
    trace = np.trace(p.D, axis1=1, axis2=2)[:, None, None]
    exact = mu * (p.D + p.D.transpose(0, 2, 1)) + lam * trace * identity
    return largest(numeric - exact) / p.modulus, 1e-7


def modulus_bounds_stiffness(p: Probe) -> tuple[float, float]:
    identity = np.broadcast_to(np.eye(p.d), p.F.shape)
    n = p.Q[:, :, 0]
    D = n[:, :, None] * n[:, None, :]
    stiffness = (slope(lambda F: p.stress(F, p.state), identity, D, STRESS_STEP) * D).sum(axis=(1, 2))
    return float(np.nan_to_num(stiffness, nan=np.inf).max() / p.modulus - 1), 1e-6


def objective(p: Probe) -> tuple[float, float]:
    worst = 0.0
    for state in p.states():
        psi, P = p.energy(p.F, state), p.stress(p.F, state)
        turned = p.Q @ p.F
        worst = max(worst, largest(p.energy(turned, state) - psi) / largest(psi))
        worst = max(worst, largest(p.stress(turned, state) - p.Q @ P) / largest(P))
    return worst, 1e-12


def isotropic(p: Probe) -> tuple[float, float]:
    psi, P = p.energy(p.F, p.state), p.stress(p.F, p.state)
    turned = p.F @ p.Q
    difference = largest(p.energy(turned, p.state) - psi) / largest(psi)
    return max(difference, largest(p.stress(turned, p.state) - P @ p.Q) / largest(P)), 1e-12


def symmetric(p: Probe) -> tuple[float, float]:
    worst = 0.0
    for state in p.states():
        tau = p.kirchhoff(p.F, state)
        worst = max(worst, largest(tau - tau.transpose(0, 2, 1)) / largest(tau))
    return worst, 1e-12


def not_negative(p: Probe) -> tuple[float, float]:
    def lowest(state: State) -> float:
        return float(np.nan_to_num(p.energy(p.F, state), nan=-np.inf).min())

    return max(0.0, -min(map(lowest, p.states())) / p.modulus), 1e-12


def no_nan_when_inverted(p: Probe) -> tuple[float, float]:
    F = p.F.copy()
    F[:, 0] *= -1
    F[::3, 0] = 0
    return float(np.isnan(p.energy(F, p.state)).sum()), 0.0
