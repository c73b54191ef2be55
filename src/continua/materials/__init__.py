"""Materials: constitutive models with SI parameters. New ones join `AnyMaterial` and the core's catalogue."""

from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from continua.materials.base import Material, NativeMaterial
from continua.materials.elastic import (
    DeviatoricCorotated,
    FixedCorotated,
    Hencky,
    NeoHookean,
    QuadraticNeoHookean,
)
from continua.materials.fluid import Liquid, OldroydB
from continua.materials.incompressible import IncompressibleFluid
from continua.materials.plastic import DruckerPrager, HerschelBulkley, Rankine, VonMises
from continua.materials.python import PythonMaterial
from continua.materials.rod import Rod
from continua.materials.snow import Snow

NamedMaterial = Annotated[
    FixedCorotated
    | NeoHookean
    | QuadraticNeoHookean
    | DeviatoricCorotated
    | Hencky
    | Snow
    | Rankine
    | VonMises
    | DruckerPrager
    | OldroydB
    | HerschelBulkley
    | Liquid
    | IncompressibleFluid,
    Field(discriminator="type"),
]
AnyMaterial = NamedMaterial | SkipJsonSchema[PythonMaterial]

__all__ = [
    "AnyMaterial",
    "DeviatoricCorotated",
    "DruckerPrager",
    "FixedCorotated",
    "Hencky",
    "HerschelBulkley",
    "IncompressibleFluid",
    "Liquid",
    "Material",
    "NativeMaterial",
    "NeoHookean",
    "OldroydB",
    "PythonMaterial",
    "QuadraticNeoHookean",
    "Rankine",
    "Rod",
    "Snow",
    "VonMises",
]
