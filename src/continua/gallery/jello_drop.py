"""Three cubes of jelly fall to the floor; the more modes the transfer has, the higher they bounce.

The jelly is elastic and the floor takes energy only by impact and friction, so much of what is missing after a bounce
went into the transfers. A cube that lands wobbles, and a wobble is not linear in space but bends over a few cells. APIC
hands on only the linear part of the velocity around a particle. PolyPIC (G20 chapter 2) with 8 modes adds products of
two and three coordinates, with 11 also the squares, with 14 and 18 products of squares (G20 Fig. 2.6).

    modes                                        APIC      8      11      14      18
    height of the first bounce [m]              0.130   0.135   0.154   0.154   0.154
    energy after 1.0 s, second bounce           0.341   0.385   0.491   0.491   0.494

The drop is 0.3 m, heights are those of the centre of all three cubes, energies count from a cube at rest on the floor.
The squares make the difference, what comes after them adds little.

What to look at: how much the cubes still wobble in the air, and how high they are at the end.

    continua compare jello-drop --over transfer=apic,polypic:8,polypic:11,polypic:14,polypic:18

24 000 particles, 2 000 steps; on two cores about 30 seconds.
"""

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import depth, energy, kept, momentum_gap
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import FixedCorotated
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

COST = "24 000 particles, 2 000 steps, 30 s"
SMALL = ["dx=0.0325"]
DOUGH = '{type = "von-mises", E = 2e4, density = 1000.0, yield_stress = 800.0}'
WRONG = [("dough for jelly", [f"body.material={DOUGH}"], "energy left")]

SIDE, DROP = 0.26, 0.3  # of a cube, and between the flat one and the floor [m]
JELLY = FixedCorotated(E=2e4, nu=0.3, density=1000.0)
SQUARES = 11  # modes from which on squares are among them


def cube(name: str, x: float, tilt: float) -> BodySettings:
    """A cube that stands beside the others, turned by `tilt` [degrees]."""
    center = (x, DROP + SIDE / 2, 0.0)
    shape = shapes.Rotated(shapes.Box(center, (SIDE, SIDE, SIDE)), tilt, axis=(1.0, 0.3, 1.0), center=center)
    return BodySettings(name=name, shape=shape, material=JELLY)


scene = Scene(
    title="Falling Jell-Os",
    simulation=SimulationSettings(
        dx=0.026, gravity=(0.0, -9.81, 0.0), transfer=PolyPIC(modes=11), elastic_cfl=0.1
    ),
    body=[cube("flat", -0.62, 0.0), cube("tilted", 0.0, 20.0), cube("on a corner", 0.6, 45.0)],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), friction=0.3, name="floor")],
    run=RunSettings(duration=1.0, fps=40.0),
    render=RenderSettings(
        color_by="body",
        camera=CameraSettings(position=(0.5, 0.65, 2.6), target=(0.0, 0.24, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J], and depth below the floor in cells."""
    return {"energy": energy(sim), "depth": depth(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Energy and height in the second bounce, by the scheme; momentum changes by weight and floor alone."""
    sim, now = run.sim, run.sim.diagnostics()
    rest = run.start["mass"] * 9.81 * SIDE / 2  # potential energy of cubes on the floor [J]
    left = (now["total"] - rest) / (run.start["total"] - rest)
    height = now["center_y"] - SIDE / 2
    plan = sim.world.transfer.plan(sim.dimension, sim.world.degree)
    rich = len(plan.high) + 4 >= SQUARES
    low, high = (0.37, 0.60) if rich else (0.0, 0.42)
    return [
        between("energy left", left, low, high),
        at_least("height above the floor [m]", height, 0.07 if rich else 0.0),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
        at_most("deepest particle below the floor [cells]", run.most("depth"), 0.5 + 1e-6),
        at_most("momentum that is not explained", momentum_gap(sim, run.start), kept(sim, 1e-9)),
    ]
