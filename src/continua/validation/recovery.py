"""A cube of jelly recovers from hopeless starts in steps of a whole frame (J15 figures A.7 and A.8).

Its points begin at random places, all in one place, or pulled apart a million times. It has recovered when no element
is inside out and, up to a rigid motion, no point is farther than 1 cm from where it belongs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from continua.bodies.shape_error import shape_error
from continua.bodies.solid_body import SolidBody
from continua.bodies.start import Placed, Scattered
from continua.geometry.meshes import box_mesh
from continua.materials import FixedCorotated
from continua.optimize import ImplicitStep, Options, PointState, StepEnergy, minimise
from continua.validation.case import Case, Measurement, at_most
from continua.validation.plain_newton import FRAME, Method, minimised_step, minimising, plain_step

CLOSE = 1e-2  # over the size of the cube, 1 m
SLACK = 2  # times the counts of the prototype
Start = Placed | Scattered


def stretched(x: float, y: float = 1.0, z: float = 1.0) -> Placed:
    """By these factors."""
    return Placed(((x, 0, 0), (0, y, 0), (0, 0, z)))


RANDOM = Scattered((0, 0, 0), (1, 1, 1))
POINT = Placed(((0, 0, 0),) * 3, (0.5, 0.5, 0.5))


@dataclass(frozen=True)
class Row:
    """One start; steps to recover and Newton iterations of the first step as an independent prototype counts them."""

    name: str
    start: Start
    E: float  # [Pa]
    steps: int
    iterations: int
    nodes: int = 5  # along an edge
    nu: float = 0.3
    positive: bool | None = None  # whether negative stiffness is left out; None: after meeting some

    def cube(self) -> SolidBody:
        """Unit cube, every cell cut into six tetrahedra."""
        mesh = box_mesh((0, 0, 0), (1, 1, 1), (self.nodes - 1,) * 3, "same")
        return SolidBody(mesh, FixedCorotated(self.E, self.nu, 1000.0), start=self.start)


ROWS = (
    Row("random, 1e4 Pa", RANDOM, 1e4, 86, 21),
    Row("random, 1e6 Pa", RANDOM, 1e6, 3, 103),
    Row("random, 1e8 Pa", RANDOM, 1e8, 1, 174),
    Row("one point, 1e4 Pa", POINT, 1e4, 87, 56),
    Row("one point, 1e6 Pa", POINT, 1e6, 3, 27),
    Row("one point, 1e8 Pa", POINT, 1e8, 1, 27),
    Row("10 times as long", stretched(10), 1e8, 1, 29),
    Row("100 times as long", stretched(100), 1e8, 3, 327),
    Row("100 times as long, positive", stretched(100), 1e8, 3, 33, positive=True),
    Row("1000 times as long, positive", stretched(1e3), 1e8, 3, 156, positive=True),
    Row("1e6 times as long, nu = 0", stretched(1e6), 1e8, 5, 61, nu=0.0),
    Row("1e6 times as large, nu = 0", stretched(1e6, 1e6, 1e6), 1e8, 6, 66, nu=0.0),
    Row("one point, 9^3 points", POINT, 1e8, 1, 44, nodes=9),
)
FINE = (Row("random, 9^3 points", RANDOM, 1e8, 1, 619, nodes=9),)
VALLEY = Row("1e6 times as long, nu = 0.3", stretched(1e6), 1e8, 0, 0)
PLAIN = (ROWS[1], ROWS[8])  # from which plain Newton does not recover, in time that it is worth to wait for
STUBBORN = replace(ROWS[-1], positive=False)  # never leaves negative stiffness out


def recovered(body: SolidBody) -> bool:
    """Whether it has its shape again."""
    return shape_error(body) < CLOSE and bool(body.J.min() > 0)


def frames(row: Row, method: Method = "minimiser") -> Iterator[tuple[SolidBody, int]]:
    """The cube after every frame, taken in one step, and the Newton iterations of it, until a step fails."""
    cube = row.cube()
    tolerance = 1e-6 * row.E  # [N], on an area of 1 m^2
    most = 1 if method == "one iteration" else 1000
    sim = minimising(cube, tolerance, FRAME, most=most, positive=row.positive)
    while True:
        if method == "plain Newton":
            step = plain_step(cube, FRAME, tolerance=tolerance, most=SLACK * row.iterations)
        else:
            step = minimised_step(sim)
        if not step.converged:
            return
        yield cube, step.iterations


@dataclass(frozen=True)
class Recovery:
    """Infinite where it does not recover in twice the steps of the prototype."""

    steps: float
    iterations: float  # of the first step


def recover(row: Row, method: Method = "minimiser") -> Recovery:
    """Step until the shape is back."""
    first = math.inf
    for k, (cube, iterations) in enumerate(frames(row, method), 1):
        first = iterations if k == 1 else first
        if recovered(cube):
            return Recovery(k, first)
        if k == SLACK * row.steps:
            break
    return Recovery(math.inf, first)


def follow_valley(iterations: int, plain: bool = False) -> tuple[float, float]:
    """Largest rise of the energy in an iteration, over what it was, and extent left over extent at first.

    With nu > 0 the energy of a very long cube is a narrow curved valley, J = const, and Newton follows it slowly.
    """
    cube = VALLEY.cube()
    step = ImplicitStep.of("backward-euler", FRAME, PointState(cube.x, cube.v), cube.v)
    energy = StepEnergy(step, cube.mass, [cube.energy])
    options = Options.scaled(VALLEY.E, max_iterations=iterations, plain_newton=plain)
    x, report = minimise(energy, [cube.x], options)
    history: NDArray[np.float64] = np.array([value for _, value in report.history])
    rise = float((np.diff(history) / np.abs(history[:-1])).max())
    return rise, float(np.ptp(x, axis=0).max() / np.ptp(cube.x, axis=0).max())


def rows(row: Row, cube: Recovery) -> list[Measurement]:
    """Frames until the shape is back, and Newton iterations of the first one."""
    iterations = f"{row.name}: iterations of the first step"
    return [
        at_most(f"{row.name}: steps to recover", cube.steps, SLACK * row.steps, row.steps),
        at_most(iterations, cube.iterations, SLACK * row.iterations, row.iterations),
    ]


def control(row: Row) -> list[Measurement]:
    """Plain Newton where it fails, and a minimiser that never converges for a whole frame elsewhere."""
    steps, iterations = rows(row, recover(row, "plain Newton" if row in PLAIN else "one iteration"))
    if row.name == STUBBORN.name:
        iterations = rows(row, recover(STUBBORN))[1]
    return [steps, iterations]


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found = []
    for row in ROWS if quick else ROWS + FINE:
        found += control(row) if wrong else rows(row, recover(row))
    rise, extent = follow_valley(50 if quick or wrong else 500, plain=wrong)
    rising = at_most(f"{VALLEY.name}: largest rise of the energy, relative", rise, 1e-12)
    found.append(rising.of_kind("closed form"))
    found.append(at_most(f"{VALLEY.name}: extent left, relative", extent, 0.5))
    return found


CASE = Case(
    name="recovery",
    title="Cube of jelly recovers from random, collapsed and stretched starts",
    source="independent prototype in double precision, after J15 figures A.7 and A.8",
    kind="comparison",
    cost="30 s",
    control="one iteration per step; plain Newton for two starts and the valley; 9^3 points: negative stiffness kept. "
    "A cube that does not recover counts as infinitely many steps",
    measure=measure,
    breaks_down=True,
)
