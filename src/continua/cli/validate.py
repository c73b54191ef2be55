"""`continua validate`: our numbers beside references the project did not produce."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import TextIO

from continua.cli import text
from continua.cli.run import set_threads
from continua.validation import CASES, Measurement, Outcome, run_case, select

HEADINGS = ["quantity", "ours", "reference", "error", "gate", ""]


def validate(names: Sequence[str], *, quick: bool, threads: int | None, as_json: bool) -> int:
    """Run the cases and print what they measured; fails if a number is outside, or a control inside, its gate."""
    cases = select(names)
    set_threads(threads)
    out = sys.stderr if as_json else sys.stdout
    outcomes = []
    for case in cases:
        print(f"{case.name}: {case.title}\n  source: {case.source}", file=out, flush=True)
        outcomes.append(run_case(case, quick=quick))
        report(outcomes[-1], out)
    passed = sum(outcome.passed for outcome in outcomes)
    print(f"{passed} of {text.plural(len(outcomes), 'case')} passed", file=out)
    if as_json:
        print(json.dumps({"passed": passed == len(outcomes), "cases": [o.record() for o in outcomes]}))
    return 0 if passed == len(outcomes) else 1


def listing() -> int:
    """Names, titles and costs."""
    width = max(map(len, CASES))
    for case in CASES.values():
        print(f"{case.name:<{width}}  {case.title}\n{'':<{width}}  {case.source}; {case.cost}")
    print("\nRun one: continua validate NAME\nRun all: continua validate")
    return 0


def report(outcome: Outcome, out: TextIO) -> None:
    """The table of a case, its control and the verdict."""
    if outcome.failure:
        print(f"  FAIL: {outcome.failure}", file=out)
    else:
        for line in text.columns([HEADINGS, *map(row, outcome.measurements)]):
            print(f"  {line}", file=out)
    print(f"  control ({outcome.case.control}): {control(outcome)}", file=out)
    verdict = "pass" if outcome.passed else "FAIL"
    print(f"  {verdict}, {text.duration(outcome.seconds)}\n", file=out, flush=True)


def row(m: Measurement) -> list[str]:
    """Cells of one measurement; the error is relative where there is a reference to divide by."""
    reference = f"{m.reference:.5g}" if math.isfinite(m.reference) else ""
    error = f"{100 * m.error:+.2f} %" if reference and m.relative else ""
    verdict = ("pass" if m.passed else "FAIL") if m.gated else ""
    return [m.quantity, f"{m.value:.5g}", reference, error, m.gate, verdict]


def control(outcome: Outcome) -> str:
    """What the negative control did."""
    if outcome.control_failure:
        return "fails the gate, as it must (it breaks down)"
    gated = [m for m in outcome.control if m.gated]
    values = ", ".join(f"{m.value:.4g}" for m in gated)
    inside = [m.quantity for m in gated if m.passed]
    if outcome.control_outside:
        return f"{values}; fails {'the gate' if len(gated) == 1 else 'every gate'}, as it must"
    return f"{values}; PASSES the gate of {', '.join(inside) or 'nothing'}: the case cannot tell right from wrong"
