"""`continua info DIR`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from continua.cli import text
from continua.io.table import elapsed

if TYPE_CHECKING:
    from continua.io import RunFolder


def info(folder: Path, *, as_json: bool) -> int:
    """Print what a run folder holds."""
    from continua.io import RunFolder

    facts = collect(RunFolder(folder))
    if as_json:
        print(json.dumps(facts, default=str))
    else:
        print(f"{folder}: {facts['title'] or facts['name'] or 'a run'}\n{text.rows(lines(folder, facts))}")
    return 0


def collect(run: RunFolder) -> dict[str, Any]:
    """Facts about a run as plain values."""
    from continua.scene.build import holds_code

    about = run.description
    scene = about.get("scene") or {}
    table = run.diagnostics()
    frames, checkpoint = run.frame_indices(), run.last_checkpoint()
    last = {name: float(column[-1]) for name, column in table.items() if len(column)}
    steps = last.get("steps", last.get("step"))
    time = last.get("time")
    return {
        "status": run.status,
        "message": run.message,
        "name": about.get("name"),
        "title": about.get("title") or scene.get("title", ""),
        "version": about.get("version"),
        "machine": about.get("machine"),
        "created": about.get("created"),
        "dimension": about.get("dimension"),
        "dx": about.get("dx"),
        "precision": about.get("precision"),
        "bodies": about.get("bodies"),
        "particles": last.get("particles"),
        "frames": len(frames),
        "last_frame": frames[-1] if frames else None,
        "planned_frames": about.get("frames"),
        "planned_duration": about.get("duration"),
        "changes": about.get("changes") or [],
        "checkpoint": None
        if checkpoint is None
        else {"step": checkpoint.step, "frame": checkpoint.frame, "time": checkpoint.time},
        "time": time,
        "steps": steps,
        "mean_dt": time / steps if time and steps else None,
        "iterations": iterations(table, steps),
        "continua": continua(about),
        "contacts": contacts(last),
        "seconds": phases(table),
        "resumable": run.status in ("interrupted", "failed") and not from_python(about),
        "needs_trust": holds_code(about),
    }


def phases(table: dict[str, np.ndarray]) -> dict[str, float]:
    """Seconds spent in each phase, from the columns seconds_<phase>."""
    prefix = "seconds_"
    return {
        name.removeprefix(prefix): elapsed(column)
        for name, column in table.items()
        if name.startswith(prefix)
    }


def iterations(table: dict[str, np.ndarray], steps: float | None) -> dict[str, float]:
    """Iterations per step of implicit solvers, from the columns total_<solver>_iterations."""
    prefix, suffix = "total_", "_iterations"
    return {
        name.removeprefix(prefix).removesuffix(suffix): elapsed(column) / steps
        for name, column in table.items()
        if steps and name.startswith(prefix) and name.endswith(suffix)
    }


def continua(about: dict[str, Any]) -> dict[str, list[str]]:
    """Names of the bodies of every continuum."""
    found: dict[str, list[str]] = {}
    for body in about.get("bodies") or ():
        found.setdefault(body.get("continuum", "main"), []).append(body["name"])
    return found


def contacts(last: dict[str, float]) -> dict[str, list[float]]:
    """Impulse [N s] that the first continuum of each pair got, from the columns contact_<pair>_<axis>."""
    found: dict[str, list[float]] = {}
    for name, value in last.items():
        if name.startswith("contact_"):
            found.setdefault(name.removeprefix("contact_")[:-2], []).append(value)
    return found


def from_python(about: dict[str, Any]) -> bool:
    """The run was not started from a scene."""
    return about.get("scene") is None and about.get("source") is None


def lines(folder: Path, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Label and text of each line."""
    status = facts["status"] + (f": {facts['message']}" if facts["message"] else "")
    rows = [("status", status)]
    if facts["resumable"]:
        code = " --scene FILE, which executes it" if facts["needs_trust"] else ""
        rows.append(("go on with", f"continua resume {shlex.quote(str(folder))}{code}"))
    rows.append(("scene", scene_line(facts)))
    planned = f" of {facts['planned_frames'] + 1}" if facts["planned_frames"] is not None else ""
    length = f", to t = {facts['planned_duration']:.4g} s" if facts["planned_duration"] else ""
    rows.append(("frames", f"{facts['frames']}{planned}{length}"))
    rows += [("changed" if number == 0 else "", text) for number, text in enumerate(facts["changes"])]
    point = facts["checkpoint"]
    if point is None:
        rows.append(("checkpoint", "none"))
    else:
        rows.append(
            ("checkpoint", f"step {point['step']}, frame {point['frame']}, t = {point['time']:.4g} s")
        )
    if facts["steps"]:
        mean = f", mean dt = {text.quantity(facts['mean_dt'], 's')}" if facts["mean_dt"] else ""
        rows.append(("steps", f"{text.count(facts['steps'])} to t = {facts['time']:.4g} s{mean}"))
    if facts["iterations"]:
        each = [f"{value:.1f} {name.capitalize()}" for name, value in facts["iterations"].items()]
        rows.append(("per step", f"{' and '.join(each)} iterations"))
    rows += continuum_lines(facts)
    rows += phase_lines(facts["seconds"])
    rows.append(("made by", f"continua {facts['version'] or '?'}, {facts['created'] or '?'}"))
    if isinstance(facts["machine"], dict):
        machine = facts["machine"]
        cores = text.plural(machine.get("cores") or 1, "core")
        rows.append(
            (
                "on",
                f"{machine.get('cpu')}, {cores}, {machine.get('os')}",
            )
        )
    return rows


def continuum_lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Continua and what they gave each other, where there are several."""
    if len(facts["continua"]) < 2:
        return []
    rows = [f"{name}: {', '.join(bodies)}" for name, bodies in facts["continua"].items()]
    unit = "N s" if facts["dimension"] == 3 else "N s/m"
    pairs = {f"{a}_{b}": f"{b} to {a}" for a in facts["continua"] for b in facts["continua"] if a < b}
    given = [
        f"{pairs.get(pair, pair)}: ({', '.join(f'{value:.4g}' for value in impulse)}) {unit}"
        for pair, impulse in facts["contacts"].items()
    ]
    lines = [("continua" if index == 0 else "", row) for index, row in enumerate(rows)]
    return lines + [("impulses" if index == 0 else "", row) for index, row in enumerate(given)]


def scene_line(facts: dict[str, Any]) -> str:
    """`snowball, 3D, dx = 0.014 m, double precision, 97 656 particles`."""
    parts = [facts["name"] or "from Python"]
    if facts["dimension"]:
        parts.append(f"{facts['dimension']}D")
    if facts["dx"]:
        parts.append(f"dx = {text.quantity(facts['dx'], 'm')}")
    if facts["precision"]:
        parts.append(f"{facts['precision']} precision")
    if facts["particles"]:
        parts.append(text.plural(int(facts["particles"]), "particle"))
    if meshes := [body for body in facts["bodies"] or () if body.get("cells")]:
        parts.append(text.contents(meshes))
    return ", ".join(parts)


def phase_lines(seconds: dict[str, float]) -> list[tuple[str, str]]:
    """Time per phase, longest first, with its share."""
    total = sum(seconds.values())
    if not total:
        return []
    ordered = sorted((item for item in seconds.items() if item[1] > 0), key=lambda item: -item[1])
    table = text.columns(
        [
            [name.replace("_", " "), text.duration(value), f"{100 * value / total:.0f} %"]
            for name, value in ordered
        ]
    )
    return [("time spent" if index == 0 else "", row) for index, row in enumerate(table)]
