"""`doctor`: names what is there, says how to get what is not."""

from __future__ import annotations

import json

import pytest
from cli_process import Call

from continua.cli import doctor


def test_doctor_finds_this_installation_well(cli: Call) -> None:
    done = cli("doctor")
    assert done.returncode == 0, done.stdout
    for part in ("Python", "numpy", "core", "simulation", "fell as it should", "All well."):
        assert part in done.stdout
    report = json.loads(cli("doctor", "--json").stdout)
    assert report["ok"] and {check["name"] for check in report["checks"]} >= {"python", "core", "simulation"}


def test_missing_extra_comes_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.EXTRAS, "render", {"no-such-library": "no_such_library"})
    check = doctor.extra("render")()
    assert check.state == "missing"
    assert 'pip install "continua[render]"' in check.text


def test_failed_check_is_reported_not_raised() -> None:
    def broken() -> doctor.Check:
        raise RuntimeError("no")

    check = doctor.attempt(broken)
    assert check.state == "failed" and "RuntimeError: no" in check.text


def test_version(cli: Call) -> None:
    assert cli("--version").stdout.startswith("continua ")
