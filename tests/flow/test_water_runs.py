"""Runs of incompressible flow: the same bits for any number of threads and after restarts, and wrong use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from water import DX, SCHEMES, WATER, G, advance, both, box, dam, room, world

import continua as ct
from continua.errors import SetupError, TimeStepError
from continua.flow.drops import Drops
from continua.integrators import Incompressible
from continua.io.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from continua.materials import IncompressibleFluid, Liquid


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = ct.threads()
    ct.set_threads(1)
    yield
    ct.set_threads(before)


# ---- the same bits ----

Scene = Callable[..., tuple[ct.Simulation, ct.Body]]


def stretch(p: NDArray, x: float) -> NDArray:
    """Velocities that carry a drop around x away and stretch it, so that pressure has something to do."""
    v = np.tile((1.0 - x, 0.2, 0.1)[: p.shape[1]], (len(p), 1))
    v[:, 0] += 2 * (p[:, 0] - x)
    return v


def splash(d: int, **options) -> tuple[ct.Simulation, ct.Body]:
    """Drops in free flight above a pool between walls off the grid, one of which moves."""
    sim = world(d, 0.04 if d == 2 else DX, **options)
    sim.add(room((0.013,) * d, (1.57, 1.2, 0.57)[:d]))
    sim.add(ct.colliders.Sphere((0.8, 0.1, 0.3)[:d], 0.21, motion=ct.motions.Linear((0.3, 0.2, 0.0)[:d])))
    pool = box((0.013,) * d, (1.57, 0.2, 0.57)[:d])
    sim.add(pool - ct.shapes.Sphere((0.8, 0.1, 0.3)[:d], 0.21), WATER, sampling="jittered")
    for x in (0.4, 1.2):
        drop = ct.shapes.Sphere((x, 0.75, 0.29)[:d], 0.18)
        sim.add(drop, WATER, velocity=lambda p, x=x: stretch(p, x), sampling="jittered")
    return sim, sim.bodies[0]


def state_after(threads: int, steps: int, make: Scene = dam, **options) -> dict[str, bytes]:
    ct.set_threads(threads)
    sim, _ = make(**options)
    for _ in range(steps):
        sim.step()
    return {key: array.tobytes() for key, array in sim.state().items()}


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("scheme", ["flip", "apic", "polypic"])
@both
def test_threads_do_not_change_a_bit(d: int, scheme: str, precision: str) -> None:
    options = {"d": d, "transfer": SCHEMES[scheme], "precision": precision}
    if d == 2:
        options["dx"] = 0.02
    one = state_after(1, 5, **options)
    assert one == state_after(2, 5, **options) == state_after(3, 5, **options)
    assert one != state_after(1, 5, **options, gravity=(1e-9, -G, 0))


@pytest.mark.parametrize("precision", ["double", "single"])
@both
def test_threads_do_not_change_a_bit_of_drops_and_walls(
    d: int, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    free, restore = [], Drops.restore

    def restored(drops, mass, velocity):
        free.append(drops.count)
        restore(drops, mass, velocity)

    monkeypatch.setattr(Drops, "restore", restored)
    options = {"d": d, "precision": precision}
    one = state_after(1, 4, splash, **options)
    assert one == state_after(2, 4, splash, **options) == state_after(3, 4, splash, **options)
    assert min(free) >= 2
    monkeypatch.setattr(Drops, "restore", lambda *_: None)
    assert one != state_after(1, 4, splash, **options)


def test_drops_continue_from_a_checkpoint_with_the_same_bits(tmp_path: Path) -> None:
    whole, _ = splash(2)
    for _ in range(5):
        whole.step()
    write_checkpoint(tmp_path / "c.npz", Checkpoint(5, 0, whole.time, whole.state()))
    second, _ = splash(2)
    second.load_state(read_checkpoint(tmp_path / "c.npz").state)
    for sim in (whole, second):
        for _ in range(5):
            sim.step()
    first, again = whole.state(), second.state()
    assert all(first[key].tobytes() == again[key].tobytes() for key in first)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_continuing_from_a_checkpoint_gives_the_same_bits(scheme: str, tmp_path: Path) -> None:
    whole, _ = dam(transfer=SCHEMES[scheme])
    for _ in range(10):
        whole.step()
    write_checkpoint(tmp_path / "c.npz", Checkpoint(10, 0, whole.time, whole.state()))
    second, _ = dam(transfer=SCHEMES[scheme])
    second.load_state(read_checkpoint(tmp_path / "c.npz").state)
    for sim in (whole, second):
        for _ in range(10):
            sim.step()
    first, again = whole.state(), second.state()
    assert all(first[key].tobytes() == again[key].tobytes() for key in first)


# ---- what a user may do wrong ----


def test_materials_and_integrators_must_fit() -> None:
    with pytest.raises(
        SetupError, match='integrator="incompressible" is for IncompressibleFluid, not for liquid'
    ):
        world(2).add(box((0, 0), (1, 1)), Liquid())
    with pytest.raises(SetupError, match='needs integrator="incompressible"'):
        ct.Simulation(DX, (0, -G)).add(box((0, 0), (1, 1)), WATER)
    with pytest.raises(SetupError, match="the same density and viscosity"):
        sim = world(2)
        sim.add(box((0, 0), (1, 1)), WATER)
        sim.add(box((1, 0), (2, 1)), IncompressibleFluid(900.0))
    with pytest.raises(SetupError, match="the same density and viscosity"):
        sim.add(ct.Emitter(box((1, 0), (2, 1)), IncompressibleFluid(1400.0, 10.0), (1.0, 0.0)))
    with pytest.raises(SetupError, match='unknown integrator "implicit"'):
        ct.Simulation(DX, (0, -G), integrator="implicit")
    for name, value in {"tolerance": 0, "max_iterations": 0, "volume_control": 1.5}.items():
        with pytest.raises(SetupError, match=name):
            Incompressible(**{name: value})


SCENE = """
[simulation]
dx = 0.1
gravity = [0.0, -9.81]
integrator = { type = "incompressible", max_iterations = 1, tolerance = 1e-12 }
[[body]]
shape = { type = "sphere", center = [0.5, 0.5], radius = 0.3 }
material = { type = "incompressible-fluid" }
[[collider]]
type = "plane"
normal = [0.0, 1.0]
point = [0.0, 0.3]
[run]
duration = 0.1
"""


def test_the_command_line_shows_the_sentence_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(SCENE)
    command = [sys.executable, "-m", "continua", "run", "scene.toml", "--output", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0 and "Traceback" not in said
    assert "max_iterations" in said and "did not converge" in said


def test_no_water_at_all_is_no_trouble() -> None:
    sim = world(2)
    sim.add(room((0, 0), (1, 1)))
    late = ct.Emitter(box((0.4, 0.4), (0.6, 0.6)), WATER, (0.0, -1.0), start=0.05)
    water = sim.add(late)
    advance(sim, 0.04, 0.01)
    assert len(water) == 0
    advance(sim, 0.2, 0.01)
    assert len(water) > 0


def test_a_fixed_dt_that_falls_too_far_is_refused() -> None:
    sim = ct.Simulation(0.1, (0.0, -G), integrator="incompressible", dt=0.2)
    sim.add(box((0, 0), (1, 1)), WATER)
    with pytest.raises(TimeStepError, match=r"gravity bound 0\.11\d* s: particles would cross"):
        sim.step()
