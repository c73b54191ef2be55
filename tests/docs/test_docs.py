"""The documentation runs: examples execute, generated pages name everything there is, links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from continua import materials
from continua.scene import catalogue, scene_schema

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(file: Path) -> list[str]:
    """Code blocks that stand on their own."""
    return [code for code in FENCE.findall(file.read_text(encoding="utf-8")) if "import continua" in code]


@pytest.fixture(scope="module")
def pages() -> dict:
    return runpy.run_path(str(DOCS / "generate.py"))


@pytest.mark.parametrize("name", ["README.md", "docs/index.md", "docs/python.md", "docs/material-test.md"])
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = examples(ROOT / name)
    assert found
    for code in found:
        code = re.sub(r"sim\.run\([\d.]+", "sim.run(0.05", code)
        exec(compile(code, name, "exec"), {"__name__": "example"})


def test_every_key_of_scene_files_is_documented(pages: dict) -> None:
    text = pages["scene_keys"]()
    for table in [scene_schema(), *scene_schema()["$defs"].values()]:
        for key, entry in table["properties"].items():
            if key == "type":
                assert f'`type = "{entry["const"]}"`' in text or entry["const"] in ("emitter", "drain")
            else:
                assert f"| `{key}` |" in text
                assert entry.get("description"), f"{key} of {table.get('title')} has no description"


def test_every_gallery_scene_is_documented(pages: dict) -> None:
    text = (DOCS / "gallery.md").read_text(encoding="utf-8") + pages["gallery"]()
    for name in catalogue.names():
        assert f"## {name}\n" in text and f"(#{name})" in text
        assert (DOCS / "images" / f"{name}.png").exists()


def test_every_command_is_documented(pages: dict) -> None:
    from continua.cli.app import app

    text = pages["commands"]()
    assert text.count("Usage: continua") == len(app.registered_commands)


def test_sources_cited_in_the_code_have_an_entry() -> None:
    entries = set(
        re.findall(r"^\*\*(\w+)\*\*", (DOCS / "references.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    for folder, pattern in (("src", "*.py"), ("core", "*.hpp"), ("docs", "*.md")):
        for file in (ROOT / folder).rglob(pattern):
            text = file.read_text(encoding="utf-8")
            cited = set(re.findall(r"\b([A-Z][a-z]{0,2}\d\d)(?= (?:\(|Fig|section|chapter|\d|A\.))", text))
            assert cited <= entries, f"{file.name} cites {cited - entries}"


def test_named_materials_have_a_source() -> None:
    """Every preset says where its numbers come from."""
    entries = re.findall(
        r"^\*\*(\w+)\*\*", (DOCS / "references.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    classes = [getattr(materials, name) for name in materials.__all__]
    presets = [
        (cls.__name__, name, kind.__func__.__doc__)
        for cls in classes
        for name, kind in vars(cls).items()
        if isinstance(kind, classmethod) and not name.startswith("_")
    ]
    assert len(presets) > 10
    for owner, name, text in presets:
        assert set(re.findall(r"\w+", text or "")) & set(entries), f"{owner}.{name} names no source"


@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="needs mkdocs-material")
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    # not --quiet, which hides the warnings from --strict
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
