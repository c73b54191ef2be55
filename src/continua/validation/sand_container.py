"""Sand at rest in a container: the floor carries the weight, and the walls what friction inside the sand leaves.

Between rigid slippery walls sand is strained upright only. It presses against them with K times the stress of its
weight: elastic sand with K = nu / (1 - nu); if that is beyond the yield surface it yields until it is on it, with
K = (1 - s) / (1 + s), s = sqrt(2) alpha, where alpha is the slope of the Drucker-Prager cone. Walls give way by a part
of a cell, which is much for sand, so K has its gate where the sides are periodic, and is printed for walls.

Then sand that runs out of a container through a hole: transfers brake it, fewer modes more, so that a coarse grid with
many modes gives what affine velocities give on a fine one (G20 figures 2.4 and 2.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from continua.bodies.force import BodyForce
from continua.bodies.points import ParticleBody
from continua.contact.boundaries import Periodic
from continua.contact.colliders import Box as Block
from continua.contact.colliders import Plane
from continua.geometry.shapes import Box
from continua.materials import DruckerPrager
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near, reported

WIDTH, HEIGHT, GRAVITY, DENSITY, NU = 0.4, 0.4, 9.81, 1600.0, 0.3  # [m], [m], [m/s^2], [kg/m^3]
WEIGHT = DENSITY * GRAVITY * HEIGHT * WIDTH  # [N/m]
ANGLES = {"rough": 35.0, "smooth": 20.0}  # of friction [degrees]: elastic at rest, and at yield


def side_pressure(angle: float) -> float:
    """K of sand that was loaded by its weight alone, friction angle in degrees."""
    sine = np.sin(np.radians(angle))
    s = np.sqrt(2) * np.sqrt(2 / 3) * 2 * sine / (3 - sine)
    return float(max(NU / (1 - NU), (1 - s) / (1 + s)))


@dataclass
class Rest:
    """Sand after it has settled."""

    floor: float  # force [N/m]
    wall: float  # mean force on a wall [N/m]
    ratio: float  # sideways over upright stress, mean in the middle half
    speed: float  # root mean square over sqrt(g H)


def settle(
    cells: int, angle: float, *, gravity: float = GRAVITY, walls: int = 2, periodic: bool = False
) -> Rest:
    """Gravity grows slowly, in four periods of the slowest wave, and PIC takes what still swings."""
    sand = DruckerPrager(E=1e6, nu=NU, density=DENSITY, friction_angle=angle)
    swing = 4 * HEIGHT / sand.wave_speed()
    h = HEIGHT / cells
    width = 4 * h if periodic else WIDTH
    sim = Simulation(h, (0.0, 0.0), transfer="pic")
    body = sim.add(Box((width / 2, HEIGHT / 2), (width, HEIGHT)), sand)
    sim.add(Plane((0.0, 1.0), (0.0, 0.0)))
    if periodic:
        sim.add(Periodic(0, 0.0, width))
    for normal, at in () if periodic else ((1.0, 0.0), (-1.0, width))[:walls]:
        sim.add(Plane((normal, 0.0), (at, 0.0)))

    def pull(body: ParticleBody, t: float) -> NDArray[np.float64]:
        return np.array([0.0, -gravity]) * min(1.0, t / (4 * swing)) * np.ones((len(body), 1))

    sim.add(BodyForce(pull))
    before, since = None, 0.0
    end = (4 + cells / 2) * swing
    while sim.time < end - 1e-12:
        sim.step(end - sim.time)
        if before is None and sim.time > end - swing:
            before, since = sim.impulses.copy(), sim.time
    assert before is not None
    force = (sim.impulses - before) / (sim.time - since)
    stress = (sand.stress(body.F) @ body.F.transpose(0, 2, 1)) / body.J[:, None, None]
    middle = np.abs(body.x[:, 1] / HEIGHT - 0.5) < 0.25
    ratio = float(stress[middle, 0, 0].mean() / stress[middle, 1, 1].mean())
    speed = float(np.sqrt((body.v**2).sum(axis=1).mean() / (GRAVITY * HEIGHT)))
    wall = 0.0 if periodic else float(np.abs(force[1:, 0]).mean())
    return Rest(float(force[0, 1]), wall, ratio, speed)


# ---- running out ------------------------------------------------------------------------------------------------

HOLE, LEVEL, COARSE = 0.1, 0.3, 0.02  # width of the hole, sand above it, cells [m]


@cache
def run_out(dx: float, transfer: str) -> float:
    """Part of the sand that has left the container after half a second."""
    sim, side = Simulation(dx, (0.0, -GRAVITY), transfer=transfer), (WIDTH - HOLE) / 2
    body = sim.add(Box((WIDTH / 2, LEVEL / 2), (WIDTH, LEVEL)), DruckerPrager(E=3e5, density=DENSITY))
    for x in (side / 2, WIDTH - side / 2):
        sim.add(Block((x, -0.05), (side, 0.1), friction=0.5))
    sim.add(Plane((1.0, 0.0), (0.0, 0.0)))
    sim.add(Plane((-1.0, 0.0), (WIDTH, 0.0)))
    while sim.time < 0.5 - 1e-12:
        sim.step(0.5 - sim.time)
    return float((body.x[:, 1] < 0).mean())


def measure_run_out(quick: bool, wrong: bool) -> list[Measurement]:
    """The control has affine modes only, which is APIC again."""
    fine, affine = run_out(COARSE / (2 if quick else 4), "apic"), run_out(COARSE, "apic")
    modes = run_out(COARSE, "polypic:3" if wrong else "polypic:6")
    error = abs(modes - fine) / abs(affine - fine)
    return [
        reported("run out on a coarse grid, APIC", affine, fine),
        reported("run out on a coarse grid, PolyPIC with 6 modes", modes, fine),
        at_most("distance of PolyPIC over that of APIC from a fine grid", error, 0.95).of_kind("comparison"),
    ]


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found = []
    for name, angle in ANGLES.items():
        other = ANGLES["smooth" if name == "rough" else "rough"]
        cells, K = 10 if quick else 20, side_pressure(angle)
        ratio = settle(cells, other if wrong else angle, periodic=True).ratio
        sand = settle(cells, angle, gravity=GRAVITY * (1.1 if wrong else 1.0))
        if wrong:
            sand.speed = settle(10, angle, walls=1).speed
        found += [
            near(f"{name}: force on the floor [N/m]", sand.floor, WEIGHT, 0.01),
            near(f"{name}: sideways over upright stress, periodic sides", ratio, K, 0.03),
            at_most(f"{name}: rms speed over sqrt(g H)", sand.speed, 1e-3),
            reported(f"{name}: the same between walls", sand.ratio, K),
            reported(f"{name}: force on a wall [N/m]", sand.wall, K * WEIGHT / 2 * HEIGHT / WIDTH),
        ]
    return found + measure_run_out(quick, wrong)


CASE = Case(
    name="sand-container",
    title="Sand at rest between slippery walls, and running out",
    source="balance of forces and yield surface, closed form; a finer grid for the running out",
    kind="closed form",
    cost="1 min",
    control="10 % more gravity and the friction of the other sand; one wall left out; affine modes for PolyPIC",
    measure=measure,
)
