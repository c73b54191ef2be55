"""Find a scene by gallery name or file and turn it into a validated Scene."""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from continua.bodies.axle import Axle, Motor
from continua.continuum import Contact, Continuum
from continua.errors import ContinuaError, SceneError
from continua.io.checksum import text_checksum
from continua.scene import catalogue
from continua.scene.messages import UNKNOWN, key_path, scene_error, shown, suggestion
from continua.scene.models import Scene
from continua.scene.overrides import apply_overrides
from continua.scene.places import model_fields
from continua.scene.toml import TOMLError, parse

UNTYPED = (Axle, Contact, Continuum, Motor)  # tables of scenes without a type


@dataclass
class LoadedScene:
    """A scene and where it came from; `checksum` is that of its source text."""

    scene: Scene
    name: str
    path: Path
    source: str
    overrides: list[str] = field(default_factory=list)
    checksum: str = ""


def load_scene(name_or_path: str | Path, overrides: Iterable[str] = ()) -> Scene:
    """Scene of a gallery name, a `.toml` file or a `.py` file, with `key.path=value` overrides applied.

    A `.py` file is executed, with all that it does; a `.toml` file is read only.
    """
    return open_scene(name_or_path, overrides).scene


def open_scene(name_or_path: str | Path, overrides: Iterable[str] = ()) -> LoadedScene:
    """Like `load_scene`, and remember name, file and source text."""
    name, path = locate(name_or_path)
    source = read(path)
    scene = from_source(source, path, overrides)
    return LoadedScene(scene, name, path, source, list(overrides), text_checksum(source))


def from_source(source: str, path: Path, overrides: Iterable[str] = ()) -> Scene:
    """Scene from the text of a scene file; `path` says which kind it is and where relative paths start."""
    try:
        return _from_source(source, path, list(overrides))
    except RecursionError:
        raise SceneError(f"{path.name}: tables are nested too deeply") from None


def _from_source(source: str, path: Path, overrides: list[str]) -> Scene:
    if path.suffix == ".py":
        scene = run_python(source, path)
        data = to_data(scene)
        if not overrides and not resolve_files(data, path):
            return scene
    else:
        data = read_toml(source, path)
    data, changed = apply_overrides(data, overrides)
    resolve_files(data, path)
    return validate(data, path.name, changed)


def locate(name_or_path: str | Path) -> tuple[str, Path]:
    """Name and file of a scene."""
    text = str(name_or_path)
    path = Path(text)
    if path.suffix in (".toml", ".py"):
        if not path.is_file():
            raise SceneError(f"there is no scene file {text}{_neighbours(path)}")
        return path.stem, path
    if text in catalogue.names():
        return text, catalogue.path(text)
    if path.exists():
        raise SceneError(f"{text} is not a scene: give a .toml or .py file, or a gallery name")
    hint = suggestion(text, catalogue.names())
    raise SceneError(
        f'there is no gallery scene "{text}"{hint} '
        '(run "continua gallery" for the list, or give a .toml or .py file)'
    )


def _neighbours(path: Path) -> str:
    folder = path.parent
    files = (
        [str(entry) for entry in folder.glob("*") if entry.suffix in (".toml", ".py")]
        if folder.is_dir()
        else []
    )
    return suggestion(str(path), files)


