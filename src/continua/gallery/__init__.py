"""Scenes that ship with Continua, one file each; run one with `continua run NAME`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from continua.scene.catalogue import cost, names, path, summary

if TYPE_CHECKING:
    from continua.scene.models import Scene


def load(name: str) -> Scene:
    """The gallery scene of this name."""
    from continua.scene.load import load_scene

    return load_scene(name)


__all__ = ["cost", "load", "names", "path", "summary"]
