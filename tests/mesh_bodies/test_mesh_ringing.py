"""Meshes on the grid after an impact: FLIP keeps motion the grid does not see, APIC filters it (J15 section 5.6)."""

from __future__ import annotations

import numpy as np

import continua as ct
from continua import _core
from continua.bodies.vertices import Vertices
from continua.integrators import Stepper


def ringing(sim: ct.Simulation) -> float:
    """Part of the velocity of vertices that is gone after a way to the nodes and back."""
    grid, (body,) = sim.steppers["main"], sim.vertices
    grid.sort([body])
    seen = gathered(grid, body)
    return float(np.linalg.norm(body.v.T - seen) / np.linalg.norm(body.v))


def gathered(grid: Stepper, body: Vertices) -> np.ndarray:
    """Velocities (d, N) that the grid gives back, without affine parts."""
    plan = ct.transfers.PIC().plan(grid.dimension, grid.degree)
    (order,), lattice, dimension, degree = grid._orders, grid.lattice, grid.dimension, grid.degree
    tiles = np.zeros(grid.grid.tile_shape(order))
    _core.scatter(
        particles=body.arrays,
        parameters=body.parameters,
        material="",
        lattice=lattice,
        order=order,
        plan=plan,
        dimension=dimension,
        degree=degree,
        gradient=True,
        dt=0.0,
        momentum=True,
        stress=False,
        tiles=tiles,
    )
    nodes = np.zeros(grid.grid.node_shape())
    _core.collect_tiles(tiles, grid.grid.sources[0], dimension, degree, False, nodes)
    _core.momentum_to_velocity(nodes, dimension, [0.0] * dimension)
    values = np.zeros_like(body.arrays.x)
    _core.gather_values(body.arrays, lattice, order, grid.grid.reach[0], nodes, dimension, degree, values)
    return values[:, : body.count]


def after_impact(transfer: str) -> float:
    sim = ct.Simulation(0.05, (0.0, 0.0, 0.0), transfer=transfer)
    mesh = ct.meshes.BoxMesh((0.02, 0.02, 0.02), (0.32, 0.32, 0.32), (6, 6, 6))
    jelly = ct.materials.FixedCorotated(E=4e4, nu=0.3, density=1000.0)
    sim.add(ct.SolidBody(mesh, jelly, velocity=(0.0, -3.0, 0.0)))
    sim.add(ct.colliders.Plane(normal=(0.0, 1.0, 0.0)))
    sim.run(0.2)
    return ringing(sim)


def test_flip_rings_and_apic_does_not() -> None:
    pic, apic, flip = (after_impact(transfer) for transfer in ("pic", "apic", "flip"))
    assert pic < apic < 0.5 * flip
