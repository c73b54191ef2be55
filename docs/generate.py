"""MkDocs hook: fills the reference pages from the code, so that they cannot go stale.

A line `<!-- generated: NAME -->` in a page is replaced by what the function of that name below returns.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from continua.gallery._running import module_of
from continua.scene import catalogue
from continua.scene.schema import allowed_tags, at, choices, expected

PLACE = re.compile(r"^<!-- generated: ([\w-]+) -->$", re.MULTILINE)
IMAGES = Path(__file__).resolve().parent / "images"

# Heading, where the table is in a scene file, and how it is written there.
TABLES = [
    ("Top level", (), ""),
    ("`[simulation]`", ("simulation",), ""),
    ("`[[body]]`", ("body", 0), ""),
    ("Shapes", ("body", 0, "shape"), "`shape` of bodies and emitters; one of these tables:"),
    ("Materials", ("body", 0, "material"), "`material` of bodies, solids and emitters; one of these tables:"),
    (
        "Velocities",
        ("body", 0, "velocity"),
        "`velocity` of bodies and meshes: a list of numbers, or one of these tables:",
    ),
    (
        "Gradients",
        ("body", 0, "vary", "E"),
        "`vary` of bodies and solids, for every key of the material, and `fields` of bodies and emitters, in place of "
        'a number; one such table (`type = "gradient"` may be left out):',
    ),
    ("Regions", ("body", 0, "regions", 0), "`regions` of bodies and solids: a list of such tables:"),
    ("`[[solid]]`", ("solid", 0), ""),
    ("Meshes", ("solid", 0, "mesh"), "`mesh` of solids; one of these tables:"),
    ("`[[springs]]`", ("springs", 0), ""),
    ("Chains and cloths", ("springs", 0, "springs"), "`springs` of springs; one of these tables:"),
    ("`[[strands]]`", ("strands", 0), ""),
    ("Curves", ("strands", 0, "curves"), "`curves` of strands; one of these tables:"),
    ("Curls", ("strands", 0, "curves", "curl"), "`curl` of fur; such a table:"),
    (
        "Rods",
        ("strands", 0, "material"),
        '`material` of strands; such a table (`type = "rod"` may be left out):',
    ),
    (
        "Contact of strands",
        ("strands", 0, "contact"),
        '`contact` of strands; one of these tables (`type = "strands"` may be left out):',
    ),
    ("`[[rigid]]`", ("rigid", 0), ""),
    ("Axles", ("rigid", 0, "axle"), "`axle` of rigid bodies:"),
    ("Motors", ("rigid", 0, "axle", "motor"), "`motor` of axles:"),
    (
        "Scripts",
        ("solid", 0, "scripted", 0),
        '`scripted` of solids, springs and strands: a list of such tables (`type = "scripted"` may be left out):',
    ),
    (
        "Contact of meshes",
        ("solid", 0, "contact"),
        '`contact` of solids, springs and strands: such a table (`type = "penalty"` may be left out):',
    ),
    ("Starts", ("solid", 0, "start"), "`start` of solids, springs and strands; one of these tables:"),
    (
        "Transfers",
        ("simulation", "transfer"),
        '`transfer` of the simulation: a name (`"apic"` if left out), a name and the first number of its table '
        '(`"flip:0.95"`, `"polypic:6"`), or one of these tables:',
    ),
    (
        "Integrators",
        ("simulation", "integrator"),
        '`integrator` of the simulation: a name (`"symplectic"` if left out), or one of these tables:',
    ),
    ("`[[continuum]]`", ("continuum", 0), ""),
    ("`[[contact]]`", ("contact", 0), ""),
    ("`[[collider]]`", ("collider", 0), "Every collider is one of these kinds:"),
    (
        "Motions",
        ("collider", 0, "motion"),
        "`motion` of colliders and scripts, `roots` of strands; one of these tables:",
    ),
    ("`[[boundary]]`", ("boundary", 0), "Every boundary is one of these kinds:"),
    ("`[[emitter]]`", ("emitter", 0), ""),
    ("`[[drain]]`", ("drain", 0), ""),
    ("`[run]`", ("run",), ""),
    ("`[render]`", ("render",), ""),
    ("`[render.camera]`", ("render", "camera"), ""),
]


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    return PLACE.sub(lambda found: PAGES[found[1]](), markdown)


def scene_keys() -> str:
    """Every key of a scene file: allowed values, default, meaning."""
    return "\n\n".join(section(heading, place, words) for heading, place, words in TABLES)


def section(heading: str, place: tuple[str | int, ...], words: str) -> str:
    """One heading and the table below it, or one table for each `type`."""
    kinds = [choice for schema in at(place, None) for choice in choices(schema) if "properties" in choice]
    parts = [f"## {heading}", words]
    for kind in kinds:
        tag = kind["properties"].get("type", {}).get("const")
        if tag is not None and len(allowed_tags(at(place, None))) > 1:
            parts.append(f'### `type = "{tag}"` {{ #{slug(heading)}-{tag} }}')
        if place:
            parts.append(sentence(kind.get("description", "")))
        parts.append(key_table(kind))
    return "\n\n".join(part for part in parts if part)


def key_table(schema: dict[str, Any]) -> str:
    """Markdown table of the keys of one TOML table."""
    rows = ["| key | value | default | meaning |", "|---|---|---|---|"]
    required = schema.get("required", [])
    for name, entry in schema["properties"].items():
        if name == "type":
            continue
        shown = entry.get("default") not in (None, "")
        default = "required" if name in required else f"`{json.dumps(entry['default'])}`" if shown else ""
        cells = [f"`{name}`", expected([entry]), default, entry.get("description", "")]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) if len(rows) > 2 else "No further keys."


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") or not text else ".")


def slug(heading: str) -> str:
    """`[[collider]]` -> collider."""
    return re.sub(r"\W+", "-", heading).strip("-").lower()


def gallery() -> str:
    """Every gallery scene: picture, docstring, cost, small version, wrong variants."""
    return "\n\n".join(gallery_entry(name) for name in catalogue.names())


def gallery_entry(name: str) -> str:
    """One scene of the gallery page."""
    source = catalogue.path(name).read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(source)) or ""
    first, _, rest = text.partition("\n")
    parts = [f"## {name}", f"**{first}**"]
    if (IMAGES / f"{name}.png").exists():
        parts.append(f"![{first}](images/{name}.png)")
    parts += [rest.strip(), f"Cost: {catalogue.cost(name)}.", f"    continua run {name} --film", tested(name)]
    listing = f"```python\n{source}```"
    parts.append(f'??? note "The scene"\n\n{indented(listing)}')
    return "\n\n".join(parts)


def tested(name: str) -> str:
    """How the tests run a scene: small, and wrong on purpose."""
    module = module_of(name)
    small = " ".join(f"--set {shlex.quote(override)}" for override in module.SMALL)
    wrong = "; ".join(f"{what} (`{' '.join(changes)}`)" for what, changes, _ in module.WRONG)
    return f"The tests run it with `{small}`. Its check must fail, and does, for: {wrong}."


def commands() -> str:
    """The help of every command."""
    from typer.testing import CliRunner

    from continua.cli.app import app

    parts = []
    for command in app.registered_commands:
        name = command.name or getattr(command.callback, "__name__", "")
        shown = CliRunner().invoke(app, [name, "--help"], prog_name="continua", env={"COLUMNS": "110"})
        parts.append(f"## continua {name}\n\n```text\n{shown.stdout.strip()}\n```")
    return "\n\n".join(parts)


def indented(text: str) -> str:
    """Four spaces before every line that is not empty."""
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


PAGES: dict[str, Callable[[], str]] = {"scene-keys": scene_keys, "gallery": gallery, "commands": commands}
