"""What a step of incompressible flow knows of the cells and faces of its grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Surface:
    """Where the liquid is, on cells (blocks, cells)."""

    fill: NDArray[np.float64]  # mass over that of a cell full as far as it is open
    distance: NDArray[np.float64]  # from the surface, negative in liquid [cells]
    fluid: NDArray[np.uint8]  # 1 where there is pressure
    volume: float  # of all liquid [m^d]


@dataclass
class Walls:
    """Solids on the faces: open fractions, velocities and owners (blocks, cells, 4)."""

    open: NDArray  # of the area of lower faces; the last channel: of the volume of the cell
    speed: NDArray  # of the wall, along the face's axis [m/s]
    owner: NDArray[np.int32]  # row of the obstacle table, or -1
