"""All shapes a body can have.

Every shape is two- or three-dimensional by the length of its vectors. Shapes combine with `a | b` (union),
`a - b` (difference) and `a & b` (intersection).
"""

from continua.geometry.base import Shape
from continua.geometry.combine import AnyShape, Difference, Intersection, Rotated, Union
from continua.geometry.mesh import Mesh
from continua.geometry.points import Points
from continua.geometry.primitives import Box, Capsule, Cylinder, Ellipsoid, Sphere, Torus

__all__ = [
    "AnyShape",
    "Box",
    "Capsule",
    "Cylinder",
    "Difference",
    "Ellipsoid",
    "Intersection",
    "Mesh",
    "Points",
    "Rotated",
    "Shape",
    "Sphere",
    "Torus",
    "Union",
]
