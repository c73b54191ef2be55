"""The command line: `continua run SCENE` and its relatives."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit code; never raises and never prints a traceback unless asked to."""
    from continua.cli.failures import guarded

    words = list(sys.argv[1:] if arguments is None else arguments)

    def call() -> int:
        from continua.cli.app import app

        result = app(args=words, prog_name="continua", standalone_mode=False)
        return result if isinstance(result, int) else 0

    return guarded(call)
