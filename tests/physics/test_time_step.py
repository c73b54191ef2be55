"""Time steps: which bound decides, what is refused, what is repeated."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.errors import InstabilityError, TimeStepError

H = 0.05
JELLY = ct.materials.FixedCorotated(1e5, 0.3, 1000.0)


def world(**options) -> ct.Simulation:
    return ct.Simulation(H, (0, 0), **options)


def block(sim: ct.Simulation, material=JELLY, **options) -> ct.Body:
    return sim.add(ct.shapes.Box((0, 0), (0.2, 0.2)), material, **options)


def test_waves_cross_at_most_the_elastic_fraction_of_a_cell() -> None:
    sim = world()
    block(sim, name="jelly")
    bound = sim.choose_dt()
    assert bound.dt == pytest.approx(0.4 * H / JELLY.wave_speed(), rel=1e-12)
    assert (bound.name, bound.body) == ("elastic", "jelly")
    slow = world(elastic_cfl=0.2)
    block(slow)
    assert slow.choose_dt().dt == pytest.approx(bound.dt / 2, rel=1e-12)


def test_particles_cross_at_most_the_cfl_fraction_of_a_cell() -> None:
    sim = world()
    block(sim, ct.materials.FixedCorotated(10.0), velocity=(3, -4), name="fast")
    block(sim, ct.materials.FixedCorotated(10.0), velocity=(1, 0), name="slow")
    bound = sim.choose_dt()
    assert bound.dt == pytest.approx(0.6 * H / 5, rel=1e-12)  # the length of v, not its largest entry
    assert str(bound) == "cfl (fast)"


def test_the_stiffest_body_decides() -> None:
    sim = world()
    block(sim, name="soft")
    block(sim, ct.materials.NeoHookean(1e7), name="stiff")
    assert str(sim.choose_dt()) == "elastic (stiff)"


def test_hardened_snow_needs_smaller_steps() -> None:
    """c grows by exp(xi (1 - Jp) / 2): 8.2 times at Jp = 0.58."""
    sim = world()
    body = block(sim, ct.materials.Snow())
    fresh = sim.choose_dt().dt
    body.state["Jp"][3] = 0.58
    body.refresh()
    assert fresh / sim.choose_dt().dt == pytest.approx(np.exp(2.1), rel=1e-9)
    sim.step()  # the step finds the same on its own
    assert fresh / sim.choose_dt().dt == pytest.approx(np.exp(2.1), rel=1e-9)


def test_a_fixed_step_that_breaks_a_bound_is_refused_by_name() -> None:
    sim = world(dt=1.0)
    block(sim, name="cube")
    with pytest.raises(TimeStepError, match=r'elastic bound 0\.00\d+ s of body "cube" \(fixed-corotated\)'):
        sim.step()
    fast = world(dt=0.02)
    block(fast, ct.materials.NeoHookean(1.0), velocity=(10, 0), name="dart")
    with pytest.raises(TimeStepError, match=r'cfl bound 0\.003 s of body "dart" \(neo-hookean\)'):
        fast.step()


def test_a_fixed_step_within_the_bounds_is_used() -> None:
    limit = 0.4 * H / JELLY.wave_speed()
    for dt in (0.999 * limit, limit):
        sim = world(dt=dt)
        block(sim)
        assert sim.step() == dt and sim.bound.name == "fixed"
    sim = world(dt=1.001 * limit)
    block(sim)
    with pytest.raises(TimeStepError):
        sim.step()
    sim = world(dt=1.001 * limit, force_dt=True)
    block(sim)
    assert sim.step() == 1.001 * limit


def test_a_fixed_step_is_refused_once_snow_has_hardened() -> None:
    sim = ct.Simulation(0.02, (0, -9.81), dt=3e-4)
    sim.add(ct.shapes.Sphere((0, 0.11), 0.1), ct.materials.Snow(), velocity=(0, -5))
    sim.add(ct.colliders.Plane((0, 1), mode="sticky"))
    sim.step()
    with pytest.raises(TimeStepError, match="snow"):
        for _ in range(500):
            sim.step()
    assert sim.time > 1e-3


def stretched(gradient: float, **options) -> ct.Simulation:
    """A body of one cell that expands fast, although none of its particles is fast."""
    sim = world(**options)
    flow = ct.velocities.Affine((0, 0), ((gradient, 0), (0, gradient)))
    sim.add(ct.shapes.Box((0.013, 0.007), (H, H)), ct.materials.NeoHookean(1.0), velocity=flow)
    return sim


def test_steps_that_strain_too_much_are_repeated_with_half_the_step() -> None:
    sim = stretched(20.0)
    bound = sim.choose_dt().dt
    dt = sim.step()
    assert sim.bound.name == "strain"
    halvings = np.log2(bound / dt)
    assert halvings >= 1 and halvings == pytest.approx(round(halvings), abs=1e-9)
    body = sim.bodies[0]
    assert np.linalg.norm(body.F - np.eye(2), axis=(1, 2)).max() <= 0.5 + 1e-12
    once = stretched(20.0, dt=2 * dt, force_dt=True)  # the step before would have been too much
    once.step()
    assert np.linalg.norm(once.bodies[0].F - np.eye(2), axis=(1, 2)).max() > 0.5
    assert once.bound.name == "fixed"


def test_a_repeated_step_is_the_same_as_a_small_one() -> None:
    """Nothing of the discarded attempt remains."""
    sim = stretched(20.0)
    dt = sim.step()
    direct = stretched(20.0, dt=dt, force_dt=True)
    direct.step()
    for name, array in sim.bodies[0].fields().items():
        assert np.array_equal(array, direct.bodies[0].fields()[name]), name


def test_steps_land_on_frames() -> None:
    sim = world()
    block(sim)
    end, count = 1 / 24, 0
    while sim.time < end - 1e-15:
        dt = sim.step(end - sim.time)
        assert dt <= 0.4 * H / JELLY.wave_speed() * (1 + 1e-12)
        count += 1
    assert sim.time == pytest.approx(end, abs=1e-15)
    assert sim.dt > 1e-2 * end / count  # no tiny last step


def ringing(courant: float) -> float:
    """Largest energy over the first one during 400 steps of noise, FLIP, dt = courant h / c."""
    sim = world(dt=courant * H / JELLY.wave_speed(), force_dt=True, transfer="flip")
    noise = np.random.default_rng(0)
    body = sim.add(
        ct.shapes.Box((0.013, 0.007), (0.5, 0.4)), JELLY, velocity=lambda x: 1e-3 * noise.normal(size=x.shape)
    )
    start, most = sim.diagnostics()["total"], 0.0
    for _ in range(400):
        sim.step()
        most = max(most, sim.diagnostics()["total"] / start)
    assert np.isfinite(body.x).all()
    return most


def test_the_default_elastic_bound_is_stable_and_five_times_it_is_not() -> None:
    """The linearised limit lies between 0.95 and 1.21."""
    assert ringing(0.4) <= 1.05
    try:
        assert ringing(2.0) > 10
    except InstabilityError as error:
        assert 'body "body1" (fixed-corotated)' in str(error)


def test_particles_that_leave_the_finite_world_stop_the_run_with_a_message() -> None:
    sim = world(dt=4 * H / JELLY.wave_speed(), force_dt=True)
    noise = np.random.default_rng(0)
    block(sim, velocity=lambda x: noise.normal(size=x.shape))
    with pytest.raises(InstabilityError, match=r'body "body1" \(fixed-corotated\).*lower elastic_cfl'):
        for _ in range(2000):
            sim.step()
