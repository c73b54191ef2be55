"""A cream pie is thrown at a wall; its crust breaks along scored lines (J15 chapter 4).

Cream and crust are the same viscoelastic model with other numbers. Cream forgets its shape within a tenth of a
millisecond and flows, crust never does. Where the crust should break its particles have other parameters: the
`regions` of a body are shapes in which its material is another one, here four weak lines across. Nothing else tells
the crust where to break.

Numbers are those of J15 table 4.1 with two exceptions. All moduli of the crust, lines included, are 4/1000 of the
printed ones, which would need 16 times as many steps. The printed cream is so soft that sound in it is slower than
this pie, and the crust would bounce off it as off a cushion. Here it resists compression 40 times as much, and has a
little viscosity.

What to look at: the cream is squeezed out along the wall and takes the crust along, which opens like a flower. The
eight slices stay whole. The check looks at all pairs of crust particles that were neighbours and are not any more, and
counts those with a particle of a line in them; of all pairs of neighbours less than half have one.

19 000 particles, 4 100 steps; on two cores about a minute.
"""

import numpy as np
from scipy.spatial import cKDTree

from continua import Simulation
from continua.contact import colliders
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import OldroydB
from continua.scene import (
    BodySettings,
    CameraSettings,
    Region,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least

COST = "19 000 particles, 4 100 steps, 1 min"
SMALL = ["dx=0.03", "duration=0.1"]
WRONG = [("a crust without lines", ["body.crust.regions=[]"], "torn apart|scored lines")]

RADIUS, THICKNESS, CREAM = 0.3, 0.05, 0.16  # of the crust, and height of the cream on it [m]
LINES, LINE = 4, 0.06  # number of lines across the crust, and their width [m]
SPEED, DISTANCE = 20.0, 0.25  # towards the wall at x = 0, and of the crust from it at the start [m/s], [m]
TILT = 8.0  # [degrees]
SOFTER = 4e-3  # factor on the printed moduli of the crust and its lines
STIFFER, VISCOSITY = 40.0, 0.005  # of the cream: factor on lam, Newtonian viscosity [Pa s]
CENTER = (-DISTANCE, 0.9, 0.0)


def softer(crust: OldroydB) -> OldroydB:
    """The same material with moduli that allow longer steps."""
    return OldroydB(SOFTER * crust.mu, SOFTER * crust.lam, crust.density, crust.relaxation_time)


CRUST, SCORED = softer(OldroydB.pie_crust()), softer(OldroydB.scored_pie_crust())
PRINTED = OldroydB.whipped_cream()
WHIPPED = OldroydB(PRINTED.mu, STIFFER * PRINTED.lam, PRINTED.density, PRINTED.relaxation_time, VISCOSITY)


def tilted(shape: shapes.AnyShape) -> shapes.Rotated:
    """The pie does not fly quite straight."""
    return shapes.Rotated(shape, TILT, axis=(0.0, 0.0, 1.0), center=CENTER)


def lines() -> list[shapes.Rotated]:
    """The lines across the crust."""
    bar = shapes.Box(CENTER, (2 * THICKNESS, 3 * RADIUS, LINE))
    turned = [
        shapes.Rotated(bar, 180.0 * k / LINES, axis=(1.0, 0.0, 0.0), center=CENTER) for k in range(LINES)
    ]
    return [tilted(line) for line in turned]


def pie(dx: float) -> Scene:
    """Crust, cream in front of it, wall and floor."""
    x, y, z = CENTER
    front = x + THICKNESS / 2
    crust = shapes.Cylinder((x - THICKNESS / 2, y, z), (front, y, z), RADIUS)
    dome = shapes.Ellipsoid((front, y, z), (CREAM, 0.85 * RADIUS, 0.85 * RADIUS))
    cream = dome & shapes.Box((front + CREAM, y, z), (2 * CREAM, 3 * RADIUS, 3 * RADIUS))
    return Scene(
        title="Pie against a wall",
        simulation=SimulationSettings(dx=dx, gravity=(0.0, -9.81, 0.0), precision="single"),
        body=[
            BodySettings(name="cream", shape=tilted(cream), material=WHIPPED, velocity=(SPEED, 0.0, 0.0)),
            BodySettings(
                name="crust",
                shape=tilted(crust),
                material=CRUST,
                velocity=(SPEED, 0.0, 0.0),
                regions=[Region(shape=line, material=SCORED) for line in lines()],
            ),
        ],
        collider=[
            colliders.Box(center=(0.1, 0.9, 0.0), size=(0.2, 1.8, 2.4), friction=0.2, name="wall"),
            colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.6, name="floor"),
        ],
        run=RunSettings(duration=0.2, fps=120.0),
        render=RenderSettings(
            color_by="body",
            camera=CameraSettings(position=(-2.6, 1.5, 1.7), target=(-0.1, 0.8, 0.0)),
        ),
    )


scene = pie(0.025)


def torn_pairs(sim: Simulation, gap: float) -> tuple[int, float]:
    """Pairs of crust particles that were face to face and are now further apart than `gap` [m]: how many, and the share
    that has a particle of a scored line."""
    before, after = pie(sim.dx).build().world.particle_bodies[1], sim.world.particle_bodies[1]
    first, order = np.argsort(before.ids), np.argsort(after.ids)
    x0, x = before.x[first].astype(np.float64), after.x[order].astype(np.float64)
    weak = before.parameter_table()[0, first] < 0.5 * CRUST.mu
    a, b = cKDTree(x0).query_pairs(0.6 * sim.dx, output_type="ndarray").T
    torn = np.linalg.norm(x[a] - x[b], axis=1) > gap
    return int(torn.sum()), float((weak[a] | weak[b])[torn].mean()) if torn.any() else 0.0


def check(run: SceneRun) -> list[Measurement]:
    """Share of the torn pairs of neighbours that lie in a scored line."""
    torn, share = torn_pairs(run.sim, 2 * run.sim.dx)
    return [
        at_least("pairs of neighbours that were torn apart", torn, 50),
        at_least("share of them in scored lines", share, 0.8),
    ]
