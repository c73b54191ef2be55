"""Heaps, bundles and balls of strands."""

from __future__ import annotations

from typing import Any

import numpy as np

import continua as ct
from continua.contact.motions import FunctionMotion
from continua.geometry.curves import Curves
from continua.materials import Rod

SOFT = Rod(E=1e5, radius=1e-3)
NO_GRID: dict[str, Any] = {"stiffness": 1e-3, "pic": 0.0}  # strands on the grid feel next to nothing


def bar(along: int, middle: tuple[float, float, float], length: float, segments: int) -> np.ndarray:
    """Points of a straight strand along an axis."""
    points = np.tile(np.array(middle, dtype=float), (segments + 1, 1))
    points[:, along] += np.linspace(-length / 2, length / 2, segments + 1)
    return points


def bundle(
    along: int,
    middle: tuple[float, float, float],
    count: int,
    radius: float,
    length: float,
    segments: int,
    seed: int,
) -> np.ndarray:
    """Points of parallel strands, evenly in a disk, not quite straight: exactly parallel ones never cross."""
    k = np.arange(count) + 0.5
    r, angle = radius * np.sqrt(k / count), np.pi * (1 + np.sqrt(5)) * k
    across = [axis for axis in range(3) if axis != along]
    strands = []
    for u, w in zip(r * np.cos(angle), r * np.sin(angle), strict=True):
        at = np.array(middle, dtype=float)
        at[across] += u, w
        strands.append(bar(along, tuple(at), length, segments))
    points = np.concatenate(strands)
    return points + 1e-5 * np.random.default_rng(seed).normal(size=points.shape)


def curves(*strands: np.ndarray, segments: int) -> Curves:
    points = np.concatenate(strands)
    return Curves(points, [segments + 1] * (len(points) // (segments + 1)))


def ends(body_points: int, segments: int) -> np.ndarray:
    """Mask of the first two and the last two points of every strand."""
    place = np.arange(body_points) % (segments + 1)
    return (place < 2) | (place > segments - 2)


def two_bars(world: dict[str, Any] | None = None, **contact: Any) -> tuple[ct.Simulation, ct.Strands]:
    """One strand held at its ends, and a free one across that falls on it at 1 m/s."""
    lines = curves(bar(0, (0, 0, 0.003), 0.3, 15), bar(2, (0.004, 0.03, 0), 0.3, 15), segments=15)
    sim = ct.Simulation(0.02, (0.0, -9.81, 0.0), **(world or {}))
    held = ct.Scripted(ends(16, 15).nonzero()[0])
    velocity = np.zeros((32, 3))
    velocity[16:, 1] = -1.0
    body = sim.add(ct.Strands(lines, SOFT, contact=ct.StrandContact(**contact), scripted=held))
    body.v = velocity
    return sim, body


def hair_ball(count: int, segments: int, **contact: Any) -> tuple[ct.Simulation, ct.Strands]:
    """Straight hair all over a ball of 5 cm that is shaken along x and about y until t = 0.2 s."""
    k = np.arange(count) + 0.5
    polar, turn = np.arccos(1 - 2 * k / count), np.pi * (1 + np.sqrt(5)) * k
    out = np.stack([np.cos(turn) * np.sin(polar), np.cos(polar), np.sin(turn) * np.sin(polar)], axis=1)
    points = out[:, None] * np.linspace(0.05, 0.2, segments + 1)[:, None]
    hair = Curves(points.reshape(-1, 3), [segments + 1] * count)

    def pose(t: float) -> tuple[np.ndarray, np.ndarray]:
        phase = 2 * np.pi * 5 * min(t, 0.2)
        c, s = np.cos(1.2 * np.sin(phase)), np.sin(1.2 * np.sin(phase))
        return np.array([0.05 * np.sin(phase), 0, 0]), np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])

    roots = ct.Scripted(np.arange(len(hair.points)) % (segments + 1) < 2, FunctionMotion(pose))
    sim = ct.Simulation(0.03, (0.0, -9.81, 0.0))
    rod = Rod(E=5e4, radius=1e-3)
    return sim, sim.add(ct.Strands(hair, rod, contact=ct.StrandContact(**contact), scripted=roots))


def run(sim: ct.Simulation, until: float) -> dict[str, float]:
    """Diagnostics at the end."""
    while sim.time < until - 1e-12:
        sim.step(until - sim.time)
    return sim.diagnostics()
