"""Strands among each other and among others: they do not go through each other, keep momentum and gain no energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree
from strand_scenes import NO_GRID, SOFT, bar, bundle, curves, ends, hair_ball, run, two_bars

import continua as ct
from continua.contact.motions import FunctionMotion
from continua.contact.segments import SegmentPairs
from continua.errors import SetupError
from continua.geometry.meshes import BoxMesh
from continua.materials import FixedCorotated, Rod

# ---- they stay on their sides --------------------------------------------------------------------------------


@pytest.mark.parametrize("contact", [{}, {"points": 2}, NO_GRID, {"friction": 0.5}])
def test_a_strand_that_falls_on_another_stays_above(contact: dict[str, Any]) -> None:
    sim, body = two_bars(**contact)
    seen = run(sim, 0.12)
    assert seen["strand_crossings"] == 0
    across = SegmentPairs(body.x, body.cells, [(i, j) for i in range(15) for j in range(15, 30)])
    assert across.normals[across.distances.argmin(), 1] > 0.5  # from the lower to the upper one
    if contact == NO_GRID:
        assert seen["strand_contacts"] > 0


@pytest.mark.parametrize("option", [{"integrator": "optimization"}, {"precision": "single"}])
def test_so_it_does_in_implicit_steps_and_in_single_precision(option: dict[str, Any]) -> None:
    sim, body = two_bars(world=option, **NO_GRID)
    seen = run(sim, 0.12)
    assert seen["strand_contacts"] > 0 == seen["strand_crossings"]


def test_without_impulses_and_grid_it_falls_through() -> None:
    sim, _ = two_bars(sweeps=0, **NO_GRID)
    assert run(sim, 0.12)["strand_crossings"] >= 1


def test_bundles_that_are_pressed_keep_their_volume_and_their_strands() -> None:
    """Two bundles held at their ends, one drawn 4 cm across the other: it takes the other along instead of going
    through, and the space that strands fill stays what it was within 10 %."""

    def pressed(**contact: Any) -> tuple[float, dict[str, float]]:
        segments, count = 10, 14
        shape = (count, 0.007, 0.16, segments)
        lines = curves(
            bundle(0, (0, 0.011, 0), *shape, 1), bundle(2, (0, -0.011, 0), *shape, 2), segments=segments
        )
        held, upper = ends(len(lines.points), segments), np.arange(len(lines.points)) < len(lines.points) / 2
        down = FunctionMotion(lambda t: (np.array([0, -0.04 * min(t / 0.15, 1.0), 0]), np.eye(3)))
        sim = ct.Simulation(0.01, (0.0, 0.0, 0.0))
        scripts = [ct.Scripted(held & ~upper), ct.Scripted(held & upper, down)]
        body = sim.add(
            ct.Strands(lines, SOFT, contact=ct.StrandContact(friction=0.2, **contact), scripted=scripts)
        )
        before = filled(body.x, body.cells)
        seen = run(sim, 0.18)
        return filled(body.x, body.cells) / before, seen

    volume, seen = pressed()
    assert abs(volume - 1) < 0.1
    assert seen["strand_crossings"] < 0.01 * seen["strand_contacts"]
    flat, _ = pressed(**NO_GRID)  # impulses alone do not keep the volume
    assert flat < 0.9
    _, through = pressed(sweeps=0)  # the grid alone does not keep strands apart
    assert through["strand_crossings"] > 30 > 10 * seen["strand_crossings"]


def filled(x: np.ndarray, cells: np.ndarray, reach: float = 2e-3) -> float:
    """Volume within a distance of the strands [m^3]."""
    t = (np.arange(4)[:, None] + 0.5) / 4
    points = (x[cells[:, 0], None] * (1 - t) + x[cells[:, 1], None] * t).reshape(-1, 3)
    axes = [
        np.arange(a - reach, b + reach, 1.25e-3)
        for a, b in zip(points.min(axis=0), points.max(axis=0), strict=True)
    ]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    distance, _ = cKDTree(points).query(places, distance_upper_bound=reach)
    return float(np.isfinite(distance).sum() * 1.25e-3**3)


def test_shaken_hair_goes_through_itself_in_less_than_a_hundredth_of_its_contacts() -> None:
    sim, body = hair_ball(100, 16, friction=0.2)
    seen = run(sim, 0.2)
    assert seen["strand_contacts"] > 1000
    assert seen["strand_crossings"] < 0.01 * seen["strand_contacts"]
    # what is released does not gain energy: what gravity and springs exchange falls
    energies = [seen["total"]]
    for until in np.linspace(0.205, 0.24, 8):
        energies.append(run(sim, until)["total"])
    assert max(energies) <= energies[0] + 1e-3 * seen["kinetic"] and energies[-1] < energies[0]
    alone, _ = hair_ball(100, 16, friction=0.2, sweeps=0)
    assert run(alone, 0.2)["strand_crossings"] > 0.01 * seen["strand_contacts"]


def test_strands_of_two_bodies_meet_as_those_of_one() -> None:
    def crossings(**contact: Any) -> float:
        sim = ct.Simulation(0.02, (0.0, 0.0, 0.0))
        setting = ct.StrandContact(**NO_GRID, **contact)
        low = sim.add(ct.Strands(curves(bar(0, (0, 0, 0), 0.2, 10), segments=10), SOFT, contact=setting))
        high = sim.add(
            ct.Strands(
                curves(bar(2, (0.003, 0.01, 0.004), 0.2, 10), segments=10),
                SOFT,
                contact=setting,
                velocity=(0, -1, 0),
            )
        )
        seen = run(sim, 0.03)
        momentum = low.mass @ low.v + high.mass @ high.v
        np.testing.assert_allclose(momentum, (0, -high.mass.sum(), 0), atol=1e-13 * high.mass.sum())
        assert not contact or seen["strand_contacts"] == 0
        return seen["strand_crossings"]

    assert crossings() == 0 and crossings(sweeps=0) >= 1


# ---- what is kept --------------------------------------------------------------------------------------------


def colliding(**contact: Any) -> tuple[ct.Simulation, ct.Strands]:
    """Two free bundles that meet crosswise at 1 m/s."""
    shape = (15, 0.006, 0.12, 10)
    lines = curves(bundle(0, (0, 0.012, 0), *shape, 1), bundle(2, (0, -0.012, 0), *shape, 2), segments=10)
    sim = ct.Simulation(0.015, (0.0, 0.0, 0.0))
    velocity = np.zeros_like(lines.points)
    velocity[:, 1] = np.where(np.arange(len(velocity)) < len(velocity) / 2, -0.5, 0.5)
    velocity += 0.3
    body = sim.add(ct.Strands(lines, SOFT, contact=ct.StrandContact(friction=0.3, **contact)))
    body.v = velocity
    return sim, body


@pytest.mark.parametrize("contact", [{}, {"points": 1}, {"points": 3, "pic": 1.0}])
def test_momentum_is_kept_and_energy_only_falls(contact: dict[str, Any]) -> None:
    sim, body = colliding(**contact)
    momentum, size = body.mass @ body.v, np.abs(body.mass[:, None] * body.v).sum()
    energies = [sim.diagnostics()["total"]]
    while sim.time < 0.08:
        sim.step()
        energies.append(sim.diagnostics()["total"])
    assert sim.diagnostics()["strand_contacts"] > 10
    assert np.abs(body.mass @ body.v - momentum).max() < 1e-13 * size
    rises = np.maximum(
        np.diff(energies), 0.0
    )  # of explicit steps, where the continuum gives back what it has stored
    assert max(energies) == energies[0] and rises.sum() < 0.01 * energies[0]
    assert energies[-1] < 0.9 * energies[0]  # they did meet


def test_strands_alone_in_flight_take_nothing_from_the_grid() -> None:
    """Without a share of the grid's own velocity, what does not touch spins on: the change at nodes is nothing."""
    turns = []
    for pic in (0.0, 1.0):
        sim = ct.Simulation(0.02, (0.0, 0.0, 0.0))
        stiff = Rod(E=1e6, radius=2e-3)
        contact = ct.StrandContact(pic=pic, stiffness=1e-6)
        body = sim.add(ct.Strands(curves(bar(0, (0, 0, 0), 0.2, 10), segments=10), stiff, contact=contact))
        body.v = np.cross((0, 0, 3.0), body.x)
        arm = body.mass @ np.cross(body.x, body.v)
        run(sim, 0.1)
        turns.append(np.abs(body.mass @ np.cross(body.x, body.v) / arm[2] - (0, 0, 1)).max())
    assert turns[0] < 1e-6 < 1e-3 < turns[1]


