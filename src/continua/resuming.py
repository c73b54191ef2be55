"""Before a run goes on: is it still the same run, and is what it wrote still there?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from continua.errors import OutputError
from continua.io import Checkpoint, RunFolder
from continua.plan import RunPlan

COMPARED = ("setup", "files", "scene_sha256")
# of bodies, where a run need not have kept them
LATER = ("arrays", "drag", "damping", "damping_form", "contact", "scripted")
_SHOWN = 3  # changes that a sentence lists


def changes(run: RunFolder, checkpoint: Checkpoint, description: Mapping[str, Any]) -> list[str]:
    """What is not as it was when the run wrote its checkpoint, each a few words."""
    found: list[str] = []
    for name in COMPARED:
        before, now = run.description.get(name), description.get(name)
        if before is not None and now is not None:
            found += differences(before, now, "" if name == "setup" else name)
    return found + list(damage(run, checkpoint))


def damage(run: RunFolder, checkpoint: Checkpoint) -> Iterator[str]:
    """Frames and rows of diagnostics from before a checkpoint that are missing or cannot be read."""
    known = set(run.frame_indices())
    for index in range(checkpoint.frame + 1):
        if index not in known:
            yield f"frame {index} is missing"
            continue
        try:
            stored = run.read_frame(index).index
        except OutputError:
            yield f"frame {index} is damaged"
            continue
        if stored != index:
            yield f"the file of frame {index} holds frame {stored}"
    table = run.diagnostics()
    rows = len(next(iter(table.values()))) if table else 0
    if rows < checkpoint.rows:
        yield f"diagnostics.csv has {rows} of {checkpoint.rows} rows"


def differences(before: Any, now: Any, place: str) -> Iterator[str]:
    """`colliders[0].friction was 0.4 and is 0.5` for every number or text that differs."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        if "sha256" in before and "sha256" in now:
            if before["sha256"] != now["sha256"]:
                yield f"the file {before.get('file')} has changed or is gone"
            return
        if before.get("class") != now.get("class"):
            yield f"{place} was {before.get('class')} and is {now.get('class')}"
            return
        for key in dict.fromkeys([*before, *now]):
            if key in LATER and key not in before:
                continue
            inner = f"{place}.{key}" if place else str(key)
            yield from differences(before.get(key), now.get(key), inner)
    elif isinstance(before, (list, tuple)) and isinstance(now, (list, tuple)):
        if len(before) != len(now):
            yield f"there were {len(before)} {place} and are {len(now)}"
            return
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{place}[{number}]")
    elif before != now:
        if place == "scene_sha256":
            yield "the scene file has changed"
        elif ".mesh[" in place:
            yield f"the mesh of {place.partition('.mesh[')[0]} has changed"
        elif ".arrays." in place:
            body, _, name = place.partition(".arrays.")
            yield f"the {name} of {body} have changed"
        else:
            yield f"{place} was {before} and is {now}"


def check_times(run: RunFolder, checkpoint: Checkpoint, start: float, plan: RunPlan) -> None:
    """Refuse to go on where the frames that there are do not belong to the times that a plan has for them."""
    end = start + plan.duration
    if checkpoint.time > end:
        raise OutputError(
            f"the run in {run.path} has come to t = {checkpoint.time:.6g} s already, beyond the {end:.6g} s asked for; "
            "give a longer duration"
        )
    frames = (checkpoint.time - start) * plan.fps
    slack = 1e-6 * max(frames, 1.0)
    fps = run.description.get("fps", plan.fps)
    if fps != plan.fps or not checkpoint.frame - slack <= frames <= checkpoint.frame + 1 + slack:
        raise OutputError(
            f"the run in {run.path} has {fps:g} frames per second and cannot go on with {plan.fps:g}; give the same "
            "fps, or another output folder"
        )


def begun_anew(run: RunFolder, lost: list[str], accept_changes: bool) -> dict[str, Any]:
    """What a run whose checkpoints are all lost keeps of its description; it begins anew only if that is accepted."""
    if not lost:
        return {}
    if not accept_changes:
        raise OutputError(
            f"no checkpoint of the run in {run.path} can be read: {lost[0].partition(';')[0]}; restore one, or begin "
            "anew with --accept-changes (in Python accept_changes=True)"
        )
    warnings.warn(f"no checkpoint of the run in {run.path} can be read; it begins anew", stacklevel=8)
    return {"changes": [*run.description.get("changes", []), "begun anew: no checkpoint could be read"]}


def refusal(run: RunFolder, found: list[str]) -> OutputError:
    """Why a run does not go on without being told to."""
    more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return OutputError(
        f"the run in {run.path} is not as it was: {'; '.join(found[:_SHOWN])}{more}; restore it, or go on all the same "
        "with --accept-changes (in Python accept_changes=True)"
    )
