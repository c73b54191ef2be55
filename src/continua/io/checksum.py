"""Checksums of files and arrays, by which a run notices that what it was made from has changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

MISSING = "missing"


def file_checksum(path: Path) -> str:
    """SHA-256 of a file, or "missing" where there is none that can be read."""
    try:
        with open(path, "rb") as file:
            digest = hashlib.sha256()
            while piece := file.read(1 << 20):
                digest.update(piece)
            return digest.hexdigest()
    except OSError:
        return MISSING


def text_checksum(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def array_checksum(array: np.ndarray) -> str:
    """SHA-256 of type, shape and bytes."""
    digest = hashlib.sha256(repr((array.dtype.str, array.shape)).encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
