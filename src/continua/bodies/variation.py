"""Material that differs from particle to particle: fields that follow the position, and regions with other values."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field
from pydantic.dataclasses import dataclass
from pydantic.json_schema import SkipJsonSchema

from continua._model import CONFIG, FUNCTION_NAME, Axis, Numbers
from continua._validation import raises, shown
from continua.errors import ContinuaError, MaterialError
from continua.geometry.base import Shape
from continua.materials.base import CATALOGUE, Material, NativeMaterial

Array = NDArray[np.float64]
FieldFunction = Callable[[Array], ArrayLike]
Vary = Mapping[str, FieldFunction | ArrayLike]
Regions = Sequence[tuple[Shape, Material]]


@raises(MaterialError)
@dataclass(config=CONFIG)
class Gradient:
    """Values that follow one coordinate: linear from each position to the next, constant before and after them."""

    axis: Axis = Field(description="coordinate: 0 = x, 1 = y, 2 = z")
    positions: Numbers = Field(min_length=2, description="coordinates [m], rising")
    values: Numbers = Field(
        min_length=2, description="value at each position, in the unit of the key that follows it"
    )
    type: Literal["gradient"] = Field(default="gradient", kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if len(self.positions) != len(self.values):
            raise ValueError(f"{len(self.positions)} positions need as many values, not {len(self.values)}")
        if any(b <= a for a, b in zip(self.positions, self.positions[1:], strict=False)):
            raise ValueError("positions must rise from each one to the next")

    def __call__(self, x: Array) -> Array:
        """Values (N,) at points x (N, d) [m]."""
        if self.axis >= x.shape[1]:
            raise MaterialError(f"a {x.shape[1]}D body has no axis {self.axis} for a gradient")
        return np.interp(x[:, self.axis], self.positions, self.values)


# What scenes accept for a field: gradients, and from Python also functions, which files and their schema cannot hold.
FieldLike = Annotated[
    Gradient | SkipJsonSchema[Annotated[FieldFunction, FUNCTION_NAME]], Field(union_mode="left_to_right")
]


def checked_variation(vary: Any, regions: Any) -> tuple[Vary, Regions]:
    """What users give as `vary` and `regions`: a table, and a list of pairs."""
    if not isinstance(vary, (Mapping, type(None))):
        raise MaterialError(
            f'vary must be a dict such as {{"E": function of the positions}}, not {shown(vary)}'
        )
    if not isinstance(regions, (list, tuple, type(None))):
        raise MaterialError(f"regions must be a list of pairs (shape, material), not {shown(regions)}")
    return {} if vary is None else vary, [] if regions is None else regions


class Variation:
    """What each particle of a body is made of, given where it starts.

    `vary` gives numeric fields of the material (its density too) as functions of the positions, x (N, d) [m] -> (N,),
    or as arrays (N,) in the order of the particles. Particles inside a shape of `regions` have the material that
    stands next to it instead; of several shapes the last one counts.
    """

    def __init__(self, material: Material, vary: Vary | None = None, regions: Regions | None = None) -> None:
        if not isinstance(material, NativeMaterial):
            raise MaterialError(
                f"{type(material).__name__} is written in Python and cannot vary from particle to particle; "
                "use a built-in material, or keep the values in history variables"
            )
        self.material = material
        vary, regions = checked_variation(vary, regions)
        self.vary = _checked_vary(material, vary)
        self.regions = [_checked_region(material, region) for region in regions]

    def varied(self) -> NDArray[np.bool_]:
        """Which of the core's parameters (n,) may differ between particles."""
        own = _column(self.material)
        probe = copy.copy(self.material)
        for name in self.vary:
            setattr(probe, name, np.nan)  # arithmetic hands NaN on to whatever depends on this field
        differs = np.isnan(_column(probe))
        for _, material in self.regions:
            differs |= _column(material) != own
        return differs[:-1]

    def at(self, x: Array) -> tuple[Array, Array]:
        """Parameters of the core (n, N) and densities (N,) [kg/m^3] of particles that start at x (N, d) [m]."""
        region = self._region_of(x)
        mixture = copy.copy(self.material)
        for name, given in self.vary.items():
            setattr(mixture, name, self._field(name, given, x, region < 0))
        table = _table(mixture, len(x))
        for number, (_, material) in enumerate(self.regions):
            table[:, region == number] = _column(material)[:, None]
        return table[:-1], table[-1]

    def unused_regions(self, x: Array) -> list[int]:
        """Regions in which no particle lies, or only particles that later regions take."""
        return sorted(set(range(len(self.regions))) - set(np.unique(self._region_of(x)).tolist()))

    def _region_of(self, x: Array) -> NDArray[np.int64]:
        """Number of the region that each particle (N,) belongs to, -1 for none."""
        region = np.full(len(x), -1)
        for number, (shape, _) in enumerate(self.regions):
            if shape.dimension != x.shape[1]:
                raise MaterialError(f"a {shape.dimension}D region cannot be part of a {x.shape[1]}D body")
            region[shape.contains(x)] = number
        return region

    def _field(
        self, name: str, given: FieldFunction | ArrayLike, x: Array, outside: NDArray[np.bool_]
    ) -> Array:
        """Values (N,) of one field, the material's own inside regions, checked like those of the material."""
        what = f'the {"function" if callable(given) else "array"} for "{name}" in vary'
        values = field_values(given, x, what, MaterialError)
        values[~outside] = getattr(self.material, name)
        if not np.isfinite(values).all():
            raise MaterialError(f"{what} must give finite numbers")
        check_range(self.material, name, values)
        return values


