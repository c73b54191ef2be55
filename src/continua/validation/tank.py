"""Water in a tank: at rest, and sloshing for ten seconds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion

from continua.contact.colliders import Box as Container
from continua.contact.colliders import Plane
from continua.geometry.shapes import Box
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_least, at_most, near, reported

WIDTH, DEPTH, GRAVITY = 1.0, 0.5, 9.81  # [m], [m], [m/s^2]
WATER = IncompressibleFluid(1000.0)

# ---- at rest ----------------------------------------------------------------------------------------------------


def forces(rows: int, gravity: float = GRAVITY, sampling: str = "regular") -> tuple[float, float, float]:
    """Forces on the floor and a side wall [N/m], and the fastest particle [m/s], with that many rows of cells."""
    sim = Simulation(DEPTH / rows, (0, -gravity), integrator="incompressible")
    sim.add(Box((WIDTH / 2, DEPTH / 2), (WIDTH, DEPTH)), WATER, sampling=sampling)
    sim.add(Plane((0.0, 1.0)))
    sim.add(Plane((1.0, 0.0)))
    sim.add(Plane((-1.0, 0.0), (WIDTH, 0.0)))
    while sim.time < 0.5:
        sim.step()
    floor, wall = sim.impulses[0, 1] / sim.time, sim.impulses[1, 0] / sim.time
    return float(floor), float(wall), sim.world.particle_bodies[0].max_speed


def unrest(cells: int, time: float, *, heap: bool = False) -> tuple[float, float]:
    """Disordered particles: rms speed over sqrt(g DEPTH), and growth of the level per second, over the last half.

    `heap` starts with all water in one half of the tank.
    """
    sim = Simulation(WIDTH / cells, (0, -GRAVITY), integrator="incompressible")
    size = (WIDTH / 2, 2 * DEPTH) if heap else (WIDTH, DEPTH)
    sim.add(Box((size[0] / 2, size[1] / 2), size), WATER, sampling="jittered")
    sim.add(Container((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH), inverted=True))
    history = record(sim, time)
    late = history[history[:, 0] > time / 2]
    drift = np.polyfit(late[:, 0], late[:, 1], 1)[0] / DEPTH
    return float(np.sqrt(late[:, 2].mean() / (GRAVITY * DEPTH))), float(drift)


def record(sim: Simulation, time: float) -> NDArray[np.float64]:
    """Steps up to the time [s]: time, twice the height of the centre of mass [m], mean square of the speed,
    volume that the water takes at the density of its interior, and volume of the liquid cells [m^2]."""
    rows = []
    while sim.time < time - 1e-9:
        sim.step(time - sim.time)
        x, v = (np.concatenate([getattr(b, name) for b in sim.world.particle_bodies]) for name in ("x", "v"))
        speed2 = (v**2).sum(axis=1).mean()
        cells = sim.steppers["main"].report["volume"]
        rows.append((sim.time, 2 * x[:, 1].mean(), speed2, bulk_volume(x, sim.dx), cells))
    return np.array(rows)


def bulk_volume(x: NDArray[np.float64], dx: float) -> float:
    """Volume [m^2] of the particles x (N, 2) if all were as dense as those in cells that no air cell touches."""
    cells = round(WIDTH / dx)
    place = np.floor(x / dx).astype(int)
    count = np.zeros((cells, int(place[:, 1].max()) + 2))
    np.add.at(count, (place[:, 0], place[:, 1]), 1)
    wet = np.pad(count > 0, ((1, 1), (1, 0)), constant_values=True)  # the walls and the floor are no air
    inside = binary_erosion(wet, np.ones((3, 3), bool), border_value=1)[1:-1, 1:]
    return len(x) / float(count[inside].mean()) * dx**2


def measure_rest(quick: bool, wrong: bool) -> list[Measurement]:
    """Pressure vanishes in the middle of the first air cell, half a cell above the surface: of first order in dx."""
    gravity = GRAVITY * (1.1 if wrong else 1.0)
    weight, push = WATER.density * GRAVITY * DEPTH * WIDTH, WATER.density * GRAVITY * DEPTH**2 / 2
    (_, coarse, _), (floor, wall, speed) = forces(10, gravity), forces(40, gravity)
    order = np.log(abs(coarse - push) / abs(wall - push)) / np.log(4)
    rms, drift = unrest(32, 2.0 if quick else 10.0, heap=wrong)
    if wrong:
        speed = forces(10, sampling="jittered")[2]
    return [
        near("force on the floor [N/m]", floor, weight, 1e-3),
        near("force on a side, 40 rows of cells [N/m]", wall, push, 0.03),
        at_least("order of the force on a side", order, 0.9, 1.0),
        at_most("disordered particles: rms speed over sqrt(g H)", rms, 0.03),
        at_most("disordered particles: |change of the level| per second", abs(drift), 0.001),
        at_most("regular particles: fastest over sqrt(g H)", speed / np.sqrt(GRAVITY * DEPTH), 1e-5),
    ]


REST = Case(
    name="hydrostatic",
    title="Water at rest in a tank",
    source="hydrostatics: p = rho g h",
    kind="closed form",
    cost="10 s",
    control="10 % more gravity; all water in one half of the tank; jitter in place of the lattice",
    measure=measure_rest,
)

# ---- sloshing ---------------------------------------------------------------------------------------------------

LEVEL = 0.4  # at rest [m]


def slosh(cells: int, volume_control: float, time: float) -> tuple[float, float, float]:
    """Volume over the exact one, mean over the last two seconds: from the density of the interior, from the height of
    the centre of mass, and from the number of liquid cells.

    The water starts 0.6 m high on the left and 0.2 m high on the right. Waves lift the centre of mass and roughen the
    surface, so the first number is the one to trust.
    """
    flow = Incompressible(volume_control=volume_control)
    sim = Simulation(WIDTH / cells, (0, -GRAVITY), integrator=flow)
    for half in (Box((0.25, 0.3), (0.5, 0.6)), Box((0.75, 0.1), (0.5, 0.2))):
        sim.add(half, WATER)
    sim.add(Container((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH), inverted=True))
    history = record(sim, time)
    _, level, _, bulk, liquid = history[history[:, 0] > time - 2].mean(axis=0)
    return bulk / (LEVEL * WIDTH), level / LEVEL, liquid / (LEVEL * WIDTH)


def measure_sloshing(quick: bool, wrong: bool) -> list[Measurement]:
    control = 0.0 if wrong else Incompressible().volume_control
    time, gate = (5.0, 0.02) if quick else (10.0, 0.01)
    found = []
    for cells in (24,) if quick else (32, 48):
        bulk, level, liquid = slosh(cells, control, time)
        found += [
            near(f"volume after {time:g} s by the density inside, {cells} cells", bulk, 1.0, gate),
            reported("  by the height of the centre of mass, waves included", level, 1.0),
            reported("  by the number of liquid cells, rough surface included", liquid, 1.0),
        ]
    return found


SLOSHING = Case(
    name="sloshing",
    title="Water sloshes for ten seconds and keeps its volume",
    source="conservation of volume",
    kind="closed form",
    cost="20 s",
    control="no volume control",
    measure=measure_sloshing,
)
