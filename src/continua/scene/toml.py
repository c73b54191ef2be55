"""Reading TOML with errors that name line and column."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class TOMLError(ValueError):
    """TOML syntax error with its place in the text (1-based; 0 where unknown)."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column

    @property
    def place(self) -> str:
        """`, line 3, column 7`, or nothing."""
        return f", line {self.line}, column {self.column}" if self.line else ""


def parse(text: str) -> dict[str, Any]:
    """Parse TOML text; every failure is a TOMLError."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise TOMLError("lists or tables are nested too deeply") from None
    except ValueError as error:
        if "integer string conversion" in str(error):
            raise TOMLError("a number has too many digits") from None
        raise _with_place(str(error), text) from None


def _with_place(message: str, text: str) -> TOMLError:
    message = re.sub(r"\('(\w+)',\)", r"\1", message)  # a key, which the parser shows as a tuple
    found = re.search(r" \(at line (\d+), column (\d+)\)$", message)
    if found:
        return TOMLError(message[: found.start()], int(found[1]), int(found[2]))
    message = re.sub(r" \(at end of document\)$", "", message)
    lines = text.split("\n")
    return TOMLError(message, len(lines), len(lines[-1]) + 1)
