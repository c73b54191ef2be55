"""The vectors and shapes of a scene, wherever they are in it, with their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from continua._model import _vector_length
from continua.geometry.shapes import Shape

if TYPE_CHECKING:
    from continua.scene.models import Scene

Path = tuple[str | int, ...]


def dimensions(scene: Scene) -> Iterator[tuple[Path, int]]:
    """(path, dimension) of every vector and every shape."""
    for path, part in parts(scene, ()):
        for name, field in model_fields(part).items():
            if mentions_vector(field.annotation, *field.metadata):
                yield from vectors(getattr(part, name), (*path, name))
    for path, part in parts(scene, ()):
        if isinstance(part, Shape) and getattr(part, "path", None) is None:
            yield path, part.dimension


def parts(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """The settings objects and domain objects at and below a value, each with its place."""
    if isinstance(value, (list, tuple)):
        for index, entry in enumerate(value):
            yield from parts(entry, (*path, index))
    elif model_fields(value):
        yield path, value
        for name in model_fields(value):
            yield from parts(getattr(value, name), (*path, name))


def vectors(value: Any, path: Path) -> Iterator[tuple[Path, int]]:
    """(path, length) of a vector, or of each vector in a list of vectors."""
    if not isinstance(value, (list, tuple)):
        return
    if any(isinstance(entry, (int, float)) for entry in value):
        yield path, len(value)
    for index, entry in enumerate(value):
        yield from vectors(entry, (*path, index))


def mentions_vector(annotation: Any, *metadata: Any) -> bool:
    """True for the type `Vector` and for unions and lists of it."""
    found = any(getattr(item, "func", None) is _vector_length for item in metadata)
    inner = getattr(annotation, "__metadata__", ())
    return found or any(mentions_vector(entry, *inner) for entry in get_args(annotation))


def model_fields(value: Any) -> dict[str, Any]:
    """Fields of a pydantic model or pydantic dataclass instance; empty for everything else."""
    if isinstance(value, BaseModel):
        return dict(type(value).model_fields)
    return dict(getattr(type(value), "__pydantic_fields__", {}))
