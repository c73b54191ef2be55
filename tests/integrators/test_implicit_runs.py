"""Implicit runs: same bits for any number of threads and after a restart, errors that help, `info`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from implicit_worlds import RUBBER, block_above_floor

import continua as ct
from continua.cli.info import collect, lines
from continua.errors import InstabilityError, SetupError
from continua.integrators import Optimization, SemiImplicit, implicit
from continua.io import RunFolder
from continua.io.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from continua.optimize import Report


def busy_world(scheme: str, d: int, precision: str = "double", nudge: float = 0.0) -> ct.Simulation:
    """Snow and rubber collide over a rough floor beside a moving ball."""
    cut = slice(0, d)
    sim = ct.Simulation(0.05, (0, -9.81, 0)[cut], integrator=scheme, precision=precision, seed=3)
    size = 0.5 if d == 2 else 0.25
    sim.add(
        ct.shapes.Box((nudge, 0.3, 0)[cut], (size,) * d),
        ct.materials.Snow(),
        velocity=(1, -3, 0.3)[cut],
        sampling="jittered",
    )
    sim.add(ct.shapes.Box((size + 0.02, 0.3, 0)[cut], (size,) * d), RUBBER, velocity=(-2, -1, 0)[cut])
    sim.add(ct.colliders.Plane((0, 1, 0)[cut], friction=0.4))
    ball = ct.motions.Linear((0.5, -0.5, 0)[cut])
    sim.add(ct.colliders.Sphere((0.3, 0.75, 0)[cut], 0.12, motion=ball))
    return sim


def same_bits(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def state_after(sim: ct.Simulation, steps: int, threads: int) -> dict[str, np.ndarray]:
    ct.set_threads(threads)
    for _ in range(steps):
        sim.step()
    return sim.state()


@pytest.mark.parametrize("scheme", ["semi-implicit", "optimization"])
@pytest.mark.parametrize(("d", "precision"), [(2, "double"), (2, "single"), (3, "double")])
def test_same_bits_for_any_number_of_threads(scheme: str, d: int, precision: str) -> None:
    one = state_after(busy_world(scheme, d, precision), 5, 1)
    for threads in (1, 2, 3):
        assert same_bits(one, state_after(busy_world(scheme, d, precision), 5, threads)), f"{threads} threads"
    assert not same_bits(one, state_after(busy_world(scheme, d, precision, nudge=1e-6), 5, 1))


@pytest.mark.parametrize("scheme", ["semi-implicit", "optimization"])
def test_continuing_from_a_checkpoint_gives_the_same_bits(scheme: str, tmp_path: Path) -> None:
    whole = busy_world(scheme, 2)
    state = state_after(whole, 5, 1)
    write_checkpoint(tmp_path / "c.npz", Checkpoint(5, 0, whole.time, state))
    second = busy_world(scheme, 2)
    second.load_state(read_checkpoint(tmp_path / "c.npz").state)
    assert same_bits(state_after(whole, 5, 1), state_after(second, 5, 1))


class Fluff(ct.materials.PythonMaterial):
    def energy(self, F, state):
        return 1e4 * ((F - np.eye(F.shape[-1])) ** 2).sum(axis=(-2, -1))

    def stress(self, F, state):
        return 2e4 * (F - np.eye(F.shape[-1]))


@pytest.mark.parametrize("scheme", ["semi-implicit", "optimization"])
def test_python_materials_are_refused(scheme: str) -> None:
    sim = ct.Simulation(0.1, (0, 0), integrator=scheme)
    with pytest.raises(SetupError, match="second derivatives.*symplectic"):
        sim.add(ct.shapes.Box((0, 0), (1, 1)), Fluff())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "linear"}, "smooth B-splines: use kernel quadratic"),
        ({"stress_transfer": "mls"}, 'leave stress_transfer at "gradient"'),
        ({"deformation": "exponential"}, 'deformation at "safe"'),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, str], message: str) -> None:
    sim, _ = block_above_floor("optimization", **settings)
    with pytest.raises(SetupError, match=message):
        sim.step()


def test_linear_splines_fit_explicit_positions() -> None:
    sim, body = block_above_floor(Optimization(positions="explicit"), kernel="linear")
    for _ in range(15):
        sim.step()
    assert body.max_speed < 6


def test_scheme_settings_are_checked() -> None:
    with pytest.raises(SetupError, match="implicitness"):
        SemiImplicit(implicitness=1.5)
    with pytest.raises(SetupError, match="krylov"):
        Optimization(krylov="cr")
    with pytest.raises(SetupError, match="unknown integrator.*optimization"):
        ct.Simulation(0.1, (0, 0), integrator="implicit")


def test_steps_that_do_not_converge_are_halved() -> None:
    sim, _ = block_above_floor(Optimization(max_iterations=2))
    bounds, steps = [], []
    while sim.time < 0.1:
        steps.append(sim.step(0.1 - sim.time))
        bounds.append(sim.bound.name)
    assert "solver: max_iter" in bounds
    free, _ = block_above_floor(Optimization())
    while free.time < 0.1:
        free.step(0.1 - free.time)
    assert free.steps < len(steps)


def test_a_step_that_never_converges_ends_with_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    minimise = implicit.minimise

    def stuck(*arguments: Any) -> tuple[np.ndarray, Report]:
        v, report = minimise(*arguments)
        return v, replace(report, status="stuck")

    monkeypatch.setattr(implicit, "minimise", stuck)
    sim, _ = block_above_floor("optimization")
    with pytest.raises(InstabilityError, match=r'ended as "stuck".*"body1" \(fixed-corotated\)'):
        sim.step()


def test_info_shows_steps_iterations_and_time(tmp_path: Path) -> None:
    sim, _ = block_above_floor("optimization")
    sim.run(0.1, fps=40, output=tmp_path / "run")
    facts = collect(RunFolder(tmp_path / "run"))
    assert facts["mean_dt"] == pytest.approx(sim.time / sim.steps)
    total = sim.steppers["main"].report["total_newton_iterations"]
    assert facts["iterations"]["newton"] == pytest.approx(total / sim.steps)
    assert facts["iterations"]["krylov"] > facts["iterations"]["newton"] > 1
    text = dict(lines(tmp_path / "run", facts))
    assert "mean dt" in text["steps"]
    assert text["per step"].startswith(f"{total / sim.steps:.1f} Newton and ")
    assert "solve" in facts["seconds"]
    explicit, _ = block_above_floor("symplectic")
    explicit.run(0.025, fps=40, output=tmp_path / "explicit")
    assert "per step" not in dict(lines(tmp_path, collect(RunFolder(tmp_path / "explicit"))))


def test_reports_of_the_last_step_hold_the_energy_of_every_iteration() -> None:
    sim, _ = block_above_floor("optimization")
    sim.step()
    (report,) = sim.solves
    energies = [energy for _, energy in report.history]
    assert len(energies) == report.iterations + 1 and report.converged
    assert all(b <= a for a, b in zip(energies, energies[1:], strict=False))
    explicit, _ = block_above_floor("symplectic")
    explicit.step()
    assert explicit.solves == []
