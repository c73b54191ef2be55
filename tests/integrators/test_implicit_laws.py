"""Conservation and energy laws of implicit steps: O2, O4 and O5 of the optimization spec, decay of backward Euler."""

from __future__ import annotations

import numpy as np
import pytest
from implicit_worlds import RUBBER, Solve, block_above_floor

import continua as ct
from continua.errors import InstabilityError
from continua.integrators import Integrator, Optimization, SemiImplicit
from continua.validation.backward_euler import COURANT, decay

SCHEMES = [SemiImplicit(tolerance=1e-13), Optimization(tolerance=1e-13)]
schemes = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda s: s.type)


def shaken_block(scheme: Integrator, transfer: str = "apic", **settings: object) -> ct.Simulation:
    """A free block whose parts move against each other."""
    sim = ct.Simulation(0.05, (0, 0), integrator=scheme, transfer=transfer, **settings)

    def velocity(x: np.ndarray) -> np.ndarray:
        return np.array([1.0, -2.0]) + 3 * np.sin(9 * x[:, ::-1])

    sim.add(ct.shapes.Box((0.0, 0.0), (0.3, 0.4)), RUBBER, velocity=velocity)
    return sim


@schemes
@pytest.mark.parametrize("transfer", ["apic", "flip:0.95"])
def test_momentum_is_kept(scheme: Integrator, transfer: str) -> None:
    def drift(scheme: Integrator) -> float:
        sim = shaken_block(scheme, transfer)
        start = sim.diagnostics()
        for _ in range(10):
            sim.step()
        end = sim.diagnostics()
        return max(abs(end[f"momentum_{a}"] - start[f"momentum_{a}"]) for a in "xy") / abs(
            start["momentum_y"]
        )

    assert drift(scheme) < 1e-10
    assert drift(type(scheme)(tolerance=1e-2)) > 1e-10  # it is the residual of the solve that is lost


@pytest.mark.parametrize("scheme", ["semi-implicit", "optimization"])
@pytest.mark.parametrize("d", [2, 3])
def test_free_fall_is_exact_and_costs_nothing(scheme: str, d: int) -> None:
    sim = ct.Simulation(0.1, (0, -9.81, 0)[:d], integrator=scheme, dt=0.01)
    body = sim.add(ct.shapes.Box((0,) * d, (0.3,) * d), RUBBER, velocity=(1.0, 2.0, 3.0)[:d])
    start = body.x[np.argsort(body.ids)]
    for _ in range(5):
        sim.step()
    t, n = sim.time, sim.steps
    moved = np.array([1.0, 2.0, 3.0])[:d] * t
    moved[1] -= 9.81 * 0.01**2 * n * (n + 1) / 2
    assert body.x[np.argsort(body.ids)] == pytest.approx(start + moved, abs=1e-12)
    assert body.v[0] == pytest.approx([1.0, 2.0 - 9.81 * t, 3.0][:d], abs=1e-12)
    assert np.abs(body.F - np.eye(d)).max() < 1e-12
    assert sim.steppers["main"].report["total_krylov_iterations"] == 0


def test_the_energy_of_a_step_is_bounded_by_that_of_no_motion(solves: list[Solve]) -> None:
    """O4: |v_new - v_n - dt g|^2 / 2 + Phi_new <= |v_n + dt g|^2 / 2 + Phi_n, at any dt, with contact as well."""
    sim, _ = block_above_floor("optimization")
    while sim.time < 0.2:
        sim.step()
    stiff, _ = block_above_floor("optimization", ct.materials.Snow(), mode="separate", dt=0.02, force_dt=True)
    for _ in range(10):
        stiff.step()
    assert len(solves) > 20
    assert all(solve.found <= solve.at_rest * (1 + 1e-12) for solve in solves)
    assert max(solve.report.iterations for solve in solves) > 2


def compressed_block(scheme: Integrator, dt: float = 5e-3) -> tuple[float, float]:
    """Fastest particle [m/s] and highest energy over that at the start, of a block that was pressed to half its area.

    Sound crosses 7 cells per step.
    """
    sim = ct.Simulation(0.05, (0, 0), integrator=scheme, dt=dt, force_dt=True)
    body = sim.add(ct.shapes.Box((0.0, 0.0), (0.5, 0.5)), ct.materials.FixedCorotated(1e6, 0.4, 400.0))
    body.F = np.tile(0.7 * np.eye(2), (len(body), 1, 1))
    start, fastest, highest = sim.diagnostics()["total"], 0.0, 0.0
    for _ in range(20):
        sim.step()
        fastest = max(fastest, body.max_speed)
        highest = max(highest, sim.diagnostics()["total"] / start)
    return fastest, highest


def test_released_energy_stays_bounded() -> None:
    """The wrong variant foresees only half of the change of the forces."""
    fastest, highest = compressed_block(Optimization())
    assert highest < 1 and fastest < 30
    _, highest = compressed_block(SemiImplicit())
    assert highest < 1
    with np.errstate(all="ignore"):
        try:
            _, highest = compressed_block(SemiImplicit(implicitness=0.5))
        except InstabilityError:
            highest = np.inf
    assert highest > 100


REFERENCE = dict(zip(COURANT, (0.785, 0.620, 0.389, 0.108), strict=True))


@pytest.mark.parametrize("scheme", [SemiImplicit(), Optimization(tolerance=1e-9)], ids=lambda s: s.type)
@pytest.mark.parametrize("courant", COURANT)
def test_a_bar_decays_as_backward_euler_says(courant: float, scheme: Integrator) -> None:
    bar = decay(courant, scheme)
    assert bar.kept == pytest.approx(bar.law, rel=0.1)
    assert bar.kept == pytest.approx(REFERENCE[courant], abs=0.002)
    assert bar.largest_gain < 1e-12


def test_other_schemes_break_the_law_of_decay() -> None:
    assert decay(1.0, "symplectic").kept > 0.95
    assert decay(1.0, SemiImplicit(implicitness=0.5)).kept > 0.75
    with np.errstate(all="ignore"):
        assert decay(2.0, "symplectic").kept == np.inf  # torn apart