def test_scripts_account_for_what_they_hold() -> None:
    """The impulse of scripts and of gravity is the change of momentum."""
    sim, body = two_bars(friction=0.3, **NO_GRID)
    before = body.mass @ body.v
    seen = run(sim, 0.12)
    assert seen["strand_contacts"] > 0 and np.abs(body.pull).max() > 0.01 * np.abs(before).max()
    gravity = body.mass.sum() * sim.gravity * sim.time
    np.testing.assert_allclose(
        body.mass @ body.v - before, gravity + body.pull, atol=1e-12 * np.abs(before).max()
    )


# ---- others --------------------------------------------------------------------------------------------------


def test_the_floor_holds_strands() -> None:
    sim = ct.Simulation(0.02, (0.0, -9.81, 0.0))
    sim.add(ct.colliders.Plane((0, 1, 0), (0, 0, 0)))
    body = sim.add(ct.Strands(curves(bar(0, (0, 0.03, 0), 0.2, 10), segments=10), SOFT))
    run(sim, 0.3)
    assert body.x[:, 1].min() > -0.5 * sim.dx and body.max_speed < 0.1  # without it it would be at -0.41 m


# ---- settings, resuming --------------------------------------------------------------------------------------


def test_the_cone_is_that_of_coulomb_in_compression() -> None:
    """On the cone, pressed along one axis, the plane that is closest to slipping just slips: shear = c pressure."""
    c = 0.4
    law = ct.StrandContact(friction=c).law(1000.0).parameters()
    pressure = 1.0  # mean; tau = diag(-p - 2 s, -p + s, -p + s), |dev tau| = sqrt(6) s
    s = law["alpha"] * 3 * pressure / np.sqrt(6)
    high, low = -pressure + s, -pressure - 2 * s
    slip = 0.5 * (high - low) * np.sqrt(1 + c**2) + c * 0.5 * (high + low)
    assert slip == pytest.approx(0, abs=1e-14)
    assert law["tip"] == 0 and law["remember"] == 0
    wrong = ct.StrandContact(friction=0.3).law(1000.0).parameters()["alpha"]
    assert wrong != pytest.approx(law["alpha"], rel=0.1)


