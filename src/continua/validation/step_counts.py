"""Noise costs time: how many steps two balls that collide, and sand on a slope, take with PIC, APIC and FLIP.

Steps are implicit, so that the fastest particle alone sets their length. What a transfer filters is missing from the
speeds, and FLIP, which filters nothing, needs the most steps (J15 figure 5.11; times are not compared). Snow takes what
noise there is out by plastic flow: its counts are printed, and FLIP need not take more steps than APIC.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from continua.contact.colliders import Plane
from continua.geometry.shapes import Box, Sphere
from continua.materials import DruckerPrager, FixedCorotated, Snow
from continua.materials.base import Material
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_least, reported

RADIUS, SPEED = 0.25, 10.0  # [m], of each ball [m/s]
SCHEMES = ("pic", "apic", "flip")


def steps(sim: Simulation, duration: float) -> int:
    """Of so many seconds."""
    while sim.time < duration - 1e-12:
        sim.step(duration - sim.time)
    return sim.steps


def collision(material: Material, particles: float) -> Callable[[str], int]:
    """Two balls of so many particles each, which fly past each other by half of their radius."""
    dx = RADIUS * float(np.sqrt(4 * np.pi / particles))

    def count(transfer: str) -> int:
        sim = Simulation(dx, (0, 0), integrator="semi-implicit", transfer=transfer)
        for side in (-1, 1):
            centre = (side * (RADIUS + dx), side * RADIUS / 4)
            sim.add(Sphere(centre, RADIUS), material, velocity=(-side * SPEED, 0), sampling="jittered")
        return steps(sim, 0.1)

    return count


def slide(transfer: str) -> int:
    """A heap of sand on 40 degrees, so rough that it slides on itself."""
    angle = np.radians(40.0)
    gravity = 9.81 * np.array([np.sin(angle), -np.cos(angle)])
    sim = Simulation(0.03, list(gravity), integrator="semi-implicit", transfer=transfer)
    sim.add(Box((0, 0.15), (0.3, 0.3)), DruckerPrager(density=1600.0), sampling="jittered")
    sim.add(Plane((0.0, 1.0), (0.0, 0.0), friction=1.0))
    return steps(sim, 1.0)


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    jelly = collision(FixedCorotated(1e5, 0.3, 1000.0), 500 if quick else 2000)
    scenes = {"balls of jelly": jelly} | ({} if quick else {"sand on a slope": slide})
    found = []
    for name, count in scenes.items():
        counts = {scheme: count("pic" if wrong else scheme) for scheme in SCHEMES}
        found += [reported(f"{name}: steps with {scheme}", number) for scheme, number in counts.items()]
        for more, less in (("apic", "pic"), ("flip", "apic")):
            found.append(at_least(f"{name}: steps, {more} over {less}", counts[more] / counts[less], 1.01))
    if not (quick or wrong):
        snow = collision(Snow(), 2000)
        found += [reported(f"balls of snow: steps with {scheme}", snow(scheme)) for scheme in SCHEMES]
    return found


CASE = Case(
    name="step-counts",
    title="Balls that collide and sand on a slope: steps that transfers need",
    source="order of J15 figure 5.11: FLIP > APIC > PIC",
    kind="comparison",
    cost="30 s",
    control="PIC in place of APIC and FLIP",
    measure=measure,
)
