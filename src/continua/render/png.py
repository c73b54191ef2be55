"""PNG files without a picture library."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np

from continua.io.atomic import atomic_file

_PIECE = 1 << 18  # pixels that are packed at once


def write_png(path: str | Path, image: np.ndarray) -> None:
    """Write an image (H, W, 3) of uint8 RGB, atomically."""
    height, width, _ = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packer, some = zlib.compressobj(5), max(_PIECE // width, 1)
    with atomic_file(path) as file:
        file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header))
        for first in range(0, height, some):
            file.write(_chunk(b"IDAT", packer.compress(_filtered(image[first : first + some]))))
        file.write(_chunk(b"IDAT", packer.flush()) + _chunk(b"IEND", b""))


def _filtered(image: np.ndarray) -> bytes:
    """Rows of an image behind PNG filter 1: each pixel minus its left neighbour, which packs far better."""
    rows = np.empty((len(image), 1 + 3 * image.shape[1]), np.uint8)
    rows[:, 0] = 1
    delta = image.copy()
    delta[:, 1:] -= image[:, :-1]
    rows[:, 1:] = delta.reshape(len(image), -1)
    return rows.tobytes()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
