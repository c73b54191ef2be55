"""Memory follows the particles and the blocks they occupy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import continua as ct
from continua.errors import SetupError
from continua.io.machine import container_free
from continua.memory import emitted


def test_a_snow_particle_takes_at_most_260_bytes_in_single_precision() -> None:
    sim = ct.Simulation(0.02, precision="single")
    body = sim.add(ct.shapes.Box((0, 0.2, 0), (0.4, 0.4, 0.4)), ct.materials.Snow())
    sim.step()
    (exchange,) = sim.steppers["main"].field.exchanges[0]
    sorting = exchange.order.order.nbytes + len(body)  # a number and the cell of each
    needed = body.set.arrays.nbytes + body.set.next_arrays.nbytes + sorting
    assert needed <= body.nbytes <= 260 * len(body)


def test_the_grid_holds_only_occupied_blocks() -> None:
    def blocks(distance: float) -> int:
        sim = ct.Simulation(0.1, gravity=(0, 0, 0))
        for x in (0.0, distance):
            sim.add(ct.shapes.Sphere((x, 0, 0), 0.4), ct.materials.NeoHookean())
        sim.step()
        return sim.steppers["main"].field.grid.blocks

    near, far = blocks(40.0), blocks(4e5 / 10)  # 400 and 400 000 cells apart
    assert far == near < 200


MEASURE = """
import gc, json, sys, tempfile
import continua as ct

import numpy as np

kind, d, precision, integrator, count = json.loads(sys.argv[1])

def made(count):
    if kind == "mesh":
        sim = ct.Simulation(0.1, (0, -9.81, 0)[:d], integrator=integrator)
        box = ct.meshes.BoxMesh((0,) * d, (1,) * d, (round(count ** (1 / d)),) * d)
        sim.add(ct.SolidBody(box, ct.materials.NeoHookean(), velocity=lambda x: 0.3 * np.sin(3 * x)))
        return sim
    if kind == "scattered":
        sim = ct.Simulation(1.0, (0, -9.81, 0)[:d], precision=precision, integrator=integrator)
        places = np.random.default_rng(0).uniform(0, 10 * count ** (1 / d), (count, d))
        sim.add(ct.shapes.Points(places), ct.materials.Snow())
        return sim
    dx = 2 / count ** (1 / d)
    sim = ct.Simulation(dx, (0, -9.81, 0)[:d], precision=precision, integrator=integrator)
    water = ct.materials.IncompressibleFluid.water()
    sim.add(ct.shapes.Box((0,) * d, (1,) * d), water if integrator == "incompressible" else ct.materials.Snow())
    return sim

fps = 500 if kind == "mesh" else 1e5

def status(name):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

with tempfile.TemporaryDirectory() as folder:
    made(2000).run(frames=1, fps=fps, output=folder + "/small")
    gc.collect()
    open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
    before = status("VmRSS")
    sim = made(count)
    estimate = sim.summary().memory
    sim.run(frames=1, fps=fps, output=folder + "/large")
    print(json.dumps([status("VmHWM") - before, estimate]))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize(
    ("kind", "d", "precision", "integrator", "count"),
    [
        ("box", 3, "double", "symplectic", 80_000),
        ("box", 3, "single", "symplectic", 80_000),
        ("box", 2, "double", "symplectic", 80_000),
        ("box", 3, "double", "semi-implicit", 80_000),
        ("box", 3, "double", "incompressible", 80_000),
        ("scattered", 3, "double", "symplectic", 10_000),
        ("scattered", 3, "single", "semi-implicit", 2_000),
        ("mesh", 3, "double", "optimization", 8_000),
        ("mesh", 2, "double", "optimization", 22_500),
    ],
)
def test_the_estimate_is_within_20_percent_of_the_peak(
    kind: str, d: int, precision: str, integrator: str, count: int
) -> None:
    wish = json.dumps([kind, d, precision, integrator, count])
    done = subprocess.run([sys.executable, "-c", MEASURE, wish], capture_output=True, text=True, check=True)
    measured, estimate = json.loads(done.stdout)
    assert estimate == pytest.approx(measured, rel=0.2)


def test_what_does_not_fit_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("continua.memory.available_memory", lambda: int(1e8))
    sim = ct.Simulation(0.005)
    ball = ct.shapes.Sphere((0, 0, 0), 0.5)
    for shape in (ball, ball - ct.shapes.Sphere((0, 0.4, 0), 0.3)):  # of known and of unknown volume
        with pytest.raises(SetupError, match=r"would have about [\d.]+e\+07 particles, which need [\d.]+ GB"):
            sim.add(shape, ct.materials.Snow())
    assert not sim.bodies
    sim = ct.Simulation(0.1)
    sim.add(ball, ct.materials.Snow())


def test_what_an_emitter_will_add_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    sim = ct.Simulation(0.05, (0, -9.81))
    jet = sim.add(ct.Emitter(ct.shapes.Box((0, 0), (0.4, 0.1)), ct.materials.Liquid(), velocity=(0, -2)))
    expected = emitted(sim, jet, 0.5)
    while sim.time < 0.5:
        sim.step(0.5 - sim.time)
    assert len(jet) == pytest.approx(expected, rel=0.05)
    monkeypatch.setattr("continua.memory.available_memory", lambda: int(1e8))
    with pytest.raises(
        SetupError, match=r"this run needs about .* more memory, but 100 MB are free: use a larger dx"
    ):
        sim.run(1e4)


@pytest.mark.parametrize(
    ("version", "files"),
    [
        ("0::/", {"memory.max": "1000", "memory.current": "400", "memory.stat": "inactive_file 100\n"}),
        (
            "3:memory:/",
            {
                "memory/memory.limit_in_bytes": "1000",
                "memory/memory.usage_in_bytes": "400",
                "memory/memory.stat": "inactive_file 100\n",
            },
        ),
    ],
)
def test_limits_of_containers_count(version: str, files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert container_free(version, tmp_path) == [700]
