"""Meshes on the grid after an impact: FLIP keeps motion the grid does not see, APIC filters it (J15 section 5.6)."""

from __future__ import annotations

import numpy as np

import continua as ct
from continua import _core
from continua.integrators import Field


def ringing(sim: ct.Simulation) -> float:
    """Part of the velocity of vertices that is gone after a way to the nodes and back, without affine parts."""
    (body,) = sim.world.mesh_bodies
    field = Field(sim.world.lattice(), sim.world.degree, ct.transfers.PIC())
    assert field.sort([body]) is None
    nodes = np.empty(field.grid.node_shape(), field.dtype)
    field.scatter(nodes, 0.0, momentum=True, stress=False)
    _core.momentum_to_velocity(nodes, field.dimension, [0.0] * field.dimension)
    seen = field.exchanges[0][0].values_at(nodes)
    return float(np.linalg.norm(body.v - seen) / np.linalg.norm(body.v))


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
