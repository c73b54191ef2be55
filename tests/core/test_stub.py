"""The typed stub of the core names exactly what the core offers."""

from __future__ import annotations

import ast
from pathlib import Path

import continua
from continua import _core


def test_nothing_at_the_border_is_an_object() -> None:
    stub = (Path(continua.__file__).parent / "_core.pyi").read_text()
    assert "object" not in stub.partition("Samples =")[2]


def test_the_stub_lists_every_function_of_the_core() -> None:
    tree = ast.parse((Path(continua.__file__).parent / "_core.pyi").read_text())
    stub = {
        node.name: [a.arg for a in node.args.args] for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.bases}
    core = {name for name in dir(_core) if not name.startswith("_") and callable(getattr(_core, name))}
    assert set(stub) | classes == core
    for name, arguments in stub.items():
        signature = (getattr(_core, name).__doc__ or "").split("\n")[0]
        assert all(argument in signature for argument in arguments), name
