"""Where steps converge: a bar let go from a 15 by 15 grid of deformed states, by the minimiser and by plain Newton.

The bar has 36 degrees of freedom and no velocity. Its left end is where it is at rest, the middle of its right end at a
pixel of the map, and the rest in between, so that in a part of the map it is inside out (J15 figure A.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.solid_body import SolidBody
from continua.geometry.meshes import box_mesh
from continua.materials import FixedCorotated
from continua.validation.case import Case, Measurement, at_least, near
from continua.validation.plain_newton import FRAME, Method, Step, minimised_step, minimising, plain_step

LENGTH, HEIGHT = 1.0, 0.4  # [m]
LOWER, UPPER = (-0.5, -1.25), (2.0, 1.25)  # of the map: where the right end is [m]; (1, 0) at rest
TOLERANCE = 1e-4  # [N]
STEPS = {
    "170 steps per frame": FRAME / 170,
    "40 steps per frame": FRAME / 40,
    "20 steps per frame": FRAME / 20,
    "10 steps per frame": FRAME / 10,
    "1 step per frame": FRAME,
    "steps of 1 s": 1.0,
}
LONG = ("1 step per frame", "steps of 1 s")
CONVERGED = {"1 step per frame": 0.84, "steps of 1 s": 0.89}  # part by plain Newton in a prototype, else all


def bar(pixel: tuple[float, float]) -> SolidBody:
    """6 x 3 points, stretched and sheared until the right end has moved to the pixel."""
    matrix = np.array([[pixel[0] / LENGTH, 0.0], [pixel[1] / LENGTH, 1.0]])
    return SolidBody(
        box_mesh((0, -HEIGHT / 2), (LENGTH, HEIGHT / 2), (5, 2)),
        FixedCorotated(E=1e5, nu=0.3, density=1000.0),
        start=lambda X: X @ matrix.T,
    )


@dataclass(frozen=True)
class Map:
    """Newton iterations (n, n) over the columns x and rows y of the map [m]; nan where they did not converge."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    iterations: NDArray[np.float64]

    @property
    def converged(self) -> float:
        """Part of the map."""
        return float(np.isfinite(self.iterations).mean())

    @property
    def median(self) -> float:
        return float(np.nanmedian(self.iterations))


def attempt(pixel: tuple[float, float], dt: float, method: Method) -> Step:
    """One step of dt [s], no less."""
    body = bar(pixel)
    if method == "plain Newton":
        return plain_step(body, dt, tolerance=TOLERANCE)
    most = 1 if method == "one iteration" else 500
    return minimised_step(minimising(body, TOLERANCE, dt, most=most))


def convergence_map(dt: float, method: Method, pixels: int = 15) -> Map:
    """Try one step of dt [s] from every pixel."""
    x, y = (np.linspace(low, high, pixels) for low, high in zip(LOWER, UPPER))
    steps = [[attempt((a, b), dt, method) for a in x] for b in y]
    return Map(x, y, np.array([[s.iterations if s.converged else np.nan for s in row] for row in steps]))


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    """Where plain Newton converges everywhere it is no control, and it is none of itself."""
    found, pixels = [], 7 if quick else 15
    for name in LONG[:1] if quick else STEPS:
        weak: Method = "plain Newton" if name in LONG else "one iteration"
        ours = convergence_map(STEPS[name], weak if wrong else "minimiser", pixels)
        found.append(at_least(f"{name}: part of the map that converges", ours.converged, 1.0, 1.0))
        newton = convergence_map(STEPS[name], "one iteration" if wrong else "plain Newton", pixels)
        reference, gate = CONVERGED.get(name, 1.0), 0.1 if name in LONG else 0.0
        found.append(near(f"{name}: plain Newton", newton.converged, reference, gate, 1.0))
    return found


CASE = Case(
    name="convergence-map",
    title="Bar let go from deformed states: minimiser and plain Newton",
    source="independent prototype in double precision, after J15 figure A.1",
    kind="comparison",
    cost="2 min",
    control="plain Newton in place of the minimiser; at shorter steps, and for plain Newton, one iteration per step",
    measure=measure,
)
