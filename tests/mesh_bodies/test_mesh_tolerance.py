"""When a step of mesh bodies is done: measured by the forces that act, in any units, for every body by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

import continua as ct
from continua.integrators import Optimization


def strip(
    sim: ct.Simulation,
    load: float,
    *,
    metre: float = 1.0,
    kilogram: float = 1.0,
    second: float = 1.0,
    cells: tuple[int, int] = (40, 4),
) -> ct.SolidBody:
    """A clamped strip of 1 x 0.05 m, density 1 kg/m^3, E = 1 Pa, with a load [N/m] at its tip, in given units."""
    material = ct.materials.FixedCorotated(
        E=kilogram / metre / second**2, nu=0.0, density=kilogram / metre**3
    )
    mesh = ct.meshes.box_mesh((0.0, 0.0), (metre, 0.05 * metre), cells)
    body = sim.add(ct.SolidBody(mesh, material, scripted=ct.Scripted(lambda x: x[:, 0] == 0)))
    tip = body.rest[:, 0] == metre

    def push(of: ct.SolidBody, t: float) -> np.ndarray:
        acceleration = np.zeros_like(of.x)
        if of is body:
            acceleration[tip, 1] = -load * kilogram / second**2 / tip.sum() / body.mass[tip]
        return acceleration

    sim.add(ct.BodyForce(push))
    return body


def statics(body: ct.SolidBody, load: float) -> float:
    """Drop of the tip by linear finite elements [m]."""
    free = np.flatnonzero(np.repeat(body.rest[:, 0] > 0, 2))
    tip = body.rest[:, 0] == 1.0
    force = np.zeros_like(body.rest)
    force[tip, 1] = load / tip.sum()
    stiffness = body.energy.hessian(body.rest).matrix().tocsr()[free][:, free]
    moved = np.zeros(body.rest.size)
    moved[free] = spsolve(stiffness.tocsc(), force.ravel()[free])
    return float(moved.reshape(-1, 2)[tip, 1].mean())


@pytest.mark.parametrize("load", [1e-6, 3e-7, 1e-9])
def test_a_soft_strip_bends_under_a_small_load(load: float) -> None:
    """It rests after some long steps, which backward Euler damps, where statics says."""
    sim = ct.Simulation(0.1, (0.0, 0.0), dt=20.0, integrator=Optimization())
    body = strip(sim, load)
    for _ in range(20):
        sim.step()
    tip = body.rest[:, 0] == 1.0
    drop = float((body.rest - body.x)[tip, 1].mean())
    assert drop == pytest.approx(statics(body, load), rel=5e-3 if load > 5e-7 else 1e-3)


def test_statics_of_a_fine_strip_are_those_of_a_beam() -> None:
    """F L^3 / 3 E I = 0.0096 m under 3e-7 N, within 5 %: four triangles over the height are a third too stiff, eight
    a twentieth."""
    body = strip(ct.Simulation(0.1, (0.0, 0.0), integrator=Optimization()), 3e-7, cells=(160, 8))
    assert statics(body, 3e-7) == pytest.approx(3e-7 / (3 * 0.05**3 / 12), rel=0.05)


@pytest.mark.parametrize("material", [ct.materials.NeoHookean, ct.materials.QuadraticNeoHookean])
@pytest.mark.parametrize("d", [2, 3])
def test_energies_whose_parts_cancel_do_not_hide_small_strains(material: type, d: int) -> None:
    """A steel beam under a feather, strained by 1e-8: as with an energy that is a sum of squares."""

    def drop(model: type) -> float:
        sim = ct.Simulation(0.05, (0.0,) * d, integrator=Optimization())
        mesh = ct.meshes.box_mesh((0.0,) * d, (1.0, 0.05, 0.05)[:d], (20, 2, 2)[:d])
        clamp = ct.Scripted(lambda x: x[:, 0] == 0)
        body = sim.add(ct.SolidBody(mesh, model(E=2e11, nu=0.3, density=7800.0), scripted=clamp))
        tip = body.rest[:, 0] == 1.0
        pull = np.zeros_like(body.x)
        pull[tip, 1] = -(0.6, 0.03)[d - 2] / tip.sum() / body.mass[tip]
        sim.add(ct.BodyForce(lambda of, t: pull))
        for _ in range(6):
            sim.step()
            assert not sim.diagnostics()["unconverged"]
        return float((body.rest - body.x)[tip, 1].mean())

    assert drop(material) == pytest.approx(drop(ct.materials.FixedCorotated), rel=1e-3)


def test_units_do_not_matter() -> None:
    """The same strip in metres, kilograms, seconds; millimetres, grams, milliseconds; kilometres, tonnes, hours."""
    found = []
    for metre, kilogram, second in ((1.0, 1.0, 1.0), (1e3, 1e3, 1e3), (1e-3, 1e-3, 1 / 3600)):
        sim = ct.Simulation(0.1 * metre, (0.0, 0.0), dt=0.5 * second, integrator=Optimization())
        body = strip(sim, 1e-5, metre=metre, kilogram=kilogram, second=second)
        iterations = []
        for _ in range(10):
            sim.step()
            iterations.append(sim.solves[-1].iterations)
        found.append((iterations, body.x / metre))
    for iterations, x in found[1:]:
        assert iterations == found[0][0]
        np.testing.assert_allclose(x, found[0][1], atol=1e-9)


NAMED_UNITS = ((1.0, 1.0, 1.0), (1e3, 1e3, 1e3), (1e-3, 1e-3, 1 / 3600))
BINARY_UNITS = ((1.0, 1.0, 1.0), (2.0**10, 2.0**10, 2.0**10), (2.0**-10, 2.0**-10, 2.0**-12))


@pytest.mark.parametrize(
    ("units", "steps", "tolerance", "gate"), [(NAMED_UNITS, 4, 1e-9, 1e-9), (BINARY_UNITS, 12, 1e-5, 1e-13)]
)
def test_units_do_not_matter_where_bodies_slide_and_meet(
    units: Sequence[tuple[float, float, float]], steps: int, tolerance: float, gate: float
) -> None:
    """The same with friction on a floor, and another body that it hits. Where friction decides who sticks, solves stop
    at another point of their tolerance when numbers are rounded otherwise; units that are powers of two round alike,
    and must give the same iterations."""
    found = []
    for metre, kilogram, second in units:
        speed = metre / second
        gravity = (0.0, -9.81 * speed / second)
        sim = ct.Simulation(
            0.1 * metre, gravity, dt=second / 24, integrator=Optimization(tolerance=tolerance)
        )
        soft = ct.materials.FixedCorotated(
            E=1e5 * kilogram / metre / second**2, density=1e3 * kilogram / metre**3
        )
        for left, v in ((0.0, 3.0), (1.2, 0.0)):
            mesh = ct.meshes.box_mesh((left * metre, 0.0), ((left + 1) * metre, metre), (2, 2))
            contact = ct.PenaltyContact(friction=0.3)
            sim.add(ct.SolidBody(mesh, soft, velocity=(v * speed, 0.0), contact=contact))
        sim.add(ct.colliders.Plane((0, 1), friction=0.4))
        iterations = []
        for _ in range(steps):
            sim.step()
            iterations.append(sim.solves[-1].iterations)
        found.append((iterations, np.concatenate([body.x for body in sim.bodies]) / metre))
    assert found[0][1][9:, 0].mean() > 1.7 + 1e-3  # it was hit
    for iterations, x in found[1:]:
        assert units is NAMED_UNITS or iterations == found[0][0]
        np.testing.assert_allclose(x, found[0][1], rtol=0, atol=gate)


def test_a_small_body_beside_a_large_one_is_solved_as_well_as_alone() -> None:
    """The forces that act on the large one are 1e13 times as large."""

    def bent(heavy: bool) -> np.ndarray:
        sim = ct.Simulation(0.1, (0.0, 0.0), dt=20.0, integrator=Optimization())
        body = strip(sim, 1e-6)
        if heavy:
            mesh = ct.meshes.box_mesh((10.0, 0.0), (11.0, 1.0), (4, 4))
            steel = ct.materials.FixedCorotated(E=1e9, density=1e3)
            start = lambda x: x + [[0.3, 0.0]] * (x[:, :1] - 10)  # noqa: E731
            sim.add(ct.SolidBody(mesh, steel, start=start))
        for _ in range(10):
            sim.step()
        return body.x

    alone = bent(False)
    np.testing.assert_allclose(bent(True), alone, atol=1e-3 * np.ptp(alone[:, 1]))


def test_forces_left_over_may_be_given_in_newtons() -> None:
    sizes = {}
    for allowed in (1e-2, 1e-6):
        sim = ct.Simulation(
            0.1, (0.0, -9.81), dt=1 / 24, integrator=Optimization(tolerance=1e-15, absolute_tolerance=allowed)
        )
        mesh = ct.meshes.box_mesh((0.0, 0.0), (1.0, 1.0), (3, 3))
        held = ct.Scripted(lambda x: x[:, 1] == 1)
        sim.add(ct.SolidBody(mesh, ct.materials.FixedCorotated(E=1e5, density=1e3), scripted=held))
        sim.step()
        sizes[allowed] = allowed * sim.solves[-1].history[-1][0]
    assert sizes[1e-6] < 1e-6 and 1e-6 < sizes[1e-2] < 1e-2


def test_no_step_is_taken_without_an_iteration_unless_nothing_is_left_to_do() -> None:
    """A beam at rest under its weight gets a load that is below the tolerance, and feels it."""
    sim = ct.Simulation(0.1, (0.0, -1e-5), dt=20.0, integrator=Optimization(tolerance=1e-2))
    body = strip(sim, 0.0)
    for _ in range(40):
        sim.step()
    while sim.solves[-1].iterations:
        sim.step()
    rest, tip = body.x.copy(), body.rest[:, 0] == 1.0
    weight = 1e-5 * body.mass.sum()
    extra = np.zeros_like(body.x)
    extra[tip, 1] = -1e-4 * weight / tip.sum() / body.mass[tip]
    sim.add(ct.BodyForce(lambda of, t: extra))
    for _ in range(30):
        sim.step()
    assert (rest - body.x)[tip, 1].mean() == pytest.approx(statics(body, 1e-4 * weight), rel=0.1)
