"""A drop of ink is shot into still water and becomes a vortex ring.

A ball of ink moves down at 1 m/s inside a periodic box full of water at rest; ink and water are the same fluid and
only the ink is drawn (G20 Fig. 2.9 with a drop instead of a jet). What moves through a fluid pushes it aside, and
the water closes behind it: within a ball's width the front flattens, the rim is left behind and curls in, and from
then on a ring travels by its own rotation, as smoke rings do. Behind it trails what the ring could not carry.

Water cannot give way without moving itself, so at the very first moment a third of the drop's speed goes over to it:
2/3 is the part of a uniform velocity in a ball that has no divergence. From then on nothing acts from outside. Momentum
stays, and energy gets lost to the transfer alone.

What to look at: the water is not drawn. Colours show from which height of the drop the ink came: the front is wrapped
into the ring, the back becomes the tail. See schemes side by side:

    continua compare ink-drop --over transfer=flip:0.99,apic,polypic

1 280 000 particles, 380 steps; on two cores about 2 minutes.
"""

import numpy as np

from continua import Simulation
from continua.bodies.variation import Gradient
from continua.contact.boundaries import Periodic
from continua.gallery._measure import fullness, kept
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
from continua.validation.case import Measurement, at_least, at_most, between, near

COST = "1 280 000 particles, 380 steps, 2 min"
SMALL = ["dx=0.020833333333333332", "duration=0.4", "body.ink.particles_per_cell=27"]
WRONG = [("flow with divergence", ["integrator.tolerance=10.0"], "speed of a fresh drop")]

WIDTH, HEIGHT = 0.25, 1.0  # of the box [m]
START, RADIUS, SPEED = 0.86, 0.05, 1.0  # height and radius of the drop [m], its speed [m/s]
WATER = IncompressibleFluid(density=1000.0)
DROP = shapes.Sphere((0.0, START, 0.0), RADIUS)
BOX = shapes.Box((0.0, HEIGHT / 2, 0.0), (WIDTH, HEIGHT, WIDTH))

scene = Scene(
    title="Ink drop",
    simulation=SimulationSettings(
        dx=WIDTH / 32,
        gravity=(0.0, 0.0, 0.0),
        precision="single",
        integrator=Incompressible(),
        transfer=PolyPIC(),
    ),
    body=[
        BodySettings(
            name="ink",
            shape=DROP,
            material=WATER,
            velocity=(0.0, -SPEED, 0.0),
            particles_per_cell=216,
            fields={"dye": Gradient(axis=1, positions=(START - RADIUS, START + RADIUS), values=(0.0, 1.0))},
        ),
        BodySettings(name="water", shape=shapes.Difference(BOX, [DROP]), material=WATER),
    ],
    boundary=[
        Periodic(axis=0, lower=-WIDTH / 2, upper=WIDTH / 2),
        Periodic(axis=1, lower=0.0, upper=HEIGHT),
        Periodic(axis=2, lower=-WIDTH / 2, upper=WIDTH / 2),
    ],
    run=RunSettings(duration=2.5, fps=30.0),
    render=RenderSettings(
        color_by="dye",
        limits=(0.0, 1.0),
        hide=["water"],
        size=(640, 960),
        camera=CameraSettings(position=(0.0, 0.8, 1.7), target=(0.0, 0.5, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Momentum downwards [N s], fluid in inner cells over their volume, energy [J]."""
    now, full = sim.diagnostics(), fullness(sim.world.particle_bodies, sim.dx)
    return {"momentum": -now["momentum_y"], "fullness": full, "energy": now["total"]}


def check(run: SceneRun) -> list[Measurement]:
    """A fresh drop keeps 2/3 of its speed; momentum stays, the ring goes straight down and the box stays full."""
    sim = run.sim
    ink = sim.world.particle_bodies[0].x.astype(float)
    momentum = -run.start["momentum_y"]
    aside = float(np.hypot(*ink[:, [0, 2]].mean(axis=0)))
    return [
        near("speed of a fresh drop", speed_of_fresh_drop(sim), 2 / 3, 0.08),
        at_least("least momentum over that of the start", run.least("momentum") / momentum, 0.97),
        at_most("most momentum over that of the start", run.most("momentum") / momentum, 1.03),
        between("kinetic energy left", sim.diagnostics()["kinetic"] / run.start["kinetic"], 0.1, 2 / 3),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
        at_least("way down over the radius", (START - float(ink[:, 1].mean())) / RADIUS, 1.0),
        at_most("way aside over the radius", aside / RADIUS, 0.1),
        at_least("least fluid in inner cells", run.least("fullness"), 0.98),
        at_most("most fluid in inner cells", run.most("fullness"), 1.02),
    ]


def speed_of_fresh_drop(sim: Simulation) -> float:
    """Speed in the middle of the drop after one step, over the speed that was asked for."""
    again = Simulation(
        sim.dx, tuple(sim.gravity), transfer=sim.world.transfer, integrator=sim.world.integrator
    )
    for body in scene.body:
        again.add(body.shape, sim.world.particle_bodies[0].material, velocity=body.velocity)
    for boundary in scene.boundary:
        again.add(boundary)
    again.step()
    drop = again.bodies[0]
    middle = np.linalg.norm(drop.x - (0.0, START, 0.0), axis=1) < RADIUS / 2
    return float(-drop.v[middle, 1].mean()) / SPEED
