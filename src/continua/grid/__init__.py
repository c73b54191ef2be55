"""The background grid: block-sparse, unbounded, rebuilt every step."""

from continua.grid.blocks import BlockGrid, Buffer, Lattice, Workspace

__all__ = ["BlockGrid", "Buffer", "Lattice", "Workspace"]
