"""Numbers for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from continua.cli import text
from continua.cli.results import frame_numbers
from continua.errors import SceneError


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.04, "0.0 s"),
        (0.84, "0.8 s"),
        (9.96, "10 s"),
        (59.7, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7620, "2 h 07 min"),
    ],
)
def test_duration(seconds: float, expected: str) -> None:
    assert text.duration(seconds) == expected


def test_unknown_duration() -> None:
    assert text.duration(float("nan")) == text.duration(float("inf")) == "?"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (12.34, "12.3"),
        (1830, "1.83 k"),
        (17.2e6, "17.2 M"),
        (170.4e6, "170 M"),
        (999.9e3, "1.00 M"),
    ],
)
def test_rate(value: float, expected: str) -> None:
    assert text.rate(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, "0 kg"), (13.4567, "13.46 kg"), (2.84e-4, "2.84e-04 kg"), (2.5e7, "2.50e+07 kg")],
)
def test_quantity(value: float, expected: str) -> None:
    assert text.quantity(value, "kg") == expected


def test_counts() -> None:
    assert text.count(97656) == "97 656"
    assert text.plural(1, "frame") == "1 frame"
    assert text.plural(1200, "body") == "1 200 bodies"
    assert text.plural(2, "tetrahedron") == "2 tetrahedra"
    assert text.memory(85.2e6) == "85.2 MB"


def test_contents_of_bodies() -> None:
    grains = {"name": "sand", "particles": 1200}
    cube = {"particles": 8, "cells": 5, "cell": "tetrahedron"}
    cloth = {"particles": 4, "cells": 1, "cell": "spring"}
    assert text.contents([grains]) == "1 200 particles"
    assert text.contents([grains, cube, cloth]) == "1 200 particles, 12 vertices, 5 tetrahedra, 1 spring"


def test_frame_lists(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"format": 1}')
    (tmp_path / "frames").mkdir()
    (tmp_path / "frames" / "frame_00040.npz").touch()
    assert frame_numbers(None, tmp_path) is None
    assert frame_numbers("0, 10,20-22", tmp_path) == [0, 10, 20, 21, 22]
    assert frame_numbers("39-99999999999", tmp_path) == [39, 40, 41]
    assert frame_numbers("50-99999999999", tmp_path) == [50]
    with pytest.raises(SceneError, match="neither a frame number"):
        frame_numbers("1,x", tmp_path)
