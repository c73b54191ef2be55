"""Wrong arguments of the kernels of surfaces and drops are refused by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from drop_boxes import islands, parts
from mac_boxes import random_velocity

from continua import _core


def calls() -> dict[str, tuple[Callable, dict[str, object]]]:
    """Valid arguments of the kernels, by name."""
    box, count, labels, centres = parts(2)
    shared = {"neighbours": box.neighbours, "dimension": 2}
    cells = np.zeros(box.liquid.shape)
    of_parts = {"keys": box.keys, "labels": labels, "fluid": box.liquid, "open": box.open, "centres": centres}
    gram, momentum = np.zeros((count, 3, 3)), np.zeros((count, 3))
    faces, fluid = random_velocity(box), np.zeros_like(box.liquid)
    surface = {"fill": cells, "distance": cells.copy()}
    found = {
        "spread_labels": {**shared, "labels": labels, "scratch": labels.copy(), "layers": 1},
        "part_momenta": {
            **shared,
            **of_parts,
            "mass": faces,
            "velocity": faces,
            "gram": gram,
            "momentum": momentum,
        },
        "subtract_motions": {**shared, **of_parts, "motions": momentum, "velocity": faces},
        "surface_cells": {
            **shared,
            **surface,
            "nodes": np.abs(faces),
            "open": box.open,
            "degree": 1,
            "full": 1.0,
            "fluid": fluid,
        },
        "crowded_cells": {
            **shared,
            **surface,
            "degree": 1,
            "fluid": box.liquid,
            "open": box.open,
            "out": cells.copy(),
        },
    }
    return {name: (getattr(_core, name), arguments) for name, arguments in found.items()}


@pytest.mark.parametrize("function", sorted(calls()))
def test_wrong_arguments_are_named(function: str) -> None:
    """Another shape, another number type, no array at all; neighbours that are none; dimensions, degrees and limits."""
    call, valid = calls()[function]
    call(**valid)
    wrong: list[tuple[str, object]] = [("dimension", 4), ("dimension", 1)]
    for name, value in valid.items():
        if isinstance(value, np.ndarray):
            wrong += [(name, value[..., :-1].copy()), (name, value.astype(np.int16)), (name, value.tolist())]
    beyond = np.full_like(valid["neighbours"], len(np.asarray(valid["neighbours"])))
    wrong += [("neighbours", beyond)]
    wrong += [
        (name, value) for name, value in [("layers", -1), ("degree", 4), ("full", 0.0)] if name in valid
    ]
    for name, value in wrong:
        with pytest.raises((ValueError, TypeError), match=None if name == "keys" else name):
            call(**{**valid, name: value})


def test_a_distance_of_the_wrong_sign_is_refused_by_the_pressure() -> None:
    box = islands(2, 0.0)
    for distance in (
        np.ones(box.unknown.shape),
        np.where(box.unknown, -1.0, -0.5),
        np.full(box.unknown.shape, np.nan),
    ):
        box.distance = distance
        with pytest.raises(ValueError, match="distance"):
            box.system()
    box.distance = np.where(box.unknown, -1.0, 1.0)
    system = box.system()
    with pytest.raises(ValueError, match="labels"):
        system.label_open_parts(np.zeros(box.liquid.shape, np.int64))
    with pytest.raises(ValueError, match="labels"):
        system.label_open_parts(np.zeros(box.liquid.shape, np.int32)[:-1])
