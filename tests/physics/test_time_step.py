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


# ---- stress that fades: J15 (4.13) is positive for dt <= relaxation_time only ----

SLIME = ct.materials.OldroydB(mu=1.0, lam=10.0, density=1000.0, relaxation_time=2e-3, printed=True)


def slime(material=SLIME, **options) -> tuple[ct.Simulation, ct.Body]:
    """A stretched block whose waves and particles are slow, so that relaxation alone limits the step."""
    sim = world(**options)
    body = block(sim, material, name="slime", velocity=(0.1, 0))
    body.F = np.diag([3.0, 1 / 3.0])
    body.refresh()
    return sim, body


def conformation(body: ct.Body) -> np.ndarray:
    return body.state["stretch_scale"][:, None, None] * body.F @ body.F.transpose(0, 2, 1)


@pytest.mark.parametrize("integrator", ["symplectic", "semi-implicit", "optimization"])
def test_steps_are_not_longer_than_stress_needs_to_fade(integrator: str) -> None:
    sim, _ = slime(integrator=integrator)
    assert str(sim.choose_dt()) == "relaxation (slime)"
    assert sim.step() == pytest.approx(2e-3, rel=1e-12) and sim.bound.name == "relaxation"
    sim, _ = slime(integrator=integrator, dt=2.1e-3)
    with pytest.raises(
        TimeStepError, match=r'relaxation bound 0\.002 s of body "slime" \(oldroyd-b\): stress'
    ):
        sim.step()


def test_a_longer_step_would_make_the_conformation_indefinite() -> None:
    """b + dt/W (I - b) of the stretched block: with the bound it is what the step leaves, at 1.5 W it has a negative
    eigenvalue and the step must take another form."""
    for dt, positive in ((None, True), (1.5 * SLIME.relaxation_time, False)):
        sim, body = slime(dt=dt, force_dt=dt is not None)
        before = conformation(body)
        share = sim.step() / SLIME.relaxation_time
        printed = before + share * (np.eye(2) - before)  # it hardly moves in one step
        assert (np.linalg.eigvalsh(printed).min() > 0) == positive
        same = np.abs(conformation(body) - printed).max() < 1e-2 * np.abs(before).max()
        assert same == positive


def test_the_shortest_relaxation_of_a_body_counts() -> None:
    corner = ct.shapes.Box((-0.1, -0.1), (0.2, 0.2))
    quick = ct.materials.OldroydB(1.0, 10.0, 1000.0, 5e-4)
    calm = ct.materials.OldroydB(1.0, 10.0, 1000.0, 0.02)
    sim = world()
    block(sim, calm, regions=[(corner, quick)])
    assert sim.choose_dt().dt == pytest.approx(5e-4, rel=1e-12)
    sim = world()
    block(sim, calm, vary={"relaxation_time": lambda x: 1e-3 + 0 * x[:, 0]})  # the uniform value is nobody's
    assert sim.choose_dt().dt == pytest.approx(1e-3, rel=1e-12)


@pytest.mark.parametrize("relaxation_time", [1e-3, 50.0])
def test_relaxation_limits_meshes_on_their_own(relaxation_time: float) -> None:
    sim = world(integrator="optimization")
    gel = ct.materials.OldroydB(1.0, 10.0, 1000.0, relaxation_time)
    sim.add(ct.SolidBody(ct.meshes.BoxMesh((0, 0), (0.2, 0.2), (2, 2)), gel, name="gel"))
    assert sim.choose_dt().dt == pytest.approx(min(relaxation_time, 1 / 24), rel=1e-12)
    assert sim.choose_dt(0.1).dt == pytest.approx(min(relaxation_time, 0.1), rel=1e-12)


# ---- linear splines: a node that only particles of weight e see vibrates at c / (h sqrt(e)) ----


def noise_growth(courant: float, beyond: float, kernel: str = "linear", transfer: str = "apic") -> float:
    """Growth per step of noise of 1e-9 m/s, dt = courant h / c, where the lowest particles of a block lie `beyond`
    cells below a row of nodes."""
    sim = world(dt=courant * H / JELLY.wave_speed(), force_dt=True, kernel=kernel, transfer=transfer)
    rng = np.random.default_rng(0)
    lowest = (0.25 * H, -beyond * H)  # of particles that are half a cell apart
    body = sim.add(
        ct.shapes.Box((lowest[0] - H / 4 + 0.2, lowest[1] - H / 4 + 0.2), (0.4, 0.4)),
        JELLY,
        velocity=lambda x: 1e-9 * rng.normal(size=x.shape),
    )
    assert body.x[:, 1].min() == pytest.approx(lowest[1], abs=1e-12)
    sizes = []
    for _ in range(120):
        sim.step()
        sizes.append(np.linalg.norm(body.v))
        if sizes[-1] > 1e-4:  # far from round-off, not yet far from rest
            break
    return float((sizes[-1] / sizes[len(sizes) // 2]) ** (1 / (len(sizes) - 1 - len(sizes) // 2)))


@pytest.mark.filterwarnings("ignore:linear splines")
@pytest.mark.parametrize("beyond", [0.04, 0.01, 0.0025])
def test_linear_splines_are_stable_up_to_twice_the_root_of_the_last_weight(beyond: float) -> None:
    """dt c / h = 2 sqrt(e) for APIC; sqrt(2 e) for FLIP, whose particles keep their velocities."""
    for transfer, limit in (("apic", 2 * beyond**0.5), ("flip", (2 * beyond) ** 0.5)):
        assert noise_growth(0.95 * limit, beyond, transfer=transfer) < 1.01
        assert noise_growth(1.05 * limit, beyond, transfer=transfer) > 1.05


@pytest.mark.filterwarnings("ignore:linear splines")
def test_the_default_step_is_stable_wherever_particles_lie_with_smooth_splines_only() -> None:
    for beyond in (0.3, 0.03, 1e-3, 1e-5):
        assert noise_growth(0.4, beyond, "quadratic") < 1.01
        assert noise_growth(0.4, beyond, "cubic") < 1.01
    assert noise_growth(0.4, 0.03) > 1.1


def test_linear_splines_are_warned_of_in_explicit_steps_once() -> None:
    sim = world(kernel="linear", elastic_cfl=0.2)
    block(sim)
    with pytest.warns(UserWarning, match=r"linear splines.*\(elastic_cfl / 2\)\^2 = 0\.01 cells.*quadratic"):
        sim.step()
    block(sim, name="later")
    sim.step()
    assert sum("linear splines" in text for text in sim.world.warnings) == 1
    implicit = world(kernel="linear", integrator=ct.integrators.Optimization(positions="explicit"))
    block(implicit)
    implicit.step()
    assert not implicit.world.warnings
