"""`make validate-all`: every case and scene in a process of its own, one summary, and what was measured is kept."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "validate_all.py"
spec = importlib.util.spec_from_file_location("validate_all", TOOL)
assert spec is not None and spec.loader is not None
validate_all = importlib.util.module_from_spec(spec)
spec.loader.exec_module(validate_all)


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["validate_all.py", *arguments])
    code: int = validate_all.main()
    return code


def test_cases_and_scenes_are_measured_once(tmp_path: Path, monkeypatch, capsys) -> None:
    arguments = ("--quick", "--out", str(tmp_path), "case:poiseuille", "scene:bar")
    assert call(monkeypatch, *arguments) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    case, scene = summary["results"]
    assert summary["passed"] is True and summary["not_run"] == 0
    assert case["name"] == "case:poiseuille" and all(row["controlled"] for row in case["rows"])
    assert scene["name"] == "scene:bar" and scene["rows"]
    text = (tmp_path / "summary.md").read_text()
    assert "2 of 2 passed" in text and "| poiseuille" in text and "| bar" in text
    assert "mean velocity, 8 cells" in text and "FAIL" not in text
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*-*.json")}
    capsys.readouterr()
    assert call(monkeypatch, *arguments) == 0
    assert "2 to run, 2 known" in capsys.readouterr().out
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*-*.json")}


def test_other_code_is_measured_again(tmp_path: Path) -> None:
    result = validate_all.run_task(tmp_path, "case:bar", [sys.executable, "-c", "print('{}')"], "one")
    assert result["version"] == "one" and validate_all.known(tmp_path, "case:bar", "one") == result
    assert validate_all.known(tmp_path, "case:bar", "two") is None
    assert validate_all.version(True) != validate_all.version(False)


def test_a_process_that_breaks_down_fails_and_is_tried_again(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('out of memory')"]
    result = validate_all.run_task(tmp_path, "scene:bar", command, "one")
    assert not result["passed"] and "out of memory" in validate_all.why(result)
    assert validate_all.known(tmp_path, "scene:bar", "one") is None
    (done,) = validate_all.summarise(tmp_path, ["scene:bar", "case:bar"], {"scene:bar": result})
    assert done is result
    text = (tmp_path / "summary.md").read_text()
    assert "0 of 2 passed, 1 failed, 1 not run" in text and "FAIL scene:bar: the process ended with 1" in text
    assert json.loads((tmp_path / "summary.json").read_text())["passed"] is False


def test_a_number_outside_its_gate_fails_the_command(tmp_path: Path, monkeypatch, capsys) -> None:
    row = {"quantity": "length [m]", "value": 2.0, "gate": "+-10 %", "gated": True, "passed": False}
    made = {"name": "case:bar", "passed": False, "seconds": 1.0, "failure": "", "rows": [row]}
    monkeypatch.setattr(validate_all, "run_task", lambda *_: made)
    assert call(monkeypatch, "--out", str(tmp_path), "case:bar") == 1
    assert "length [m] is outside its gate" in capsys.readouterr().out
    assert "**FAIL**" in (tmp_path / "summary.md").read_text()


def test_costs_set_the_order_and_unknown_names_are_refused() -> None:
    names = validate_all.tasks([])
    assert {name.split(":")[0] for name in names} == {"case", "scene"} and len(names) > 60
    assert validate_all.seconds_of("98 000 particles, 19 000 steps, 1.5 min") == 90
    assert names.index("case:vortex") < names.index("case:poiseuille")
    with pytest.raises(SystemExit, match="no case:vortx"):
        validate_all.tasks(["case:vortx"])
