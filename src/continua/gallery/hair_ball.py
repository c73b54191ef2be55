"""A ball with long fur is shaken and comes to rest (W20 Fig. 4.11).

Every hair is an elastic rod that stretches, bends and twists, clamped in the ball. Hairs meet twice: as a continuum on
the grid, whose law resists compression and Coulomb friction but not separation, and segment by segment, by impulses
that keep single hairs from going through each other. A continuous test of all paths counts those that do, in every
step and independently of what contact found. The ball itself is an obstacle of the grid.

What to look at: hair flies after the ball, is thrown over it and back, falls and lies on the ball in strands that stay
on top of each other. Hardly any two of them have gone through each other, and once the ball rests energy only falls.
Try `--set strands.contact.sweeps=0` (the grid alone: hairs pass through each other),
`--set strands.contact.stiffness=1e4` (the continuum carries the hair, which stands on end again),
`--set strands.material.bending=50` (a brush).

This hair is thick, 2 mm across, and twenty times softer than rubber when it is stretched: sound in it is slow, so that
steps may be long, and it still stretches by a few percent at most when it is shaken. The published ball has 32 000
hairs of 60 segments. The small version has fewer and coarser hairs: `strands.curves.count=80`,
`strands.curves.segments=8`.

25 500 vertices, 4 400 steps; on one core about 5 min.
"""

from continua import Simulation
from continua._model import Vector
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.contact.strand_contact import StrandContact
from continua.gallery._measure import depth, energy
from continua.gallery._running import SceneRun
from continua.gallery._strands import crossed_share, gained_after, length_change
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

COST = "25 500 vertices, 4 400 steps, 5 min"
SMALL = ["strands.curves.count=80", "strands.curves.segments=8", "duration=0.4"]
WRONG = [("hairs that only the grid keeps apart", ["strands.contact.sweeps=0"], "went through each other")]

RADIUS, LENGTH = 0.15, 0.2  # of the ball, of a hair [m]
SHAKE: list[Vector] = [
    (0.0, 0.0, 0.0),
    (0.07, 0.0, 0.0),
    (-0.07, 0.02, 0.0),
    (0.0, 0.0, 0.0),
]  # displacements [m]
TIMES = [0.0, 0.08, 0.2, 0.28]  # [s]
HAIR = Rod(E=1e6, radius=1e-3, density=1300.0)

scene = Scene(
    title="A ball with hair is shaken",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0)),
    strands=[
        StrandsSettings(
            name="hair",
            curves=Fur(on="ball", count=1500, length=LENGTH, segments=16),
            material=HAIR,
            contact=StrandContact(friction=0.2, stiffness=300.0),
        )
    ],
    collider=[
        colliders.Sphere(
            center=(0.0, 0.0, 0.0),
            radius=RADIUS,
            friction=0.2,
            name="ball",
            motion=Keyframes(times=TIMES, positions=SHAKE, interpolation="smooth"),
        )
    ],
    run=RunSettings(duration=0.8, fps=60.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.35, 0.35, 1.1), target=(0.0, -0.04, 0.0), fov=36.0)
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J], depth in the ball [cells], largest change of the length of a hair."""
    return {"energy": energy(sim), "depth": depth(sim), "stretch": length_change(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Hair does not go through hair, nor into the ball, and gains no energy when nobody moves it.

    A hair that comes to its full length at the speed v at which its root leaves it is stopped by a wave of strain v/c.
    Explicit steps keep an energy that differs from the true one by as much as a hair's own waves have within a step:
    less than a percent.
    """
    sim = run.sim
    fastest = max(  # speed half way between two keys that both are turning points [m/s]
        1.5 * abs(b[0] - a[0]) / (t - s)
        for a, b, s, t in zip(SHAKE, SHAKE[1:], TIMES, TIMES[1:], strict=False)
    )
    sound = (HAIR.E / HAIR.density) ** 0.5
    return [
        at_least("meetings of segments", sim.diagnostics()["strand_contacts"], 1000),
        at_most("share of them that went through each other", crossed_share(sim), 0.01),
        at_most("energy gained after the shaking, over that lost", gained_after(run, TIMES[-1]), 0.01),
        at_most("deepest vertex in the ball [cells]", run.most("depth"), 0.5),
        at_most("most change of the length of a hair", run.most("stretch"), fastest / sound),
    ]
