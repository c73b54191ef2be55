"""Run folders: everything a run leaves behind, written so that a kill at any moment leaves a readable folder.

Layout: run.json, frames/frame_00000.npz, checkpoints/step_000000123.npz (the last two), diagnostics.csv.
"""

from __future__ import annotations

import json
import os
import re
import weakref
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from continua._validation import shown
from continua.errors import OutputError
from continua.io.atomic import is_temporary, make_folder, output_errors, remove_temporaries, write_bytes
from continua.io.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from continua.io.description import parsed
from continua.io.frames import Frame, read_frame, write_frame
from continua.io.lock import FolderLock, is_locked
from continua.io.table import Table, read_table

FORMAT = 1
STATUSES = ("running", "finished", "interrupted", "failed")
KEPT_CHECKPOINTS = 2
_RUN = "run.json"
_TABLE = "diagnostics.csv"
_MUST_MATCH = ("dimension", "dx", "precision", "seed")

Approve = Callable[["RunFolder", Checkpoint | None, list[str]], Mapping[str, Any]]
"""Called before a run goes on from a checkpoint, or begins anew without one, with a sentence for each newer one that
cannot be read: raises an error if it must not, returns more of its description."""


class RunFolder:
    """A run on disk, for reading; works at any time, also while the run is being written."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not isinstance(folder, (str, os.PathLike)):
            raise OutputError(f"a run is read from the path of its folder, not from {shown(folder)}")
        self.path = Path(folder)
        self.description = self._describe()

    def _describe(self) -> dict[str, Any]:
        path = self.path / _RUN
        if not self.path.is_dir():
            raise OutputError(f"{self.path} is not a folder; give the output folder of a run")
        if not path.exists():
            raise OutputError(f"{self.path} holds no run (no {_RUN}); give the output folder of a run")
        with output_errors(path, "read"):
            data = path.read_bytes()
        try:
            description = parsed(data)
        except ValueError as error:
            raise OutputError(f"{path} is damaged ({error}); restore it or run again") from error
        if description["format"] > FORMAT:
            raise OutputError(f"{path} was written by a newer Continua; update Continua to read it")
        return description

    @property
    def status(self) -> str:
        """One of `STATUSES`; a run whose process is gone counts as interrupted."""
        status = str(self.description.get("status", "interrupted"))
        return "interrupted" if status == "running" and is_locked(self.path) is False else status

    @property
    def message(self) -> str:
        """Why the run ended, if it did not end well."""
        return str(self.description.get("message", ""))

    @property
    def dimension(self) -> int:
        """2 or 3."""
        dimension = self.description.get("dimension")
        if dimension in (2, 3):
            return int(dimension)
        indices = self.frame_indices()
        return self.read_frame(indices[0]).dimension if indices else 3

    @property
    def dx(self) -> float:
        """Grid spacing [m]."""
        return float(self.description.get("dx") or 1.0)

    def frame_indices(self) -> list[int]:
        """Numbers of the frames on disk, ascending."""
        return sorted(_numbered(self.path / "frames", r"frame_(\d+)\.npz"))

    def read_frame(self, index: int) -> Frame:
        """The frame with that number."""
        indices = self.frame_indices()
        if index not in indices:
            known = f"{indices[0]} to {indices[-1]}" if indices else "none yet"
            raise OutputError(f"{self.path} has no frame {index}; it has frames {known}")
        return read_frame(_frame_path(self.path, index))

    def frame_bytes(self, index: int) -> int:
        """Size of the file of a frame [bytes]."""
        path = _frame_path(self.path, index)
        with output_errors(path, "read"):
            return path.stat().st_size

    def frames(self) -> Iterator[Frame]:
        """All frames in order, read one at a time."""
        for index in self.frame_indices():
            yield self.read_frame(index)

    def last_checkpoint(self) -> Checkpoint | None:
        """The newest undamaged checkpoint, or None."""
        return self.newest_checkpoint()[0]

    def newest_checkpoint(self) -> tuple[Checkpoint | None, list[str]]:
        """The newest undamaged checkpoint, or None, and a sentence for each newer one that cannot be read."""
        lost: list[str] = []
        for path in _checkpoint_paths(self.path):
            try:
                return read_checkpoint(path), lost
            except OutputError as error:
                lost.append(str(error))
        return None, lost

    def diagnostics(self) -> dict[str, np.ndarray]:
        """Columns (rows,) of diagnostics.csv by name; empty before the first row."""
        return read_table(self.path / _TABLE)


class Recorder:
    """Writes a run folder; also a context manager that records how the block ended.

    A folder that already holds a run needs `overwrite` (its files are deleted) or `resume` (frames and rows
    after the last good checkpoint are dropped; that checkpoint is `resumed`; `approve` is asked before). A folder
    with other files is refused, and files that no run wrote are never touched. `resume` in an empty folder starts a
    new run.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        description: Mapping[str, Any],
        overwrite: bool = False,
        resume: bool = False,
        approve: Approve | None = None,
        frame_precision: str = "single",
    ) -> None:
        self.path = make_folder(folder)
        self.resumed: Checkpoint | None = None
        self._open = True
        self._precision = frame_precision
        self._description = {**description, "format": FORMAT, "status": "running", "message": ""}
        self._description.setdefault("created", _now())
        self._lock = FolderLock(self.path)
        held = _holders.pop(self._key, None)  # an abandoned run of this very process, as in a notebook
        if held is not None:
            held.close()
        if not self._lock.acquire():
            raise OutputError(f"{self.path} is in use by another process; stop it or choose another folder")
        try:
            self._prepare(overwrite, resume, approve)
        except BaseException:
            self.close()
            raise
        _holders[self._key] = self

    def _prepare(self, overwrite: bool, resume: bool, approve: Approve | None) -> None:
        is_run = _is_run(self.path)
        if is_run and not (overwrite or resume):
            raise OutputError(
                f"{self.path} already holds a run; resume it, overwrite it, or choose another output folder"
            )
        for folder in (self.path, self.path / "frames", self.path / "checkpoints"):
            remove_temporaries(folder)
        if is_run and resume:
            self._resume(approve)
        elif is_run:
            self._clear()
        self._save()
        for name in ("frames", "checkpoints"):
            make_folder(self.path / name)
        self._table = Table(self.path / _TABLE, keep=self.resumed.rows if self.resumed else 0)

    def _resume(self, approve: Approve | None) -> None:
        """Keep what belongs to the newest good checkpoint, drop what was written after it."""
        old = RunFolder(self.path)
        for name in _MUST_MATCH:
            before, now = old.description.get(name), self._description.get(name)
            if None not in (before, now) and before != now:
                raise OutputError(
                    f"the run in {self.path} has {name} = {before}, not {now}; restore it or overwrite"
                )
        self._description["created"] = old.description.get("created", self._description["created"])
        self.resumed, lost = old.newest_checkpoint()
        if approve is not None:
            self._description.update(approve(old, self.resumed, lost))
        step, frame = (self.resumed.step, self.resumed.frame) if self.resumed else (-1, -1)
        self._drop(after_frame=frame, after_step=step)

    def _clear(self) -> None:
        """Delete the old run; say so first, so that a kill in between does not leave it looking finished."""
        try:
            old = RunFolder(self.path).description
        except OutputError:
            old = {"format": FORMAT}
        _write_json(self.path / _RUN, {**old, "status": "interrupted", "message": "overwritten"})
        self._drop(after_frame=-1, after_step=-1)
        with output_errors(self.path / _TABLE, "delete"):
            (self.path / _TABLE).unlink(missing_ok=True)

    def _drop(self, *, after_frame: int, after_step: int) -> None:
        for path in _checkpoint_paths(self.path):  # first: a checkpoint must never outlive its frames
            if _number(path) > after_step:
                _delete(path)
        for index in _numbered(self.path / "frames", r"frame_(\d+)\.npz"):
            if index > after_frame:
                _delete(_frame_path(self.path, index))

    def frame(self, frame: Frame) -> Path:
        """Write a frame, replacing one of the same number."""
        self._check_open()
        path = _frame_path(self.path, frame.index)
        dx = float(self._description.get("dx") or np.inf)
        write_frame(path, frame, precision=self._precision, dx=dx)
        return path

    def diagnostics(self, row: Mapping[str, float]) -> None:
        """Add a row of numbers; on disk at the latest with the next checkpoint."""
        self._check_open()
        self._table.add(row)

    def checkpoint(self, state: Mapping[str, np.ndarray], *, step: int, frame: int, time: float) -> Path:
        """Write the state after `step` steps at `time` [s]; `frame` is the last frame written before it."""
        self._check_open()
        self._table.flush()
        path = self.path / "checkpoints" / f"step_{step:09d}.npz"
        write_checkpoint(path, Checkpoint(step, frame, time, dict(state), self._table.rows))
        for old in _checkpoint_paths(self.path)[KEPT_CHECKPOINTS:]:
            _delete(old)
        return path

    @property
    def last_checkpoint_path(self) -> Path | None:
        """File of the newest checkpoint, or None before the first."""
        return next(iter(_checkpoint_paths(self.path)), None)

    def finish(self, status: str = "finished", message: str = "") -> None:
        """Write the last rows and how the run ended, and let go of the folder."""
        if status not in STATUSES:
            raise ValueError(f"status must be one of {STATUSES}, got {status!r}")
        self._check_open()
        try:
            self._description |= {"status": status, "message": message, "ended": _now()}
            self._table.flush()
            self._save()
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the folder without a word about how the run ended."""
        self._lock.release()
        self._open = False
        if _holders.get(self._key) is self:
            del _holders[self._key]

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._open:
            return
        if kind is None:
            self.finish("finished")
        elif issubclass(kind, Exception):
            self.finish("failed", str(error))
        else:
            self.finish("interrupted", str(error) or kind.__name__)

    @property
    def _key(self) -> str:
        return os.path.realpath(self.path)

    def _save(self) -> None:
        _write_json(self.path / _RUN, self._description)

    def _check_open(self) -> None:
        if not self._open:
            raise OutputError(f"the run in {self.path} has ended or was taken over; start it anew")


_holders: weakref.WeakValueDictionary[str, Recorder] = weakref.WeakValueDictionary()


def is_run(folder: str | os.PathLike[str]) -> bool:
    """Whether the folder holds a run, finished or not."""
    return (Path(folder) / _RUN).exists()


def _is_run(folder: Path) -> bool:
    """As `is_run`, but a folder with files that no run wrote is refused."""
    if is_run(folder):
        return True
    with output_errors(folder, "read"):
        foreign = next((path.name for path in folder.iterdir() if not is_temporary(path)), None)
    if foreign is not None:
        raise OutputError(
            f"{folder} holds files that are not a run (such as {foreign}); choose a new or empty folder"
        )
    return False


def _frame_path(folder: Path, index: int) -> Path:
    return folder / "frames" / f"frame_{index:05d}.npz"


def _checkpoint_paths(folder: Path) -> list[Path]:
    """Checkpoint files, newest first."""
    steps = sorted(_numbered(folder / "checkpoints", r"step_(\d+)\.npz"), reverse=True)
    return [folder / "checkpoints" / f"step_{step:09d}.npz" for step in steps]


def _number(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _numbered(folder: Path, pattern: str) -> list[int]:
    """Numbers of the files whose name matches the pattern; none if the folder is missing."""
    if not folder.is_dir():
        return []
    with output_errors(folder, "read"):
        matches = [re.fullmatch(pattern, name, re.ASCII) for name in os.listdir(folder)]
    return [int(match[1]) for match in matches if match]


def _delete(path: Path) -> None:
    with output_errors(path, "delete"):
        path.unlink(missing_ok=True)


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    write_bytes(path, (json.dumps(content, indent=2, default=_jsonable) + "\n").encode())


def _jsonable(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return os.fspath(value) if isinstance(value, os.PathLike) else repr(value)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
