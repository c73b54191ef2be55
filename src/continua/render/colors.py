"""Colours of particles: by a field, by material, body or continuum, on a scale that stays fixed over a film."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from continua.errors import OutputError
from continua.io.frames import BodyFrame, Frame

NEUTRAL = (0.72, 0.74, 0.77)
PALETTE = (
    (0.25, 0.52, 0.78),
    (0.91, 0.55, 0.22),
    (0.38, 0.66, 0.40),
    (0.79, 0.33, 0.36),
    (0.56, 0.44, 0.72),
    (0.88, 0.76, 0.32),
    (0.32, 0.70, 0.72),
    (0.85, 0.53, 0.68),
)
MATERIALS = {"snow": (0.87, 0.91, 0.96), "sand": (0.83, 0.69, 0.47), "water": (0.24, 0.53, 0.80)}
"""Colours of materials that look like something; the others take turns in the palette."""

CATEGORIES = ("material", "body", "continuum")  # what names rather than numbers give the colour
_LABELS = {"speed": "speed [m/s]", "J": "volume ratio J"}
_SEQUENTIAL = (
    (62, 62, 138),
    (52, 102, 172),
    (42, 146, 178),
    (68, 186, 160),
    (150, 215, 124),
    (246, 234, 130),
)
_DIVERGING = (
    (38, 74, 140),
    (92, 148, 199),
    (180, 208, 227),
    (243, 240, 234),
    (245, 197, 164),
    (220, 122, 90),
    (150, 36, 46),
)
_SAMPLE = 20_000


def ramp(values: np.ndarray, *, diverging: bool = False) -> np.ndarray:
    """Colours (..., 3) in 0..1 of values in 0..1; values outside are clipped and NaN is neutral."""
    stops = np.array(_DIVERGING if diverging else _SEQUENTIAL, np.float32) / 255
    position = np.clip(np.nan_to_num(values, nan=0.0), 0, 1) * (len(stops) - 1)
    index = np.minimum(position.astype(np.intp), len(stops) - 2)
    part = (position - index)[..., None].astype(np.float32)
    colors = stops[index] * (1 - part) + stops[index + 1] * part
    colors[np.isnan(values)] = NEUTRAL
    return np.asarray(colors, np.float32)


def values_of(body: BodyFrame, by: str) -> np.ndarray | None:
    """The number each particle is coloured by (N,), or None if the body has no such field.

    "speed" is the length of the velocity; vector and tensor fields count by their length.
    """
    array = body.arrays.get("v" if by == "speed" else by)
    if array is None or array.dtype.kind not in "bfiu":
        return None
    array = array.astype(np.float32) if array.dtype.kind != "f" else array
    return array if array.ndim == 1 else np.sqrt((array**2).sum(axis=tuple(range(1, array.ndim))))


def category_of(body: BodyFrame, by: str) -> str:
    """The name that gives a body its colour."""
    return {"material": body.material, "body": body.name, "continuum": body.continuum}[by]


@dataclass
class ColorScale:
    """What colour means. Numbers run from `low` to `high`; "material", "body" and "continuum" count `categories`."""

    by: str
    low: float = 0.0
    high: float = 1.0
    categories: list[str] = field(default_factory=list)

    @property
    def categorical(self) -> bool:
        """True if colours stand for names rather than numbers."""
        return self.by in CATEGORIES

    @property
    def diverging(self) -> bool:
        """True if the middle of the scale has a meaning, as J = 1 has."""
        return self.by == "J"

    @property
    def label(self) -> str:
        """Name of the scale with its unit."""
        return _LABELS.get(self.by, self.by)

    def category_color(self, name: str) -> tuple[float, float, float]:
        """Colour of a material, body or continuum."""
        if self.by == "material" and name in MATERIALS:
            return MATERIALS[name]
        return PALETTE[self.categories.index(name) % len(PALETTE)] if name in self.categories else NEUTRAL

    def colors(self, body: BodyFrame) -> np.ndarray:
        """Colours (N, 3) in 0..1, float32; bodies without the field are neutral."""
        if self.categorical:
            return np.full((len(body), 3), self.category_color(category_of(body, self.by)), np.float32)
        values = values_of(body, self.by)
        if values is None:
            return np.full((len(body), 3), NEUTRAL, np.float32)
        return ramp((values - self.low) / (self.high - self.low), diverging=self.diverging)


def color_scale(
    frames: Iterable[Frame], by: str = "speed", limits: Sequence[float] | None = None
) -> ColorScale:
    """Scale that serves all the frames; `limits` (low, high) fixes the range of the numbers.

    The range covers all but the most extreme hundredth, so that one wild particle does not grey out a film.
    Raises OutputError if no body of any frame has the field.
    """
    names: dict[str, None] = {}
    fields: dict[str, None] = {}
    samples: list[np.ndarray] = []
    for frame in frames:
        fields |= dict.fromkeys(frame.fields())
        for body in frame.bodies:
            if by in CATEGORIES:
                names[category_of(body, by)] = None
            else:
                values = values_of(body, by)
                if values is not None:
                    samples.append(values[:: len(values) // _SAMPLE + 1])
    scale = ColorScale(by, categories=list(names))
    if scale.categorical:
        return scale
    if not samples and fields:
        choices = ["speed", *CATEGORIES, *(name for name in fields if name not in ("x", "v"))]
        raise OutputError(f"cannot color by {by!r}; choose one of {', '.join(choices)}")
    scale.low, scale.high = _limits(np.concatenate([*samples, np.zeros(0)]), by, limits)
    return scale


def _limits(values: np.ndarray, by: str, limits: Sequence[float] | None) -> tuple[float, float]:
    if limits is not None:
        low, high = float(limits[0]), float(limits[1])
        if not low < high:
            raise OutputError(
                f"the color range {low:g} to {high:g} is empty; give a lower and a higher number"
            )
        return low, high
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    if by == "J":
        reach = max(float(np.percentile(np.abs(values - 1), 99)), 1e-3)
        return 1 - reach, 1 + reach
    low = 0.0 if by == "speed" else float(np.percentile(values, 1))
    high = float(np.percentile(values, 99))
    return (low, high) if high - low > 1e-9 * max(abs(high), 1e-3) else (low, low + max(abs(low), 1.0))
