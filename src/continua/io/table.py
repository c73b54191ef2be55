"""The diagnostics table: a CSV file that is always whole, however often rows are added."""

from __future__ import annotations

import csv
import io
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from continua.errors import OutputError
from continua.io.atomic import atomic_file, output_errors

_INTERVAL = 5.0  # seconds between writes that nobody asked for
_GROWTH = 8  # and not before 1/8 of the rows are new, so that the total work stays proportional to the rows


class Table:
    """Rows of numbers, buffered in memory and appended by replacing the file.

    `flush` copies the old file and the new rows to a temporary file and renames it, so that readers and
    crashes never meet half a row. Rows may bring new columns; cells that a row lacks stay empty.
    """

    def __init__(self, path: Path, *, keep: int = 0) -> None:
        """Continue the file with its first `keep` rows, or start it anew."""
        self.path = path
        self.columns: list[str] = []
        self.rows = 0
        self._waiting: list[str] = []
        self._flushed_at = time.monotonic()
        if keep and path.exists():
            self._cut(keep)
        else:
            with output_errors(path, "delete"):
                path.unlink(missing_ok=True)

    def add(self, row: Mapping[str, float]) -> None:
        """Add a row; it reaches the disk at the next flush, at the latest some seconds later."""
        if any(name not in self.columns for name in row):
            self._widen(row)
        self._waiting.append(_line([_cell(row.get(name)) for name in self.columns]))
        self.rows += 1
        due = time.monotonic() - self._flushed_at > _INTERVAL
        if due and len(self._waiting) * _GROWTH >= self.rows:
            self.flush()

    def flush(self) -> None:
        """Bring all rows to the disk."""
        if self._waiting:
            with atomic_file(self.path) as file:
                if self.path.exists():
                    with open(self.path, "rb") as old:
                        shutil.copyfileobj(old, file, 1 << 20)
                else:
                    file.write(_line(self.columns).encode())
                file.write("".join(self._waiting).encode())
            self._waiting.clear()
        self._flushed_at = time.monotonic()

    def _widen(self, row: Mapping[str, float]) -> None:
        """Add the new columns of a row, leaving their cells in the older rows empty."""
        self.flush()
        old = len(self.columns)
        self.columns += [name for name in row if name not in self.columns]
        if self.path.exists():
            self._rewrite([cells + [""] * (len(self.columns) - old) for cells in read_cells(self.path)[1]])

    def _cut(self, keep: int) -> None:
        """Drop the rows after the first `keep`."""
        self.columns, rows = read_cells(self.path)
        self._rewrite(rows[:keep])
        self.rows = min(keep, len(rows))

    def _rewrite(self, rows: list[list[str]]) -> None:
        with atomic_file(self.path) as file:
            file.write("".join(_line(cells) for cells in [self.columns, *rows]).encode())


def read_cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """(columns, rows) of a CSV file as text; rows of the wrong length are skipped."""
    with output_errors(path, "read"), open(path, encoding="utf-8", errors="replace", newline="") as file:
        lines = list(csv.reader(file))
    columns = lines[0] if lines else []
    return columns, [cells for cells in lines[1:] if len(cells) == len(columns)]


def read_table(path: Path) -> dict[str, np.ndarray]:
    """Columns (rows,) of float64 by name; empty cells are NaN; a missing file has no columns."""
    if not path.exists():
        return {}
    columns, rows = read_cells(path)
    try:
        values = np.array([[float(cell) if cell else np.nan for cell in cells] for cells in rows])
    except ValueError as error:
        raise OutputError(f"{path} has a bad cell ({error}); restore or delete the file") from error
    values = values.reshape(len(rows), len(columns))
    return {name: values[:, number].copy() for number, name in enumerate(columns)}


def elapsed(clock: np.ndarray) -> float:
    """Total of a clock (rows,) [s] that starts again from zero whenever the run is resumed."""
    readings = clock[np.isfinite(clock)]
    changes = np.diff(readings, prepend=0.0)
    return float(np.where(changes >= 0, changes, readings).sum())


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return repr(int(value)) if isinstance(value, (int, np.integer)) else repr(float(value))


def _line(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
