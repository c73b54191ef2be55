"""Body forces: accelerations per particle, as gravity where they are uniform."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.errors import SetupError

JELLY = ct.materials.FixedCorotated(1e4, 0.3, 1000.0)
G = (0.3, -2.0)


def dropped(transfer: str, gravity, *forces: ct.BodyForce, precision: str = "double") -> ct.Body:
    sim = ct.Simulation(0.1, gravity, transfer=transfer, dt=2e-3, precision=precision)
    body = sim.add(ct.shapes.Box((0, 0), (0.4, 0.3)), JELLY, velocity=(0.2, 0.1))
    for force in forces:
        sim.add(force)
    for _ in range(50):
        sim.step()
    return body


@pytest.mark.parametrize("transfer", ["apic", "pic", "flip"])
def test_a_uniform_force_is_gravity(transfer: str) -> None:
    half = ct.BodyForce(lambda body, t: np.tile(np.array(G) / 2, (len(body), 1)))
    free, fallen, forced = (
        dropped(transfer, (0, 0)),
        dropped(transfer, G),
        dropped(transfer, (0, 0), half, half),
    )
    assert np.abs(forced.x - fallen.x).max() <= 1e-12
    assert np.abs(forced.v - fallen.v).max() <= 1e-11
    assert np.abs(free.v - fallen.v).max() > 1e-3


def test_single_precision() -> None:
    force = ct.BodyForce(lambda body, t: np.tile(G, (len(body), 1)))
    forced = dropped("apic", (0, 0), force, precision="single")
    assert forced.v.mean(axis=0) == pytest.approx(np.array((0.2, 0.1)) + 0.1 * np.array(G), abs=1e-5)


def test_impulse_follows_the_particles_and_the_time() -> None:
    """Only particles of the left half are pushed, and only in the first half of the run: momentum tells."""
    sim = ct.Simulation(0.1, (0, 0), dt=1e-3)
    body = sim.add(ct.shapes.Box((0, 0), (0.4, 0.4)), JELLY)
    left = body.x[:, 0] < 0
    pushed = float(body.mass[left].sum())

    def push(body: ct.Body, t: float) -> np.ndarray:
        return np.where(left[body.ids, None] & (t < 0.0195), (5.0, 0.0), (0.0, 0.0))

    sim.add(ct.BodyForce(push))
    for _ in range(40):
        sim.step()
    assert body.mass @ body.v[:, 0] == pytest.approx(pushed * 5.0 * 0.02, rel=1e-12)
    assert sim.time == pytest.approx(0.04)


def test_a_repeated_step_pushes_once() -> None:
    """A step that strains too much is taken again with half the dt; the impulse must be that of the final dt."""
    sim = ct.Simulation(0.1, (0, 0), dt=0.01)
    body = sim.add(
        ct.shapes.Box((0, 0), (0.4, 0.4)),
        ct.materials.FixedCorotated(1.0, 0.3, 1000.0),
        velocity=ct.velocities.Affine((0, 0), ((60.0, 0.0), (0.0, 0.0))),
    )
    sim.world.fixed_dt, sim.world.force_dt = None, False
    sim.world.cfl = 0.99
    before = float(body.mass @ body.v[:, 1])
    sim.add(ct.BodyForce(lambda body, t: np.tile((0.0, 1.0), (len(body), 1))))
    dt = sim.step()
    assert sim.bound.name == "strain"
    assert body.mass @ body.v[:, 1] - before == pytest.approx(dt * body.mass.sum(), rel=1e-9)


@pytest.mark.parametrize(
    ("value", "message"), [((0.0, 1.0), "shape"), (np.full((48, 2), np.nan), "not finite")]
)
def test_wrong_forces_are_refused_and_change_nothing(value, message: str) -> None:
    sim = ct.Simulation(0.1, (0, 0), dt=1e-3)
    body = sim.add(ct.shapes.Box((0, 0), (0.4, 0.3)), JELLY, velocity=(0.2, 0.1))
    sim.add(ct.BodyForce(lambda body, t: value))
    with pytest.raises(SetupError, match=message):
        sim.step()
    assert np.abs(body.v - (0.2, 0.1)).max() == 0 and sim.time == 0
