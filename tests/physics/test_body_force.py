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


# ---- on meshes ----

WHERE = {
    "free": {"integrator": "optimization", "on_grid": False},
    "explicit": {"integrator": "symplectic", "on_grid": None},
    "semi-implicit": {"integrator": "semi-implicit", "on_grid": None},
    "implicit": {"integrator": "optimization", "on_grid": True},
}
PLACES = [(2.4, 0.2), (0.3, 1.5), (1.6, 2.7), (0.4, 0.1), (2.3, 1.4), (1.5, 0.3), (0.2, 2.9), (2.6, 2.8)]


def far_apart(body: ct.SpringBody, t: float) -> np.ndarray:
    """Another acceleration for every vertex: they are numbered as their springs are."""
    return np.array([(1.0 + k, -0.5 * k) for k in range(len(body))])


@pytest.mark.parametrize("where", WHERE)
def test_a_force_sees_the_mesh_that_was_added_with_its_vertices_in_order(where: str) -> None:
    """Vertices that share no nodes, on springs as good as none: each gets its own acceleration."""
    sim = ct.Simulation(0.1, (0, 0), integrator=WHERE[where]["integrator"], dt=1e-2)
    chain = ct.meshes.Chain(PLACES, stiffness=1e-12)
    body = sim.add(ct.SpringBody(chain, mass=np.arange(1.0, 9.0), on_grid=WHERE[where]["on_grid"]))
    seen = []

    def push(given: ct.Body, t: float) -> np.ndarray:
        seen.append((given, t))
        np.testing.assert_array_equal(given.x, body.x)
        np.testing.assert_array_equal(given.ids, np.arange(len(PLACES)))
        return far_apart(given, t)

    sim.add(ct.BodyForce(push))
    for _ in range(3):
        sim.step()
    assert all(given is body for given, _ in seen)
    assert [t for _, t in seen] == pytest.approx([0.0, 0.01, 0.02])  # once per step
    assert (body.set is None) == (where == "free")
    if body.set is not None:  # the grid has another order
        assert not np.array_equal(body.set.ids, np.arange(len(PLACES)))
    gained = 0.03 * far_apart(body, 0.0)
    assert body.v == pytest.approx(gained, abs=1e-9)
    assert np.abs(body.v - gained[::-1]).max() > 0.1


@pytest.mark.parametrize("where", ["explicit", "implicit"])
def test_every_body_is_asked_for_itself(where: str) -> None:
    """Particles and meshes in one world, in the order in which they were added."""
    sim = ct.Simulation(0.1, (0, 0), integrator=WHERE[where]["integrator"], dt=1e-3, force_dt=True)
    mesh = ct.meshes.BoxMesh((1.0, 0.0), (1.4, 0.4), (3, 3))
    bodies = [
        sim.add(ct.SolidBody(mesh, JELLY)),
        sim.add(ct.shapes.Box((0, 0), (0.4, 0.3)), JELLY),
        sim.add(ct.SpringBody(ct.meshes.Chain([(3.0, 0.0), (3.5, 0.0)], stiffness=1.0), mass=1.0)),
    ]
    seen: list[ct.Body] = []
    sim.add(ct.BodyForce(lambda body, t: seen.append(body) or np.tile(G, (len(body), 1))))
    sim.step()
    assert len(seen) == 3 and all(a is b for a, b in zip(seen, bodies, strict=True))
    for body in bodies:
        assert body.v == pytest.approx(np.tile(1e-3 * np.array(G), (len(body), 1)), abs=1e-9)
