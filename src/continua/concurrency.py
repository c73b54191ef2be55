"""How many threads the core uses."""

from __future__ import annotations

from continua import _core
from continua._validation import whole_number
from continua.errors import SetupError

MOST = 1024


def threads() -> int:
    """Threads of the core."""
    return int(_core.threads())


def set_threads(count: int) -> None:
    """Use so many threads from now on; results do not depend on it."""
    number = whole_number("the number of threads", count, SetupError, least=1)
    if number > MOST:
        raise SetupError(f"the number of threads must be at most {MOST}, not {number}")
    _core.set_threads(number)
