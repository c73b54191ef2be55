"""Shapes, their signed distances, and the points that fill them."""

from continua.geometry.sampling import sample

__all__ = ["sample"]
