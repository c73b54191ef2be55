"""Arrays in a zip of .npy members, as `numpy.load` reads it; the same arrays give the same bytes."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from continua.errors import OutputError
from continua.io.atomic import atomic_file

META = "meta"
"""Member that holds a JSON text as bytes."""

_DAMAGE = (
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    EOFError,
    RuntimeError,
    OverflowError,
    SyntaxError,
    zipfile.BadZipFile,
    struct.error,
    zlib.error,
)


def plain(array: Any) -> np.ndarray:
    """Array without Python objects, which would need pickle to read back."""
    result: np.ndarray = np.asanyarray(array)
    if result.dtype.hasobject:
        raise TypeError(f"expected numbers or strings, got an array of {result.dtype}")
    return result


def write_npz(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write arrays and a JSON-able dict to `path`, atomically."""
    with atomic_file(path) as file:
        _write(file, {**arrays, META: np.frombuffer(json.dumps(meta).encode(), np.uint8)})


def _write(file: BinaryIO, arrays: Mapping[str, np.ndarray]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # fixed date: same content, same bytes
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, plain(array), allow_pickle=False)


def read_npz(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what `write_npz` wrote: (arrays, meta). A damaged file raises OutputError."""
    try:
        arrays = {}
        with zipfile.ZipFile(path) as archive:
            size = path.stat().st_size
            for name in archive.namelist():
                if archive.getinfo(name).file_size > size:
                    raise ValueError("a member is larger than the file")
                data = archive.read(name)  # checks the CRC of the member before anything is parsed
                arrays[name.removesuffix(".npy")] = np.lib.format.read_array(
                    io.BytesIO(data), allow_pickle=False
                )
        meta = json.loads(arrays.pop(META).tobytes())
        if not isinstance(meta, dict):
            raise ValueError("meta is not an object")
    except FileNotFoundError as error:
        raise OutputError(f"{path} does not exist; check the path") from error
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror or error}; check its permissions") from error
    except _DAMAGE as error:
        raise OutputError(f"{path} is damaged ({error}); delete it or run the simulation again") from error
    return arrays, meta
