"""`continua validate` as a user meets it."""

from __future__ import annotations

import json

import pytest

from continua.cli import main
from continua.validation import CASES, count_kinds


def test_list_names_every_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(any(line.startswith(name) for line in lines) for name in CASES)
    assert f"{len(CASES)} cases: {count_kinds(case.kind for case in CASES.values())}" in lines


def test_unknown_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "vortx"]) == 2
    message = capsys.readouterr().err
    assert message.startswith('error: there is no validation case "vortx"') and "vortex" in message


def test_one_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "shear-wave", "--quick", "--json", "--threads", "1"]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    assert result["passed"] is True and [case["name"] for case in result["cases"]] == ["shear-wave"]
    assert 19 < result["cases"][0]["measurements"][0]["value"] < 20.5
    assert all(row["controlled"] for row in result["cases"][0]["measurements"])
    assert "Navier-Stokes" in printed.err and "3 numbers with gates: 3 closed form" in printed.err
