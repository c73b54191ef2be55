"""Energies of meshes: finite elements, springs and damping, each with value, gradient and Hessian product."""

from continua.mesh.damping import Drag, Rayleigh
from continua.mesh.elements import Elements
from continua.mesh.energy import BlockHessian, Hessian, NodeEnergy
from continua.mesh.springs import Springs

__all__ = ["BlockHessian", "Drag", "Elements", "Hessian", "NodeEnergy", "Rayleigh", "Springs"]
