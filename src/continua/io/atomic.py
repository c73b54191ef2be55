"""Files that are either whole or absent: write under a temporary name, flush to disk, rename."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from continua.errors import OutputError

_PREFIX = ".continua-"
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space or choose a folder on another disk",
    errno.EDQUOT: "your disk quota is used up; free some space or choose a folder on another disk",
    errno.EFBIG: "the file would exceed a size limit of the system; raise the limit or choose another disk",
    errno.EACCES: "permission is denied; choose a folder you may write to or change its permissions",
    errno.EPERM: "the operation is not permitted; choose a folder you may write to",
    errno.EROFS: "the file system is read-only; choose a folder you may write to",
    errno.ENOENT: "its folder does not exist; create it or choose another folder",
    errno.ENOTDIR: "a part of its path is a file, not a folder; choose another path",
    errno.EEXIST: "a file of that name is in the way; choose another path or move the file",
    errno.EISDIR: "a folder of that name is in the way; choose another path or move the folder",
    errno.ENOTEMPTY: "a folder of that name is in the way; choose another path or move the folder",
    errno.ENAMETOOLONG: "its name is too long; choose a shorter path",
}


def output_error(path: str | os.PathLike[str], error: OSError, action: str = "write") -> OutputError:
    """The one-sentence error for a failed file operation on `path`."""
    reason = _REASONS.get(error.errno or 0)
    if reason is None:
        reason = f"{error.strerror or error}; check the disk or choose another folder"
    return OutputError(f"cannot {action} {os.fspath(path)}: {reason}")


@contextmanager
def output_errors(path: str | os.PathLike[str], action: str = "write") -> Iterator[None]:
    """Turn every OSError of the block into an OutputError that names `path`."""
    try:
        yield
    except OSError as error:
        raise output_error(path, error, action) from error


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Create a folder and its parents if they are missing, and return its path."""
    path = Path(path)
    with output_errors(path, "create the folder"):
        path.mkdir(parents=True, exist_ok=True)
    return path


def is_temporary(path: Path) -> bool:
    """True for names that `atomic_path` may leave behind when the process is killed."""
    return path.name.startswith(_PREFIX)


def remove_temporaries(folder: Path) -> None:
    """Delete leftovers of writers that were killed; nobody else may be writing to the folder."""
    with output_errors(folder, "clean"):
        if folder.is_dir():
            for path in folder.iterdir():
                if is_temporary(path):
                    path.unlink(missing_ok=True)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path in the same folder; rename it to `path` if the block succeeds.

    The temporary keeps the suffix of `path`, for libraries that choose the format by it. Data and folder
    entry are flushed to disk, so that a crash leaves the old file, the new file, or none. On any error the
    temporary is removed; an OSError becomes an OutputError.
    """
    path = Path(path)
    temporary = path.with_name(f"{_PREFIX}{os.getpid()}-{os.urandom(4).hex()}{path.suffix}")
    try:
        with output_errors(path):
            yield temporary
            _sync(temporary)
            os.replace(temporary, path)
            _sync(path.parent)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open `path` for binary writing such that it appears only when the block has succeeded."""
    with atomic_path(path) as temporary, open(temporary, "xb") as file:
        yield file
        file.flush()


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole file at once, atomically."""
    with atomic_file(path) as file:
        file.write(data)


def _sync(path: Path) -> None:
    """Flush a file or folder to the disk; file systems that cannot sync folders are left alone."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        if path.is_dir():  # Windows opens no folders
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
