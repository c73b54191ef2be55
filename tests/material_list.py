"""One material for every model of the core, by its name."""

from __future__ import annotations

from continua.materials import (
    DeviatoricCorotated,
    DruckerPrager,
    FixedCorotated,
    Hencky,
    HerschelBulkley,
    Liquid,
    NativeMaterial,
    NeoHookean,
    OldroydB,
    QuadraticNeoHookean,
    Rankine,
    Snow,
    VonMises,
)

MATERIALS: dict[str, NativeMaterial] = {
    material.label: material
    for material in (
        FixedCorotated(3e4, 0.3),
        NeoHookean(3e4, 0.3),
        QuadraticNeoHookean(3e4, 0.3),
        DeviatoricCorotated(3e4, 0.3),
        Hencky(3e4, 0.3),
        Snow(),
        Rankine(3e4, 0.3, strength=600.0),
        VonMises(3e4, 0.3, yield_stress=600.0),
        DruckerPrager(3e4, 0.3),
        HerschelBulkley(),
        OldroydB(mu=5e3, lam=5e4, relaxation_time=0.5, viscosity=30.0),
        Liquid(tension=True, viscosity=50.0),
    )
}
