"""What gallery scenes of single meshes measure: elements inside out, momentum from nowhere."""

import numpy as np

from continua import Simulation
from continua.bodies.solid_body import SolidBody


def inverted(sim: Simulation) -> int:
    """Number of elements of all solids that are inside out or flat."""
    return sum(int((mesh.J <= 0).sum()) for mesh in sim.world.mesh_bodies if isinstance(mesh, SolidBody))


def drift(sim: Simulation, speed: float) -> float:
    """Total momentum over that of all mass at a speed [m/s]; 0 where nothing pushes from outside."""
    now = sim.diagnostics()
    momentum = np.array([now[f"momentum_{axis}"] for axis in "xyz"[: sim.dimension]])
    return float(np.linalg.norm(momentum) / (now["mass"] * speed))
