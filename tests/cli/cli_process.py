"""How the tests start the command line, and a scene that runs in a moment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from subprocess import CompletedProcess

COMMAND = [sys.executable, "-m", "continua"]

TINY = """
title = "Two discs"
[simulation]
dx = 0.1
gravity = [0.0, -9.81]
[[body]]
name = "disc"
shape = { type = "sphere", center = [0.0, 0.6], radius = 0.3 }
material = { type = "fixed-corotated", E = 1e4 }
velocity = { type = "rigid", linear = [0.0, -1.0], angular = 5.0, center = [0.0, 0.6] }
[[body]]
name = "snow"
shape = { type = "sphere", center = [0.1, 1.3], radius = 0.2 }
material = { type = "snow", E = 1e4 }
[[collider]]
type = "plane"
normal = [0.0, 1.0]
friction = 0.5
[run]
duration = 0.5
fps = 20
checkpoint_interval = 3
"""

Call = Callable[..., CompletedProcess[str]]


def environment(**extra: str) -> dict[str, str]:
    """Variables of a child process: no traceback, one thread, a wide terminal."""
    return {**os.environ, "CONTINUA_TRACEBACK": "", "CONTINUA_THREADS": "1", "COLUMNS": "100", **extra}
