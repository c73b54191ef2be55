"""`continua validate`: our numbers beside references, with gates and controls."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from typing import TextIO

from continua.cli import text
from continua.cli.run import set_threads
from continua.validation import CASES, KINDS, Measurement, Outcome, count_kinds, run_case, select

HEADINGS = ["quantity", "ours", "reference", "error", "gate", "kind", "control", ""]


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
    kinds = [kind for outcome in outcomes for kind in outcome.kinds]
    print(f"{passed} of {text.plural(len(outcomes), 'case')} passed", file=out)
    print(f"{text.plural(len(kinds), 'number')} with gates: {count_kinds(kinds)}", file=out)
    if as_json:
        print(json.dumps({"passed": passed == len(outcomes), "cases": [o.record() for o in outcomes]}))
    return 0 if passed == len(outcomes) else 1


def listing() -> int:
    """Names, titles, kinds and costs, and how many cases there are of each kind."""
    width = max(map(len, CASES))
    for case in CASES.values():
        print(f"{case.name:<{width}}  {case.title}\n{'':<{width}}  {case.kind}: {case.source}; {case.cost}")
    print(f"\n{text.plural(len(CASES), 'case')}: {count_kinds(case.kind for case in CASES.values())}")
    for line in text.columns([[f"  {kind}", meaning] for kind, meaning in KINDS.items()]):
        print(line)
    print("\nRun one: continua validate NAME\nRun all: continua validate")
    return 0


def report(outcome: Outcome, out: TextIO) -> None:
    """The table of a case, its control and the verdict."""
    if outcome.failure:
        print(f"  FAIL: {outcome.failure}", file=out)
    else:
        rows = [row(outcome, m) for m in outcome.measurements]
        for line in text.columns([HEADINGS, *rows]):
            print(f"  {line}", file=out)
    print(f"  control: {outcome.case.control}", file=out)
    for m in outcome.gated:
        if m.no_control:
            print(f"  no control of {m.quantity}: {m.no_control}", file=out)
    for complaint in outcome.complaints:
        print(f"  FAIL: {complaint}", file=out)
    verdict = "pass" if outcome.passed else "FAIL"
    print(f"  {verdict}, {text.duration(outcome.seconds)}\n", file=out, flush=True)


def row(outcome: Outcome, m: Measurement) -> list[str]:
    """Cells of one measurement; the error is relative where there is a reference to divide by."""
    reference = f"{m.reference:.5g}" if math.isfinite(m.reference) else ""
    error = f"{100 * m.error:+.2f} %" if reference and m.relative else ""
    verdict = ("pass" if m.passed else "FAIL") if m.gated else ""
    kind = (m.kind or outcome.case.kind) if m.gated else ""
    return [m.quantity, f"{m.value:.5g}", reference, error, m.gate, kind, control(outcome, m), verdict]


def control(outcome: Outcome, m: Measurement) -> str:
    """What the negative control measured."""
    wrong = outcome.control_of(m)
    if wrong is not None:
        return f"{wrong.value:.4g}" + (" PASSES" if wrong.passed else "")
    return "none" if m.gated else ""
