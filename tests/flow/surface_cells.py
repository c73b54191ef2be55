"""The cells of a simulation of water as the integrator sees them: fill, distance from the surface, crowding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import continua as ct
from continua import _core
from continua.integrators import Incompressible, ObstacleTable
from continua.materials import IncompressibleFluid

DX, DENSITY = 0.1, 1000.0
FLUID = IncompressibleFluid(DENSITY)


@dataclass
class Cells:
    """All cells of a grid: integer coordinates (n, d) and values (n,)."""

    place: NDArray[np.int64]
    open: NDArray[np.float64]  # (n, 4): areas of lower faces, and volume
    held: NDArray[np.bool_]  # with particles
    liquid: NDArray[np.bool_]
    fill: NDArray[np.float64]
    distance: NDArray[np.float64]  # from the surface [cells]
    crowding: NDArray[np.float64]
    amount: float  # of liquid [cells]

    def __post_init__(self) -> None:
        self._number = {tuple(p): n for n, p in enumerate(self.place.tolist())}

    @property
    def volume(self) -> NDArray[np.float64]:
        """Open part of every cell."""
        return self.open[:, 3]

    def at(self, *place: int) -> int:
        return self._number[place]

    def cuts(self, n: int) -> list[list[float]]:
        """Per axis: where the surface cuts the lines from liquid cell n to its neighbours in open air [cells]."""
        found: list[list[float]] = []
        for a, step in enumerate(np.eye(self.place.shape[1], dtype=int)):
            found.append([])
            for side in (1, -1):
                there = self._number.get(tuple((self.place[n] + side * step).tolist()))
                air = 2.0 if there is None else self.distance[there]
                upper = n if side < 0 else there
                closed = upper is not None and self.open[upper, a] == 0
                if not closed and (there is None or not self.liquid[there]):
                    found[-1].append(np.clip(self.distance[n] / (self.distance[n] - air), 1e-6, 1))
        return found

    def beside_air(self) -> NDArray[np.bool_]:
        """Liquid cells with an open face to air."""
        return np.array([wet and any(self.cuts(n)) for n, wet in enumerate(self.liquid)])


def cells_of(sim: ct.Simulation) -> Cells:
    """At the beginning of a step."""
    flow, d = sim.steppers["main"], sim.dimension
    assert flow.sort(sim.bodies) is None
    nodes, mass = flow._bodies_to_faces()
    walls = flow._walls(ObstacleTable.of(sim.world.obstacles, sim.time, flow.field.lattice), nodes)
    held, crowding = np.zeros(nodes.shape[:2], np.uint8), np.zeros(nodes.shape[:2])
    around = flow._neighbours()
    surface = flow._surface(nodes, walls, around)
    _core.liquid_cells(mass, walls.open, around, d, held)
    _core.crowded_cells(
        surface.fill, surface.distance, surface.fluid, walls.open, around, d, flow.field.degree, crowding
    )
    return Cells(
        _core.node_coordinates(flow.field.grid.keys, d).reshape(-1, d).astype(np.int64),
        walls.open.reshape(-1, 4).astype(float),
        held.ravel() > 0,
        surface.fluid.ravel() > 0,
        surface.fill.ravel().copy(),
        surface.distance.ravel().copy(),
        crowding.ravel(),
        surface.volume / flow.field.lattice.dx**d,
    )


def world(d: int, kernel: str = "linear", **settings) -> ct.Simulation:
    return ct.Simulation(DX, (0.0,) * d, integrator=Incompressible(**settings), kernel=kernel)


def tank(
    d: int, kernel: str = "linear", off: tuple[float, ...] = (), depth: float = 6.0, wide: int = 10
) -> ct.Simulation:
    """A regular filling of 2^d particles per cell in a room `wide` cells wide, `off` cells above planes of faces along
    each axis."""
    sim = world(d, kernel)
    low = DX * np.array([*off, 0, 0, 0][:d], float)
    high = low + DX * wide
    sim.add(ct.colliders.Box(tuple(0.5 * (low + high)), tuple(high - low), inverted=True))
    high[1] = low[1] + DX * depth
    sim.add(ct.shapes.Box(tuple(0.5 * (low + high)), tuple(high - low)), FLUID)
    return sim
