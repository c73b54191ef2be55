"""`run`, `info` and `resume` of scenes with mesh bodies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_process import Call

MESHES = """
title = "A block and a rope"
[simulation]
dx = 0.1
gravity = [0.0, -9.81]
integrator = "optimization"
[[solid]]
name = "block"
mesh = { type = "box-mesh", lower = [0.0, 0.1], upper = [1.0, 1.1], counts = [2, 2] }
material = { type = "neo-hookean", E = 1e5 }
[[springs]]
name = "rope"
springs = { type = "chain", points = [[2.0, 1.0], [2.5, 1.0], [3.0, 1.0]] }
mass = 1.0
scripted = [{ vertices = [0] }]
[[collider]]
type = "plane"
normal = [0.0, 1.0]
[run]
duration = 0.4
fps = 10
"""
SNOW = """
[[body]]
name = "snow"
shape = { type = "sphere", center = [5.0, 0.6], radius = 0.3 }
material = { type = "snow", E = 1e4 }
"""


@pytest.fixture
def meshes(tmp_path: Path) -> Path:
    path = tmp_path / "meshes.toml"
    path.write_text(MESHES)
    return path


def test_meshes_alone(cli: Call, meshes: Path) -> None:
    meshes.write_text(MESHES.replace('integrator = "optimization"\n', ""))
    done = cli("run", meshes.name, "--set", "integrator=optimization")
    assert done.returncode == 0, done.stderr
    for part in (
        "block  neo-hookean  9 vertices, 8 triangles  1000 kg/m\n",
        "rope   springs      3 vertices, 2 springs    1 kg/m\n",
        "together   12 vertices, 8 triangles, 2 springs, 1001 kg/m\n",
        "time step  about 0.1 s, limited by: end of frame",
        "about 4 steps",
        "vertex-steps/s",
    ):
        assert part in done.stdout, done.stdout
    assert "particle" not in done.stdout and "waves" not in done.stdout
    shown = cli("info", "out/meshes").stdout
    assert "double precision, 12 vertices, 8 triangles, 2 springs\n" in shown
    assert "Newton and" in shown and "Krylov iterations" in shown
    assert "time spent  meshes" in shown and "p2g" not in shown and "particle" not in shown


def test_meshes_and_particles(cli: Call, meshes: Path) -> None:
    meshes.write_text(MESHES + SNOW)
    done = cli("run", meshes.name)
    assert done.returncode == 0, done.stderr
    assert "particles, 12 vertices, 8 triangles, 2 springs" in done.stdout
    assert "particle-steps/s" in done.stdout and "vertex-steps/s" in done.stdout
    assert "elastic waves" not in done.stdout  # they do not limit implicit steps
    shown = cli("info", "out/meshes").stdout
    assert "particles, 12 vertices" in shown and "solve" in shown


def test_json_counts_vertices_and_a_run_goes_on(cli: Call, meshes: Path) -> None:
    report = json.loads(cli("run", meshes.name, "--json", "--frames", 2, "-o", "here").stdout)
    assert (report["particles"], report["vertices"]) == (0, 12)
    assert report["vertex_steps_per_second"] > 0
    assert cli("resume", "here", "--frames", 4).returncode == 0
    facts = json.loads(cli("info", "here", "--json").stdout)
    assert (facts["frames"], facts["status"]) == (5, "finished")
    assert facts["iterations"]["newton"] >= 1
