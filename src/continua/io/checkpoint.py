"""Checkpoints: the whole state of a simulation at full precision, with a checksum that reveals damage."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from continua.errors import OutputError
from continua.io.npz import plain, read_npz, write_npz

FORMAT = 1
_PREFIX = "state."


@dataclass
class Checkpoint:
    """State after `step` steps at `time` [s].

    Frames up to number `frame` and `rows` rows of diagnostics were written before it.
    """

    step: int
    frame: int
    time: float
    state: dict[str, np.ndarray]
    rows: int = 0


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint atomically; every bit of every array is kept."""
    state = {name: plain(array) for name, array in checkpoint.state.items()}
    meta: dict[str, Any] = {
        "format": FORMAT,
        "step": int(checkpoint.step),
        "frame": int(checkpoint.frame),
        "time": float(checkpoint.time),
        "rows": int(checkpoint.rows),
        "names": list(state),
    }
    meta["checksum"] = _checksum(meta, state)
    write_npz(path, {f"{_PREFIX}{number}": array for number, array in enumerate(state.values())}, meta)


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; raises OutputError if it is missing or a single bit has changed."""
    arrays, meta = read_npz(path)
    try:
        if meta["format"] > FORMAT:
            raise OutputError(f"{path} was written by a newer Continua; update Continua to resume from it")
        state = {name: arrays[f"{_PREFIX}{number}"] for number, name in enumerate(meta["names"])}
        if meta.pop("checksum") != _checksum(meta, state):
            raise OutputError(f"{path} is damaged (wrong checksum); resume from another checkpoint")
        return Checkpoint(meta["step"], meta["frame"], meta["time"], state, meta["rows"])
    except (KeyError, TypeError) as error:
        raise OutputError(f"{path} is not a checkpoint ({error}); choose another file") from error


def _checksum(meta: Mapping[str, Any], state: Mapping[str, np.ndarray]) -> str:
    """SHA-256 over names, types, shapes and bytes."""
    digest = hashlib.sha256(repr(sorted(meta.items())).encode())
    for name, array in state.items():
        digest.update(repr((name, array.dtype.str, array.shape)).encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
