"""The energy of a step is bounded in contact as well (O4), and obstacles only push (O10)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import FRAME, block, energy_terms, norm_m, world

import continua as ct

FLOORS = {
    "plane": ct.colliders.Plane((0, 1, 0)),
    "ball": ct.colliders.Sphere((0.5, -0.8, 0.5), 0.8),
}


def bounce(floor: str, scheme: str = "backward-euler") -> tuple[float, float, float]:
    """A cube falls hard: largest gain of 1/2 |v_new - v|^2 + Phi_new over 1/2 |v|^2 + Phi in a step, relative; least
    and largest impulse of a step upwards [N s]."""
    sim = world((0.0, -9.81, 0.0), scheme=scheme)
    body = block(sim, height=0.1, cells=3, velocity=(0.5, -8.0, 0.0))
    sim.add(FLOORS[floor])
    gains, impulses = [], [0.0]
    for _ in range(18):
        v = body.v.copy()
        before = 0.5 * norm_m(body, v) + energy_terms(sim, body)
        sim.step(FRAME)
        after = 0.5 * norm_m(body, body.v - v) + energy_terms(sim, body)
        gains.append((after - before) / abs(before))
        impulses.append(sim.impulses[0, 1])
    pushes = np.diff(impulses)
    return max(gains), pushes.min(), pushes.max()


@pytest.mark.parametrize("floor", FLOORS)
def test_o4_the_energy_of_a_step_is_bounded_in_contact(floor: str) -> None:
    gain, least, most = bounce(floor)
    assert gain <= 1e-12
    assert least >= 0 and most > 1000


def test_o4_the_trapezoid_rule_has_no_such_bound() -> None:
    assert bounce("plane", "trapezoid")[0] > 1e-3