def field_values(
    given: FieldFunction | ArrayLike,
    x: Array,
    what: str,
    error: type[ContinuaError],
    *,
    uniform: bool = False,
) -> Array:
    """Values (N,) of a field at points x (N, d) [m]; one number will do if `uniform`. `what` opens the error."""
    try:
        values = np.array(given(x.copy()) if callable(given) else given, dtype=np.float64)
    except (TypeError, ValueError):
        raise error(f"{what} must give numbers in an array of shape ({len(x)},)") from None
    if uniform and values.ndim == 0:
        values = np.full(len(x), values)
    if values.shape != (len(x),):
        raise error(
            f"{what} must give one number for each of the {len(x)} particles, an array of shape "
            f"({len(x)},), not {values.shape}"
        )
    return values


def check_range(material: Material, name: str, values: ArrayLike) -> None:
    """Raise a MaterialError where values of a field are outside the range that the material allows."""
    for value in (np.min(values), np.max(values)) if np.size(values) else ():
        try:
            dataclasses.replace(material, **{name: float(value)})  # type: ignore[type-var]
        except MaterialError as error:
            raise MaterialError(f'"{name}" in vary reaches a value that does not fit: {error}') from None


def numeric_fields(material: Material) -> list[str]:
    """Names of the fields of a material that hold a number."""
    names = [field.name for field in dataclasses.fields(material)]  # type: ignore[arg-type]
    values = {name: getattr(material, name) for name in names}
    return [n for n, v in values.items() if isinstance(v, (int, float)) and not isinstance(v, bool)]


def same_kind(one: Material, other: Material) -> bool:
    """Whether particles of both materials can belong to one body."""
    return type(one) is type(other) and (one.model, one.states) == (other.model, other.states)


def _checked_vary(material: NativeMaterial, vary: Vary) -> Vary:
    for name in vary:
        if name not in numeric_fields(material):
            raise MaterialError(
                f'{type(material).__name__} has no number "{name}" that could vary; '
                f"it has {', '.join(numeric_fields(material))}"
            )
    return dict(vary)


def _checked_region(material: NativeMaterial, region: Any) -> tuple[Shape, NativeMaterial]:
    try:
        shape, other = region
    except (TypeError, ValueError):
        shape = other = None
    if not isinstance(shape, Shape) or not isinstance(other, Material):
        raise MaterialError("regions must be a list of pairs (shape, material)")
    if not isinstance(other, NativeMaterial) or not same_kind(material, other):
        raise MaterialError(
            f"a region of {other.label} cannot be part of a body of {material.label}; give it the same kind of "
            "material with other values, or make it a body of its own"
        )
    return shape, other


def _table(material: NativeMaterial, count: int) -> Array:
    """Parameters of the core and, in the last row, the density (n + 1, N), of a material that may hold arrays (N,)."""
    named = material.parameters()
    rows = [named[name] for name in CATALOGUE[material.model]["parameters"]]
    return np.array([np.broadcast_to(row, (count,)) for row in (*rows, material.density)], dtype=np.float64)


def _column(material: NativeMaterial) -> Array:
    """The same numbers (n + 1,) for a uniform material."""
    return _table(material, 1)[:, 0]
