"""Small meshes, finite differences and the materials of the mesh tests."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import material_list
import numpy as np

from continua.materials import NativeMaterial
from continua.mesh import Elements
from continua.optimize.terms import Term

# Meshes take no Newtonian viscosity.
MATERIALS: list[NativeMaterial] = [
    replace(material, viscosity=0.0) if material.dynamic_viscosity() > 0 else material  # type: ignore[type-var]
    for material in material_list.MATERIALS.values()
]


def box(d: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit box of n^d cells, each cut into d! simplices along its diagonal: points (N, d), cells (M, d + 1)."""
    axes = np.meshgrid(*[np.arange(n + 1)] * d, indexing="ij")
    grid = np.stack(axes, -1).reshape(-1, d)
    corners = grid[(grid < n).all(axis=1)]
    strides = (n + 1) ** np.arange(d - 1, -1, -1)
    cells = []
    for path in permutations(range(d)):
        steps = np.vstack([np.zeros(d, int), np.cumsum(np.eye(d, dtype=int)[list(path)], axis=0)])
        if np.linalg.det(steps[1:]) < 0:
            steps[[-1, -2]] = steps[[-2, -1]]
        cells.append((corners[:, None] + steps) @ strides)
    return grid / n, np.stack(cells, 1).reshape(-1, d + 1)


def shaken(points: np.ndarray, amount: float, seed: int = 0) -> np.ndarray:
    """Points moved at random."""
    return points + amount * np.random.default_rng(seed).normal(size=points.shape)


def random_mesh(d: int, n: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """A box whose elements all differ."""
    points, cells = box(d, n)
    return shaken(points, 0.06 / n), cells


def deformed(points: np.ndarray, seed: int = 1) -> np.ndarray:
    """Stretched, sheared, turned and shaken, with positive determinants for `random_mesh`."""
    rng = np.random.default_rng(seed)
    d = points.shape[1]
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    turn[:, 0] *= np.linalg.det(turn)
    return shaken(points, 0.02, seed) @ (np.eye(d) + 0.08 * rng.normal(size=(d, d))).T @ turn.T + 3.0


def derivative_errors(energy: Term, x: np.ndarray, gradient_of: Term | None = None) -> np.ndarray:
    """Relative errors of gradient and Hessian against central differences of value and gradient."""
    other = energy if gradient_of is None else gradient_of
    other.prepare(x)
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(4):
        dx = rng.normal(size=x.shape)
        dx *= 1 / np.linalg.norm(dx)
        h = 2e-5

        def slope(f, dx=dx, h=h):
            return (8 * (f(x + h * dx) - f(x - h * dx)) - (f(x + 2 * h * dx) - f(x - 2 * h * dx))) / (12 * h)

        gradient, change = other.gradient(x), other.product(dx)
        errors.append(
            (
                abs(slope(energy.value) - np.vdot(gradient, dx)) / np.linalg.norm(gradient),
                np.linalg.norm(slope(energy.gradient) - change) / np.linalg.norm(change),
            )
        )
    return np.max(errors, axis=0)


def dense(energy: Term, x: np.ndarray, *, positive: bool = False) -> np.ndarray:
    """Hessian as a full matrix, column by column from products; `positive` without negative stiffness of elements."""
    energy.prepare(x, positive=positive)
    units = np.eye(x.size).reshape(-1, *x.shape)
    return np.array([energy.product(unit).ravel() for unit in units]).T


def reference_gradient(elements: Elements, points: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Sum over elements of Ve P Bm^T on vertices 1 to d and minus its columns' sum on vertex 0, in plain NumPy."""
    edges = (points[elements.cells[:, 1:]] - points[elements.cells[:, :1]]).transpose(0, 2, 1)
    inverse = np.linalg.inv(edges)
    F = (x[elements.cells[:, 1:]] - x[elements.cells[:, :1]]).transpose(0, 2, 1) @ inverse
    volume = np.linalg.det(edges) / (2 if points.shape[1] == 2 else 6)
    columns = volume[:, None, None] * elements.material.stress(F) @ inverse.transpose(0, 2, 1)
    out = np.zeros_like(x)
    np.add.at(out, elements.cells[:, 1:], columns.transpose(0, 2, 1))
    np.add.at(out, elements.cells[:, 0], -columns.sum(axis=2))
    return out


def total_torque(x: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Sum of x cross f, a vector in 3D and a number in 2D."""
    if x.shape[1] == 2:
        return np.array([np.sum(x[:, 0] * f[:, 1] - x[:, 1] * f[:, 0])])
    return np.cross(x, f).sum(axis=0)
