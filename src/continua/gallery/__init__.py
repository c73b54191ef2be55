"""Scenes that ship with Continua, one file each; run one with `continua run NAME`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from continua.scene.catalogue import cost, names, path, summary

if TYPE_CHECKING:
    from continua.gallery._running import SceneReport
    from continua.scene.models import Scene


def load(name: str) -> Scene:
    """The gallery scene of this name."""
    from continua.scene.load import load_scene

    return load_scene(name)


def run_scene(name: str, *, small: bool = False, overrides: Sequence[str] = ()) -> SceneReport:
    """Run the gallery scene of this name to its end, watch it on the way, and measure what its check asks for.

    small: the coarse and short version that tests run. overrides: `key.path=value` as in `continua run --set`.
    """
    from continua.gallery._running import run_scene

    return run_scene(name, small=small, overrides=overrides)


__all__ = ["cost", "load", "names", "path", "run_scene", "summary"]
