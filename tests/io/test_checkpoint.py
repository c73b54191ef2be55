"""A checkpoint gives back every bit, or says that it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.errors import OutputError
from continua.io.checkpoint import Checkpoint, read_checkpoint, write_checkpoint

STATE = {
    "x": np.random.default_rng(0).random((3, 40)),
    "fortran": np.asfortranarray(np.arange(12.0, dtype=np.float32).reshape(3, 4)),
    "strided": np.arange(20)[::3],
    "time": np.array(0.1),
    "empty": np.zeros((0, 3)),
    "flags": np.array([True, False]),
    "special": np.array([np.nan, -0.0, np.inf, 5e-324]),
    "names/with any\ncharacter": np.array(["a", "雪"]),
    "file": np.array([1, 2]),
    "meta": np.array([3]),
}


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_every_bit_survives(tmp_path: Path) -> None:
    path = tmp_path / "c.npz"
    write_checkpoint(path, Checkpoint(123, 4, 0.1 + 0.2, STATE, 9))
    again = read_checkpoint(path)
    assert (again.step, again.frame, again.time, again.rows) == (123, 4, 0.1 + 0.2, 9)
    assert list(again.state) == list(STATE)
    assert all(same_bits(STATE[name], again.state[name]) for name in STATE)


def test_no_damage_goes_unnoticed(tmp_path: Path) -> None:
    """Flip one byte at a time: the state read is the one written, or the file is called damaged."""
    path = tmp_path / "c.npz"
    write_checkpoint(path, Checkpoint(1, 0, 0.5, STATE))
    data = path.read_bytes()
    noticed = 0
    for position in range(0, len(data), 7):
        path.write_bytes(data[:position] + bytes([data[position] ^ 0x55]) + data[position + 1 :])
        try:
            again = read_checkpoint(path)
        except OutputError:
            noticed += 1
        else:
            assert (again.step, again.frame, again.time) == (1, 0, 0.5)
            assert all(same_bits(STATE[name], again.state[name]) for name in STATE)
    assert noticed > len(data) / 7 / 2


@pytest.mark.parametrize("length", [0, 10, 1000])
def test_a_truncated_file_is_damaged(tmp_path: Path, length: int) -> None:
    path = tmp_path / "c.npz"
    write_checkpoint(path, Checkpoint(1, 0, 0.5, STATE))
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(OutputError, match="damaged"):
        read_checkpoint(path)


def test_arrays_of_objects_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="numbers or strings"):
        write_checkpoint(tmp_path / "c.npz", Checkpoint(1, 0, 0.5, {"a": np.array([{}])}))
    assert not list(tmp_path.iterdir())
