"""A body with long hair walks (W20 Fig. 4.5).

The body moves by keyframes: it walks, bobs up and down and rolls from side to side with its steps. Its hair grows out
of its head and stays rooted there, whatever the body does; it lies on the shoulders, which are an obstacle of the grid,
and on other hair.

What to look at: hair that stood on end falls on the head and the shoulders, swings with every step, and slides on the
body without going into it. Try `--set strands.curves.lean=[-0.7,0,0]` (combed back), `--set strands.roots=held` (the
body walks out of its hair).

The published walker has a million segments. The small version has fewer and coarser hairs:
`strands.curves.count=80`, `strands.curves.segments=8`.

17 000 vertices, 4 400 steps; on one core about 3 min.
"""

import numpy as np

from continua import Simulation
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.contact.strand_contact import StrandContact
from continua.gallery._measure import depth
from continua.gallery._running import SceneRun
from continua.gallery._strands import crossed_share, strands
from continua.geometry import shapes
from continua.geometry.hair import Fur
from continua.materials.rod import Rod
from continua.scene import (
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    StrandsSettings,
)
from continua.validation.case import Measurement, at_least, at_most

COST = "17 000 vertices, 4 400 steps, 3 min"
SMALL = ["strands.curves.count=80", "strands.curves.segments=8", "duration=0.4"]
WRONG = [
    ("hairs that only the grid keeps apart", ["strands.contact.sweeps=0"], "went through each other"),
    ("hair that stays where the body was", ["strands.roots=held"], "root"),
]

HEAD, WIDTH = (0.0, 0.42, 0.0), 0.11  # middle and radius [m]
SPEED, STEP, BOB, ROLL = (
    0.8,
    0.25,
    0.025,
    8.0,
)  # [m/s], time of a step [s], its height [m], and turn [degrees]
KEYS = np.arange(13) * STEP / 2
WALK = Keyframes(
    times=list(KEYS),
    positions=[(SPEED * t, BOB * (k % 2), 0.0) for k, t in enumerate(KEYS)],
    angles=[ROLL * np.sin(0.5 * np.pi * k) for k in range(len(KEYS))],
    axis=(1.0, 0.0, 0.0),
    center=(0.0, 0.0, 0.0),
    interpolation="smooth",
)

scene = Scene(
    title="A body with long hair walks",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0)),
    strands=[
        StrandsSettings(
            name="hair",
            curves=Fur(
                on="head",
                count=1000,
                length=0.25,
                segments=16,
                part=shapes.Box((-0.03, HEAD[1] + 0.09, 0.0), (0.2, 0.2, 0.3)),
            ),
            material=Rod(E=1e6, radius=1e-3, density=1300.0),
            contact=StrandContact(friction=0.2, stiffness=300.0),
        )
    ],
    collider=[
        colliders.Sphere(HEAD, WIDTH, friction=0.2, name="head", motion=WALK),
        colliders.Capsule(
            (0.0, 0.18, -0.1), (0.0, 0.18, 0.1), 0.09, friction=0.2, name="shoulders", motion=WALK
        ),
    ],
    run=RunSettings(duration=1.0, fps=60.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.9, 0.7, 1.3), target=(0.75, 0.35, 0.0), fov=28.0)
    ),
)


def roots_off(sim: Simulation) -> float:
    """How far the root is from the head that is farthest [m]."""
    (hair,) = strands(sim)
    return float(
        np.abs(sim.colliders[0].signed_distance(hair.x[hair.curves.offsets[:-1]], sim.time)[0]).max()
    )


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in the body [cells], and of roots off the head [m]."""
    return {"depth": depth(sim), "off": roots_off(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Hair goes neither through hair nor into the body by more than half a cell, and its roots stay in the head."""
    sim = run.sim
    return [
        at_least("meetings of segments", sim.diagnostics()["strand_contacts"], 1000),
        at_most("share of them that went through each other", crossed_share(sim), 0.01),
        at_most("deepest vertex in the body [cells]", run.most("depth"), 0.5),
        at_most("distance of a root from the head [m]", run.most("off"), 1e-9),
    ]
