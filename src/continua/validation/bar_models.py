"""The bar of `bar` in its first mode, made of every elastic and plastic model: it rings as its small strains say.

Strained along its axis only, a bar of Lame moduli mu, lam has the modulus lam + 2 mu; a liquid has its bulk modulus.
Plastic models stay below yield: strains are about 0.002.
"""

from __future__ import annotations

import numpy as np

from continua.materials import (
    DeviatoricCorotated,
    DruckerPrager,
    FixedCorotated,
    Hencky,
    HerschelBulkley,
    Liquid,
    NeoHookean,
    OldroydB,
    QuadraticNeoHookean,
    Rankine,
    Snow,
    VonMises,
)
from continua.materials.base import NativeMaterial, lame
from continua.validation.bar import ring
from continua.validation.case import Case, Measurement, near

CELLS, NU, DENSITY, ELASTIC = (
    20,
    0.3,
    1.0,
    0.1,
)  # Poisson's ratio, [kg/m^3], [Pa]: stresses are about 0.002 Pa


def models(E: float) -> tuple[NativeMaterial, ...]:
    """All of them, of Young's modulus E, or bulk modulus of the liquid [Pa]."""
    solid = (E, NU, DENSITY)
    return (
        FixedCorotated(*solid),
        NeoHookean(*solid),
        QuadraticNeoHookean(*solid),
        DeviatoricCorotated(*solid),
        Hencky(*solid),
        Snow(*solid),
        Rankine(*solid, strength=ELASTIC),
        VonMises(*solid, yield_stress=ELASTIC),
        DruckerPrager(*solid, cohesion=ELASTIC),
        HerschelBulkley(*solid, yield_stress=ELASTIC),
        OldroydB(*lame(E, NU), DENSITY, relaxation_time=float("inf")),
        Liquid(E, DENSITY, viscosity=0.0),
    )


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found = []
    mu, lam = lame(1.0, NU)
    for material in models(1.1 if wrong else 1.0):
        modulus = 1.0 if isinstance(material, Liquid) else lam + 2 * mu  # for strain along one axis [Pa]
        bar = ring(CELLS, material=material, speed=float(np.sqrt(modulus / DENSITY)))
        label = f"{material.label}: period of mode 1, {CELLS} cells [s]"
        found.append(near(label, bar.period, bar.exact, 0.025))
    return found


CASE = Case(
    name="bar-models",
    title="Bar of every elastic and plastic model, one end fixed, one free",
    source="wave equation with the modulus of small strains, closed form",
    kind="closed form",
    cost="5 s",
    control="10 % too stiff",
    measure=measure,
)
