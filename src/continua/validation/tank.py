"""Water in a tank: at rest, and sloshing for ten seconds."""

from __future__ import annotations

from dataclasses import dataclass

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

DEPTHS = (0.0, 0.25, 0.5, 0.75)  # how far the surface lies above a plane of the grid [cells]


@dataclass(frozen=True)
class Forces:
    """Relative errors of the forces on the floor and on a side wall, and the fastest particle over sqrt(g H)."""

    floor: float
    side: float
    fastest: float


def forces(rows: int, above: float = 0.0, gravity: float = GRAVITY, sampling: str = "regular") -> Forces:
    """Water as deep as that many rows of cells and a part of one more, compared with rho g h under GRAVITY."""
    dx = DEPTH / rows
    depth = DEPTH + above * dx
    sim = Simulation(dx, (0, -gravity), integrator="incompressible")
    sim.add(Box((WIDTH / 2, depth / 2), (WIDTH, depth)), WATER, sampling=sampling)
    sim.add(Plane((0.0, 1.0)))
    sim.add(Plane((1.0, 0.0)))
    sim.add(Plane((-1.0, 0.0), (WIDTH, 0.0)))
    while sim.time < 0.5:
        sim.step()
    push = sim.impulses / (sim.time * WATER.density * GRAVITY * depth)
    speed = sim.world.particle_bodies[0].max_speed / np.sqrt(GRAVITY * depth)
    return Forces(float(push[0, 1] / WIDTH - 1), float(push[1, 0] / (depth / 2) - 1), speed)


def unrest(
    cells: int, time: float, *, above: float = 0.0, seed: int = 0, heap: bool = False
) -> tuple[float, float]:
    """Disordered particles: rms speed over sqrt(g H), and growth of the level per second, over the last two fifths.

    `heap` starts with all water in one half of the tank.
    """
    depth = DEPTH + above * WIDTH / cells
    sim = Simulation(WIDTH / cells, (0, -GRAVITY), integrator="incompressible", seed=seed)
    size = (WIDTH / 2, 2 * depth) if heap else (WIDTH, depth)
    sim.add(Box((size[0] / 2, size[1] / 2), size), WATER, sampling="jittered")
    sim.add(Container((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH), inverted=True))
    history = record(sim, time)
    late = history[history[:, 0] > 0.6 * time]
    drift = np.polyfit(late[:, 0], late[:, 1], 1)[0] / depth
    return float(np.sqrt(late[:, 2].mean() / (GRAVITY * depth))), float(drift)


def record(sim: Simulation, time: float) -> NDArray[np.float64]:
    """Steps up to the time [s]: time, twice the height of the centre of mass [m], mean square of the speed,
    volume that the water takes at the density of its interior, and volume up to the surface inside cells [m^2]."""
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
    """The surface is known inside cells, pressure at it and at the walls to the second order or nearly so."""
    gravity = GRAVITY * (1.1 if wrong else 1.0)
    coarse, fine = ([forces(rows, above, gravity) for above in DEPTHS] for rows in (10, 40))

    def worst(found: list[Forces], side: bool) -> float:
        return max(abs(f.side if side else f.floor) for f in found)

    order = np.log(worst(coarse, True) / worst(fine, True)) / np.log(4)
    time, seeds, depths = (4.0, 2, (0.0, 0.5)) if quick else (10.0, 8, DEPTHS)
    seeds = 1 if wrong else seeds
    runs = [unrest(32, time, above=above, seed=seed, heap=wrong) for seed in range(seeds) for above in depths]
    rms, drift = np.abs(runs).T
    on_plane, anywhere = fine[0].fastest, max(f.fastest for f in fine)
    if wrong:
        on_plane = anywhere = forces(10, sampling="jittered").fastest
    return [
        at_most("force on a side, 10 rows, worst of 4 depths, error", worst(coarse, True), 0.01),
        at_most("force on a side, 40 rows, worst of 4 depths, error", worst(fine, True), 0.002),
        at_least("order of the force on a side", order, 1.0, 2.0),
        at_most("force on the floor, 10 rows, worst of 4 depths, error", worst(coarse, False), 0.005),
        at_most("force on the floor, 40 rows, worst of 4 depths, error", worst(fine, False), 0.001),
        at_most("disordered particles: rms speed over sqrt(g H), mean of the runs", rms.mean(), 0.002),
        at_most("disordered particles: rms speed over sqrt(g H), largest", rms.max(), 0.003),
        at_most("disordered particles: |change of the level| per second, largest", drift.max(), 0.001),
        at_most("regular particles, surface on a grid plane: fastest over sqrt(g H)", on_plane, 1e-5),
        at_most("regular particles, worst of 4 depths: fastest over sqrt(g H)", anywhere, 1e-4),
    ]


REST = Case(
    name="hydrostatic",
    title="Water at rest in a tank, its surface anywhere in a cell",
    source="hydrostatics: p = rho g h",
    kind="closed form",
    cost="20 s",
    control="10 % more gravity; all water in one half of the tank; jitter in place of the lattice",
    measure=measure_rest,
)

# ---- sloshing ---------------------------------------------------------------------------------------------------

LEVEL = 0.4  # at rest [m]


@dataclass(frozen=True)
class Slosh:
    """Volume over the exact one: mean over the last two seconds and largest |error| after the first second, by the
    density of the interior and by the surface inside cells; at the end also by the height of the centre of mass."""

    bulk: float
    bulk_error: float
    surface: float
    surface_error: float
    level: float


def slosh(cells: int, volume_control: float, time: float) -> Slosh:
    """The water starts 0.6 m high on the left and 0.2 m high on the right.

    Waves lift the centre of mass, so that one is the roughest of the three.
    """
    flow = Incompressible(volume_control=volume_control)
    sim = Simulation(WIDTH / cells, (0, -GRAVITY), integrator=flow)
    for half in (Box((0.25, 0.3), (0.5, 0.6)), Box((0.75, 0.1), (0.5, 0.2))):
        sim.add(half, WATER)
    sim.add(Container((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH), inverted=True))
    history = record(sim, time)
    history[:, 3:] /= LEVEL * WIDTH
    late, after = history[history[:, 0] > time - 2], history[history[:, 0] > 1]
    bulk_error, surface_error = np.abs(after[:, 3:] - 1).max(axis=0)
    _, level, _, bulk, surface = late.mean(axis=0)
    return Slosh(bulk, float(bulk_error), surface, float(surface_error), level / LEVEL)


def measure_sloshing(quick: bool, wrong: bool) -> list[Measurement]:
    control = 0.0 if wrong else Incompressible().volume_control
    time, gate = (5.0, 0.02) if quick else (10.0, 0.01)
    found = []
    for cells in (24,) if quick else (32, 48):
        run = slosh(cells, control, time)
        found += [
            near(f"volume after {time:g} s by the density inside, {cells} cells", run.bulk, 1.0, gate),
            at_most(f"  its largest error after the first second, {cells} cells", run.bulk_error, 2 * gate),
            near(f"  by the surface inside cells, {cells} cells", run.surface, 1.0, 2 * gate),
            at_most(
                f"  its largest error after the first second, surface, {cells} cells", run.surface_error, 0.04
            ),
            reported("  by the height of the centre of mass, waves included", run.level, 1.0),
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
