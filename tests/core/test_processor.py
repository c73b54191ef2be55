"""A core that was built for another processor is refused with a sentence."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from continua import _core
from continua.cli.failures import FAILED, explain

BIND = Path(__file__).resolve().parents[2] / "core" / "bind"
# No processor has all the instruction sets of the list: fma4 is AMD's of 2011 to 2017, avx512er was Intel's alone.
REST_OF_THE_CORE = """
#include <Python.h>
#include "processor.hpp"
#define EVERY(name, macro) %s,
extern "C" const bool continua_needed[] = {CONTINUA_INSTRUCTIONS(EVERY)};
extern "C" PyObject* continua_core_init() {
    PyErr_SetString(PyExc_RuntimeError, "entered");
    return nullptr;
}
"""


def imported(folder: Path, needed: bool) -> str:
    """What Python says when it imports a core whose code needs all instruction sets, or none."""
    rest = folder / "rest.cpp"
    rest.write_text(REST_OF_THE_CORE % str(needed).lower())
    command = ["g++", "-std=c++20", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", f"-I{BIND}"]
    subprocess.run([*command, str(BIND / "entry.cpp"), str(rest), "-o", str(folder / "_core.so")], check=True)
    done = subprocess.run([sys.executable, "-c", "import _core"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 1  # a traceback, not a signal
    return done.stderr.splitlines()[-1]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs the compiler that built the core")
def test_missing_instructions_are_named_before_any_of_them_runs(tmp_path: Path) -> None:
    message = imported(tmp_path, needed=True)
    assert message.startswith("ImportError: the core was built for a processor with ")
    assert "fma4" in message or "avx512er" in message
    assert message.endswith("CONTINUA_ARCH=x86-64-v3")
    assert imported(tmp_path, needed=False) == "RuntimeError: entered"


def test_the_command_line_says_it_in_one_line() -> None:
    error = ImportError("the core was built for a processor with fma4", name="continua._core")
    assert explain(error) == ("the core was built for a processor with fma4", FAILED)
    assert explain(ImportError("no", name="numpy"))[1] != FAILED


def test_the_core_tells_what_it_was_built_for() -> None:
    assert _core.build_info()["built_for"]
