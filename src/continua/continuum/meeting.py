"""One step of all continua: each to its grid, contact where they meet, each back to its bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from continua.contact.fields import ContactField, ContactSet, FieldContact, PairRule
from continua.integrators import NodeStepper, Stepper, StepResult, StepSetting

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two continua that may meet, a before b by name."""

    a: str
    b: str
    friction: float = 0.0
    slack: float = 0.25  # [cells]

    @property
    def label(self) -> str:
        """Name of the pair in diagnostics."""
        return f"{self.a}_{self.b}"


@dataclass
class MeetingResult:
    """What a step of all continua found out; nothing is in force until the bodies accept it."""

    results: dict[str, StepResult]  # by continuum
    met: dict[str, Array] = field(default_factory=dict)  # pair -> impulse (3,) [N s] that its first continuum got

    @property
    def impulses(self) -> Array:
        """That obstacles gave, (obstacles, 3) [N s]."""
        found = [result.impulses for result in self.results.values()]
        return found[0] if len(found) == 1 else np.sum(found, axis=0)

    @property
    def max_strain(self) -> float:
        """Largest |dt grad v|."""
        return max(result.max_strain for result in self.results.values())


def advance(
    steppers: Mapping[str, Stepper], pairs: Sequence[Pair], settings: Mapping[str, StepSetting]
) -> MeetingResult:
    """One step of the sorted fields of all continua; settings: of each, which differ in the friction of obstacles."""
    result = MeetingResult({name: StepResult.of(settings[name]) for name in steppers})
    for name, stepper in steppers.items():
        stepper.to_grid(settings[name], result.results[name])
    result.met = _meet(steppers, pairs, settings)
    for name, stepper in steppers.items():
        stepper.meet_obstacles(settings[name], result.results[name])
    for name, stepper in steppers.items():
        stepper.to_bodies(settings[name], result.results[name])
    return result


def _meet(
    steppers: Mapping[str, Stepper], pairs: Sequence[Pair], settings: Mapping[str, StepSetting]
) -> dict[str, Array]:
    """Contact between continua on their velocities after forces and solves; impulses by pair."""
    names = [name for name, stepper in steppers.items() if isinstance(stepper, NodeStepper)]
    some = [pair for pair in pairs if pair.a in names and pair.b in names]
    if not some:
        return {}
    fields = [contact_field(name, steppers[name]) for name in names]
    rules = [PairRule(names.index(p.a), names.index(p.b), p.friction, p.slack) for p in some]
    contact, one = FieldContact(), steppers[names[0]].field
    impulses = contact.resolve(fields, rules, one.lattice, one.degree, settings[names[0]].dt)
    for name in names:
        stepper = steppers[name]
        assert isinstance(stepper, NodeStepper)
        stepper.met = any(
            count and name in (pair.a, pair.b) for pair, count in zip(some, contact.contacts, strict=True)
        )
    return {pair.label: impulse for pair, impulse in zip(some, impulses, strict=True)}


def contact_field(name: str, stepper: Stepper) -> ContactField:
    """A continuum as contact sees it."""
    assert isinstance(stepper, NodeStepper)
    sets = []
    for body, exchanges in zip(stepper.field.bodies, stepper.field.exchanges, strict=True):
        surfaces = body.contact_surfaces()
        for exchange, surface in zip(exchanges, surfaces, strict=True):
            normals = None if surface.normals is None else exchange.particles.to_rows(surface.normals)
            sets.append(
                ContactSet(
                    exchange.particles.arrays, exchange.order, surface.thin, normals, surface.two_sided
                )
            )
    return ContactField(name, stepper.field.grid.keys, stepper.nodes, sets)
