"""Energies of meshes for the minimiser: finite elements, springs and damping."""

from continua.mesh.damping import Rayleigh
from continua.mesh.elements import Elements
from continua.mesh.energy import BlockHessian, NativeEnergy
from continua.mesh.springs import Springs

__all__ = ["BlockHessian", "Elements", "NativeEnergy", "Rayleigh", "Springs"]
