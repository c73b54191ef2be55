"""Coulomb's law between solids that meet exactly, and with colliders."""

from __future__ import annotations

import numpy as np
import pytest
from exact_worlds import block, jelly

import continua as ct

G = 9.81


def braking(integrator: str, dt: float | None, d: int, contact: ct.ExactContact, time: float) -> float:
    """Acceleration [m/s^2] of a block that slides on a larger one, which is held from below."""
    sim = ct.Simulation(0.12, (0.0, -G, 0.0)[:d], integrator=integrator, dt=dt)
    held = ct.Scripted(ct.shapes.Box((0.0, -0.2, 0.0)[:d], (10.0, 0.02, 10.0)[:d]))
    low, size, counts = (-0.5, -0.2, -0.25), (1.7, 0.2, 0.5), (14, 2, 4)
    stiff = jelly(5e5)
    block(sim, low[:d], size[:d], counts[:d], contact=contact, scripted=held, damping=2e-2, material=stiff)
    turn = np.eye(d)
    if d == 3:
        turn[::2, ::2] = [[0.955, 0.296], [-0.296, 0.955]]
    options = {"velocity": (2.0, 0.0, 0.0)[:d], "damping": 2e-2, "start": lambda X: X @ turn.T}
    top = block(sim, (-0.2, 0.002, -0.15)[:d], (0.4, 0.2, 0.3)[:d], (4, 2, 3)[:d], contact=contact, **options)
    times, speeds = [], []
    while sim.time < time:
        sim.step()
        times.append(sim.time)
        speeds.append(float((top.mass @ top.v)[0] / top.mass.sum()))
    some = len(times) // 3
    return float(np.polyfit(times[some:], speeds[some:], 1)[0])


@pytest.mark.parametrize(
    ("integrator", "dt", "d"), [("optimization", 4e-3, 2), ("symplectic", None, 2), ("optimization", 4e-3, 3)]
)
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_block_that_slides_on_another_is_braked_by_its_weight(
    integrator: str, dt: float | None, d: int, friction: float
) -> None:
    """a = -mu g, over the joints of both meshes, as they bend under the weight; corners do not catch on vertices."""
    a = braking(integrator, dt, d, ct.ExactContact(friction=friction), 0.3 if dt else 0.15)
    assert a == pytest.approx(-friction * G, abs=0.02 * G * 0.3)


def test_a_grid_that_foresees_contact_gets_friction_wrong() -> None:
    """A control, and why augury is off by default: beside speeds of 2 m/s it cannot tell pushes of g dt."""
    a = braking("optimization", 4e-3, 2, ct.ExactContact(friction=0.3, augury=5), 0.3)
    assert abs(a + 0.3 * G) > 0.05 * 0.3 * G


@pytest.mark.parametrize(("friction", "final"), [(0.15, "recoil"), (1.0, "recoil"), (0.15, "printed")])
def test_a_block_on_a_slope(friction: float, final: str) -> None:
    """It slides with g (sin - mu cos) or stays; as printed the body gets more from below than from the side."""
    angle, dt = 0.3, 4e-3
    gravity = G * np.array([np.sin(angle), -np.cos(angle)])
    sim = ct.Simulation(0.12, tuple(gravity), integrator="optimization", dt=dt)
    sim.add(ct.colliders.Plane((0.0, 1.0), friction=friction))
    contact = ct.ExactContact(final_velocity=final)  # type: ignore[arg-type]
    body = block(sim, (0.0, 0.002), (0.6, 0.2), 2, damping=3e-2, contact=contact)
    times, places = [], []
    while sim.time < 0.6:
        sim.step()
        times.append(sim.time)
        places.append(float((body.mass @ body.x)[0] / body.mass.sum()))
    half = len(times) // 2
    a = 2 * float(np.polyfit(times[half:], places[half:], 2)[0])
    expected = G * max(np.sin(angle) - friction * np.cos(angle), 0.0)
    if final == "recoil":
        assert a == pytest.approx(expected, abs=0.01 * G)
        assert friction < 1 or abs(places[-1] - places[half]) < 1e-3 * 0.3
    else:
        assert abs(a - expected) > 0.01 * G
