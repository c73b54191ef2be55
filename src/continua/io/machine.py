"""What machine a run was made on, and how much memory is left on it."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np


def machine() -> dict[str, Any]:
    """Processor, usable cores, memory [bytes], operating system, and the Python and NumPy versions."""
    return {
        "cpu": _cpu(),
        "cores": _cores(),
        "memory": _memory(),
        "os": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _cpu() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _cores() -> int:
    """Cores this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def as_bytes(size: float) -> str:
    """`1.8 GB`."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 999.5 or unit == "TB":
            return f"{size:.3g} {unit}"
        size /= 1000
    raise AssertionError


def available_memory() -> int | None:
    """Memory [bytes] that this process may still take: of the machine, and of the limits of its container and shell.

    None where nothing is known.
    """
    limits = [_machine_free(), *container_free(_own_groups()), _shell_free()]
    return min((limit for limit in limits if limit is not None), default=None)


def _machine_free() -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return _memory()


def container_free(groups: str, root: Path = Path("/sys/fs/cgroup")) -> list[int]:
    """What control groups leave [bytes], each with those above it; `groups` as in /proc/self/cgroup, version 1 or 2."""
    found: list[int] = []
    for line in groups.splitlines():
        number, controllers, path = line.split(":", 2)
        names = ("memory.max", "memory.current")
        top = root
        if "memory" in controllers.split(","):
            names, top = ("memory.limit_in_bytes", "memory.usage_in_bytes"), root / "memory"
        elif number != "0":
            continue
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            found += _group_free(folder, *names)
            if folder == top:
                break
    return found


def _own_groups() -> str:
    with suppress(OSError):
        return Path("/proc/self/cgroup").read_text()
    return ""


def _group_free(folder: Path, limit: str, used: str) -> list[int]:
    """Limit of one control group less what it uses; files that the system can drop do not count as used."""
    with suppress(OSError, ValueError):  # no such file, or no limit ("max")
        most, now = int((folder / limit).read_text()), int((folder / used).read_text())
        for line in (folder / "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                now -= int(line.split()[1])
        return [max(most - now, 0)]
    return []


def _shell_free() -> int | None:
    """What `ulimit -v` leaves."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        if most != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            return max(most - pages * os.sysconf("SC_PAGE_SIZE"), 0)
    return None


def _memory() -> int | None:
    with suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None
