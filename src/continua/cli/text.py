"""Numbers for people: counts, seconds, bytes, quantities with units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(value: float) -> str:
    """`97 656`."""
    return f"{value:,.0f}".replace(",", " ")


def rate(value: float) -> str:
    """Three digits and a prefix: `17.2 M`."""
    for size, prefix in PREFIXES:
        if abs(value) >= 0.9995 * size:
            short = abs(value) / size
            digits = 2 if short < 9.995 else 1 if short < 99.95 else 0
            return f"{value / size:.{digits}f} {prefix}"
    return f"{value:.3g}"


def memory(value: float) -> str:
    """`85.2 MB`."""
    text = rate(value)
    return f"{text}B" if text[-1].isalpha() else f"{text} B"


def quantity(value: float, unit: str) -> str:
    """`0.0284 kg`, `2.84e-04 s`."""
    size = abs(value)
    text = f"{value:.4g}" if size == 0 or 1e-3 <= size < 1e6 else f"{value:.2e}"
    return f"{text} {unit}"


def duration(seconds: float) -> str:
    """`0.8 s`, `12 s`, `3 min 05 s`, `2 h 07 min`."""
    if seconds != seconds or seconds == float("inf"):
        return "?"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def bound(name: str) -> str:
    """What sets the time step, as `elastic (ball)`, in words: `elastic waves in ball`."""
    kind, _, body = name.partition(" (")
    body = body.removesuffix(")")
    words = {
        "elastic": f"elastic waves in {body}",
        "contact": f"contact of {body}",
        "cfl": f"speed of {body}",
        "strain": "strain rate",
        "frame": "end of frame",
        "fixed": "fixed",
        "none": "no material yet",
    }
    return words.get(kind, name)


def contents(bodies: Iterable[Mapping[str, Any]]) -> str:
    """What bodies with the entries particles, cells and cell consist of: `27 vertices, 48 tetrahedra`."""
    counts: dict[str, int] = {}
    for body in bodies:
        mesh = body.get("cells")
        points = "vertex" if mesh else "particle"
        counts[points] = counts.get(points, 0) + body["particles"]
        if mesh:
            counts[body["cell"]] = counts.get(body["cell"], 0) + mesh
    return ", ".join(plural(number, word) for word, number in counts.items())


IRREGULAR = {"vertex": "vertices", "tetrahedron": "tetrahedra"}


def plural(number: int, word: str) -> str:
    """`1 frame`, `2 frames`."""
    if number != 1 and word in IRREGULAR:
        return f"{count(number)} {IRREGULAR[word]}"
    ending = "" if number == 1 else "ies" if word.endswith("y") else "s"
    stem = word[:-1] if number != 1 and word.endswith("y") else word
    return f"{count(number)} {stem}{ending}"


def rows(lines: list[tuple[str, str]], indent: str = "  ") -> str:
    """Two aligned columns; an empty label continues the one above."""
    width = max(len(label) for label, _ in lines)
    return "\n".join(f"{indent}{label:<{width}}  {text}".rstrip() for label, text in lines)


def columns(table: list[list[str]]) -> list[str]:
    """Lines with aligned columns, two spaces apart; the last column is not padded."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
