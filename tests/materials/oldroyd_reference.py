"""Oldroyd-B over one step in plain NumPy, one particle at a time: J15 chapter 4 and appendix B.

b is the conformation (d, d), J the volume ratio at the beginning of the step, A = dt grad v (d, d).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Step:
    """mu, lam and Wi of the material, dt of the step; `definite` chooses the update that stays positive definite."""

    mu: float
    lam: float
    Wi: float
    dt: float
    definite: bool

    def conformation(self, A: np.ndarray, b: np.ndarray) -> np.ndarray:
        """b after the step: J15 (4.13) as printed, or (1 - r) (I + A) b (I + A)^T + r I."""
        one = np.eye(len(b))
        if not self.definite:
            return b + self.dt / self.Wi * (one - b) + A @ b + b @ A.T
        r = -np.expm1(-self.dt / self.Wi)
        return (1 - r) * (one + A) @ b @ (one + A).T + r * one

    def energy(self, A: np.ndarray, b: np.ndarray, J_n: float) -> float:
        d, S = len(b), self.conformation(A, b)
        J = np.linalg.det(np.eye(d) + A) * J_n
        shape = J ** (2 / d) * np.linalg.det(S) ** (-1 / d) * np.trace(S)
        return self.mu / 2 * (shape - d) - self.mu * np.log(J) + self.lam / 2 * (J - 1) ** 2

    def stress(self, A: np.ndarray, b: np.ndarray, J_n: float) -> np.ndarray:
        """T = dPhi/dA = mu m k X N + c Y."""
        f = self._factors(A, b, J_n)
        return self.mu * f["mk"] * f["X"] @ f["N"] + f["c"] * f["Y"]

    def _factors(self, A: np.ndarray, b: np.ndarray, J_n: float) -> dict:
        d, S = len(b), self.conformation(A, b)
        M = np.eye(d) + A
        J = np.linalg.det(M) * J_n
        r = -np.expm1(-self.dt / self.Wi)
        f = {"S": S, "K": np.linalg.inv(S), "g": np.trace(S), "J": J, "Y": np.linalg.inv(M).T, "M": M}
        f["N"] = (1 - r) * M @ b if self.definite else b
        f["mk"] = J ** (2 / d) * np.linalg.det(S) ** (-1 / d)
        f["X"] = np.eye(d) - f["g"] / d * f["K"]
        f["c"] = self.mu / d * f["mk"] * f["g"] - self.mu + self.lam * (J - 1) * J
        return f

    def stress_differential(self, A: np.ndarray, b: np.ndarray, J_n: float, dA: np.ndarray) -> np.ndarray:
        """Change of T in the direction dA."""
        f, d, mu = self._factors(A, b, J_n), len(b), self.mu
        K, g, Y, N, X, mk, J = (f[name] for name in ("K", "g", "Y", "N", "X", "mk", "J"))
        r = -np.expm1(-self.dt / self.Wi)
        dN = (1 - r) * dA @ b if self.definite else np.zeros_like(b)
        half = dN @ f["M"].T if self.definite else dA @ N.T
        dS = half + half.T
        y, q, dg = (Y * dA).sum(), (K * dS).sum(), np.trace(dS)
        dmk, dK, dY = mk * (2 * y - q) / d, -K @ dS @ K, -Y @ dA.T @ Y
        dX = -(dg * K + g * dK) / d
        dc = mu / d * (dmk * g + mk * dg) + self.lam * (2 * J - 1) * J * y
        return mu * (dmk * X @ N + mk * dX @ N + mk * X @ dN) + dc * Y + f["c"] * dY


def appendix_b_gradient(
    step: Step, A: np.ndarray, b: np.ndarray, F: np.ndarray, dw: np.ndarray
) -> np.ndarray:
    """dPhi/dx_i (nodes, d) per unit V0 without viscosity, with the intermediate quantities of J15 appendix B.

    F is the deformation gradient before the step, dw (nodes, d) the weight gradients; the printed update of b.
    """
    d = len(b)
    G = b + step.dt / step.Wi * (np.eye(d) - b)
    B = A @ b
    S = G + B + B.T
    F_new = (np.eye(d) + A) @ F
    H, J, K = np.linalg.inv(F_new), np.linalg.det(F_new), np.linalg.inv(S)
    g, k, m = np.trace(S), np.linalg.det(S) ** (-1 / d), J ** (2 / d)
    n = k * g
    gradient = []
    for w in dw:
        b_i, h_i = b @ w, H.T @ (F.T @ w)
        k_i = -2 * k / d * (K.T @ b_i)
        n_i = k_i * g + k * 2 * b_i
        p_i = step.mu / 2 * (2 * m / d * h_i * n + m * n_i)
        gradient.append(p_i - step.mu * h_i + step.lam * (J - 1) * J * h_i)
    return np.array(gradient)
