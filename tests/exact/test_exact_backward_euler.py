"""The implicit step below exact contact (M23 section 3.3), and how it goes on around a surface (section 4): B1 to B6,
S1 and S5.

v_new = v + dt M^-1 f_total with f_total = f(x_new) - a K(x) v_new + M g. Steps are those of one body as `ExactContact`
asks for them; beside them the same energy put together by hand, to see every iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from exact_worlds import BE, Watched, balls, jelly
from numpy.typing import NDArray

import continua as ct
from continua.bodies.body import Predicted
from continua.integrators.prediction import Minimised
from continua.mesh import DampingForm, Rayleigh
from continua.optimize import Gravity, ImplicitStep, Options, PointState, Report, StepEnergy, minimise

Array = NDArray[np.float64]
TIGHT = ct.integrators.Optimization(tolerance=1e-14)  # to rounding
EXACT = {"krylov_tolerance": 1e-13, "max_krylov_iterations": 3000}
DT = 5e-3  # [s]; waves cross an element in eight of them
G = {2: np.array([1.0, -9.81]), 3: np.array([1.0, -9.81, 2.0])}
both = pytest.mark.parametrize("d", [2, 3])


def deformed(
    d: int, *, damping: float = 0.0, form: DampingForm = "green", shake: float = 0.02
) -> ct.SolidBody:
    """A unit box about the origin, turned, stretched by up to a fifth, shaken, and moving in every way."""
    mesh = ct.meshes.box_mesh((-0.5,) * d, (0.5,) * d, (3,) * d)
    body = ct.SolidBody(mesh, jelly(), damping=damping, damping_form=form, contact=ct.ExactContact())
    rng = np.random.default_rng(8)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    Q[:, 0] *= np.linalg.det(Q)
    shape = Q @ np.diag([1.2, 0.9, 1.1][:d])
    body.x[:] = (body.rest + shake * rng.standard_normal(body.rest.shape)) @ shape.T
    body.v[:] = rng.standard_normal(d) + body.x @ rng.standard_normal((d, d)).T
    body.v[:] += 0.2 * rng.standard_normal(body.x.shape)
    return body


def step(body: ct.SolidBody, dt: float, g: Array, settings: Any = TIGHT) -> tuple[Predicted, Report]:
    """The end of a free step, and how it was found."""
    move = Minimised(settings)
    end = move(body, 0.0, dt, np.broadcast_to(g, body.x.shape))
    assert not isinstance(end, str), end
    assert move.last_solve is not None
    return end, move.last_solve


def total_force(body: ct.SolidBody, end: Predicted, g: Array, *, damped_at: Array | None = None) -> Array:
    """f(x_new) - a K(x) v_new + M g, (N, d) [N]; damped_at: where K belongs to, x if left out."""
    K = body.energy.damping(body.x if damped_at is None else damped_at)
    return body.forces(end.x) - body.damping * K.product(end.v) + body.mass[:, None] * g


def spin(x: Array, p: Array) -> Array:
    """Sum of x cross p: one number in 2D, three in 3D."""
    if x.shape[1] == 2:
        return np.array([np.sum(x[:, 0] * p[:, 1] - x[:, 1] * p[:, 0])])
    return np.asarray(np.cross(x, p).sum(axis=0))


@dataclass
class ByHand:
    """The energy of a step, its starts, and what belongs to it."""

    body: ct.SolidBody
    dt: float

    def __post_init__(self) -> None:
        body, dt = self.body, self.dt
        g = G[body.dimension]
        scheme = ImplicitStep.of("backward-euler", dt, PointState(body.x, body.v), 0 * body.x)
        self.terms: list[Any] = [body.energy, Gravity(body.mass, g)]
        if body.damping:
            self.terms.append(Rayleigh(body.energy, body.x, coefficient=body.damping, dt=dt))
        self.energy = StepEnergy(scheme, body.mass, self.terms)
        self.start = scheme.target

    def minimised(self, options: Options, energy: Any = None) -> Report:
        return minimise(energy or self.energy, [self.start], options)[1]


# ---- one step ----------------------------------------------------------------------------------------------------

# Tolerances of the solver, and what may be left over of accelerations times dt, over the fastest point (M23 names
# none; 1e-6 for pictures and 1e-9 where momentum is measured are those of a reference implementation).
SOLVERS = [(BE, 1e-6), (TIGHT, 1e-9)]


@both
@pytest.mark.parametrize("dt", [DT, 10 * DT])
@pytest.mark.parametrize(("damping", "form"), [(0.0, "green"), (0.1, "green"), (0.1, "printed")])
def test_b1_the_end_of_a_step_obeys_newtons_second_law(
    d: int, dt: float, damping: float, form: DampingForm
) -> None:
    body = deformed(d, damping=damping, form=form)
    speed = float(np.linalg.norm(body.v, axis=1).max())

    def left(end: Predicted, force: Array) -> float:
        """Of accelerations times dt, over the largest speed."""
        off = (end.v - body.v) / dt - force / body.mass[:, None]
        return float(np.abs(off).max() * dt / speed)

    for settings, allowed in SOLVERS:
        end, _ = step(body, dt, G[d], settings)
        assert np.abs(end.x - body.x - dt * end.v).max() < 1e-14
        assert left(end, total_force(body, end, G[d])) <= allowed
        # Forces of the beginning, weight upside down, damping of the end or with the wrong sign.
        forces = [total_force(body, end._replace(x=body.x), G[d]), total_force(body, end, -G[d])]
        if damping:
            drag = body.damping * body.energy.damping(body.x).product(end.v)
            forces.append(total_force(body, end, G[d], damped_at=end.x))
            forces.append(total_force(body, end, G[d]) + 2 * drag)
        assert min(left(end, force) for force in forces) > 100 * allowed


class Frozen:
    """An energy whose second derivatives stay those of the first place they were asked at."""

    def __init__(self, energy: StepEnergy) -> None:
        self._energy, self._fresh = energy, True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._energy, name)

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        if self._fresh:
            self._energy.prepare(x, positive=positive)
        self._fresh = False


def ratios(report: Report, floor: float = 1e-11) -> Array:
    """r_{k+1}/r_k^2 with r the gradient over the first one, while it is above its rounding error."""
    sizes = np.array([size for size, _ in report.history])
    r = sizes[sizes > floor * sizes[0]] / sizes[0]
    return np.asarray(r[1:] / r[:-1] ** 2)


@both
@pytest.mark.parametrize(("damping", "form"), [(0.0, "green"), (0.02, "green"), (0.02, "printed")])
def test_b2_newton_steps_converge_quadratically(d: int, damping: float, form: DampingForm) -> None:
    """r_{k+1}/r_k^2 stays below a constant of order 1 (r_0 = 1), as it must with the exact second derivative."""
    problem = ByHand(deformed(d, damping=damping, form=form), 4 * DT)
    scale = float(np.linalg.norm(problem.energy.gradient(problem.start)))
    options = Options(tolerance=1e-12 * scale, positive=False, **EXACT)
    report = problem.minimised(options)
    assert report.converged and report.iterations >= 3
    assert report.negative_curvature_count == 0
    assert ratios(report)[-2:].max() < 10
    lagged = problem.minimised(options, Frozen(problem.energy))
    assert ratios(lagged)[-2:].max() > 100


def last_factors(report: Report) -> float:
    """The larger of the last two factors by which an iteration lowered the gradient."""
    sizes = np.array([size for size, _ in report.history])
    return float((sizes[1:] / sizes[:-1])[-2:].max())


@both
def test_b2_the_solver_of_steps_converges_faster_than_linearly(d: int) -> None:
    """Its linear solves become exact as forces vanish; with residuals of a half Newton steps gain no more than that."""
    body = deformed(d, damping=0.02)
    _, report = step(body, 4 * DT, G[d], ct.integrators.Optimization(tolerance=1e-11))
    assert report.converged and report.iterations >= 3
    assert last_factors(report) < 1e-2
    problem = ByHand(body, 4 * DT)
    scale = float(np.linalg.norm(problem.energy.gradient(problem.start)))
    crude = problem.minimised(Options(tolerance=1e-10 * scale, krylov_tolerance=0.5))
    assert crude.converged and last_factors(crude) > 0.1


@both
@pytest.mark.parametrize(("damping", "form"), [(0.0, "green"), (0.1, "green"), (0.1, "printed")])
def test_b3_a_free_step_keeps_momentum(d: int, damping: float, form: DampingForm) -> None:
    body = deformed(d, damping=damping, form=form)
    end, _ = step(body, DT, 0 * G[d])
    size = float(body.mass @ np.linalg.norm(body.v, axis=1))
    assert np.abs(body.mass @ (end.v - body.v)).max() < 1e-13 * size
    loose, _ = step(body, DT, 0 * G[d], ct.integrators.Optimization(tolerance=1e-3))
    assert np.abs(body.mass @ (loose.v - body.v)).max() > 1e-10 * size


@both
@pytest.mark.parametrize(("damping", "form"), [(0.0, "green"), (0.1, "green"), (0.1, "printed")])
def test_b4_angular_momentum_changes_by_the_torque_about_the_old_places(
    d: int, damping: float, form: DampingForm
) -> None:
    """Forces of the end have no torque about x_new, but momentum is carried from x: sum x cross f(x_new) is lost.

    Green's damping has no torque about x, the printed one has.
    """
    body = deformed(d, damping=damping, form=form)
    end, _ = step(body, DT, G[d])
    m = body.mass[:, None]
    gained = spin(end.x, m * end.v) - spin(body.x, m * body.v)
    size = float(body.mass @ (np.linalg.norm(body.x, axis=1) * np.linalg.norm(body.v, axis=1)))
    force = total_force(body, end, G[d])
    assert np.abs(gained - DT * spin(body.x, force)).max() < 1e-12 * size
    assert np.abs(gained - DT * spin(end.x, force)).max() > 1e-4 * size
    drag = -body.damping * body.energy.damping(body.x).product(end.v)
    torque, strength = np.abs(spin(body.x, drag)).max(), float(np.abs(drag).sum())
    assert torque <= 1e-12 * strength if form == "green" else torque > 1e-4 * strength


def crushed(d: int, seed: int) -> ct.SolidBody:
    """Every point somewhere: half of the elements are inside out, so that the energy is far from convex."""
    body = deformed(d)
    body.x[:] += 0.3 * np.random.default_rng(seed).standard_normal(body.x.shape)
    return body


@both
def test_b5_no_iteration_raises_the_energy(d: int) -> None:
    """From places inside out and in steps that are long for waves; Newton steps without a search do."""
    rises = []
    for seed in range(3):
        body = crushed(d, seed)
        assert body.J.min() < 0
        _, report = step(body, 10 * DT, G[d], BE)
        energies = np.array([energy for _, energy in report.history])
        assert (np.diff(energies) <= 1e-12 * np.abs(energies[1:])).all()
        assert report.iterations > 3
        plain = Options(plain_newton=True, krylov="minres", max_iterations=10, krylov_tolerance=1e-3)
        wild = np.array([energy for _, energy in ByHand(body, 10 * DT).minimised(plain).history])
        rises.append((np.diff(wild) > 1e-6 * np.abs(wild[1:])).any())
    assert all(rises)


@both
def test_b6_free_fall_deforms_nothing(d: int) -> None:
    mesh = ct.meshes.box_mesh((-0.5,) * d, (0.5,) * d, (3,) * d)
    body = ct.SolidBody(mesh, jelly(), damping=0.1, contact=ct.ExactContact())
    body.v[:] = np.arange(1.0, d + 1)
    weights = {
        "gravity": G[d],
        "by volume": body.mass.mean() / body.mass[:, None] * G[d],
    }  # one force for all
    off = {}
    for name, g in weights.items():
        end, _ = step(body, DT, g)
        F = np.abs(body.elements.deformation(end.x) - np.eye(d)).max()
        off[name] = float(F), float(np.abs(end.v - body.v - DT * G[d]).max())
    rounding = 4 * np.finfo(float).eps * np.abs(body.x).max() / DT  # velocities are differences of places
    assert off["gravity"][0] < 1e-12 and off["gravity"][1] <= rounding
    assert off["by volume"][0] > 1e-6 and off["by volume"][1] > 1e-6


# ---- around a surface --------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize(("damping", "form"), [(0.0, "green"), (0.1, "green"), (0.1, "printed")])
def test_s1_without_contact_the_inside_goes_where_it_would_have(
    d: int, damping: float, form: DampingForm
) -> None:
    """M23 section 4, third step: with the velocities of the first one at the surface it finds the first one's end."""
    body = deformed(d, damping=damping, form=form)
    g = np.broadcast_to(G[d], body.x.shape)
    surface = np.unique(body.surface).astype(np.intp)
    assert len(surface) < len(body)
    inside = np.delete(np.arange(len(body)), surface)
    speed = float(np.linalg.norm(body.v, axis=1).max())
    size = float(body.mass @ np.linalg.norm(body.v, axis=1))

    def around(v: Array) -> tuple[float, float, float]:
        """How far velocities are from the free ones, over the fastest, what held the surface, and the momentum that
        nothing accounts for, over sum m |v|."""
        found = move.around(body, 0.0, DT, g, free, surface, v)
        assert not isinstance(found, str), found
        end, holding = found
        np.testing.assert_array_equal(end.v[surface], v)
        off = max(np.abs(end.v - free.v)[inside].max(), np.abs(end.x - free.x)[inside].max() / DT)
        gained = body.mass @ (end.v - body.v) - DT * body.mass.sum() * G[d] - holding.sum(axis=0)
        return float(off) / speed, float(np.abs(holding).sum()) / size, float(np.abs(gained).max()) / size

    for settings, allowed in SOLVERS:
        move = Minimised(settings)
        free = move(body, 0.0, DT, g)
        assert not isinstance(free, str), free
        moved, held, lost = around(free.v[surface])
        assert moved <= allowed and held <= 10 * allowed and lost <= allowed
        # A surface that contact slows down takes the inside along; what holds it has the momentum.
        moved, held, lost = around(0.9 * free.v[surface])
        assert moved > 100 * allowed and held > 1e3 * allowed and lost <= allowed


