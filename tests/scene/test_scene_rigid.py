"""Rigid bodies in scene files: what they say is what is simulated, saved, resumed and drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.errors import SceneError
from continua.io import RunFolder
from continua.scene import open_scene
from continua.scene.build import build

TEXT = """
[simulation]
dx = 0.1
gravity = [0.0, -9.81, 0.0]

[[rigid]]
name = "wheel"
shape = { type = "box", center = [0.0, 0.6, 0.0], size = [1.0, 0.3, 0.3] }
density = 500
axle = { point = [0.0, 0.6, 0.0], direction = [0.0, 0.0, 1.0], motor = { speed = 2.0 }, drag = 0.1 }

[[rigid]]
shape = { type = "sphere", center = [2.5, 0.5, 0.0], radius = 0.2 }
mass = 8.0
velocity = { linear = [-1.0, 0.0, 0.0], angular = [0.0, 0.0, 3.0], type = "rigid" }
restitution = 0.4

[[collider]]
type = "plane"
normal = [0.0, 1.0, 0.0]
friction = 0.4

[run]
duration = 0.25
fps = 12
"""


def scene(tmp_path: Path, old: str = "", new: str = "") -> ct.scene.Scene:
    assert old in TEXT
    path = tmp_path / "demo.toml"
    path.write_text(TEXT.replace(old, new, 1) if old else TEXT)
    return open_scene(path, []).scene


def by_hand() -> ct.Simulation:
    sim = ct.Simulation(0.1, (0.0, -9.81, 0.0))
    axle = ct.Axle((0, 0.6, 0), (0, 0, 1), motor=ct.Motor(speed=2.0), drag=0.1)
    sim.add(ct.RigidBody(ct.shapes.Box((0, 0.6, 0), (1, 0.3, 0.3)), density=500, axle=axle))
    sim.add(
        ct.RigidBody(
            ct.shapes.Sphere((2.5, 0.5, 0), 0.2),
            mass=8.0,
            velocity=ct.velocities.Rigid((-1, 0, 0), (0, 0, 3)),
            restitution=0.4,
        )
    )
    sim.add(ct.colliders.Plane((0, 1, 0), friction=0.4))
    return sim


def test_file_and_python_give_the_same_bits(tmp_path: Path) -> None:
    one, other = build(scene(tmp_path)), by_hand()
    assert [body.name for body in one.bodies] == ["wheel", "rigid2"]
    for sim in (one, other):
        for _ in range(10):
            sim.step()
    for a, b in zip(one.bodies, other.bodies, strict=True):
        np.testing.assert_array_equal(a.x, b.x)


def test_a_run_is_saved_and_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    whole, half = build(scene(tmp_path)), build(scene(tmp_path))
    whole.run(0.25, fps=12, output=tmp_path / "whole", checkpoint_interval=1)
    half.run(1 / 12, fps=12, output=tmp_path / "half", checkpoint_interval=1)
    again = build(scene(tmp_path))
    again.run(0.25, fps=12, output=tmp_path / "half", resume=True)
    for a, b in zip(whole.bodies, again.bodies, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
    frame = RunFolder(tmp_path / "whole").read_frame(3)
    assert [body.kind for body in frame.bodies] == ["mesh", "mesh"]
    assert frame.bodies[0].skin() is not None and frame.bodies[0].continuum == "rigid"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("density = 500\n", "", "needs either mass or density"),
        ("mass = 8.0", "mass = 8.0\ndensity = 3.0", "needs either mass or density"),
        ("mass = 8.0", "mass = 0.0", "mass"),
        ("density = 500\n", "density = 500\nvelocity = [1, 0, 0]\n", "use spin"),
        ("direction = [0.0, 0.0, 1.0]", "direction = [0.0, 0.0, 0.0]", "direction"),
        ('type = "sphere", center = [2.5, 0.5, 0.0]', 'type = "sphere", center = [0.9, 0.5]', "2D"),
        ("motor = { speed = 2.0 }", "motor = { power = 2.0 }", "power"),
        ("mass = 8.0", 'mass = 8.0\nname = "wheel"', "wheel"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, old: str, new: str, text: str) -> None:
    with pytest.raises(SceneError, match=text):
        build(scene(tmp_path, old, new))
