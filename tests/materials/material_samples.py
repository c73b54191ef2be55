"""Random deformation gradients and finite differences for material tests."""

from __future__ import annotations

import numpy as np


def rotations(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


def with_stretches(rng: np.random.Generator, s: np.ndarray) -> np.ndarray:
    """U diag(s) V^T with random rotations; s (n, d)."""
    n, d = s.shape
    return rotations(rng, n, d) @ (s[:, :, None] * rotations(rng, n, d))


def random_F(rng: np.random.Generator, n: int, d: int, low: float = 0.15, high: float = 5.0) -> np.ndarray:
    """F with det F spread over [low, high]."""
    s = np.exp(rng.uniform(-0.5, 0.5, size=(n, d)))
    J = np.exp(rng.uniform(np.log(low), np.log(high), n))
    return with_stretches(rng, s * (J / s.prod(axis=1))[:, None] ** (1 / d))


def directions(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    D = rng.normal(size=(n, d, d))
    return D / np.linalg.norm(D, axis=(1, 2))[:, None, None]


def slope(f, F: np.ndarray, D: np.ndarray, h: float) -> np.ndarray:
    """Derivative of f at F in the direction D, fourth-order central differences."""
    return (8 * (f(F + h * D) - f(F - h * D)) - (f(F + 2 * h * D) - f(F - 2 * h * D))) / (12 * h)


def norm(A: np.ndarray) -> np.ndarray:
    return np.linalg.norm(A, axis=(1, 2))
