"""A lock on a run folder that vanishes with its process, so that two runs never share a folder."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_PATIENCE = 0.3  # seconds; somebody asking for the status holds the lock for an instant


class FolderLock:
    """Exclusive lock on the folder itself: no lock file, and the kernel releases it even after kill -9.

    File systems (and Windows) without such locks are treated as if nobody else were there.
    """

    def __init__(self, folder: Path) -> None:
        self._handle: int | None = None
        self.folder = folder

    def acquire(self) -> bool:
        """Take the lock; False if another process holds it."""
        deadline = time.monotonic() + _PATIENCE
        while (handle := _try_lock(self.folder, exclusive=True)) is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        self._handle = handle
        return True

    def release(self) -> None:
        """Give the lock back; harmless if it is not held."""
        if self._handle is not None and self._handle >= 0:
            os.close(self._handle)
        self._handle = None

    def __del__(self) -> None:
        self.release()


def is_locked(folder: Path) -> bool | None:
    """Whether a living process writes to the folder; None where locks do not exist."""
    handle = _try_lock(folder, exclusive=False)
    if handle is None:
        return True
    if handle < 0:
        return None
    os.close(handle)
    return False


def _try_lock(folder: Path, *, exclusive: bool) -> int | None:
    """Handle of the locked folder, -1 if it cannot be locked at all, None if somebody else has locked it."""
    if sys.platform == "win32":
        return -1
    handle = -1
    try:
        handle = os.open(folder, os.O_RDONLY)
        fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:
        if handle >= 0:
            os.close(handle)
        return -1
    return handle
