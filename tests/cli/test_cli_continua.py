"""What the command line says of several continua: before a run, and of a run folder."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from continua.cli.app import app

TEXT = """
[simulation]
dx = 0.05
gravity = [0.0, -9.81]

[[body]]
name = "block"
shape = { type = "box", center = [0.0, 0.2], size = [0.4, 0.4] }
material = { type = "fixed-corotated", E = 1e5, nu = 0.3, density = 1000 }

[[body]]
name = "heap"
shape = { type = "box", center = [0.0, 0.5], size = [0.2, 0.2] }
material = { type = "drucker-prager" }
continuum = "sand"

[[contact]]
a = "heap"
b = "block"
friction = 0.3

[[collider]]
type = "plane"
normal = [0.0, 1.0]

[run]
duration = 0.1
fps = 20
"""


def say(*words: str) -> str:
    shown = CliRunner().invoke(app, list(words), prog_name="continua")
    assert shown.exit_code == 0, shown.output
    return shown.stdout


def test_summary_and_info_show_continua_and_impulses(tmp_path: Path) -> None:
    scene, out = tmp_path / "two.toml", tmp_path / "out"
    scene.write_text(TEXT)
    said = say("run", str(scene), "-o", str(out), "--set", "contact.friction=0.5")
    assert "continua   main  symplectic, apic  block" in said
    assert "contacts   main and sand, friction 0.5" in said
    about = say("info", str(out))
    assert "main: block" in about and "sand: heap" in about
    assert "sand to main: (" in about and "N s/m" in about
    facts = json.loads(say("info", str(out), "--json"))
    assert facts["continua"] == {"main": ["block"], "sand": ["heap"]}
    assert facts["contacts"]["main_sand"][1] < 0


def test_one_continuum_is_not_worth_a_line(tmp_path: Path) -> None:
    scene, out = tmp_path / "one.toml", tmp_path / "out"
    contact = TEXT[TEXT.index("[[contact]]") : TEXT.index("[[collider]]")]
    scene.write_text(TEXT.replace('continuum = "sand"\n', "").replace(contact, ""))
    assert "symplectic, apic" not in say("run", str(scene), "-o", str(out))
    assert "impulses" not in say("info", str(out))
