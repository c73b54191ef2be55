"""Scene files: the models, loading, overrides, building. Names are imported when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from continua.scene.load import LoadedScene, load_scene, open_scene
    from continua.scene.models import (
        BodySettings,
        CameraSettings,
        Region,
        RenderSettings,
        RigidSettings,
        RunSettings,
        Scene,
        SimulationSettings,
        SolidSettings,
        SpringSettings,
        StrandsSettings,
    )
    from continua.scene.schema import scene_schema

_HOMES = {
    "load": ("LoadedScene", "load_scene", "open_scene"),
    "models": (
        "BodySettings",
        "CameraSettings",
        "Region",
        "RenderSettings",
        "RigidSettings",
        "RunSettings",
        "Scene",
        "SimulationSettings",
        "SolidSettings",
        "SpringSettings",
        "StrandsSettings",
    ),
    "schema": ("scene_schema",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"continua.scene.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "BodySettings",
    "CameraSettings",
    "LoadedScene",
    "Region",
    "RenderSettings",
    "RigidSettings",
    "RunSettings",
    "Scene",
    "SimulationSettings",
    "SolidSettings",
    "SpringSettings",
    "StrandsSettings",
    "load_scene",
    "open_scene",
    "scene_schema",
]
