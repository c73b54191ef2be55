"""The background grid: block-sparse, unbounded, rebuilt every step."""

from continua.grid.blocks import BlockGrid, BlockOrder, Lattice, Workspace

__all__ = ["BlockGrid", "BlockOrder", "Lattice", "Workspace"]
