"""Noise costs time: how many steps two balls that collide take with PIC, APIC and FLIP.

Steps are implicit, so that the fastest particle alone sets their length. What a transfer filters is missing from the
speeds, and FLIP, which filters nothing, needs the most steps (J15 figure 5.11; times are not compared).
"""

from __future__ import annotations

import numpy as np

from continua.geometry.shapes import Sphere
from continua.materials import FixedCorotated, Snow
from continua.materials.base import Material
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_least, reported

RADIUS, SPEED, DURATION = 0.25, 10.0, 0.1  # [m], of each ball [m/s], [s]
BALLS: dict[str, Material] = {"jelly": FixedCorotated(1e5, 0.3, 1000.0), "snow": Snow()}


def steps(material: Material, transfer: str, particles: float) -> int:
    """Of a collision of two balls of so many particles each, which fly past each other by a half of their radius."""
    dx = RADIUS * float(np.sqrt(4 * np.pi / particles))
    sim = Simulation(dx, (0, 0), integrator="semi-implicit", transfer=transfer)
    for side in (-1, 1):
        centre = (side * (RADIUS + dx), side * RADIUS / 4)
        sim.add(Sphere(centre, RADIUS), material, velocity=(-side * SPEED, 0), sampling="jittered")
    while sim.time < DURATION - 1e-12:
        sim.step(DURATION - sim.time)
    return sim.steps


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found = []
    for name, material in BALLS.items():
        transfers = dict.fromkeys(("pic", "apic", "flip"), "pic") if wrong else {}
        counts = {
            scheme: steps(material, transfers.get(scheme, scheme), 500 if quick else 2000)
            for scheme in ("pic", "apic", "flip")
        }
        found += [reported(f"{name}: steps with {scheme}", count) for scheme, count in counts.items()]
        for more, less in (("apic", "pic"), ("flip", "apic")):
            found.append(at_least(f"{name}: steps, {more} over {less}", counts[more] / counts[less], 1.01))
    return found


CASE = Case(
    name="step-counts",
    title="Two balls collide: steps that transfers need",
    source="order of J15 figure 5.11: FLIP > APIC > PIC",
    kind="comparison",
    cost="10 s",
    control="PIC in place of APIC and FLIP",
    measure=measure,
)
