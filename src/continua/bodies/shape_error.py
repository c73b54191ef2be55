"""How far a mesh is from its shape at rest, wherever it is and however it is turned."""

from __future__ import annotations

import numpy as np

from continua.bodies.mesh_body import MeshBody


def shape_error(body: MeshBody) -> float:
    """Largest distance of a vertex from the shape at rest after the best rigid motion, over the size of the body."""
    now, rest = (points - points.mean(axis=0) for points in (body.x, body.rest))
    u, _, vt = np.linalg.svd(now.T @ rest)
    u[:, -1] *= np.linalg.det(u @ vt)  # a rotation, no mirror image
    return float(np.linalg.norm(now - rest @ (u @ vt).T, axis=1).max() / np.ptp(rest, axis=0).max())
