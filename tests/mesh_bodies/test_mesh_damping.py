"""Damping of mesh bodies: drag and lagged Rayleigh damping (spec O13), in both forms of solids (M23 section 8)."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from mesh_worlds import Array, block, jelly, world
from scipy.linalg import eigh

import continua as ct
from continua.mesh import DampingForm
from continua.mesh.vibration import fastest_decay, fastest_vibration

FORMS: tuple[DampingForm, ...] = get_args(DampingForm)
each_form = pytest.mark.parametrize("form", FORMS)


def mode(body: ct.SolidBody) -> tuple[float, Array]:
    """Angular frequency [1/s] and shape (N, d) of the slowest mode that deforms."""
    mass = np.diag(np.repeat(body.mass, body.dimension))
    squares, shapes = eigh(body.energy.hessian(body.rest).matrix().toarray(), mass)
    first = int(np.argmax(squares > 1e-6 * squares[-1]))
    return float(np.sqrt(squares[first])), shapes[:, first].reshape(body.x.shape)


def decay(dt: float, scheme: str = "trapezoid", **damping: Any) -> tuple[float, float]:
    """Rate [1/s] at which the slowest mode decays, and its angular frequency."""
    sim = world((0.0, 0.0), dt, scheme=scheme, tolerance=1e-9)
    body = block(sim, cells=2, **damping)
    omega, shape = mode(body)
    body.v[:] = 0.1 * shape
    steps = round(2 * np.pi / omega / dt)  # one period
    for _ in range(steps):
        sim.step()
    row = sim.diagnostics()
    start = 0.5 * 1e-2 * float(body.mass @ (shape**2).sum(axis=1))
    return float(np.log(start / (row["kinetic"] + row["elastic"])) / (2 * steps * dt)), omega


@each_form
@pytest.mark.parametrize("scheme", ["trapezoid", "bdf2"])
def test_o13_a_mode_decays_at_half_the_coefficient_times_omega_squared(
    scheme: str, form: DampingForm
) -> None:
    damping = 1e-3
    rate, omega = decay(1.5e-3, scheme, damping=damping, damping_form=form)
    assert rate == pytest.approx(damping * omega**2 / 2, rel=0.02)
    assert abs(rate / (damping * omega**2) - 1) > 0.4


def test_o13_drag_decays_all_motion_at_half_its_rate() -> None:
    rate, _ = decay(1.5e-3, drag=2.0)
    assert rate == pytest.approx(1.0, rel=0.02)


def test_o13_without_damping_only_backward_euler_decays() -> None:
    assert abs(decay(1.5e-3)[0]) < 1e-3
    rate, omega = decay(1.5e-3, "backward-euler")
    assert rate == pytest.approx(1.5e-3 * omega**2 / 2, rel=0.05)


def test_rigid_motion_is_not_damped_by_stiffness_damping() -> None:
    sim = world((0.0, 0.0))
    body = block(sim, cells=2, damping=0.1, velocity=(1.0, 2.0))
    for _ in range(5):
        sim.step()
    np.testing.assert_allclose(body.v, np.tile([1.0, 2.0], (9, 1)), rtol=1e-9)


# ---- bodies that are deformed and turn ---------------------------------------------------------------------------


def spinning(
    d: int, form: DampingForm, *, on_grid: bool, integrator: Any = "symplectic", damping: float = 2e-3
) -> ct.Simulation:
    """A stretched and sheared block in free flight that turns, a particle body of the grid or on its own."""
    sim = ct.Simulation(0.1, (0.0,) * d, transfer="apic", integrator=integrator, dt=2e-4)
    deformation = np.diag([1.2, 0.85, 1.0][:d])
    deformation[0, 1] = 0.1
    sim.add(
        ct.SolidBody(
            ct.meshes.box_mesh((0,) * d, (1,) * d, (2,) * d),
            jelly(),
            damping=damping,
            damping_form=form,
            velocity=ct.velocities.Rigid(
                (0.3,) * d, angular=5.0 if d == 2 else (1.0, 2.0, 5.0), center=(0.5,) * d
            ),
            start=ct.Placed(deformation.tolist()),
            contact=None if on_grid else ct.GridContact(),
        )
    )
    return sim


def angular_momentum(sim: ct.Simulation) -> Array:
    row = sim.diagnostics()
    return np.array([row[name] for name in row if name.startswith("angular")])


@pytest.mark.parametrize("on_grid", [True, False])
@pytest.mark.parametrize("d", [2, 3])
def test_greens_form_keeps_angular_momentum_in_explicit_steps(d: int, on_grid: bool) -> None:
    """Of a deformed body that turns, on the grid with APIC and on its own. The printed form changes 1e-4 in a step,
    relative, at strains of 10 to 20 % (M23 section 8); here 40 steps of less damping, by more than 1e-5 in all."""
    changes = {}
    for form in FORMS:
        sim = spinning(d, form, on_grid=on_grid)
        before = angular_momentum(sim)
        for _ in range(40):
            sim.step()
        changes[form] = float(np.abs(angular_momentum(sim) - before).max() / np.abs(before).max())
    assert changes["green"] < 1e-13
    assert changes["printed"] > 1e-5


@each_form
@pytest.mark.parametrize("on_grid", [True, False])
def test_explicit_damping_takes_energy_out_of_vibration(on_grid: bool, form: DampingForm) -> None:
    """The energy beyond that of a rigid spin, which decays the faster the more damping there is; the other sign would
    add some."""
    left = []
    for damping in (1e-6, 1e-3, 2e-3):
        sim = spinning(2, form, on_grid=on_grid, damping=damping)
        for _ in range(40):
            sim.step()
        left.append(sim.diagnostics()["total"])
    assert left[2] < left[1] < left[0]


@pytest.mark.parametrize("wrong", [False, True])
@each_form
def test_a_mode_decays_in_explicit_steps_on_its_own(form: DampingForm, wrong: bool) -> None:
    """At half the coefficient times omega squared; twice the coefficient does not fit."""
    damping, dt = 1e-3, 2e-4
    sim = ct.Simulation(0.1, (0.0, 0.0), integrator="symplectic", dt=dt)
    body = block(sim, cells=2, damping=damping * (1 + wrong), damping_form=form, contact=ct.GridContact())
    omega, shape = mode(body)
    body.v[:] = 0.1 * shape
    start, steps = sim.diagnostics()["total"], round(2 * np.pi / omega / dt)
    for _ in range(steps):
        sim.step()
    rate = float(np.log(start / sim.diagnostics()["total"])) / (2 * steps * dt)
    assert (rate == pytest.approx(damping * omega**2 / 2, rel=0.02)) != wrong


@each_form
def test_the_explicit_step_follows_damping_where_it_grows(form: DampingForm) -> None:
    """In a stretched solid Green's form slows more than the stiffness tells: at twice the length, four times. The
    largest stable step is that of 2 c dt + omega^2 dt^2 = 4."""
    damping, stretched = 5e-3, np.diag([2.0, 2.0]).tolist()
    sim = ct.Simulation(0.1, (0.0, 0.0), integrator="symplectic")
    body = sim.add(
        ct.SolidBody(
            ct.meshes.box_mesh((0, 0), (1, 1), (2, 2)),
            jelly(),
            damping=damping,
            damping_form=form,
            start=ct.Placed(stretched),
            contact=ct.GridContact(),
        )
    )
    mass = np.repeat(body.mass, 2)
    K = body.energy.damping(body.x).matrix().toarray()
    exact = damping * eigh(K, np.diag(mass), eigvals_only=True)[-1]
    assert 0.8 * exact < fastest_decay(body.energy, body.x, body.mass, damping) <= exact * (1 + 1e-12)
    by_stiffness = damping * fastest_vibration(body.energy, body.x, body.mass) ** 2
    assert (exact > 1.2 * by_stiffness) == (form == "green")
    c, omega = exact, fastest_vibration(body.energy, body.x, body.mass)
    limit = 2 * (np.hypot(omega, c / 2) - c / 2) / omega**2
    assert body.wave_speed_on(0.1) == pytest.approx(0.1 / limit, rel=0.05)


def largest_after(form: DampingForm, factor: float) -> float:
    """Largest speed [m/s], of 1e-6 at first, after 200 explicit steps of `factor` times the limit, of small motion of a
    block that is stretched to twice its length."""
    damping = 5e-3
    mesh = ct.meshes.box_mesh((0, 0), (1, 1), (2, 2))
    body = ct.SolidBody(mesh, jelly(), damping=damping, damping_form=form)
    body.x = x = 2.0 * body.rest
    K = damping * body.energy.damping(x).matrix().toarray()
    H = body.energy.hessian(x, positive=True).matrix().toarray()
    mass = np.repeat(body.mass, 2)
    dt = factor * 0.1 / body.wave_speed_on(0.1)
    u, v = np.zeros(x.size), 1e-6 * np.random.default_rng(1).normal(size=x.size)
    for _ in range(200):
        v = v - dt * (K @ v + H @ u) / mass
        u = u + dt * v
    return float(np.abs(v).max())


@each_form
def test_the_limit_of_explicit_steps_is_one(form: DampingForm) -> None:
    """Small motion of a stretched block: 0.9 of the limit is stable, and where damping rules 1.1 of it is not."""
    assert largest_after(form, 0.9) < 1e-5
    assert largest_after(form, 1.1) > 1.0


def test_the_form_is_checked_and_kept() -> None:
    mesh = ct.meshes.box_mesh((0, 0), (1, 1), (1, 1))
    with pytest.raises(ct.ContinuaError, match="damping_form must be .green. or .printed., not 'lagged'"):
        ct.SolidBody(mesh, jelly(), damping=1.0, damping_form="lagged")  # type: ignore[arg-type]
    with pytest.raises(ct.ContinuaError, match='damping_form = "printed" needs damping; give it or leave'):
        ct.SolidBody(mesh, jelly(), damping_form="printed")
    assert ct.SolidBody(mesh, jelly(), damping_form="green").damping == 0
    kept = [ct.SolidBody(mesh, jelly(), damping=0.1, damping_form=form).setup() for form in FORMS]
    assert [setup["damping_form"] for setup in kept] == list(FORMS)
    chain = ct.meshes.Chain([(0.0, 0.0), (1.0, 0.0)])
    with pytest.raises(TypeError, match="damping_form"):
        ct.SpringBody(chain, mass=1.0, damping_form="green")  # type: ignore[call-arg]


@pytest.mark.parametrize("integrator", ["symplectic", "semi-implicit", "optimization"])
@pytest.mark.parametrize("on_grid", [True, False])
def test_the_form_acts_under_every_integrator(integrator: str, on_grid: bool) -> None:
    ends = []
    for form in FORMS:
        sim = spinning(2, form, on_grid=on_grid, integrator=integrator)
        body = next(iter(sim.bodies.values())) if isinstance(sim.bodies, dict) else sim.bodies[0]
        for _ in range(3):
            sim.step()
        ends.append(body.x.copy())
    assert np.abs(ends[0] - ends[1]).max() > 1e-9


def test_negative_damping_is_refused() -> None:
    mesh = ct.meshes.box_mesh((0, 0), (1, 1), (1, 1))
    for wrong in ({"drag": -1.0}, {"damping": float("nan")}):
        with pytest.raises(ct.ContinuaError, match="must be a finite number"):
            ct.SolidBody(mesh, ct.materials.FixedCorotated(), **wrong)
