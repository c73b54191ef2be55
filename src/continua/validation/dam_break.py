"""A dam breaks: a column of water, twice as high as wide, runs out over a dry and slippery floor.

Weakly compressible and incompressible water are two methods without a common line of code for pressure and walls; in
the limit of small cells they must have one front. Its speed is compared with the experiment as it is. In the experiment
a gate had to get out of the way first: the place of the front is compared with a delay that is fitted.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from continua.bodies.points import ParticleBody
from continua.contact.colliders import Mode, Plane
from continua.geometry.shapes import Box
from continua.materials import IncompressibleFluid, Liquid
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near, reported
from continua.validation.spread import layer_front

Curve = tuple[NDArray[np.float64], NDArray[np.float64]]  # times T and fronts Z
Method = Literal["weakly compressible", "incompressible"]

WIDTH, GRAVITY = 0.05715, 9.81  # a [m], [m/s^2]
HEIGHT = 2 * WIDTH  # n^2 = 2
SECOND = np.sqrt(2 * GRAVITY / WIDTH)  # one second in units of T
LAYER = WIDTH / 10  # [m] thickness of the water at its front: a cell of the coarsest grid here
HONEY = 10.0  # [Pa s]
# Martin and Moyce 1952: T = t sqrt(2 g / a), Z = front / a.
EXPERIMENT = np.array(
    [(0.84, 1.22), (1.43, 1.67), (1.83, 2.11), (2.20, 2.56), (2.51, 3.00), (2.83, 3.44), (3.11, 3.89)]
)


def front_of(body: ParticleBody) -> float:
    """Z: where the water is a tenth of the width thick, over the width."""
    return layer_front(body.x[:, 0], body.volume, thickness=LAYER, window=LAYER) / WIDTH


def run_out(method: Method, cells: int, *, viscosity: float = 0.0, floor: Mode = "separate") -> Curve:
    """Times T and fronts Z, with that many cells over the width."""
    dx = WIDTH / cells
    column = Box((WIDTH / 2, HEIGHT / 2), (WIDTH, HEIGHT))
    if method == "incompressible":
        sim = Simulation(dx, (0.0, -GRAVITY), integrator="incompressible")
        body = sim.add(column, IncompressibleFluid(1000.0, viscosity))
    else:
        sound = 10 * np.sqrt(2 * GRAVITY * HEIGHT)  # ten times as fast as the water
        sim = Simulation(dx, (0.0, -GRAVITY))
        body = sim.add(column, Liquid(1000.0 * sound**2, 1000.0, viscosity))
    sim.add(Plane((0.0, 1.0), mode=floor, name="floor"))
    sim.add(Plane((1.0, 0.0), name="wall"))
    T, Z = [0.0], [1.0]
    while T[-1] < EXPERIMENT[-1, 0]:
        end = sim.time + 0.02 / SECOND
        while sim.time < end - 1e-12:
            sim.step(end - sim.time)
        T.append(sim.time * SECOND)
        Z.append(front_of(body))
    return np.array(T), np.array(Z)


def at_times(curve: Curve, delay: float = 0.0) -> NDArray[np.float64]:
    """Z (7,) at the times of the experiment, if the water was let go later by this much T."""
    return np.interp(EXPERIMENT[:, 0] - delay, *curve)


def largest_difference(curve: Curve, other: Curve) -> float:
    """Of two fronts at the times of the experiment, over the second one."""
    return float(np.abs(at_times(curve) / at_times(other) - 1).max())


def largest_deviation(curve: Curve, delay: float) -> float:
    """From the experiment, relative, if the water was let go later by this much T."""
    return float(np.abs(at_times(curve, delay) / EXPERIMENT[:, 1] - 1).max())


def best_delay(curve: Curve) -> float:
    """The delay in T with the smallest largest deviation."""
    return float(min(np.arange(0.0, 0.5, 0.005), key=lambda delay: largest_deviation(curve, delay)))


def speed(curve: Curve) -> Measurement:
    """dZ/dT at the last five times, where the front moves steadily; without the delay."""
    found, measured = (
        float(np.polyfit(EXPERIMENT[2:, 0], Z[2:], 1)[0]) for Z in (at_times(curve), EXPERIMENT[:, 1])
    )
    return near("speed of the front, dZ/dT", found, measured, 0.1)


def place(curve: Curve) -> list[Measurement]:
    """With the fitted delay, and how far off it is without."""
    delay = best_delay(curve)
    return [
        at_most(
            "largest deviation from the experiment, relative", largest_deviation(curve, delay), 0.1
        ).of_kind("calibration"),
        reported("delay by the gate, fitted [s]", delay / SECOND),
        reported("largest deviation without it", largest_deviation(curve, 0.0)),
    ]


# ---- weakly compressible ----------------------------------------------------------------------------------------


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    """The gates of 3 % are those of 40 cells; errors of first order are larger on coarser grids."""
    cells = 24 if quick else 40
    gate = 0.03 * 40 / cells
    coarse, fine = (
        run_out("weakly compressible", n, floor="sticky" if wrong else "separate")
        for n in (cells // 2, cells)
    )
    found = run_out("weakly compressible", cells, viscosity=HONEY, floor="sticky") if wrong else fine
    incompressible = run_out("incompressible", cells)
    return [
        at_most(
            "largest difference from the incompressible front",
            largest_difference(found, incompressible),
            gate,
        ).of_kind("comparison"),
        at_most(
            "largest change of the front by the last halving", largest_difference(coarse, fine), gate
        ).of_kind("comparison"),
        speed(found),
        *place(found),
    ]


CASE = Case(
    name="dam-break",
    title="Dam break, weakly compressible water twice as high as wide",
    source="experiment of Martin and Moyce 1952, a delay by the gate is fitted for the place of the front; "
    "incompressible water; half the cells",
    kind="experiment",
    cost="20 s",
    control="viscosity of honey, 10 Pa s, on a floor that holds it; water on such a floor for the halving",
    measure=measure,
)

# ---- incompressible ---------------------------------------------------------------------------------------------


def measure_incompressible(quick: bool, wrong: bool) -> list[Measurement]:
    cells = 10 if quick else 40
    if wrong:
        curve = run_out("incompressible", cells, viscosity=HONEY, floor="sticky")
    else:
        curve = run_out("incompressible", cells)
    return [speed(curve), *place(curve)]


INCOMPRESSIBLE = Case(
    name="dam-break-incompressible",
    title="Dam break, incompressible water twice as high as wide",
    source="experiment of Martin and Moyce 1952; for the place of the front a delay by the gate is fitted",
    kind="experiment",
    cost="10 s",
    control="viscosity of honey, 10 Pa s, on a floor that holds it",
    measure=measure_incompressible,
)
