"""A column of dust turns in still air and tears itself to pieces.

A round column, as high as half the box, turns once per second; around it the air is still (G20 Fig. 2.10). Along its
side the velocity jumps, and the sheet rolls up into upright vortices, as in the scene vortex-sheet. At its ends nothing
holds the dust against the centrifugal force, so it is flung out there, and air is sucked in along the axis to replace
it. The two together fold the column ever more finely.

Dust and air are one fluid without viscosity; dust only marks where it has been. The box is periodic along all axes.

What to look at: the ends open into rims while the middle still turns as one piece; the rims break up into
vortices. The air is not drawn. Colours show the height at which the dust started, so you see what comes from where.

    continua compare dust-column --over transfer=flip:0.99,apic,polypic

PARTICLES particles, STEPS steps; on two cores COSTTEXT.
"""

import numpy as np

from continua import Simulation
from continua.bodies.variation import Gradient
from continua.bodies.velocity import Rigid
from continua.contact.boundaries import Periodic
from continua.gallery._measure import fullness
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.transfers import PolyPIC

COST = "PARTICLES particles, STEPS steps, COSTTEXT"
SMALL = ["dx=0.05", "duration=0.4", "body.dust.particles_per_cell=27"]

WIDTH, HEIGHT = 1.0, 1.5  # of the box [m]
RADIUS, LENGTH = 0.2, 0.75  # of the column [m]
SPIN = 2 * np.pi  # one turn per second [rad/s]
AIR = IncompressibleFluid(density=1.2)
BOX = shapes.Box((0.0, 0.0, 0.0), (WIDTH, HEIGHT, WIDTH))
COLUMN = shapes.Cylinder((0.0, -LENGTH / 2, 0.0), (0.0, LENGTH / 2, 0.0), RADIUS)

scene = Scene(
    title="Dust column",
    simulation=SimulationSettings(
        dx=WIDTH / 40,
        gravity=(0.0, 0.0, 0.0),
        precision="single",
        integrator=Incompressible(),
        transfer=PolyPIC(),
        cfl=0.4,
    ),
    body=[
        BodySettings(
            name="dust",
            shape=COLUMN,
            material=AIR,
            velocity=Rigid(linear=(0.0, 0.0, 0.0), angular=(0.0, SPIN, 0.0), center=(0.0, 0.0, 0.0)),
            particles_per_cell=64,
            sampling="jittered",
            fields={"height": Gradient(axis=1, positions=(-LENGTH / 2, LENGTH / 2), values=(-LENGTH / 2, LENGTH / 2))},
        ),
        BodySettings(name="air", shape=shapes.Difference(BOX, [COLUMN]), material=AIR, sampling="jittered"),
    ],
    boundary=[
        Periodic(axis=0, lower=-WIDTH / 2, upper=WIDTH / 2),
        Periodic(axis=1, lower=-HEIGHT / 2, upper=HEIGHT / 2),
        Periodic(axis=2, lower=-WIDTH / 2, upper=WIDTH / 2),
    ],
    run=RunSettings(duration=1.5, fps=40.0),
    render=RenderSettings(
        color_by="height",
        hide=["air"],
        camera=CameraSettings(position=(0.9, 1.3, 2.4), target=(0.0, 0.0, 0.0)),
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    now = sim.diagnostics()
    dust, air = sim.bodies
    x, v, height = dust.x.astype(float), dust.v.astype(float), dust.state["height"].astype(float)
    middle = np.abs(height) < LENGTH / 8
    ends = np.abs(height) > 0.4 * LENGTH
    r = np.hypot(x[:, 0], x[:, 2])
    spin = float((x[middle, 2] * v[middle, 0] - x[middle, 0] * v[middle, 2]).sum() / (r[middle]**2).sum()) / SPIN
    return {"kept": now["kinetic"] / start["kinetic"], "angular": now["angular_y"] / start["angular_y"], "spin": spin,
       "r_mid": r[middle].mean(), "r_end": r[ends].mean(), "updown": x[:, 1].mean(), "mom": max(abs(now[f"momentum_{a}"]) for a in "xyz") / np.sqrt(2 * now["mass"] * start["kinetic"]),
       "dens": fullness(sim.bodies, sim.dx), "len": np.ptp(x[:, 1])}
