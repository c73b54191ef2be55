"""Every validation case passes in its quick version and notices its negative control."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import continua as ct
from continua.cli.validate import validate
from continua.errors import InstabilityError, SetupError
from continua.validation import CASES, Case, Measurement, count_kinds, run_case, select
from continua.validation.axis_aligned import AxisAligned
from continua.validation.case import at_least, at_most, between, near, reported
from continua.validation.manufactured import ManufacturedMotion
from continua.validation.vortex import Vortex


@pytest.fixture(autouse=True)
def one_thread():
    before = ct.threads()
    ct.set_threads(1)
    yield
    ct.set_threads(before)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    outcome = run_case(CASES[name], quick=True)
    assert outcome.inside, [m for m in outcome.measurements if not m.passed] or outcome.failure
    assert not outcome.complaints
    assert json.loads(json.dumps(outcome.record()))["passed"] is True


def divergence(motion: ManufacturedMotion, X: np.ndarray, t: float, step: float = 1e-4) -> np.ndarray:
    """Div P (N, d) by central differences of fourth order."""
    total = np.zeros_like(X)
    for axis, direction in enumerate(step * np.eye(2)):
        for k, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1)):
            P = motion.material.stress(motion.deformation(X + k * direction, t))
            total += weight * P[:, :, axis] / (12 * step)
    return total


@pytest.mark.parametrize(
    ("motion", "wrong"), [(Vortex(), Vortex(misprint=True)), (AxisAligned(), AxisAligned(coupling=0.9))]
)
def test_manufactured_motions_obey_the_equation_of_motion(
    motion: ManufacturedMotion, wrong: ManufacturedMotion
) -> None:
    """Force = acceleration - Div P / density, and all derivatives fit together."""
    X, t, e = np.array([[0.9, 0.3], [0.2, -1.1], [0.7, 0.75]]), 0.2, 1e-4
    v, L, F = motion.velocity(X, t), motion.rate(X, t), motion.deformation(X, t)
    assert v == pytest.approx((motion.position(X, t + e) - motion.position(X, t - e)) / (2 * e), abs=1e-5)
    stretching = L @ F
    assert stretching == pytest.approx(
        (motion.deformation(X, t + e) - motion.deformation(X, t - e)) / (2 * e), abs=1e-4
    )
    acceleration = (motion.velocity(X, t + e) - motion.velocity(X, t - e)) / (2 * e)
    needed = acceleration - divergence(motion, X, t) / motion.material.density
    assert motion.force(X, t) == pytest.approx(needed, abs=1e-4)
    assert wrong.force(X, t) != pytest.approx(needed, abs=1e-2)


def test_vortex_force_has_its_published_values() -> None:
    force = Vortex().force
    assert force(np.array([[0.9, 0.3]]), 0.2)[0] == pytest.approx((-6.19571933, 0.166269372), abs=2e-5)
    assert force(np.array([[0.2, -1.1]]), 0.7)[0] == pytest.approx((11.0072197, -1.89472234), abs=2e-5)
    wrong = Vortex(misprint=True).force(np.array([[0.9, 0.3]]), 0.2)[0]
    assert wrong != pytest.approx((-6.19571933, 0.166269372), abs=1e-2)


def test_gates() -> None:
    assert near("", 1.01, 1.0, 0.02).passed and not near("", 1.03, 1.0, 0.02).passed
    assert near("", 0.1, 0.0, 0.02, scale=9.8).passed and not near("", 0.3, 0.0, 0.02, scale=9.8).passed
    assert at_most("", 0.1, 0.1).passed and not at_most("", 0.2, 0.1).passed
    assert at_least("", 2.0, 1.7).passed and not at_least("", 1.6, 1.7).passed
    assert between("", 1.0, 0.8, 1.7).passed and not between("", 1.8, 0.8, 1.7).passed
    assert not reported("", 5.0).gated and between("", 1.0, 0.8, 1.7).gated
    assert not near("", math.nan, 1.0, 0.02).passed and not at_most("", math.nan, 1.0).passed


def length(value: float) -> Measurement:
    return near("length [m]", value, 1.0, 0.1)


def example(
    right: float, wrong: list[Measurement] | None, no_control: str = "", breaks_down: bool = False
) -> Case:
    """A case that measures what it is told; None breaks down."""

    def measure(quick: bool, is_wrong: bool) -> list[Measurement]:
        if not is_wrong:
            return [length(right).without_control(no_control), reported("width [m]", 3.0)]
        if wrong is None:
            raise InstabilityError("particles ran away")
        return wrong

    return Case("example", "Example", "nowhere", "closed form", "1 s", "longer", measure, breaks_down)


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        (example(1.0, [length(2.0)]), ""),
        (example(1.0, [], "there is no shorter one"), ""),
        (example(2.0, [length(2.0)]), "length"),
        (example(1.0, [length(1.0)]), "the control PASSES the gate of length"),
        (example(1.0, []), "no control of length"),
        (example(1.0, [reported("length [m]", 2.0)]), "no control of length"),
        (example(1.0, [length(2.0)], "there is no shorter one"), "which is said to have none"),
        (example(1.0, [length(2.0), near("depth [m]", 2.0, 1.0, 0.1)]), "measures depth"),
        (example(1.0, [length(math.inf)]), "the control of length [m] is inf"),
        (example(1.0, [length(math.nan)]), "the control of length [m] is nan"),
        (example(1.0, [length(math.inf)], breaks_down=True), ""),
        (example(1.0, None, breaks_down=True), "the control broke down"),
        (example(1.0, None), "the control broke down: particles ran away"),
    ],
)
def test_command_fails_for_numbers_outside_and_gates_without_control(
    case: Case, complaint: str, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.setitem(CASES, "example", case)
    assert validate(["example"], quick=True, threads=1, as_json=True) == bool(complaint)
    printed = capsys.readouterr()
    (record,) = json.loads(printed.out)["cases"]
    assert record["passed"] is not bool(complaint) and record["measurements"][1]["reference"] is None
    assert ("FAIL" in printed.err) is bool(complaint) and complaint in printed.err
    assert "nowhere" in printed.err


def test_kinds_are_counted_by_row() -> None:
    case = example(1.0, [length(2.0)])
    outcome = run_case(case)
    assert outcome.kinds == ["closed form"], "numbers without a gate do not count"
    fitted = [length(1.0), length(1.0).of_kind("calibration")]
    outcome = run_case(replace(case, measure=lambda quick, wrong: fitted))
    assert count_kinds(outcome.kinds) == "1 closed form, 1 calibration"
    assert [row["kind"] for row in outcome.record()["measurements"]] == ["closed form", "calibration"]


def test_unknown_cases_are_named() -> None:
    with pytest.raises(SetupError, match='no validation case "vortx".*vortex'):
        select(["vortx"])
    assert [case.name for case in select(["bar"])] == ["bar"] and len(select([])) == len(CASES)
