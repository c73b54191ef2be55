"""Wine is poured into a glass, strikes its wall and swirls.

The glass is one turned profile as a triangle mesh, turned inside out as a collider; stem and foot are there for the
eye. A narrow stream enters beside the axis and aslant, so that it runs round the bowl and comes back over itself. All
wine that was poured must be in the glass, whatever it does there.

Pure FLIP is too rough for such a surface, so it is blended with PIC. J15 Fig. 5.5 finds that APIC moves more than such
a blend and has the smoother surface. So it is here, after 0.9 s on cells of 5 mm:

                             PIC     FLIP 0.95   FLIP 0.99   APIC
    kinetic energy [mJ]      6.8     14.7        17.6        16.3
    noise of the velocities  0.05    0.16        0.29        0.14
    steps                    405     424         471         428

What to look at: colours show the speed. The wine climbs the wall on one side and falls back into the stream. See
the schemes side by side:

    continua compare wine --over transfer=pic,flip:0.95,apic

90 000 particles, 1 100 steps; on two cores about a minute.
"""

import numpy as np

from continua import Simulation
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery._measure import depth, fullness
from continua.gallery._running import SceneRun
from continua.gallery._transfers import ORDER, compared, noise, vorticity
from continua.gallery._turned import turned
from continua.geometry import shapes
from continua.integrators import Incompressible
from continua.materials import IncompressibleFluid
from continua.scene import CameraSettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.transfers import FLIP, PIC
from continua.validation.case import Measurement, at_least, at_most, near, reported

COST = "90 000 particles, 1 100 steps, 1 min"
SMALL = ["dx=0.006", "duration=0.9"]
WRONG = [
    ("half as much wine", ["emitter.velocity=[0.2, -0.3, 0.0]"], "wine that came in"),
    ("PIC, which damps", ["transfer=pic"], "over that with PIC"),
    ("FLIP, which is noisy", ["transfer=flip"], "noise of a blend"),
]

RADIUS, HEIGHT, RIM = 0.04, 0.1, 0.032  # of the bowl, its height, radius at its rim [m]
STREAM, ASIDE = 0.008, 0.018  # radius of the stream, its distance from the axis [m]
POUR = (0.4, -0.6, 0.0)  # velocity of the stream [m/s]
SPEED = float(np.linalg.norm(POUR))  # [m/s]
NOZZLE = (-0.006, HEIGHT - 0.006, ASIDE)  # upper end of the stream's inlet [m]
LOWER = (NOZZLE[0] + 0.01 * POUR[0], NOZZLE[1] + 0.01 * POUR[1], ASIDE)  # its lower end [m]
WINE = IncompressibleFluid(density=990.0, viscosity=1.5e-3)  # a little more than that of water
COMPARED = ["dx=0.006", "duration=0.75"]


def bowl() -> tuple[np.ndarray, np.ndarray]:
    """Closed mesh, vertices (V, 3) [m] and faces (F, 3): an ellipse up to where it is widest, then a parabola."""
    s, widest = np.linspace(0.06, 1.0, 14), 0.45
    below = np.sqrt(np.maximum(1 - ((widest - s) / widest) ** 2, 0.0))
    above = 1 - (1 - RIM / RADIUS) * ((s - widest) / (1 - widest)) ** 2
    return turned(RADIUS * np.where(s < widest, below, above), HEIGHT * s)


VERTICES, FACES = bowl()

scene = Scene(
    title="Wine into a glass",
    simulation=SimulationSettings(
        dx=0.0025, gravity=(0.0, -9.81, 0.0), precision="single", integrator=Incompressible()
    ),
    emitter=[
        Emitter(
            shapes.Cylinder(NOZZLE, LOWER, STREAM),
            WINE,
            velocity=POUR,
            sampling="jittered",
            name="stream",
        )
    ],
    collider=[
        colliders.Mesh(vertices=VERTICES, faces=FACES, inverted=True, resolution=96, name="bowl"),
        colliders.Capsule((0.0, -0.002, 0.0), (0.0, -0.07, 0.0), 0.0063, name="stem"),
        colliders.Shape(shapes.Cylinder((0.0, -0.082, 0.0), (0.0, -0.067, 0.0), 0.034), name="foot"),
    ],
    run=RunSettings(duration=1.2, fps=60.0),
    render=RenderSettings(
        color_by="speed",
        limits=(0.0, 1.2),
        camera=CameraSettings(position=(0.0, 0.16, 0.46), target=(0.0, 0.02, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in the glass in cells."""
    return {"depth": depth(sim) if sim.particles else 0.0}


def look(run: SceneRun) -> dict[str, float]:
    """What is compared between transfers."""
    return {
        "energy": run.sim.diagnostics()["kinetic"],
        "vorticity": vorticity(run.sim),
        "noise": noise(run.sim),
        "steps": run.sim.steps,
    }


def check(run: SceneRun) -> list[Measurement]:
    """All wine is in the glass and fills its room; PIC and its blend with FLIP move less, and the blend is noisier."""
    sim, now = run.sim, run.sim.diagnostics()
    poured = WINE.density * np.pi * STREAM**2 * SPEED * sim.time
    pic, blend, own = compared("wine", COMPARED, sim.world.transfer, look, others=(PIC(), FLIP(0.95)))
    return [
        near("wine that came in over what was poured", now["mass"] / poured, 1.0, 0.05),
        at_most("deepest particle in the glass [cells]", run.most("depth"), 0.01),
        near("wine in inner cells", fullness(sim.world.particle_bodies, sim.dx), 1.0, 0.1),
        at_least("kinetic energy over that with PIC", own["energy"] / pic["energy"], ORDER),
        at_least(
            "kinetic energy over that of a blend of FLIP and PIC", own["energy"] / blend["energy"], ORDER
        ),
        at_least("vorticity over that with PIC", own["vorticity"] / pic["vorticity"], ORDER),
        at_least("noise of a blend over that of the scene", blend["noise"] / own["noise"], ORDER),
        reported("steps with PIC", pic["steps"]),
        reported("steps with a blend", blend["steps"]),
        reported("steps with the scene's transfer", own["steps"]),
    ]
