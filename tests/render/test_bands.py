"""Pictures are drawn band by band: nothing of that is to be seen in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.io import BodyFrame, Frame
from continua.render import splat
from continua.render.png import write_png
from continua.render.still import make_renderer
from continua.render.view import view_of_frames

COLLIDERS = [
    {"type": "plane", "normal": [0, 1, 0], "point": [0, -0.3, 0]},
    {"type": "sphere", "center": [0.5, 0.1, 1.4], "radius": 0.3},
    {"type": "box", "center": [0.5, 0.6, 0.5], "size": [1.4, 1.4, 1.4], "inverted": True},
]


def frame() -> Frame:
    x = np.random.default_rng(1).random((3000, 3)).astype(np.float32)
    arrays = {"x": x, "v": x, "id": np.arange(len(x)), "volume": np.full(len(x), 1 / len(x))}
    return Frame(0, 0.0, [BodyFrame("b", "points", "snow", arrays)])


def drawn(band: int, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    monkeypatch.setattr(splat, "BAND", band)
    view = view_of_frames([frame()], colliders=COLLIDERS, size=(220, 161), dx=0.1)
    return make_renderer(view).render(frame())


def test_bands_give_the_picture_that_is_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = drawn(1 << 30, monkeypatch).astype(int)
    assert whole.std() > 10  # there is something in it
    for band in (220 * 50, 220 * 7):
        parts = drawn(band, monkeypatch).astype(int)
        differs = np.abs(parts - whole).max(axis=2)
        # rounding may put a rim on the other side of a pixel or, in a hollow, another ball in front
        assert np.mean(differs > 2) < 1e-3


def test_a_picture_is_packed_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.random.default_rng(2).integers(0, 255, (70, 33, 3)).astype(np.uint8)
    monkeypatch.setattr("continua.render.png._PIECE", 100)
    write_png(tmp_path / "a.png", image)
    from PIL import Image

    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "a.png")), image)
