"""Frames come back as they were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.errors import OutputError
from continua.io.frames import BodyFrame, Frame, read_frame, write_frame


def body(name: str = "ball", particles: int = 7, dimension: int = 3, **fields: np.ndarray) -> BodyFrame:
    generator = np.random.default_rng(particles)
    arrays = {
        "x": generator.random((particles, dimension)),
        "v": generator.random((particles, dimension)),
        "id": np.arange(particles),
        **fields,
    }
    return BodyFrame(name, "points", "snow", arrays)


def test_a_frame_survives_the_disk_in_single_precision(tmp_path: Path) -> None:
    poses = np.ones((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    frame = Frame(12, 0.1 + 0.2, [body(J=np.linspace(0, 1, 7)), body("", 0)], poses)
    write_frame(tmp_path / "a.npz", frame)
    again = read_frame(tmp_path / "a.npz")
    assert (again.index, again.time, again.dimension, again.particles) == (12, 0.1 + 0.2, 3, 7)
    assert again.fields() == ["x", "v", "id", "J"]
    for before, after in zip(frame.bodies, again.bodies, strict=True):
        assert (before.name, before.kind, before.material) == (after.name, after.kind, after.material)
        assert after.x.dtype == after.v.dtype == np.float32
        assert after.arrays["id"].dtype == np.int64
        for name, array in before.arrays.items():
            np.testing.assert_array_equal(after.arrays[name], array.astype(after.arrays[name].dtype))
    assert again.poses is not None
    np.testing.assert_array_equal(again.poses[1], poses[1])


def test_double_precision_keeps_every_bit(tmp_path: Path) -> None:
    frame = Frame(0, 0.0, [body(dimension=2)])
    write_frame(tmp_path / "a.npz", frame, precision="double")
    again = read_frame(tmp_path / "a.npz")
    assert again.dimension == 2
    np.testing.assert_array_equal(again.bodies[0].x, frame.bodies[0].x)


@pytest.mark.parametrize("name", ["a/b", "../x", "snow ball", "雪球", 'quote"', "new\nline", "nul\0", "file"])
def test_names_may_contain_any_characters(tmp_path: Path, name: str) -> None:
    write_frame(tmp_path / "a.npz", Frame(0, 0.0, [body(name, **{name: np.arange(7)}), body(name, 3)]))
    again = read_frame(tmp_path / "a.npz")
    assert [one.name for one in again.bodies] == [name, name]
    np.testing.assert_array_equal(again.bodies[0].arrays[name], np.arange(7))


def test_numpy_alone_can_read_a_frame(tmp_path: Path) -> None:
    write_frame(tmp_path / "a.npz", Frame(0, 0.0, [body()]))
    with np.load(tmp_path / "a.npz") as archive:
        assert archive["body0.x"].shape == (7, 3)


def test_the_same_frame_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in "ab":
        write_frame(tmp_path / name, Frame(0, 0.0, [body()]))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_damaged_or_missing_frame_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.raises(OutputError, match="does not exist"):
        read_frame(path)
    write_frame(path, Frame(0, 0.0, [body()]))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(OutputError, match="damaged"):
        read_frame(path)


def test_bodies_without_positions_or_with_uneven_arrays_are_refused(tmp_path: Path) -> None:
    broken = body()
    del broken.arrays["v"]
    with pytest.raises(ValueError, match="lacks"):
        write_frame(tmp_path / "a.npz", Frame(0, 0.0, [broken]))
    with pytest.raises(ValueError, match="different lengths"):
        write_frame(tmp_path / "a.npz", Frame(0, 0.0, [body(J=np.ones(3))]))


def test_spacing_comes_from_volumes_or_else_from_the_grid() -> None:
    assert body(volume=np.full(7, 8e-6)).spacing(1.0) == pytest.approx(0.02)
    assert body().spacing(0.1) == pytest.approx(0.05)
