"""One scene several times, with one setting that differs: `continua compare`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from continua.errors import OutputError, SceneError
from continua.io.folder import RunFolder, is_run
from continua.io.table import elapsed
from continua.scene import LoadedScene, open_scene
from continua.scene.build import describe
from continua.world import DEGREES

if TYPE_CHECKING:
    from continua.scene import Scene

OPENING, CLOSING = "[{(", "]})"


@dataclass
class Variant:
    """The scene with one of the values: `label` as the user wrote it, and the folder of its run."""

    label: str
    loaded: LoadedScene
    folder: Path


def split_values(text: str) -> tuple[str, list[str]]:
    """`"transfer=pic,flip"` -> `("transfer", ["pic", "flip"])`; commas inside brackets and quotes do not part."""
    key, equals, rest = text.partition("=")
    values, depth, quote = [""], 0, ""
    for letter in rest:
        quote = "" if letter == quote else letter if not quote and letter in "\"'" else quote
        depth += 0 if quote else (letter in OPENING) - (letter in CLOSING)
        if letter == "," and not depth and not quote:
            values.append("")
        else:
            values[-1] += letter
    values = [value.strip() for value in values]
    if not equals or not key.strip() or not all(values):
        raise SceneError(
            f"--over {text}: write it as KEY=VALUE,VALUE,..., for example --over transfer=pic,apic"
        )
    return key.strip(), values


def variants(scene: str | Path, over: str, overrides: Sequence[str], output: Path | None) -> list[Variant]:
    """The scene with `overrides` and each value of `over`, checked before anything runs."""
    key, values = split_values(over)
    found: list[Variant] = []
    for value in values:
        change = f"{key}={value}"
        try:
            loaded = open_scene(scene, [*overrides, change])
        except SceneError as error:
            raise SceneError(str(error).replace(f"--set {change}", f"--over {change}")) from None
        settings = loaded.scene.simulation
        settings.transfer.plan(
            loaded.scene.dimension, DEGREES[settings.kernel or settings.integrator.kernel]
        )  # an error if it has no such modes
        place = output or Path("out") / f"{loaded.name}-{key.replace('.', '-')}"
        found.append(Variant(value, loaded, place / folder_name(value)))
    names = [variant.folder.name for variant in found]
    for name in names:
        if not name or names.count(name) > 1:
            raise SceneError(f"--over {over}: the values must differ, and in more than punctuation")
    return found


def folder_name(value: str) -> str:
    """Letters, digits, dots and signs of a value."""
    return re.sub(r"[^\w.+-]+", "_", value).strip("_.")


def earlier_run(variant: Variant) -> RunFolder | None:
    """The run of this variant that is there already, None if there is none; a run of something else is an error."""
    if not is_run(variant.folder):
        return None
    run = RunFolder(variant.folder)
    asked, stored = describe(variant.loaded), run.description
    if asked["scene"] is None:  # it holds Python code
        same = all(stored.get(name) == asked[name] for name in ("source", "overrides"))
    else:
        same = _without_length(stored.get("scene")) == _without_length(asked["scene"])
    if not same:
        raise OutputError(
            f"{variant.folder} holds a run with other settings; use --overwrite or another --output folder"
        )
    return run


def _without_length(scene: dict[str, Any] | None) -> dict[str, Any] | None:
    """The scene data without its duration: a run may go on beyond its end."""
    if scene is None:
        return None
    return {**scene, "run": {**scene["run"], "duration": None}}


@dataclass
class Result:
    """What a run came to; energies [J], per metre of depth in 2D. None where a number has no meaning.

    `momentum_error` is the momentum that neither gravity nor obstacles gave, over sqrt(2 m K) with the largest
    kinetic energy K; not for scenes with emitters or drains. `angular_error` is the change of angular momentum
    where nothing acts from outside, over its value at the start.
    """

    label: str
    folder: Path
    status: str
    time: float
    steps: int
    energy: float
    energy_change: float
    momentum_error: float | None
    angular_error: float | None
    seconds: float


def result_of(variant: Variant) -> Result:
    """Numbers of a run from its diagnostics and its last checkpoint."""
    run = RunFolder(variant.folder)
    table, scene = run.diagnostics(), variant.loaded.scene
    if not len(table.get("time", ())):
        raise OutputError(f"{variant.folder} has no diagnostics; run it again with --overwrite")
    clocks = [column for name, column in table.items() if name.startswith("seconds_")]
    return Result(
        label=variant.label,
        folder=variant.folder,
        status=run.status,
        time=float(table["time"][-1]),
        steps=int(table["step"][-1]),
        energy=float(table["total"][-1]),
        energy_change=float(table["total"][-1] - table["total"][0]),
        momentum_error=momentum_error(run, scene, table),
        angular_error=angular_error(scene, table),
        seconds=sum(map(elapsed, clocks)),
    )


def momentum_error(run: RunFolder, scene: Scene, table: dict[str, np.ndarray]) -> float | None:
    """See `Result`."""
    checkpoint = run.last_checkpoint()
    if scene.emitter or scene.drain or checkpoint is None or checkpoint.time != table["time"][-1]:
        return None
    gained = vector(table, "momentum", -1) - vector(table, "momentum", 0)
    gravity = np.zeros(3)
    gravity[: scene.dimension] = scene.simulation.gravity
    given = checkpoint.state["impulses"].sum(axis=0) + table["mass"][-1] * checkpoint.time * gravity
    return float(np.linalg.norm(gained - given) / momentum_scale(table))


def angular_error(scene: Scene, table: dict[str, np.ndarray]) -> float | None:
    """See `Result`."""
    if scene.emitter or scene.drain or scene.collider or scene.boundary or any(scene.simulation.gravity):
        return None
    start = vector(table, "angular", 0)
    size = max(float(np.linalg.norm(start)), momentum_scale(table) * scene.simulation.dx)
    return float(np.linalg.norm(vector(table, "angular", -1) - start) / size)


def momentum_scale(table: dict[str, np.ndarray]) -> float:
    """Momentum of the whole mass at the speed of the largest kinetic energy [kg m/s]."""
    return max(float(np.sqrt(2 * table["mass"][-1] * table["kinetic"].max())), np.finfo(float).tiny)


def vector(table: dict[str, np.ndarray], name: str, row: int) -> np.ndarray:
    """Three components of a quantity in a row; those that the run did not record are 0."""
    return np.array([table[f"{name}_{axis}"][row] if f"{name}_{axis}" in table else 0.0 for axis in "xyz"])
