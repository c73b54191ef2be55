"""What gallery scenes of single meshes measure: shape, elements inside out, momentum from nowhere."""

import numpy as np

from continua import Simulation
from continua.bodies.mesh_body import SolidBody


def shape_error(body: SolidBody) -> float:
    """Largest distance of a vertex from the shape at rest after the best rigid motion, over the size of the body."""
    now, rest = (points - points.mean(axis=0) for points in (body.x, body.rest))
    u, _, vt = np.linalg.svd(now.T @ rest)
    u[:, -1] *= np.linalg.det(u @ vt)  # a rotation, no mirror image
    return float(np.linalg.norm(now - rest @ (u @ vt).T, axis=1).max() / np.ptp(rest, axis=0).max())


def inverted(sim: Simulation) -> int:
    """Number of elements of all solids that are inside out."""
    return sum(int((mesh.J <= 0).sum()) for mesh in sim.meshes if isinstance(mesh, SolidBody))


def drift(sim: Simulation, speed: float) -> float:
    """Total momentum over that of all mass at a speed [m/s]; 0 where nothing pushes from outside."""
    now = sim.diagnostics()
    momentum = np.array([now[f"momentum_{axis}"] for axis in "xyz"[: sim.dimension]])
    return float(np.linalg.norm(momentum) / (now["mass"] * speed))
