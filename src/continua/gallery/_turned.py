"""Glasses: a profile turned about the y axis as a closed triangle mesh."""

import numpy as np
from numpy.typing import NDArray


def turned(
    radius: NDArray[np.float64], height: NDArray[np.float64], around: int = 24
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (V, 3) [m] and faces (F, 3): rings of `around` edges at radii and heights (n,) [m], and two lids."""
    turn = np.linspace(0, 2 * np.pi, around, endpoint=False)[None]
    rings = np.stack(
        np.broadcast_arrays(radius[:, None] * np.cos(turn), height[:, None], radius[:, None] * np.sin(turn)),
        axis=-1,
    )
    vertices = np.concatenate([rings.reshape(-1, 3), [[0.0, height[0], 0.0], [0.0, height[-1], 0.0]]])
    a = np.arange(around)
    b, bottom, top = (a + 1) % around, len(vertices) - 2, len(vertices) - 1
    faces = [np.column_stack([a, b, np.full(around, bottom)])]
    for k in range(len(height) - 1):
        low, high = k * around, (k + 1) * around
        faces += [
            np.column_stack([low + a, high + a, low + b]),
            np.column_stack([low + b, high + a, high + b]),
        ]
    last = (len(height) - 1) * around
    faces.append(np.column_stack([last + b, last + a, np.full(around, top)]))
    return vertices, np.concatenate(faces)