def rebound(d: int, dt: float, size: float, per_step: float = 0.0) -> float:
    """Speed at which two balls part over that at which they met; per_step: part of it that drag takes in every step."""
    sim = ct.Simulation(0.12, (0.0,) * d, integrator=BE, dt=dt)
    contact = ct.ExactContact()
    a, b = balls(sim, size=size, offset=0.0, gap=0.02, contact=contact, drag=per_step / dt)
    Watched(sim).run(round(0.24 / dt))
    left, right = (body.mass @ body.v[:, 0] / body.mass.sum() for body in (a, b))
    return float(right - left) / 2.0


@pytest.mark.parametrize(("d", "dt", "size"), [(2, 4e-3, 0.14), (3, 8e-3, 0.2)])
def test_s5_rebounds_converge_with_the_step(d: int, dt: float, size: float) -> None:
    """Backward Euler is of first order and takes energy: shorter steps rebound faster, and differences shrink."""
    speeds = np.array([rebound(d, h, size) for h in (dt, dt / 2, dt / 4)])
    assert (speeds > 0).all() and (speeds <= 1).all()
    assert (np.diff(speeds) > 0).all()
    assert speeds[2] - speeds[1] < speeds[1] - speeds[0]
    # What is lost in every step, and not in every second, has no limit.
    assert rebound(d, dt / 2, size, per_step=0.02) < rebound(d, dt, size, per_step=0.02)
