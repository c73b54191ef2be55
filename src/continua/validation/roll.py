"""A disc and a ball roll down a slope, with 2/3 and 5/7 of g sin(angle).

They lie on an obstacle with enough friction. The worst of several places of its surface between the nodes counts:
eight for a radius of 4 cells and for the disc of 8, two for the disc of 16. Balls of 8 and 16 cells run at one place,
on a plane of nodes, and so does the control; in the quick version the disc runs at two places and the ball at one.

What they lack is taken by nodes ahead of the point of contact, which the rim strikes from above. It grows with the
square of the speed, as for a wheel with spokes, and vanishes with the cell size.
"""

from __future__ import annotations

import numpy as np

from continua.contact.colliders import Mode, Plane
from continua.geometry.shapes import Sphere
from continua.materials import FixedCorotated
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_least
from continua.validation.incline import Slide

H, G, SLOPE, FRICTION = 0.05, 9.81, 20.0, 0.5  # cell [m], gravity [m/s^2], [degrees]
JELLY = FixedCorotated(1e6, 0.3, 1000.0)
GATES = {4: 0.80, 8: 0.90, 16: 0.95}  # of the rigid acceleration, by radius [cells]
PLACES = (0.0, 1e-6, 0.2, 0.37, 0.5, 0.63, 0.8, 0.99)  # of the surface above nodes [cells]


def rolling(d: int, radius: float, place: float = 0.0, *, mode: Mode = "separate", duration: float) -> float:
    """Acceleration of a disc or ball of that radius [cells] over that of a rigid one, g sin / (1 + I/(m R^2))."""
    slope, up, along = np.radians(SLOPE), np.eye(d)[1], np.eye(d)[0]
    sim = Simulation(H, list(G * (np.sin(slope) * along - np.cos(slope) * up)))
    body = sim.add(Sphere(tuple((place + radius) * H * up), radius * H), JELLY)
    sim.add(Plane(tuple(up), tuple(place * H * up), friction=FRICTION, mode=mode))
    rigid = G * np.sin(slope) / (1.5 if d == 2 else 1.4)
    return Slide(sim, body, along).acceleration(duration) / rigid


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    found = []
    for d, name in ((2, "disc"), (3, "ball")):
        for radius in (4,) if quick else GATES:
            duration = 0.2 * radius**0.5  # [s], in proportion to the time in which they fall by their radius
            every = 1 if radius * d <= 16 and not quick else 4 if d == 2 else len(PLACES)
            places = PLACES[:1] if wrong else PLACES[::every]
            mode: Mode = "sticky" if wrong else "separate"
            ratio = min(rolling(d, radius, p, mode=mode, duration=duration) for p in places)
            what = f"{name}, radius of {radius} cells: acceleration over a rigid one's"
            found.append(at_least(what, ratio, GATES[radius], 1.0))
    return found


CASE = Case(
    name="roll",
    title="Disc and ball that roll down an obstacle",
    source="rigid disc and ball, closed form",
    kind="closed form",
    cost="4 min",
    control="the obstacle holds what touches it",
    measure=measure,
)
