"""Run every validation case and every gallery scene at full size and write one summary: `make validate-all`.

Each runs in a process of its own with one thread, two at a time: two processes of one thread are faster than one of
two. Results are kept one by one, so that a run that was stopped goes on where it was; what was measured with another
version of the code is measured again. Exits with 1 if a number is outside its gate, a control inside, or a process
broke down.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import continua
from continua import gallery
from continua.validation import CASES, Measurement, count_kinds, run_case

Result = dict[
    str, Any
]  # name, version, passed, seconds, failure, and rows: quantity, value, gate, passed, ...
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0}


def tasks(only: Sequence[str]) -> list[str]:
    """What is to be run, the most expensive first: "case:NAME" and "scene:NAME"."""
    costs = {f"case:{name}": case.cost for name, case in CASES.items()}
    costs |= {f"scene:{name}": gallery.cost(name) for name in gallery.names()}
    if unknown := [name for name in only if name not in costs]:
        sys.exit(f"error: there is no {', '.join(unknown)}; use case:NAME or scene:NAME")
    chosen = only or list(costs)
    return sorted(chosen, key=lambda name: -seconds_of(costs[name]))


def seconds_of(cost: str) -> float:
    """A cost such as "98 000 particles, 19 000 steps, 5 min" as a time [s]."""
    found = re.findall(r"([\d.]+) (s|min|h)\b", cost)
    return float(found[-1][0]) * UNITS[found[-1][1]] if found else 0.0


def version(quick: bool) -> str:
    """Of everything that the numbers depend on: the code of the package and the size of the runs."""
    digest, root = hashlib.sha256(b"quick" if quick else b"full"), Path(continua.__file__).parent
    for path in sorted(p for p in root.rglob("*") if p.suffix in {".py", ".so"}):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


# ---- one of them, in a process of its own ------------------------------------------------------------------------


def measure(task: str, quick: bool) -> Result:
    """Run a case or a scene and return what it measured."""
    continua.set_threads(1)
    kind, name = task.split(":", 1)
    if kind == "case":
        record = run_case(CASES[name], quick=quick).record()
        reasons = [record["failure"], *record["control"]["complaints"]]
        return {
            "passed": record["passed"],
            "seconds": record["seconds"],
            "failure": "; ".join(filter(None, reasons)),
            "rows": record["measurements"],
        }
    report = gallery.run_scene(name, small=quick)
    return {
        "passed": report.passed,
        "seconds": report.seconds,
        "failure": report.failure,
        "rows": [scene_row(m) for m in report.measurements],
    }


def scene_row(m: Measurement) -> Result:
    """A number of a scene as plain data."""
    numbers = {"value": m.value, "reference": m.reference, "lower": m.lower, "upper": m.upper}
    finite = {name: float(value) if math.isfinite(value) else None for name, value in numbers.items()}
    return {"quantity": m.quantity, **finite, "gate": m.gate, "gated": m.gated, "passed": m.passed}


# ---- all of them ---------------------------------------------------------------------------------------------------


def path_of(folder: Path, task: str) -> Path:
    """Where the result of a task is kept."""
    return folder / f"{task.replace(':', '-')}.json"


def known(folder: Path, task: str, now: str) -> Result | None:
    """What an earlier run with the same code measured, if it came to its end."""
    try:
        result: Result = json.loads(path_of(folder, task).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.get("version") == now and not result.get("crashed") else None


def run_task(folder: Path, task: str, command: Sequence[str], now: str) -> Result:
    """Run a task in a process and keep its result; one that breaks down is a result, too."""
    begin = time.perf_counter()
    single = os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run([*command, task], capture_output=True, text=True, env=single, check=False)
    try:
        result: Result = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        failure = f"the process ended with {done.returncode}: {last}"
        seconds = time.perf_counter() - begin
        result = {"passed": False, "seconds": seconds, "failure": failure, "rows": [], "crashed": True}
    result = {"name": task, "version": now} | result
    write(path_of(folder, task), json.dumps(result, indent=1))
    return result


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    part = path.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def run_all(folder: Path, names: Sequence[str], *, quick: bool, jobs: int) -> list[Result]:
    """Run what is not known yet, and write the summary after each."""
    folder.mkdir(parents=True, exist_ok=True)
    now = version(quick)
    results = {name: result for name in names if (result := known(folder, name, now))}
    command = [sys.executable, __file__, "--one", *(["--quick"] if quick else [])]
    print(f"{len(names)} to run, {len(results)} known, {jobs} at a time", flush=True)
    with ThreadPoolExecutor(jobs) as pool:
        running = [pool.submit(run_task, folder, n, command, now) for n in names if n not in results]
        try:
            for future in as_completed(running):
                result = future.result()
                results[result["name"]] = result
                verdict = "pass" if result["passed"] else f"FAIL: {why(result)}"
                print(f"{result['name']}, {result['seconds']:.0f} s: {verdict}", flush=True)
                summarise(folder, names, results)
        except KeyboardInterrupt:
            print("stopped; run it again to go on", flush=True)
            pool.shutdown(cancel_futures=True)
    return summarise(folder, names, results)


# ---- the summary -----------------------------------------------------------------------------------------------------


def why(result: Result) -> str:
    """Why a task failed."""
    outside = [row["quantity"] for row in result["rows"] if not row["passed"]]
    return "; ".join([*filter(None, [result["failure"]]), *(f"{q} is outside its gate" for q in outside)])


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def summarise(folder: Path, names: Sequence[str], results: dict[str, Result]) -> list[Result]:
    """Write summary.md and summary.json of the tasks that are done, and return their results in order."""
    done = [results[name] for name in sorted(names) if name in results]
    passed, missing = sum(r["passed"] for r in done), len(names) - len(done)
    kinds = [row["kind"] for r in done for row in r["rows"] if row["gated"] and "kind" in row]
    lines = [
        f"# Validation, {'small versions' if any(r.get('quick') for r in done) else 'full size'}",
        "",
        f"{passed} of {len(names)} passed, {len(done) - passed} failed, {missing} not run.",
        f"Numbers of cases with gates: {count_kinds(kinds)}." if kinds else "",
        "",
        *(f"- FAIL {r['name']}: {why(r)}" for r in done if not r["passed"]),
        "",
        *table("case", "| case | quantity | ours | reference | gate | kind | wrong on purpose | |", done),
        "",
        *table("scene", "| scene | quantity | ours | gate | |", done),
        "",
    ]
    write(folder / "summary.md", "\n".join(lines))
    record = {"passed": passed == len(names), "not_run": missing, "results": done}
    write(folder / "summary.json", json.dumps(record, indent=1))
    return done


def table(kind: str, heading: str, results: Sequence[Result]) -> list[str]:
    """Rows of all results of a kind."""
    lines = [heading, "|---" * (heading.count("|") - 1) + "|"]
    for result in results:
        if not result["name"].startswith(f"{kind}:"):
            continue
        label = f"{result['name'].split(':', 1)[1]}, {result['seconds']:.0f} s"
        for row in result["rows"] or [{"quantity": why(result), "gate": "", "gated": True, "passed": False}]:
            cells = [label, row["quantity"], number(row.get("value"))]
            if kind == "case":
                control = number(row.get("control")) or ("breaks down" if row.get("controlled") else "")
                none = "none" if row["gated"] else ""
                cells += [
                    number(row.get("reference")),
                    row["gate"],
                    row.get("kind", "") if row["gated"] else "",
                ]
                cells += [control or none]
            else:
                cells += [row["gate"]]
            cells += [("pass" if row["passed"] else "**FAIL**") if row["gated"] else ""]
            lines.append(f"| {' | '.join(cells)} |")
            label = ""
    return lines


def main() -> int:
    """See the top of the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="case:NAME or scene:NAME; all if left out")
    parser.add_argument("--out", type=Path, default=Path("out/validate-all"), help="folder of the results")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--quick", action="store_true", help="the small versions that tests run")
    parser.add_argument("--one", action="store_true", help="run one task here and print its result")
    options = parser.parse_args()
    names = tasks(options.tasks)
    if options.one:
        print(json.dumps({"quick": options.quick} | measure(names[0], options.quick)))
        return 0
    done = run_all(options.out, names, quick=options.quick, jobs=max(1, options.jobs))
    failed = [result["name"] for result in done if not result["passed"]]
    print(f"{len(done) - len(failed)} of {len(names)} passed; numbers in {options.out / 'summary.md'}")
    return 1 if failed or len(done) < len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
