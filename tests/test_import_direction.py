"""Rooms have doors: lower packages never import higher ones."""

from __future__ import annotations

import ast
from pathlib import Path

import continua

ROOT = Path(continua.__file__).parent
# Lowest first; a package may import only from its own level or lower ones.
LEVELS = [
    {"errors", "_model", "_validation", "_version", "_core"},
    {"geometry"},
    {"materials", "transfers", "grid", "optimize", "mesh"},
    {"bodies", "contact"},
    {"flow", "integrators", "io", "timestep"},
    {"continuum"},
    {
        "options",
        "plan",
        "concurrency",
        "memory",
        "describing",
        "resuming",
        "counters",
        "summary",
        "adding",
        "world",
        "simulation",
        "running",
        "diagnostics",
        "instability",
        "pointtest",
        "testing",
    },
    {"scene", "render", "benchmark", "validation", "comparing"},
    {"gallery"},
    {"cli", "__main__"},
]
LEVEL = {name: number for number, names in enumerate(LEVELS) for name in names}


def imported(path: Path) -> set[str]:
    """Names of the continua packages that a file imports at its top level (not for type checking only)."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "continua":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("continua.")}
    return found


def modules() -> list[tuple[str, Path]]:
    return [
        (path.relative_to(ROOT).parts[0].removesuffix(".py"), path)
        for path in sorted(ROOT.rglob("*.py"))
        if path.parent != ROOT or path.name != "__init__.py"
    ]


def test_every_module_has_a_level() -> None:
    assert {name for name, _ in modules()} <= set(LEVEL)


def test_lower_packages_do_not_import_higher_ones() -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports continua.{name}"
        for package, path in modules()
        for name in imported(path)
        if name in LEVEL and LEVEL[name] > LEVEL[package]
    ]
    assert not wrong, "\n".join(wrong)
