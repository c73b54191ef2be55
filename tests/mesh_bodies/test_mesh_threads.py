"""Meshes on the grid and off it: the same bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct

JELLY = ct.materials.FixedCorotated(E=5e4, nu=0.3, density=1000.0)


def state_after(integrator: str, threads: int, nudge: float = 0.0) -> dict[str, np.ndarray]:
    """Two steps of a meshed cube between a cloth and, if there are any, particles."""
    before = ct.threads()
    ct.set_threads(threads)
    try:
        sim = ct.Simulation(0.05, (0.0, -9.81, 0.0), integrator=integrator.removesuffix(" alone"))
        lower, upper = (0.01 + nudge, 0.02, 0.01), (0.51 + nudge, 0.52, 0.51)
        sim.add(ct.SolidBody(ct.meshes.BoxMesh(lower, upper, (10, 10, 10)), JELLY, velocity=(1.0, -2.0, 0.0)))
        cloth = ct.meshes.Cloth((20, 20), (1.0, 1.0), (0.3, -0.05, 0.3), stiffness=500.0)
        sim.add(ct.SpringBody(cloth, density=1.0, scripted=ct.Scripted(np.arange(20))))
        if not integrator.endswith("alone"):
            sim.add(ct.shapes.Box((0.8, 0.3, 0.25), (0.5, 0.5, 0.5)), JELLY)
        for _ in range(2):
            sim.step()
        return sim.state()
    finally:
        ct.set_threads(before)


@pytest.mark.parametrize("integrator", ["symplectic", "semi-implicit", "optimization", "optimization alone"])
def test_the_same_bits_for_one_and_two_threads(integrator: str) -> None:
    one, two = state_after(integrator, 1), state_after(integrator, 2)
    assert one.keys() == two.keys()
    assert all(one[key].tobytes() == two[key].tobytes() for key in one)
    moved = state_after(integrator, 1, nudge=1e-15)
    assert any(one[key].tobytes() != moved[key].tobytes() for key in one)  # so bits are compared
