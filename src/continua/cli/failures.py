"""What goes to stderr and which exit code a failure gives.

0 success, 1 the run failed, 2 the command or the scene is wrong, 70 a bug in Continua, 130 Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from continua.errors import (
    ContinuaError,
    GeometryError,
    MaterialError,
    SceneError,
    SetupError,
    TimeStepError,
)

USAGE, FAILED, INTERNAL, INTERRUPTED = 2, 1, 70, 130
MISTAKES = (SceneError, GeometryError, MaterialError, SetupError, TimeStepError)


def guarded(call: Callable[[], int]) -> int:
    """Exit code of `call`; whatever it raises becomes one line on stderr."""
    try:
        code = call()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) went away; point stdout elsewhere so that Python's last flush stays quiet.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if os.environ.get("CONTINUA_TRACEBACK"):
            traceback.print_exception(error)
        message, code = explain(error)
        if message:
            print(f"error: {message}", file=sys.stderr)
        return code


def explain(error: Exception) -> tuple[str, int]:
    """One line about an error, and the exit code it stands for."""
    if isinstance(error, ContinuaError):
        return one_line(str(error)), USAGE if isinstance(error, MISTAKES) else FAILED
    if type(error).__name__ == "NoArgsIsHelpError":  # the message is the help, as it is to be printed
        print(error.format_message(), file=sys.stderr)  # type: ignore[attr-defined]
        return "", USAGE
    if hasattr(error, "format_message"):
        return _usage(error), USAGE
    if isinstance(error, MemoryError):
        return (
            'not enough memory; make simulation.dx larger, or set simulation.precision to "single"',
            FAILED,
        )
    if isinstance(error, ImportError) and error.name == "continua._core":  # not for this processor
        return one_line(str(error)), FAILED
    if isinstance(error, OSError) and error.strerror:
        about = f"{error.filename}: " if error.filename else ""
        return one_line(f"{about}{error.strerror}"), FAILED
    name = type(error).__name__
    return (
        f"internal error ({name}: {one_line(str(error))}); run again with CONTINUA_TRACEBACK=1 for details",
        INTERNAL,
    )


def _usage(error: Exception) -> str:
    """Message of a wrong command line; empty where the help text has been printed already."""
    message = one_line(error.format_message())  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    if not message:
        return ""
    message = message[0].lower() + message[1:].rstrip(".")
    message = message.replace(". Did you mean", "; did you mean").replace(": Input should", ": it should")
    return f"{message}; see {context.command_path} --help" if context is not None else message


def one_line(text: str) -> str:
    """The text without line breaks."""
    return " ".join(text.split())
