"""`continua gallery`, `new` and `schema`."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from continua.errors import OutputError, SceneError


def gallery() -> int:
    """List names, first lines and costs."""
    from continua.scene import catalogue

    names = catalogue.names()
    width = max((len(name) for name in names), default=0)
    for name in names:
        print(f"{name:<{width}}  {catalogue.summary(name)}")
        if catalogue.cost(name):
            print(f"{'':<{width}}  {catalogue.cost(name)}")
    print("\nRun one:   continua run NAME\nChange it: continua new MINE --from NAME")
    return 0


def new(name: str, source: str | None) -> int:
    """Write NAME.toml from the template, or NAME.py from a gallery scene."""
    from continua.scene import catalogue
    from continua.scene.messages import suggestion
    from continua.scene.template import template

    suffix = ".toml" if source is None else ".py"
    stem = name.removesuffix(suffix)
    if not re.fullmatch(r"[\w][\w .-]*", Path(stem).name):
        raise SceneError(f'"{name}" cannot name a scene: use letters, digits, "-" and "_"')
    if source is not None and source not in catalogue.names():
        hint = suggestion(source, catalogue.names())
        raise SceneError(f'there is no gallery scene "{source}"{hint} (run "continua gallery" for the list)')
    path = Path(stem + suffix)
    content = template(path.stem) if source is None else catalogue.path(source).read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        raise OutputError(f"{path} exists already: choose another name") from None
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({error.strerror})") from None
    print(f"wrote {path}; run it with: continua run {shlex.quote(str(path))}")
    return 0


def schema(output: Path | None) -> int:
    """Print or write the JSON Schema of scene files."""
    from continua.scene.schema import scene_schema

    content = json.dumps(scene_schema(), indent=2, ensure_ascii=False)
    if output is None:
        print(content)
        return 0
    try:
        output.write_text(content + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{output} cannot be written ({error.strerror})") from None
    print(f"wrote {output}")
    return 0
