"""Time and colour legend in the corners of a picture."""

from __future__ import annotations

from typing import Any

import numpy as np

from continua.errors import MissingExtraError
from continua.io.frames import Frame
from continua.io.optional import require
from continua.render.colors import ColorScale, ramp
from continua.render.view import View

_INK = (58, 64, 74)
_ENTRIES = 8  # names in a legend


def annotate(image: np.ndarray, frame: Frame, view: View) -> np.ndarray:
    """The image (H, W, 3) of uint8 with time and legend; unchanged where Pillow is not installed."""
    try:
        Image, ImageDraw, ImageFont = (
            require(f"PIL.{name}", "pillow", "render") for name in ("Image", "ImageDraw", "ImageFont")
        )
    except MissingExtraError:
        return image
    unit = max(image.shape[0] / 720, 0.35)  # everything grows with the picture
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(round(17 * unit))
    if view.show_time:
        place = 26 * unit, image.shape[0] - 24 * unit
        draw.text(place, f"t = {_time(frame.time)}", _INK, font, anchor="ls")
    if view.show_legend:
        corner = image.shape[1] - 26 * unit, image.shape[0] - 24 * unit
        if view.scale.categorical:
            _names(draw, font, view.scale, corner, unit)
        else:
            _bar(picture, draw, font, view.scale, corner, unit)
    return np.asarray(picture)


def _bar(
    picture: Any, draw: Any, font: Any, scale: ColorScale, corner: tuple[float, float], unit: float
) -> None:
    """Colour bar with its name above and the two ends below."""
    width, height = round(220 * unit), max(round(9 * unit), 3)
    right, bottom = corner
    left, top = round(right - width), round(bottom - 24 * unit - height)
    colors = ramp(np.linspace(0, 1, width), diverging=scale.diverging)
    bar = np.broadcast_to((255 * colors + 0.5).astype(np.uint8), (height, width, 3))
    from_array = require("PIL.Image", "pillow", "render").fromarray
    picture.paste(from_array(np.ascontiguousarray(bar)), (left, top))
    draw.text((left, top - 8 * unit), _printable(scale.label), _INK, font, anchor="ls")
    low, high = _numbers(scale.low, scale.high)
    draw.text((left, bottom), low, _INK, font, anchor="ls")
    draw.text((left + width, bottom), high, _INK, font, anchor="rs")


def _names(draw: Any, font: Any, scale: ColorScale, corner: tuple[float, float], unit: float) -> None:
    """A coloured dot and a name per line."""
    names = scale.categories[:_ENTRIES]
    if len(scale.categories) > _ENTRIES:
        names[-1] = f"and {len(scale.categories) - _ENTRIES + 1} more"
    texts = [_printable(name) for name in names]
    width = max((draw.textlength(text, font) for text in texts), default=0)
    for line, (name, text) in enumerate(zip(names, texts, strict=True)):
        x, y = corner[0] - width, corner[1] - (len(names) - 1 - line) * 26 * unit
        middle, radius = y - 6 * unit, 6 * unit
        color = tuple(round(255 * part) for part in scale.category_color(name))
        if name in scale.categories:
            dot = x - 20 * unit, middle - radius, x - 20 * unit + 2 * radius, middle + radius
            draw.ellipse(dot, color, (140, 146, 156))
        draw.text((x, y), text, _INK, font, anchor="ls")


def _printable(text: str) -> str:
    """One line of at most 40 characters."""
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if len(text) <= 40 else text[:39] + "…"


def _time(seconds: float) -> str:
    return f"{seconds:.3f} s" if seconds < 100 else f"{seconds:.1f} s"


def _numbers(low: float, high: float) -> tuple[str, str]:
    """Both numbers with as many digits as their difference needs."""
    digits = int(np.clip(2 - np.floor(np.log10(max(high - low, 1e-12))), 0, 6))
    if max(abs(low), abs(high)) >= 1e5 or high - low < 1e-4:
        return f"{low:.3g}", f"{high:.3g}"
    digits = max(digits - 1, 0)
    return f"{low:.{digits}f}", f"{high:.{digits}f}"
