"""The Python API: setting up, stepping, saving, and what goes wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.errors import (
    GeometryError,
    InstabilityError,
    MaterialError,
    OutputError,
    SetupError,
    TimeStepError,
)
from continua.io import RunFolder


def ball(precision: str = "double", **options: object) -> ct.Simulation:
    sim = ct.Simulation(dx=0.05, gravity=(0, -9.81, 0), precision=precision, **options)
    sim.add(ct.shapes.Sphere((0, 0.16, 0), 0.15), ct.materials.Snow(), velocity=(0, -5, 0), name="ball")
    sim.add(ct.colliders.Plane((0, 1, 0), friction=0.5))
    return sim


def bits(sim: ct.Simulation) -> dict[str, bytes]:
    return {key: array.tobytes() for key, array in sim.state().items()}


def test_body_x_is_a_view_and_fields_are_in_order_of_creation() -> None:
    sim = ball()
    body = sim.bodies[0]
    start = body.fields()["x"]
    assert np.shares_memory(body.x, body.set.arrays.x) and body.x.shape == (len(body), 3)
    for _ in range(10):
        sim.step()
    assert not np.array_equal(body.ids, np.arange(len(body)))  # sorted by block meanwhile
    moved = body.fields()["x"] - start
    assert np.array_equal(body.fields()["id"], np.arange(len(body)))
    assert np.abs(moved - moved.mean(axis=0)).max() < 0.05


@pytest.mark.parametrize("precision", ["double", "single"])
def test_resume_gives_the_same_bits_as_the_uninterrupted_run(tmp_path: Path, precision: str) -> None:
    whole = ball(precision)
    whole.run(frames=8, fps=240, output=tmp_path / "whole", checkpoint_interval=3)
    first = ball(precision)
    first.run(frames=5, fps=240, output=tmp_path / "parts", checkpoint_interval=3)
    (tmp_path / "parts" / "checkpoints").joinpath(
        sorted((tmp_path / "parts" / "checkpoints").iterdir())[-1]
    ).unlink()
    second = ball(precision)
    second.run(frames=8, fps=240, output=tmp_path / "parts", checkpoint_interval=3, resume=True)
    assert bits(second) == bits(whole)
    for index in range(9):
        a, b = (RunFolder(tmp_path / name).read_frame(index) for name in ("whole", "parts"))
        assert a.time == b.time and all(
            np.array_equal(a.bodies[0].arrays[k], b.bodies[0].arrays[k]) for k in ("x", "v")
        )
    times = RunFolder(tmp_path / "parts").diagnostics()["time"]
    assert np.allclose(times, np.arange(9) / 240, rtol=0, atol=1e-15)


def test_frames_land_exactly_on_their_times(tmp_path: Path) -> None:
    sim = ball()
    sim.run(duration=3 / 24, fps=24, output=tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    assert [folder.read_frame(i).time for i in folder.frame_indices()] == [i / 24 for i in range(4)]
    assert folder.status == "finished"


def test_every_step_of_a_run_is_seen_with_the_times_of_frames_exact() -> None:
    sim, times = ball(), [0.0]
    sim.run(frames=3, fps=24, after_step=lambda seen: times.append(seen.time))
    assert len(times) == sim.steps + 1 and (np.diff(times) > 0).all()
    assert {1 / 24, 2 / 24, 3 / 24} <= set(times)


def test_ctrl_c_within_a_run_leaves_a_checkpoint(tmp_path: Path) -> None:
    import os
    import signal

    sim = ball()

    def stop(progress: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sim.run(frames=50, fps=240, output=tmp_path / "run", progress=stop)
    folder = RunFolder(tmp_path / "run")
    checkpoint = folder.last_checkpoint()
    assert folder.status == "interrupted" and checkpoint is not None and checkpoint.step == sim.steps > 0


def test_a_fixed_dt_beyond_a_bound_is_refused_with_bound_and_material() -> None:
    sim = ball(dt=1e-2)
    with pytest.raises(TimeStepError, match=r'elastic bound .* of body "ball" \(snow\)'):
        sim.step()
    forced = ball(dt=1.2e-3, force_dt=True)
    assert forced.step() == 1.2e-3


def test_nan_stops_at_once_and_names_the_particle_and_the_checkpoint(tmp_path: Path) -> None:
    sim = ball()
    sim.run(frames=1, fps=240, output=tmp_path / "run")
    body = sim.bodies[0]
    body.v[7] = np.nan
    number = body.ids[7]
    before = body.x.copy()
    with pytest.raises(InstabilityError, match='particle \\d+ of body "ball" .snow. .*F = .*dt = .* set by'):
        sim.step()
    assert np.array_equal(body.x, before) and number in body.ids  # the state before the step is kept


def test_an_exploding_run_fails_with_its_last_checkpoint(tmp_path: Path) -> None:
    sim = ct.Simulation(dx=0.05, dt=2e-2, force_dt=True)  # several times the stable step
    sim.add(ct.shapes.Box((0, 0.2, 0), (0.4, 0.4, 0.4)), ct.materials.NeoHookean(E=1e5))
    sim.add(ct.colliders.Plane((0, 1, 0)))
    with pytest.raises(InstabilityError, match="last good checkpoint"):
        sim.run(duration=5, output=tmp_path / "run")
    assert RunFolder(tmp_path / "run").status == "failed"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: ct.materials.Snow(density=0), MaterialError, "density"),
        (lambda: ct.materials.Snow(density=-1), MaterialError, "density"),
        (lambda: ct.materials.NeoHookean(nu=0.5), MaterialError, "nu"),
        (lambda: ct.Simulation(dx=0), SetupError, "dx must be a positive"),
        (lambda: ct.Simulation(0.1, gravity=(1,)), SetupError, "gravity needs two"),
        (lambda: ct.Simulation(0.1, transfer="flop"), SetupError, "pic, flip, rpic, apic, polypic"),
        (lambda: ct.Simulation(0.1, kernel="quintic"), SetupError, "linear, quadratic, cubic"),
        (lambda: ct.Simulation(0.1).add(ct.shapes.Sphere((0, 0), 1), ct.materials.Snow()), SetupError, "2D"),
        (lambda: ct.Simulation(0.1).add(ct.shapes.Sphere((0, 0, 0), 1)), SetupError, "needs a material"),
        (
            lambda: ct.Simulation(0.1).add(ct.shapes.Sphere((0, 0, 0), 1e-3), ct.materials.Snow()),
            GeometryError,
            "",
        ),
        (lambda: ct.Simulation(0.1).run(1.0), SetupError, "nothing to simulate"),
        (lambda: ball().run(), SetupError, "duration"),
        (
            lambda: ball().add(ct.shapes.Sphere((0, 0, 0), 1), ct.materials.Snow(), name="ball"),
            SetupError,
            "already used",
        ),
        (lambda: ct.Simulation(0.1).add(ct.boundaries.Periodic(0, 0.0, 1.0)), SetupError, "multiple of 4 dx"),
    ],
)
def test_mistakes_give_one_sentence(make: object, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        make()  # type: ignore[operator]
    assert "\n" not in str(caught.value)


def test_an_output_folder_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a folder")
    with pytest.raises(OutputError):
        ball().run(frames=1, output=file / "run")
    assert file.read_text() == "not a folder"


def test_thin_colliders_are_warned_about() -> None:
    sim = ct.Simulation(dx=0.1)
    with pytest.warns(UserWarning, match="less than 2 dx"):
        sim.add(ct.colliders.Box((0, 0, 0), (1, 0.1, 1)))
    assert sim.summary().warnings


def test_summary_counts_particles_mass_and_the_expected_step() -> None:
    summary = ball().summary()
    volume = 4 / 3 * np.pi * 0.15**3
    assert summary.mass == pytest.approx(400 * volume) and summary.particles > 500
    assert summary.expected_dt == pytest.approx(0.4 * 0.05 / summary.wave_speed)
    assert summary.dt_bound == "elastic (ball)"


def test_two_schemes_and_bodies_share_one_grid() -> None:
    sim = ct.Simulation(dx=0.1, gravity=(0, 0), transfer=ct.transfers.FLIP(0.95))
    a = sim.add(ct.shapes.Box((-0.3, 0), (0.4, 0.4)), ct.materials.NeoHookean(), velocity=(2, 0))
    b = sim.add(ct.shapes.Box((0.3, 0), (0.4, 0.4)), ct.materials.FixedCorotated(density=2000))
    for _ in range(60):
        sim.step()
    assert b.v[:, 0].mean() > 0.3 and a.v[:, 0].mean() < 1.7  # they met
    momentum = sim.diagnostics()["momentum_x"]
    assert momentum == pytest.approx(2 * a.mass.sum(), rel=1e-12)
