"""Five jets rise from a fountain, bend over and fall into its basin.

Nothing acts on water in flight but its weight, so a jet climbs as high as Torricelli says: by v^2 / (2 g), with the
vertical part v of the speed at its nozzle. On its way up it gets slower and so thicker. Where the jets fall they
drive craters into the pool, and waves run to the walls.

A transfer that damps takes height away, one that does not filter makes the surface rough (J15 Fig. 5.4). The first
front is another matter: water from behind pushes it, and with PIC it overshoots. After 0.8 s on cells of 25 mm:

                                  PIC     FLIP    APIC
    rise over that of Torricelli  0.53    0.65    0.80
    part of the energy lost       0.50    0.37    0.38
    noise of the velocities       0.06    0.46    0.10
    steps                         126     172     138

So coarse jets are two cells wide and touch the pedestal, which pulls at them; with half the cells they rise to 0.95. In
the air alone they keep their momentum to rounding on any grid.

What to look at: colours show the speed, least at the top of the jets. See the schemes side by side:

    continua compare fountain --over transfer=pic,flip,apic

355 000 particles, 380 steps; on two cores about a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery._measure import centre_line, depth, fullness
from continua.gallery._running import SceneRun
from continua.gallery._transfers import ORDER, compared, noise
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
from continua.validation.case import Measurement, at_least, at_most, near, reported

COST = "355 000 particles, 380 steps, 1 min"
SMALL = ["dx=0.025", "duration=0.6"]
WRONG = [
    ("half of the weight", ["gravity=[0.0, -4.9, 0.0]"], "rise of the jets over"),
    ("PIC, which damps", ["transfer=pic"], "over that with PIC"),
    ("FLIP, which is noisy", ["transfer=flip"], "noise of FLIP"),
]

GRAVITY = 9.81  # [m/s^2]
BASIN, DEPTH = 1.0, 0.06  # width of the basin, depth of the water at first [m]
JETS, TILT = 5, np.radians(20.0)  # how many, and how far from upright
JET, SPEED = 0.025, 2.2  # radius of a jet [m], its speed [m/s]
NOZZLE, RING = 0.14, 0.1  # height of the nozzles, their distance from the axis [m]
PEDESTAL = 0.08  # radius of what stands in the middle [m]
WATER = IncompressibleFluid.water()
TORRICELLI = (SPEED * np.cos(TILT)) ** 2 / (2 * GRAVITY)  # rise [m]
COMPARED = ["dx=0.025", "duration=0.6"]


def jet(number: int) -> Emitter:
    """One of the jets, upwards and away from the axis."""
    turn = 2 * np.pi * number / JETS
    aside = np.array([np.cos(turn), 0.0, np.sin(turn)])
    ahead = np.sin(TILT) * aside + np.cos(TILT) * np.array([0.0, 1.0, 0.0])
    start = RING * aside + np.array([0.0, NOZZLE, 0.0])
    first, last, velocity = (
        tuple(map(float, vector)) for vector in (start, start + 0.03 * ahead, SPEED * ahead)
    )
    return Emitter(
        shapes.Cylinder(first, last, JET),
        WATER,
        velocity=velocity,
        sampling="jittered",
        name=f"jet {number + 1}",
    )


scene = Scene(
    title="Fountain",
    simulation=SimulationSettings(
        dx=0.0125, gravity=(0.0, -GRAVITY, 0.0), precision="single", integrator=Incompressible()
    ),
    body=[
        BodySettings(
            name="pool",
            shape=shapes.Difference(
                shapes.Box((0.0, DEPTH / 2, 0.0), (BASIN, DEPTH, BASIN)),
                [shapes.Cylinder((0.0, -0.01, 0.0), (0.0, 0.2, 0.0), PEDESTAL)],
            ),
            material=WATER,
        )
    ],
    emitter=[jet(number) for number in range(JETS)],
    collider=[
        colliders.Box((0.0, 0.3, 0.0), (BASIN, 0.6, BASIN), inverted=True, name="basin"),
        colliders.Capsule((0.0, 0.0, 0.0), (0.0, 0.08, 0.0), PEDESTAL, name="pedestal"),
    ],
    run=RunSettings(duration=1.2, fps=40.0),
    render=RenderSettings(
        color_by="speed",
        limits=(0.0, 2.5),
        camera=CameraSettings(position=(0.45, 1.15, 1.95), target=(0.0, 0.13, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in basin and pedestal in cells."""
    return {"depth": depth(sim)}


def look(run: SceneRun) -> dict[str, float]:
    """What is compared between transfers."""
    return {
        "rise": rise(run.sim),
        "lost": lost(run),
        "noise": noise(run.sim),
        "steps": run.sim.steps,
    }


def rise(sim: Simulation) -> float:
    """How far the middle of the jets rises above the nozzles, over Torricelli's height; their mean."""
    jets = [body for body in sim.world.particle_bodies if body.name != "pool"]
    tops = [centre_line(body, 30)[:, 1].max() for body in jets]
    return float((np.mean(tops) - NOZZLE) / TORRICELLI)


def lost(run: SceneRun) -> float:
    """Part of the energy that the nozzles gave that is gone. New water has no weight for part of its first step, which
    gives it up to 2 % more than is counted here."""
    now = run.sim.diagnostics()
    given = (now["mass"] - run.start["mass"]) * (SPEED**2 / 2 + GRAVITY * NOZZLE)
    return float(1 - (now["total"] - run.start["total"]) / given)


def check(run: SceneRun) -> list[Measurement]:
    """Jets rise as high as their speed allows, and all water stays; PIC takes of the height, FLIP is noisy."""
    sim, now = run.sim, run.sim.diagnostics()
    given = WATER.density * JETS * np.pi * JET**2 * SPEED * sim.time
    margin = 0.1 if sim.dx <= scene.simulation.dx else 0.2  # jets of two cells are all surface
    aside = float(np.hypot(now["center_x"], now["center_z"]))
    pic, flip, own = compared("fountain", COMPARED, sim.world.transfer, look)
    return [
        near("rise of the jets over that of Torricelli", rise(sim), 1.0, margin),
        near(
            "water that came in over what the nozzles give",
            (now["mass"] - run.start["mass"]) / given,
            1.0,
            0.05,
        ),
        at_most("deepest particle in basin or pedestal [cells]", run.most("depth"), 1e-5),
        near("water in inner cells", fullness(sim.world.particle_bodies, sim.dx), 1.0, 0.1),
        at_most("way aside of all water over the width", aside / BASIN, 0.01),
        at_least("rise of the jets over that with PIC", own["rise"] / pic["rise"], ORDER),
        at_least("part of the energy lost", lost(run), -0.02),
        at_most("energy lost over that lost with PIC", own["lost"] / pic["lost"], 1 / ORDER),
        at_least("noise of FLIP over that of the scene", flip["noise"] / own["noise"], ORDER),
        reported("rise with FLIP over that of Torricelli", flip["rise"]),
        reported("steps with PIC", pic["steps"]),
        reported("steps with FLIP", flip["steps"]),
        reported("steps with the scene's transfer", own["steps"]),
    ]
