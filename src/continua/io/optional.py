"""Optional libraries, imported only when they are used."""

from __future__ import annotations

import importlib
from typing import Any

from continua.errors import MissingExtraError


def require(module: str, library: str, extra: str) -> Any:
    """Import a module of an optional library; if it is absent, say which extra of Continua brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(library, extra) from error