def test_a_run_in_contact_continues_with_the_same_bits_on_any_number_of_threads() -> None:
    whole, _ = colliding()
    for _ in range(120):
        whole.step()
    try:
        ct.set_threads(2)
        first, _ = colliding()
        for _ in range(90):
            first.step()
        second, _ = colliding()
        second.load_state(first.state())
        for _ in range(30):
            second.step()
    finally:
        ct.set_threads(1)
    (body,), (other,) = whole.world.mesh_bodies, second.world.mesh_bodies
    assert whole.diagnostics()["strand_contacts"] == second.diagnostics()["strand_contacts"] > 0
    ours, theirs = body.snapshot(), other.snapshot()
    assert ours.keys() == theirs.keys()
    for name, array in ours.items():
        np.testing.assert_array_equal(theirs[name], array, err_msg=name)


def test_wrong_settings_are_refused() -> None:
    line = curves(bar(0, (0, 0, 0), 0.2, 10), segments=10)
    solid = BoxMesh((0, 0, 0), (1, 1, 1), (1, 1, 1))
    for make, part in (
        (lambda: ct.Strands(line, SOFT, contact=ct.GridContact()), "for solids"),
        (lambda: ct.Strands(line, SOFT, contact=ct.StrandContact(), on_grid=True), "on_grid"),
        (lambda: ct.Strands(line, SOFT, contact=ct.StrandContact(), friction=0.1), "friction"),
        (lambda: ct.Strands(line, SOFT, on_grid=True, friction=0.1), "friction"),
        (lambda: ct.Strands(line, SOFT, friction=-0.1), "friction"),
        (lambda: ct.SolidBody(solid, FixedCorotated(), contact=ct.StrandContact()), "for strands"),
        (lambda: ct.StrandContact(sweeps=-1), "sweeps"),
        (lambda: ct.StrandContact(pic=1.5), "pic"),
        (lambda: ct.StrandContact(nu=0.5), "nu"),
    ):
        with pytest.raises(SetupError, match=part):
            make()
