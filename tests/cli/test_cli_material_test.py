"""`material-test`: names, presets, settings, tables of numbers, pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from cli_process import Call

MINE = """
import numpy as np
from continua.materials import PythonMaterial

class Spring(PythonMaterial):
    E = 100.0
    def energy(self, F, state):
        return self.E / 2 * ((F - np.eye(F.shape[1])) ** 2).sum(axis=(1, 2))
    def stress(self, F, state):
        return self.E * (F - np.eye(F.shape[1]))
"""


def test_table_and_summary(cli: Call) -> None:
    done = cli("material-test", "snow", "--path", "uniaxial", "--steps", 40)
    assert done.returncode == 0 and done.stderr == ""
    for words in ("uniaxial, 3D", "axial stress [Pa]", "plastic work [Pa]", "flowed at strain 0.00"):
        assert words in done.stdout
    elastic = cli("material-test", "neo-hookean", "--steps", 40, "--dimension", 2)
    assert "shear, 2D" in elastic.stdout and "no plastic flow" in elastic.stdout


def test_loose_sand_is_told_to_be_confined(cli: Call) -> None:
    loose = cli("material-test", "drucker-prager", "--steps", 20)
    assert "try --pressure" in loose.stdout
    firm = cli("material-test", "drucker-prager", "--steps", 20, "--pressure", 1e4)
    assert firm.returncode == 0 and "try --pressure" not in firm.stdout


def test_infinite_parameters_are_json(cli: Call) -> None:
    done = cli("material-test", "oldroyd-b.sponge", "--set", "relaxation_time=inf", "--steps", 10, "--json")
    assert done.returncode == 0, done.stderr
    (sponge,) = json.loads(done.stdout)["materials"]
    assert sponge["parameters"]["relaxation_time"] == "inf" and sponge["summary"]["yield_strain"] is None


def test_json_holds_all_arrays_and_set_changes_them(cli: Call) -> None:
    """Hooke's law at small strain: stress follows E."""
    stresses = []
    for E in (1e5, 3e5):
        done = cli(
            *("material-test", "neo-hookean", "--path", "uniaxial", "--amount", 1e-4, "--steps", 10),
            *("--set", f"E={E}", "--json"),
        )
        assert done.returncode == 0
        data = json.loads(done.stdout)
        (material,) = data["materials"]
        assert material["parameters"]["E"] == E
        assert np.shape(material["tau"]) == (11, 3, 3) == np.shape(material["F"])
        assert len(material["time"]) == len(material["dissipation"]) == 11
        stresses.append(material["summary"]["final_stress"])
        assert stresses[-1] == pytest.approx(E * 1e-4, rel=1e-3)
    assert stresses[1] / stresses[0] == pytest.approx(3)


def test_materials_are_compared_on_one_path(cli: Call, tmp_path: Path) -> None:
    done = cli(
        *("material-test", "snow", "snow", "--compare", "snow.dry-sand", "--set", "1.hardening=0"),
        *("--path", "compress", "--steps", 60, "--plot", "both.png", "--json"),
    )
    assert done.returncode == 0, done.stderr
    materials = json.loads(done.stdout)["materials"]
    assert [m["material"] for m in materials] == ["snow (0)", "snow (1)", "snow.dry-sand"]
    assert [m["parameters"]["hardening"] for m in materials] == [10, 0, 10]
    assert materials[0]["strain"] == materials[2]["strain"]
    assert materials[0]["summary"]["peak_stress"] > 1.5 * materials[1]["summary"]["peak_stress"]
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")


def test_table_as_path(cli: Call, tmp_path: Path) -> None:
    (tmp_path / "pull.csv").write_text("t,F00,F01,F10,F11\n0,1,0,0,1\n2,1.1,0,0,1\n")
    done = cli("material-test", "fixed-corotated", "--path", "pull.csv", "--steps", 20, "--json")
    data = json.loads(done.stdout)
    assert data["dimension"] == 2 and data["steps"] == 20
    assert data["materials"][0]["volume"][-1] == pytest.approx(1.1)


def test_material_of_a_python_file(cli: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    done = cli("material-test", "mine.py:Spring", "--amount", 0.1, "--set", "E=200", "--steps", 10, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["materials"][0]["summary"]["final_stress"] == pytest.approx(200 * 0.1)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["snwo"], 'did you mean "snow"?'),
        (["snow.dry-snad"], 'did you mean "dry-sand"?'),
        (["snow", "--path", "shaer"], 'did you mean "shear"?'),
        (["snow", "--path", "missing.csv"], "cannot be read"),
        (["snow", "--set", "hardning=3"], 'did you mean "hardening"?'),
        (["snow", "--set", "E=-3"], "--set E=-3"),
        (["snow", "--set", "E"], "key.path=value"),
        (["snow", "--set", "snwo.E=1"], 'did you mean "snow"?'),
        (["snow", "--amount", "0"], "other than zero"),
        (["snow", "--rate", "-1"], "rate"),
        (["snow", "--pressure", "-5"], "pressure"),
        (["snow", "--dimension", "4"], "--dimension"),
        (["snow", "--steps", "1"], "--steps"),
        (["path.csv"], "no material"),
        (["mine.py"], "FILE.py:ClassName"),
        (["mine.py:Sprig"], 'did you mean "Spring"?'),
        (["absent.py:Spring"], "cannot be read"),
        (["broken.py:Spring"], "broken.py, line 1"),
        (["snow", "--path", "flat.csv", "--dimension", "3"], "is 2D"),
        (["snow", "--path", "flat.csv", "--amount", "3"], "--amount does not go"),
    ],
)
def test_mistakes_of_the_user(arguments: list[str], expected: str, cli: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "flat.csv").write_text("t,F00,F01,F10,F11\n0,1,0,0,1\n2,1.1,0,0,1\n")
    done = cli("material-test", *arguments)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert expected in done.stderr


def test_picture_of_unknown_kind(cli: Call) -> None:
    done = cli("material-test", "snow", "--steps", 10, "--plot", "curve.gif")
    assert done.returncode == 1 and ".png" in done.stderr and done.stdout == ""
