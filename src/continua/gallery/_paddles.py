"""Paddle wheels: an outline of paddles on a hub, extruded along the axle z."""

import numpy as np


def outline(paddles: int, hub: float, tip: float, width: float) -> np.ndarray:
    """Outline of a wheel (N, 2) [m], counter-clockwise and visible from the centre."""
    corners = []
    for turn in 2 * np.pi * np.arange(paddles) / paddles:
        side = np.arcsin(width / 2 / hub)  # half the angle that a paddle takes of the hub
        gap = np.linspace(side, 2 * np.pi / paddles - side, 5)
        paddle = [(tip, -width / 2), (tip, width / 2)]
        local = np.array(paddle + [(hub * np.cos(a), hub * np.sin(a)) for a in gap])
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        corners.append(local @ rotation.T)
    return np.concatenate(corners)


def paddle_wheel(
    paddles: int, hub: float, tip: float, width: float, depth: float
) -> tuple[np.ndarray, np.ndarray]:
    """Closed mesh about the origin, vertices (V, 3) [m] and faces (F, 3): the outline along z, a fan on either side.

    hub, tip: radii; width of a paddle, depth along the axle [m]."""
    ring = outline(paddles, hub, tip, width)
    n = len(ring)
    front, back = np.full(n, depth / 2), np.full(n, -depth / 2)
    axle = [[0.0, 0.0, depth / 2], [0.0, 0.0, -depth / 2]]
    vertices = np.concatenate([np.column_stack([ring, front]), np.column_stack([ring, back]), axle])
    a = np.arange(n)
    b = (a + 1) % n
    caps = [(a, b, np.full(n, 2 * n)), (n + b, n + a, np.full(n, 2 * n + 1))]
    sides = [(a, n + a, n + b), (a, n + b, b)]
    return vertices, np.concatenate([np.column_stack(f) for f in (*caps, *sides)])
