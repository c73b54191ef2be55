"""A column of dust turns in still air and tears itself to pieces.

A round column, as high as half the box, turns once per second; around it the air is still (G20 Fig. 2.10). Along its
side the velocity jumps, and the sheet rolls up into upright vortices, as in the scene vortex-sheet. At its ends nothing
holds the dust against the centrifugal force, so it is flung out there, and air is sucked in along the axis to replace
it. The two together fold the column ever more finely.

Dust and air are one fluid without viscosity; dust only marks where it has been. The box is periodic along all axes.

What to look at: the ends open into rims while the middle still turns as one piece; the rims break up into
vortices. The air is not drawn. Colours show the height at which the dust started, so you see what comes from where.

    continua compare dust-column --over transfer=flip:0.99,apic,polypic

1 107 000 particles, 160 steps; on two cores about 2 minutes.
"""

import numpy as np

from continua import Simulation
from continua.bodies.variation import Gradient
from continua.bodies.velocity import Rigid
from continua.contact.boundaries import Periodic
from continua.gallery._measure import energy, fullness, kept
from continua.gallery._running import SceneRun
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
from continua.validation.case import Measurement, at_least, at_most, between

COST = "1 107 000 particles, 160 steps, 2 min"
SMALL = ["dx=0.0625", "duration=0.5", "body.dust.particles_per_cell=27"]
WRONG = [("air like syrup", ["body.material.viscosity=0.1"], "kinetic energy left")]

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
            fields={"dye": Gradient(axis=1, positions=(-LENGTH / 2, LENGTH / 2), values=(0.0, 1.0))},
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
        color_by="dye",
        limits=(0.0, 1.0),
        hide=["air"],
        camera=CameraSettings(position=(0.9, 1.3, 2.4), target=(0.0, 0.0, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Fluid in inner cells over their volume, energy [J]."""
    return {"fullness": fullness(sim.world.particle_bodies, sim.dx), "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Energy and spin get lost slowly, the dust goes neither up nor down nor aside, and the box stays full."""
    sim, now = run.sim, run.sim.diagnostics()
    dust = sim.world.particle_bodies[0].x.astype(float)
    return [
        between("kinetic energy left", now["kinetic"] / run.start["kinetic"], 0.3, 1.0),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
        between("angular momentum left", now["angular_y"] / run.start["angular_y"], 0.8, 1.01),
        at_most("drift of the dust over the radius", float(np.linalg.norm(dust.mean(axis=0))) / RADIUS, 0.05),
        at_least("least fluid in inner cells", run.least("fullness"), 0.98),
        at_most("most fluid in inner cells", run.most("fullness"), 1.02),
    ]
