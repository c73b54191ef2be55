"""Energies of meshes for the minimiser: finite elements, springs, rods, damping and collisions."""

from continua.mesh.collision import CollisionPairs, SelfCollision
from continua.mesh.damping import DampingForm, Drag, Rayleigh
from continua.mesh.elements import Elements
from continua.mesh.energy import BlockHessian, NativeEnergy
from continua.mesh.rods import Rods
from continua.mesh.springs import Springs

__all__ = [
    "BlockHessian",
    "CollisionPairs",
    "DampingForm",
    "Drag",
    "Elements",
    "NativeEnergy",
    "Rayleigh",
    "Rods",
    "SelfCollision",
    "Springs",
]
