"""The gallery as files: names, paths and first lines, found without running any scene."""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "gallery"


def names() -> list[str]:
    """Names of all gallery scenes, sorted; `wet-sand` is the file `wet_sand.py`."""
    return sorted(
        file.stem.replace("_", "-") for file in FOLDER.glob("*.py") if not file.stem.startswith("_")
    )


def path(name: str) -> Path:
    """File of a gallery scene."""
    return FOLDER / (name.replace("-", "_") + ".py")


def summary(name: str) -> str:
    """First line of the scene's docstring."""
    return (ast.get_docstring(_parsed(name)) or "").partition("\n")[0]


def cost(name: str) -> str:
    """What the scene says about its size and run time (its constant COST), empty if it says nothing."""
    for statement in _parsed(name).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            targets = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            if "COST" in targets:
                return str(statement.value.value)
    return ""


@lru_cache
def _parsed(name: str) -> ast.Module:
    return ast.parse(path(name).read_text(encoding="utf-8"))