def read(path: Path) -> str:
    """Text of a scene file, without the mark (BOM) that some editors put in front."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SceneError(f"{path.name}: the file is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror})") from None


def read_toml(source: str, path: Path) -> dict[str, Any]:
    """Data of a TOML scene."""
    try:
        return parse(source)
    except TOMLError as error:
        raise SceneError(f"{path.name}{error.place}: {error}") from None


def resolve_files(data: Any, origin: Path, place: tuple[str | int, ...] = ()) -> bool:
    """Make the paths of meshes and point files absolute, as seen from the scene file, in place.

    Tells whether any path changed; a file that does not exist is an error.
    """
    changed = False
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in entries:
        if key == "path" and isinstance(value, (str, Path)):
            file = find_file(value, origin)
            if file is None:
                where = f"{origin.name}: {key_path((*place, key), None)}"
                looked = f"(looked in {origin.parent.resolve()})"
                raise SceneError(f"{where} is {shown(str(value))}, but there is no such file {looked}")
            data[key] = str(file)
            changed = changed or str(value) != str(file)
        else:
            changed = resolve_files(value, origin, (*place, key)) or changed
    return changed


def find_file(name: str | Path, origin: Path) -> Path | None:
    """The file of that name as seen from the scene file, if it exists."""
    try:
        file = origin.parent.resolve() / Path(name).expanduser()
        return file if file.is_file() else None
    except (OSError, RuntimeError, ValueError):  # names no file can have
        return None


def validate(data: Any, where: str, overrides: dict[Any, str] | None = None) -> Scene:
    """Scene of raw data; `where` opens the message if something is wrong."""
    try:
        return Scene.model_validate(data)
    except ValidationError as error:
        raise scene_error(error, data, where, overrides) from None
    except SceneError:
        raise
    except ContinuaError as error:
        raise SceneError(f"{where}: {error}") from None


def run_python(source: str, path: Path) -> Scene:
    """Run a Python scene; it defines `scene = Scene(...)` or `def scene() -> Scene`."""
    module = types.ModuleType(f"continua_scene_{path.stem}")
    module.__file__ = str(path)
    with _executing(module, path):
        exec(compile(source, str(path), "exec"), module.__dict__)
        scene = getattr(module, "scene", None)
        if callable(scene) and not isinstance(scene, Scene):
            scene = scene()
    if not isinstance(scene, Scene):
        found = "there is no scene" if scene is None else f"scene is {shown(scene)}"
        raise SceneError(
            f"{path.name}: {found}; define scene = Scene(...) or a function scene() that returns a Scene"
        )
    return scene


@contextmanager
def _executing(module: types.ModuleType, path: Path) -> Iterator[None]:
    """Make the module and its neighbours importable, and turn whatever it raises into a SceneError."""
    folder = str(path.parent.resolve())
    sys.modules[module.__name__] = module
    sys.path.insert(0, folder)
    try:
        yield
    except KeyboardInterrupt:
        raise
    except SyntaxError as error:
        raise SceneError(f"{path.name}, line {error.lineno}: {error.msg}") from error
    except BaseException as error:
        raise SceneError(f"{path.name}{_line(error, path)}: {_cause(error)}") from error
    finally:
        sys.path.remove(folder)


def _line(error: BaseException, path: Path) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f", line {frames[-1].lineno}" if frames else ""


def _cause(error: BaseException) -> str:
    if isinstance(error, ContinuaError):
        return str(error)
    if isinstance(error, ValidationError):
        return _object_cause(error)
    return " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(": ")


def _object_cause(error: ValidationError) -> str:
    """What is wrong in a call such as `Sphere((0, 0), -1)`."""
    entries: list[dict[str, Any]] = [{**entry} for entry in error.errors(include_url=False)]
    entry = min(entries, key=lambda item: item["type"] not in UNKNOWN)
    if entry["type"] == "scene_rule":
        path, message = entry["ctx"]["path"], entry["ctx"]["message"]
        return f"{key_path(path, None) or 'the scene'} {message}"
    keys = [
        f"argument {key + 1}" if isinstance(key, int) and not at else str(key)
        for at, key in enumerate(entry["loc"])
    ]
    place = ".".join(key for key in keys if "[" not in key) or "value"
    message = entry["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if entry["type"] in UNKNOWN:
        return f"{error.title}: unknown argument {place}"
    if entry["type"].startswith("missing"):
        return f"{error.title}: {place} is missing"
    return f"{error.title}: {place} is {shown(entry['input'])}, {message}"


def to_data(value: Any) -> Any:
    """Plain tables and lists of a validated scene; Python functions and materials stay as they are."""
    fields = model_fields(value)
    if fields and ("type" in fields or hasattr(value, "model_dump") or isinstance(value, UNTYPED)):
        return {name: to_data(getattr(value, name)) for name in fields}
    if isinstance(value, (list, tuple)):
        return [to_data(entry) for entry in value]
    if isinstance(value, dict):
        return {key: to_data(entry) for key, entry in value.items()}
    return value
