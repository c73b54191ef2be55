"""Kernels of solids at their limits: threads, no solids, wrong arguments, numbers that are none."""

from __future__ import annotations

import numpy as np
import pytest
from solid_grids import Grid, liquid

import continua as ct
from continua import _core


def test_the_number_of_threads_changes_no_bit() -> None:
    solids = [
        ct.colliders.Sphere((0.1, 0.0, 0.2), 0.6, mode="slip"),
        ct.colliders.Plane((0, 1, 0), (0, -0.43, 0)),
    ]
    results = []
    threads = _core.threads()
    try:
        for n in (1, 2):
            _core.set_threads(n)
            grid = Grid(3, low=-3, high=3, dtype=np.float32).put(solids)
            velocity = np.random.default_rng(2).normal(size=grid.open.shape).astype(np.float32)
            phi = np.random.default_rng(3).normal(size=grid.open.shape[:2])
            impulses = grid.impulses(*liquid(grid, phi), 2.0)
            results.append([grid.open, grid.wall, grid.owner, grid.constrain(velocity), impulses])
    finally:
        _core.set_threads(threads)
    for one, two in zip(*results, strict=True):
        assert one.tobytes() == two.tobytes()


def test_no_solids_leave_everything_open() -> None:
    grid = Grid(2).put([])
    assert np.all(grid.open == 1) and np.all(grid.wall == 0) and np.all(grid.owner == -1)


def _calls(grid: Grid) -> dict[str, dict[str, object]]:
    """Valid arguments of the three functions, by name."""
    place = {"keys": grid.keys, "lattice": grid.lattice, "dimension": 2}
    solids = {"table": grid.table, "samples": grid.samples, "open": grid.open}
    cells = {"pressure": np.zeros(grid.open.shape[:2]), "fluid": np.ones(grid.open.shape[:2], np.uint8)}
    gravity = {"before": grid.table, "gravity": np.array([0.0, -9.81]), "dt": 0.01}
    return {
        "solid_faces": {**place, **solids, "wall": grid.wall, "owner": grid.owner},
        "constrain_faces": {
            **place,
            **solids,
            "velocity": np.zeros_like(grid.open),
            "reached": np.ones(len(grid.keys), np.uint8),
            "neighbours": grid.neighbours,
        },
        "wall_impulses": {
            **place,
            **solids,
            **cells,
            **gravity,
            "owner": grid.owner,
            "neighbours": grid.neighbours,
            "scale": 1.0,
            "impulses": np.zeros((1, 3)),
        },
    }


def test_wrong_arguments_are_named() -> None:
    """Every array of every function: a missing block, another number type; and indices beyond the end."""
    grid = Grid(2).put([ct.colliders.Sphere((0.0, 0.0), 0.3)])
    for function, valid in _calls(grid).items():
        call = getattr(_core, function)
        call(**valid)
        wrong: list[tuple[str, object]] = [("dimension", 4), ("dimension", 3)]
        for name, value in valid.items():
            if isinstance(value, np.ndarray):
                wrong += [
                    (name, value[..., :-1].copy()),
                    (name, value.astype(np.int16)),
                    (name, value.tolist()),
                ]
            if name in ("neighbours", "owner") and function != "solid_faces":
                wrong += [(name, np.full_like(value, len(grid.keys))), (name, np.full_like(value, -2))]
        if "samples" in valid:
            wrong += [("samples", []), ("table", np.full_like(grid.table, 9.0))]
        said = {"dimension": None, "keys": None}
        for name, value in wrong:
            with pytest.raises(ValueError, match=said.get(name, name)):
                call(**{**valid, name: value})


def test_numbers_that_are_none_do_no_harm() -> None:
    grid = Grid(3).put([ct.colliders.Sphere((0.0, 0.0, 0.0), 0.3)])
    table = np.full_like(grid.table, np.nan)
    table[:, :4] = grid.table[:, :4]
    _core.solid_faces(grid.keys, grid.lattice, 3, table, [None], grid.open, grid.wall, grid.owner)
    assert np.all(grid.open == 1) and np.all(grid.owner == -1)
