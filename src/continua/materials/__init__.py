"""Materials: constitutive models with SI parameters. New ones join `AnyMaterial` and the core's catalogue."""

from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from continua.materials.base import Material, NativeMaterial
from continua.materials.elastic import FixedCorotated, NeoHookean
from continua.materials.python import PythonMaterial
from continua.materials.snow import Snow

NamedMaterial = Annotated[FixedCorotated | NeoHookean | Snow, Field(discriminator="type")]
AnyMaterial = NamedMaterial | SkipJsonSchema[PythonMaterial]

__all__ = [
    "AnyMaterial",
    "FixedCorotated",
    "Material",
    "NativeMaterial",
    "NeoHookean",
    "PythonMaterial",
    "Snow",
]
