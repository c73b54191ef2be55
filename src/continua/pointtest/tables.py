"""Paths from tables: a CSV file with a time column and the components of F or of the velocity gradient L."""

from __future__ import annotations

import csv
import math
from pathlib import Path as FilePath

import numpy as np
from scipy.linalg import expm

from continua.errors import MaterialError
from continua.pointtest.paths import STEPS, Array, Path, prescribed


def read_path(file: str | FilePath, *, steps: int = STEPS) -> Path:
    """Path of a CSV file with the header `t,F00,F01,...` or `t,L00,L01,...`, in any order.

    F is the total deformation gradient, the identity in the first row and linear between rows; L is the velocity
    gradient [1/s], also linear between rows. Four components make a 2D path, nine a 3D one; t [s] must grow.
    Intervals are divided evenly until there are at least `steps` steps. Lines that begin with # are skipped.
    """
    file = FilePath(file)
    names, numbers = _read(file)
    letter, d = _components(names, file)
    time = numbers[:, names.index("t")]
    if len(time) < 2 or not (np.diff(time) > 0).all():
        raise MaterialError(f"{file.name}: column t must have two rows at least and grow from row to row")
    columns = [names.index(f"{letter}{i}{j}") for i in range(d) for j in range(d)]
    matrices = numbers[:, columns].reshape(-1, d, d)
    if letter == "F" and not np.allclose(matrices[0], np.eye(d), rtol=0, atol=1e-9):
        raise MaterialError(f"{file.name}: the first row must be undeformed, F = identity")
    pieces = max(1, math.ceil(steps / (len(time) - 1)))
    fine = np.interp(np.arange((len(time) - 1) * pieces + 1) / pieces, np.arange(len(time)), time)
    F = _between(time, matrices, fine) if letter == "F" else _integrated(time, matrices, fine)
    if not (np.linalg.det(F) > 0).all():
        bad = fine[int(np.argmin(np.linalg.det(F) > 0))]
        raise MaterialError(
            f"{file.name}: det F is not positive at t = {bad:g}; the material would be inverted"
        )
    return prescribed(file.stem, fine, F, fine, "equivalent", against_time=True)


def _between(time: Array, matrices: Array, at: Array) -> Array:
    """Matrices (n, d, d) at other times, linear in between."""
    flat = matrices.reshape(len(time), -1)
    return np.stack([np.interp(at, time, column) for column in flat.T], axis=1).reshape(
        -1, *matrices.shape[1:]
    )


def _integrated(time: Array, L: Array, fine: Array) -> Array:
    """F from dF/dt = L F, by the exponential of the velocity gradient at the middle of each step."""
    middle = _between(time, L, (fine[1:] + fine[:-1]) / 2)
    F = [np.eye(L.shape[1])]
    for dt, gradient in zip(np.diff(fine), middle, strict=True):
        F.append(expm(dt * gradient) @ F[-1])
    return np.array(F)


def _read(file: FilePath) -> tuple[list[str], Array]:
    """Header and numbers (rows, columns)."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise MaterialError(f"{file}: cannot be read ({error.strerror}); give a CSV file") from None
    except UnicodeDecodeError:
        raise MaterialError(f"{file.name}: is not UTF-8 text; give a CSV file") from None
    numbered = [(n, line) for n, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not numbered:
        raise MaterialError(f"{file.name}: is empty; begin with a header such as t,F00,F01,F10,F11")
    names = [name.strip() for name in next(csv.reader([numbered[0][1]]))]
    return names, np.array([_row(file, n, line, names) for n, line in numbered[1:]]).reshape(-1, len(names))


def _row(file: FilePath, number: int, line: str, names: list[str]) -> list[float]:
    cells = next(csv.reader([line]))
    if len(cells) != len(names):
        raise MaterialError(f"{file.name}, line {number}: {len(cells)} values for {len(names)} columns")
    values = []
    for name, cell in zip(names, cells, strict=True):
        try:
            values.append(float(cell))
        except ValueError:
            raise MaterialError(
                f'{file.name}, line {number}: {name} is "{cell.strip()}", not a number'
            ) from None
        if not math.isfinite(values[-1]):
            raise MaterialError(f"{file.name}, line {number}: {name} is {cell.strip()}; give a finite number")
    return values


def _components(names: list[str], file: FilePath) -> tuple[str, int]:
    """Which matrix the columns hold (F or L) and its dimension."""
    for letter in "FL":
        for d in (2, 3):
            wanted = ["t", *(f"{letter}{i}{j}" for i in range(d) for j in range(d))]
            if sorted(names) == sorted(wanted):
                return letter, d
    shown = ",".join(names)
    raise MaterialError(
        f"{file.name}: the columns are {shown if len(shown) < 60 else shown[:57] + '...'}; they must be t and "
        "F00,F01,F10,F11, in 3D all nine up to F22, or the same with L for the velocity gradient"
    )
