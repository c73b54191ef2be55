"""Drains: what flows in is there or has left, particles keep their numbers, and runs resume with the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua.errors import SetupError
from continua.io import RunFolder, export
from continua.materials import FixedCorotated, NeoHookean, Snow
from continua.transfers import PolyPIC

DX, SPEED = 0.05, 2.0
JELLY = NeoHookean(1e4, 0.3, 900.0)


def box(d: int, x: float, length: float = 0.1) -> ct.shapes.Box:
    """A slice of the channel along x."""
    return ct.shapes.Box((x, *[0.0] * (d - 1)), (length, *[0.2] * (d - 1)))


def channel(
    d: int = 2, *, drains: tuple[ct.Drain, ...] | None = None, **options: Any
) -> tuple[ct.Simulation, ct.Body]:
    """A stream from x = 0 that vanishes at x = 0.41 m."""
    sim = ct.Simulation(DX, (0.0,) * d, **options)
    stream = ct.Emitter(
        box(d, 0.0), JELLY, (SPEED, 0.0, 0.0)[:d], name="stream", fields={"dye": lambda x: x[:, 1]}
    )
    body = sim.add(stream)
    for drain in (ct.Drain(box(d, 0.51, 0.2)),) if drains is None else drains:
        sim.add(drain)
    return sim, body


def advance(sim: ct.Simulation, duration: float) -> None:
    end = sim.time + duration
    while sim.time < end - 1e-12:
        sim.step(end - sim.time)


def bits(sim: ct.Simulation) -> dict[str, bytes]:
    return {key: array.tobytes() for key, array in sim.state().items()}


@pytest.mark.parametrize("transfer", ["apic", "flip", "pic", PolyPIC()], ids=str)
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("d", [2, 3])
def test_mass_in_is_mass_there_and_mass_out(d: int, precision: str, transfer: Any) -> None:
    sim, body = channel(d, precision=precision, transfer=transfer)
    emitted, seen, present = 0.0, 0, []
    while sim.time < 0.6:
        sim.step()
        emitted += float((body.mass[0].astype(np.float64) if len(body) else 0.0) * (body.set.created - seen))
        seen = body.set.created
        present.append(len(body))
        assert body.x[:, 0].max(initial=0.0) <= 0.41  # nothing is left inside
        assert len(np.unique(body.ids)) == len(body) and body.ids.max(initial=-1) < seen
    there, gone = float(body.mass.sum(dtype=np.float64)), sim.drained["drain1"]
    assert gone > 0.5 * emitted and there > 0.1 * emitted
    assert abs(emitted - gone - there) <= 1e-12 * emitted
    assert abs(emitted - 0.99 * gone - there) > 1e-12 * emitted  # one per cent lost would be noticed
    assert any(b < a for a, b in zip(present, present[1:]))  # the count shrinks now and then
    row = sim.diagnostics()
    assert row["drained"] == gone and row["mass"] == pytest.approx(there, rel=1e-12)
    # Those that stay are a seamless stream: their arrays were closed up without mixing them.
    assert np.abs(body.v - np.eye(d)[0] * SPEED).max() <= (1e-11 if precision == "double" else 2e-5)
    np.testing.assert_allclose(body.state["dye"], body.x[:, 1], atol=1e-6)


def test_without_drains_there_is_no_column() -> None:
    sim, _ = channel(drains=())
    sim.step()
    assert "drained" not in sim.diagnostics() and sim.drained == {}


def test_drain_is_open_between_start_and_stop() -> None:
    sim, body = channel(drains=(ct.Drain(box(2, 0.5, 0.2), 0.3, 0.4, name="hole"),))
    advance(sim, 0.29)
    assert sim.drained == {"hole": 0.0} and body.x[:, 0].max() > 0.5
    advance(sim, 0.02)
    assert sim.drained["hole"] > 0 and not ((body.x[:, 0] > 0.4) & (body.x[:, 0] < 0.6)).any()
    advance(sim, 0.2)
    closed = sim.drained["hole"]
    advance(sim, 0.1)
    assert sim.drained["hole"] == closed and ((body.x[:, 0] > 0.4) & (body.x[:, 0] < 0.6)).any()


def test_drain_for_one_body_leaves_the_others() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0))
    ball = sim.add(ct.shapes.Sphere((0, 0), 0.2), JELLY, name="ball")
    rest = sim.add(ct.shapes.Sphere((0.5, 0), 0.2), JELLY, name="rest")
    sim.add(ct.Drain(ct.shapes.Box((0.0, 0.0), (4.0, 4.0)), body="ball", name="hole"))
    counts, mass = len(rest), float(ball.mass.sum())
    sim.step()
    assert (len(ball), len(rest)) == (0, counts)
    assert sim.drained == {"hole": pytest.approx(mass, rel=1e-14)}
    sim.step()
    assert sim.drained["hole"] == pytest.approx(mass, rel=1e-14)


def test_an_emptied_body_does_not_limit_the_time_step() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0))
    fast = sim.add(ct.shapes.Sphere((0, 0), 0.2), FixedCorotated(1e2), velocity=(100.0, 0.0), name="fast")
    slow = sim.add(ct.shapes.Sphere((5, 0), 0.2), FixedCorotated(1e2))
    sim.add(ct.Drain(ct.shapes.Box((0.0, 0.0), (4.0, 4.0)), body="fast"))
    first = sim.step()
    assert len(fast) == 0 and sim.choose_dt().dt > 10 * first
    assert sim.choose_dt().dt == pytest.approx(0.4 * DX / slow.max_wave_speed)
    sim.step()
    assert sim.diagnostics()["particles"] == len(slow)


def random_body(count: int = 40) -> ct.Body:
    body = ct.ParticleBody("b", Snow(), 2, np.float64, modes=2, fields={"dye": lambda x: x[:, 0]})
    rng = np.random.default_rng(0)
    body.append(
        rng.normal(size=(count, 2)),
        rng.normal(size=(count, 2)),
        rng.normal(size=(count, 2, 2)),
        rng.random(count),
    )
    body.F = rng.normal(size=(count, 2, 2))
    body.set.arrays.modes[:count, :, :2] = rng.normal(size=(count, 2, 2))
    return body


def columns(body: ct.Body, some: NDArray) -> dict[str, NDArray]:
    return {name: body.set.arrays.part(name, some) for name in body.set.arrays.NAMES}


@pytest.mark.parametrize("gone", [[0], [39], [3, 4, 17], list(range(40)), []], ids=str)
def test_removing_keeps_the_order_and_the_numbers(gone: list[int]) -> None:
    body = random_body()
    mask = np.isin(np.arange(40), gone)
    kept = columns(body, np.flatnonzero(~mask))
    body.remove(mask)
    assert len(body) == 40 - len(gone) and body.set.created == 40
    for name, array in columns(body, np.arange(len(body))).items():
        assert np.array_equal(array, kept[name]), name
    tail = np.arange(len(body), 40)
    for arrays in (body.set.arrays, body.set.next_arrays):
        assert all(not arrays.part(name, tail).any() for name in arrays.NAMES if name != "F")
        assert np.array_equal(arrays.part("F", tail), np.tile([[1], [0], [0], [1]], len(tail)))


def test_new_particles_get_new_numbers_and_start_fresh() -> None:
    body = random_body()
    body.remove(np.arange(40) >= 30)
    again = ct.ParticleBody("b", Snow(), 2, np.float64, modes=2, fields={"dye": 0.0})
    again.restore(body.snapshot())
    for one in (body, again):
        one.append(np.zeros((5, 2)), np.zeros((5, 2)), np.zeros((5, 2, 2)), np.ones(5))
        assert one.ids.tolist() == [
            *range(30),
            *range(40, 45),
        ]  # counting what is there would repeat 30 to 34
        assert np.array_equal(one.F[30:], np.tile(np.eye(2), (5, 1, 1)))
        assert not one.set.arrays.modes[30:35].any() and (one.state["Jp"][30:] == 1).all()


def test_places_that_were_left_are_fresh_after_the_next_step() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0))
    body = sim.add(ct.shapes.Sphere((0, 0), 0.2), JELLY, velocity=lambda x: -3 * x)
    sim.step()
    sim.step()  # now both sets of arrays hold strained particles
    body.remove(np.arange(len(body)) >= 10)
    sim.step()
    body.append(np.zeros((5, 2)), np.zeros((5, 2)), np.zeros((5, 2, 2)), np.ones(5))
    assert np.array_equal(body.F[10:], np.tile(np.eye(2), (5, 1, 1)))
    assert (np.abs(body.F[:10] - np.eye(2)).max(axis=(1, 2)) > 0).all()


@pytest.mark.parametrize("mask", [np.zeros(3, bool), np.zeros(40), [0, 1], None], ids=repr)
def test_remove_needs_a_mask(mask: Any) -> None:
    with pytest.raises(SetupError, match=r"mask of shape \(40,\)"):
        random_body().remove(mask)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("transfer", ["flip", PolyPIC()], ids=str)
def test_resumed_run_keeps_the_bits_and_frames_are_readable(d: int, transfer: Any, tmp_path: Path) -> None:
    def run(name: str, frames: int, **options: Any) -> ct.Simulation:
        sim, _ = channel(
            d, transfer=transfer, drains=(ct.Drain(box(d, 0.3, 0.2)), ct.Drain(box(d, 0.5, 0.2)))
        )
        sim.run(frames=frames, fps=40, output=tmp_path / name, checkpoint_interval=1, **options)
        return sim

    whole = run("whole", 12)
    run("parts", 8)
    parts = run("parts", 12, resume=True)
    assert whole.drained["drain1"] > 0 and whole.drained == parts.drained
    assert bits(parts) == bits(whole)

    folder = RunFolder(tmp_path / "parts")
    table = folder.diagnostics()
    assert (np.diff(table["drained"]) >= 0).all() and table["drained"][-1] == whole.drained["drain1"]
    for frame in folder.frames():
        ids = frame.bodies[0].arrays["id"]
        assert len(frame.bodies[0]) == int(table["particles"][frame.index]) and (np.diff(ids) > 0).all()
    assert ids[0] > 0 and np.array_equal(frame.bodies[0].arrays["id"], whole.bodies[0].fields()["id"])
    for to in ("ply", "vtk"):
        assert len(export(folder.path, to, tmp_path / to)) >= 13
    with pytest.raises(SetupError, match="stored state has 2 drains but this simulation has 1"):
        channel(d, transfer=transfer)[0].load_state(whole.state())


def test_film_and_usd_cope_with_particles_that_leave(tmp_path: Path) -> None:
    sim = ct.Simulation(DX, (0.0, 0.0))
    sim.add(ct.shapes.Sphere((0, 0), 0.2), JELLY, velocity=(4.0, 0.0), fields={"dye": 1.0})
    sim.add(ct.Drain(ct.shapes.Box((1.0, 0.0), (1.0, 2.0))))
    sim.run(frames=4, fps=16, output=tmp_path / "run")
    counts = [frame.particles for frame in RunFolder(tmp_path / "run").frames()]
    assert counts[0] > counts[2] > counts[-1] == 0
    ct.render.still_of_run(tmp_path / "run", tmp_path / "last.png", frame=4, color_by="dye", size=(64, 48))
    pytest.importorskip("pxr")
    usd = pytest.importorskip("pxr.Usd")
    stage = usd.Stage.Open(str(export(tmp_path / "run", "usd")[0]))
    points = stage.GetPrimAtPath("/World/body1").GetAttribute("points")
    assert [len(points.Get(k)) for k in range(5)] == counts


# ---- mistakes ----------------------------------------------------------------------------------------------------


def test_mistakes_get_one_sentence() -> None:
    sim, _ = channel()
    shape = box(2, 0.5)
    with pytest.raises(SetupError, match=r'no body "steam" for the drain \(there are: stream\); correct'):
        sim.add(ct.Drain(shape, body="steam"))
    with pytest.raises(SetupError, match="there are: none yet"):
        ct.Simulation(DX, (0.0, 0.0)).add(ct.Drain(shape, body="stream"))
    with pytest.raises(SetupError, match="the drain is 3D but gravity makes the world 2D"):
        sim.add(ct.Drain(box(3, 0.5)))
    with pytest.raises(SetupError, match='"drain1" is already used'):
        sim.add(ct.Drain(shape, name="drain1"))
    with pytest.raises(SetupError, match='"drain1" is already used'):
        sim.add(shape, JELLY, name="drain1")
    with pytest.raises(SetupError, match="stop must be later than start"):
        ct.Drain(shape, 2.0, 1.0)
    with pytest.raises(SetupError, match="Drain takes no material"):
        sim.add(ct.Drain(shape), JELLY)
    with pytest.raises(SetupError, match="shape"):
        ct.Drain("hole")  # type: ignore[arg-type]
    assert [drain.name for drain in sim.world.drains] == list(sim.drained) == ["drain1"]
