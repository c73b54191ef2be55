"""Boxes of cells with many small islands of liquid, some of which touch walls."""

from __future__ import annotations

import numpy as np
from mac_boxes import SIZE, Mac
from numpy.typing import NDArray

from continua import _core

HELD = np.iinfo(np.int32).max


def islands(d: int, walls: float, seed: int = 0, part: float = 0.35) -> Mac:
    """Cells at random, most of them in small islands; this part of the faces is closed or cut."""
    rng, shape = np.random.default_rng(seed), (2 * SIZE[d],) * d
    liquid = rng.random(shape) < part
    for a in range(d):
        np.moveaxis(liquid, a, 0)[-1] = False  # faces above the box are closed
    opening = np.where(rng.random((d, *shape)) < walls, rng.choice([0.0, 0.5], (d, *shape)), 1.0)
    return Mac(liquid, opening, shift=-1)


def labels_of(box: Mac) -> tuple[int, NDArray]:
    labels = np.full(box.liquid.shape, 7, np.int32)
    return box.system().label_open_parts(labels), labels


def parts(d: int) -> tuple[Mac, int, NDArray, NDArray]:
    """Islands with some walls: box, number of free parts, labels spread by two layers, centres (count, 3)."""
    box = islands(d, 0.01, part=0.2)
    count, labels = labels_of(box)
    _core.spread_labels(labels, np.empty_like(labels), box.neighbours, d, 2)
    centres = np.random.default_rng(6).uniform(0, 9, (count, 3))
    return box, count, labels, centres
