"""Strands for tests: several of different lengths, straight or curled, shaken."""

from __future__ import annotations

import numpy as np

from continua.geometry.curves import Curves
from continua.materials import Rod
from continua.mesh import Rods

SECTIONS = {"round": 0.05, "elliptic": (0.07, 0.03)}


def strands(shape: str, counts: tuple[int, ...] = (9, 2, 7, 5)) -> Curves:
    """One after the other: straight lines, or coils that differ."""
    rng = np.random.default_rng(7)
    points = []
    for n in counts:
        s = np.linspace(0, 3, n)
        line = np.linspace((0, 0, 0), (0.1, 2, 1), n)
        coil = np.stack([np.cos(s), np.sin(s), 0.3 * s], axis=1) + 0.3 / n * rng.normal(size=(n, 3))
        points.append(line if shape == "straight" else coil)
    return Curves(np.concatenate(points), list(counts))


def moved(shape: str, section: str) -> tuple[Rods, np.ndarray]:
    """Rods whose accepted state is one deformation, and positions of another."""
    rng = np.random.default_rng(3)
    curves = strands(shape)
    rods = Rods(curves, Rod(E=1e5, radius=SECTIONS[section]))
    accepted = curves.points + 0.03 * rng.normal(size=curves.points.shape)
    rods.accept(accepted)
    return rods, accepted + 0.05 * rng.normal(size=accepted.shape)


def line(count: int, length: float = 1.0) -> np.ndarray:
    """Points (count + 1, 3) along x."""
    return np.linspace((0, 0, 0), (length, 0, 0), count + 1)


def polygon(count: int, radius: float, angle: float) -> np.ndarray:
    """Points (count + 1, 3) on a circle in the plane of x and y, from the origin along x."""
    turn = angle * np.arange(count + 1) / count
    return radius * np.stack([np.sin(turn), 1 - np.cos(turn), 0 * turn], axis=1)
