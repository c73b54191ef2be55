"""Write src/continua/_core.pyi: what nanobind knows of the core, with the types of arguments by their names.

The border takes NumPy arrays and plain Python objects and checks them by itself, so that nanobind calls them objects.
"""

from __future__ import annotations

import re
from pathlib import Path

from nanobind.stubgen import StubGen

from continua import _core

HEADER = '''"""Kernels of Continua over NumPy arrays; every argument is checked. Made by tools/stub.py."""

from collections.abc import Sequence
from typing import Annotated, Any, Protocol

import numpy
from numpy.typing import NDArray

from continua.grid.blocks import Lattice
from continua.transfers.plan import Plan


class Particles(Protocol):
    """Columns of a particle set, component-major; those that nobody asked for have no rows."""

    x: NDArray
    v: NDArray
    C: NDArray
    F: NDArray
    mass: NDArray
    volume: NDArray
    state: NDArray
    ids: NDArray[numpy.int32]
    tau: NDArray
    modes: NDArray
    count: int


class MaterialParameters(Protocol):
    """Uniform values (n,), or rows (n,) of the state where they differ between particles."""

    @property
    def values(self) -> NDArray: ...
    @property
    def rows(self) -> NDArray[numpy.int32]: ...


Samples = Sequence[tuple[NDArray, NDArray, float] | None]

'''
TYPES = {
    "particles": "Particles",
    "out_particles": "Particles",
    "parameters": "MaterialParameters",
    "lattice": "Lattice",
    "plan": "Plan",
    "samples": "Samples",
    "particle_keys": "Sequence[NDArray[numpy.uint64]]",
    "fields": "Sequence[Any]",
    "field": "Any",
    "rules": "Sequence[Any]",
    "law": "Any",
    "nu": "float | NDArray",
}
# `out` is a particle set where particles come in, else an array; `parameters` of whole-array functions are arrays.
MOVES = ("gather", "gather_faces", "implicit_positions")
MIXED = ("build_info", "solve", "solve_viscosity")  # reports with counts and numbers
ARRAY_PARAMETERS = ("material_", "__init__", "set_parameters")


def typed(line: str) -> str:
    """One line of the stub with types in place of `object`."""
    found = re.match(r"\s*def (\w+)\(", line)
    if not found:
        return line
    name = found.group(1)

    def argument(match: re.Match[str]) -> str:
        word, optional = match.group(1), match.group(3) or ""
        kind = TYPES.get(word, "NDArray")
        if word == "out" and name in MOVES:
            kind = "Particles"
        if word == "parameters" and name.startswith(ARRAY_PARAMETERS):
            kind = "NDArray"
        return f"{word}: {kind}{optional}"

    line = re.sub(r"(\w+): (object|Sequence\[object\])( \| None)?", argument, line)
    line = line.replace("-> dict:", "-> dict[str, Any]:" if name in MIXED else "-> dict[str, float]:")
    line = line.replace("-> object:", "-> NDArray:").replace("-> list:", "-> list[Any]:")
    return line.replace("-> tuple:", "-> tuple[Any, ...]:")


def main() -> None:
    """Write the stub."""
    made = StubGen(_core)
    made.put(_core)
    lines = made.get().splitlines()
    start = next(
        k
        for k, line in enumerate(lines)
        if line.startswith(("def ", "class ", "@")) or re.match(r"\w+:", line)
    )
    text = HEADER + "\n".join(typed(line) for line in lines[start:]) + "\n"
    text = re.sub(r"Annotated\[(NDArray(?:\[[\w.]+\])?), dict\([^)]*\)\]", r"\1", text)
    text = text.replace("Annotated, ", "")
    Path(__file__).parents[1].joinpath("src/continua/_core.pyi").write_text(text)


if __name__ == "__main__":
    main()
