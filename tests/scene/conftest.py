"""A scene file to start from, and a way to load an edited copy of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from continua.errors import SceneError
from continua.scene import Scene, load_scene
from continua.scene.template import template


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Scene]:
    """Load the template with one piece of text replaced, and with overrides."""

    def call(old: str = "", new: str = "", overrides: tuple[str, ...] = ()) -> Scene:
        text = template("demo")
        assert old in text
        path = tmp_path / "demo.toml"
        path.write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")
        return load_scene(path, overrides)

    return call


@pytest.fixture
def message(load: Callable[..., Scene]) -> Callable[..., str]:
    """The message that loading an edited copy ends with; it is always a single line."""

    def call(old: str = "", new: str = "", overrides: tuple[str, ...] = ()) -> str:
        with pytest.raises(SceneError) as caught:
            load(old, new, overrides)
        text = str(caught.value)
        assert "\n" not in text
        return text

    return call
