"""Sand in two colours runs down a slide, jumps off its end and turns round on a second one.

Two layers stream in at the top, one upon the other (J15 Fig. 5.6 has such an inlet). On the straight part they slide as
one slab: the slide is smoother than sand on sand, so by Coulomb's law every grain has v^2 = v0^2 + 2 a s after a way s,
with a = g (sin(angle) - f cos(angle)). The bend throws the sand off, it heaps up on the second slide, turns round and
runs down to the floor.

What mixes the colours is the transfer as well as the flow. PIC lets only means through: the sand is slow and clings
together as if it were wet. With FLIP every particle keeps what the grid cannot see: single grains go astray, and those
of the two layers get among each other. APIC has the speed of FLIP without the noise. After 1 s on cells of 12.5 mm:

                                PIC     FLIP    APIC
    kinetic energy [J/m]        128     208     190
    noise of the velocities     0.007   0.18    0.024
    mixing of the layers        0.25    0.34    0.30
    steps by the fastest grain  282     431     387

Sound sets the explicit time step, so these are the steps that the fastest grain would ask for (J15 Fig. 5.11);
`continua validate step-counts` takes implicit steps, which it does set.

What to look at: colours tell the layers apart. They lie clean upon each other down to the bend, and what was above
comes to lie below on the second slide. See the schemes side by side:

    continua compare sand-slide --over transfer=pic,flip,apic

21 000 particles, 9 300 steps; on two cores some 20 seconds.
"""

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery._measure import depth
from continua.gallery._paths import capsules_below
from continua.gallery._running import SceneRun
from continua.gallery._transfers import ORDER, compared, noise, particles
from continua.geometry import shapes
from continua.materials import DruckerPrager
from continua.scene import RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, near, reported

COST = "21 000 particles, 9 300 steps, 20 s"
SMALL = ["dx=0.0125", "duration=0.7"]
WRONG = [
    ("a slide without friction", ["collider.friction=0.0"], "speed on the straight"),
    ("PIC, which sticks together", ["transfer=pic"], "over that with PIC"),
    ("FLIP, which mixes too much", ["transfer=flip"], "of FLIP over that"),
]

Array = NDArray[np.float64]

GRAVITY = 9.81  # [m/s^2]
ANGLE, FRICTION = 40.0, 0.2  # of the first slide [degrees]
DOWN = np.array([np.cos(np.radians(ANGLE)), -np.sin(np.radians(ANGLE))])  # along it
UP = np.array([-DOWN[1], DOWN[0]])  # away from it
TOP, STRAIGHT = np.array([0.0, 1.4]), 0.75  # where its surface begins, and how long it is straight [m]
BEND = 0.3  # radius of the bend [m]
HALF = 0.02  # half of the thickness of a slide [m]
LAYER, SPEED, INLET = 0.04, 1.0, 0.05  # thickness of a layer [m], its speed [m/s], length of its inlet [m]
SAND = DruckerPrager(E=1e5, nu=0.3, density=1600.0, friction_angle=33.0)
COMPARED = ["dx=0.0125", "duration=1.0"]


def first_slide() -> Array:
    """Surface (n, 2) [m]: straight, then a bend until it points 10 degrees upwards."""
    end = TOP + STRAIGHT * DOWN
    middle = end + BEND * UP
    turn = np.radians(np.linspace(-90 - ANGLE, -80, 8))
    arc = middle + BEND * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.concatenate([[TOP - 0.1 * DOWN], arc])


def second_slide() -> Array:
    """Surface (n, 2) [m], from its foot up to the right and up the backboard."""
    return np.array([(0.75, 0.32), (1.35, 0.62), (1.5, 0.72), (1.6, 0.87), (1.63, 1.05)])


def layer(name: str, height: float) -> Emitter:
    """Sand that streams along the slide between two heights above it, the lower of which is given [m]."""
    center = TOP + (height + LAYER / 2) * UP
    place = (float(center[0]), float(center[1]))
    shape = shapes.Rotated(shapes.Box(place, (INLET, LAYER)), -ANGLE, center=place)
    velocity = SPEED * DOWN
    return Emitter(shape, SAND, velocity=(float(velocity[0]), float(velocity[1])), name=name)


scene = Scene(
    title="Sand on a slide",
    simulation=SimulationSettings(dx=0.006, gravity=(0.0, -GRAVITY)),
    emitter=[layer("lower", 0.0), layer("upper", LAYER)],
    collider=[
        colliders.Plane((0.0, 1.0), friction=0.6, name="floor"),
        *capsules_below(first_slide(), HALF, FRICTION),
        *capsules_below(second_slide(), HALF, FRICTION),
    ],
    run=RunSettings(duration=2.4, fps=60.0),
    render=RenderSettings(color_by="body"),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in slides and floor in cells, mass [kg/m]."""
    mass = sum(float(body.mass.sum()) for body in sim.world.particle_bodies)
    return {"depth": depth(sim) if sim.particles else 0.0, "mass": mass}


def fastest(sim: Simulation) -> dict[str, float]:
    """Speed of the fastest grain [m/s]."""
    return {"fastest": max(body.max_speed for body in sim.bodies)}


def look(run: SceneRun) -> dict[str, float]:
    """What is compared between transfers."""
    _, v, mass = particles(run.sim)
    steps = np.diff(run.seen["time"]) @ run.seen["fastest"][1:] / (run.sim.world.cfl * run.sim.dx)
    return {
        "energy": float(mass @ (v**2).sum(axis=1) / 2),
        "noise": noise(run.sim),
        "mixing": mixing(run.sim),
        "steps": float(steps),
    }


def check(run: SceneRun) -> list[Measurement]:
    """Coulomb's law on the straight, all sand and all momentum accounted for; PIC is slower, FLIP noisier."""
    sim = run.sim
    came_in = run.seen["mass"][-1] / (2 * LAYER * SPEED * SAND.density * sim.time)
    pic, flip, own = compared("sand-slide", COMPARED, sim.world.transfer, look, fastest)
    return [
        near("speed on the straight over that of Coulomb's law", straight_speed(sim), 1.0, 0.05),
        near("sand that came in over what the inlets give", came_in, 1.0, 0.05),
        at_most("momentum that is not explained", unexplained(run), 1e-9),
        at_most("deepest grain in slides and floor [cells]", run.most("depth"), 0.5 + 1e-5),
        at_least("kinetic energy over that with PIC", own["energy"] / pic["energy"], ORDER),
        at_least("noise of FLIP over that of the scene", flip["noise"] / own["noise"], ORDER),
        at_least("mixing of FLIP over that of the scene", flip["mixing"] / own["mixing"], ORDER),
        at_least("steps by the fastest grain over those with PIC", own["steps"] / pic["steps"], ORDER),
        at_least("steps by the fastest grain of FLIP over those", flip["steps"] / own["steps"], ORDER),
        reported("mixing at the end", mixing(sim)),
    ]


def straight_speed(sim: Simulation) -> float:
    """Mean speed beyond half of the straight, before the bend pushes back, over that of a slab from the inlet on."""
    x, v, _ = particles(sim)
    way, height = (x - TOP) @ DOWN, (x - TOP) @ UP
    here = (way > 0.5 * STRAIGHT) & (way < 0.7 * STRAIGHT) & (height > 0) & (height < 2 * LAYER)
    pull = GRAVITY * (np.sin(np.radians(ANGLE)) - FRICTION * np.cos(np.radians(ANGLE)))
    return float((v[here] @ DOWN / np.sqrt(SPEED**2 + 2 * pull * (way[here] + INLET / 2))).mean())


def unexplained(run: SceneRun) -> float:
    """Momentum at the end that inlets, weight, slides and floor did not give, over all the weight gave."""
    sim, mass = run.sim, run.seen["mass"]
    _, v, m = particles(sim)
    weight = (
        np.diff(run.seen["time"]) @ mass[:-1]
    ) * sim.gravity  # inlets add their sand at the end of a step
    gap = m @ v - mass[-1] * SPEED * DOWN - weight - sim.impulses[:, :2].sum(axis=0)
    return float(np.abs(gap).max() / np.abs(weight).max())


def mixing(sim: Simulation) -> float:
    """Mean of 4 p (1 - p) over the grains, p the share of the upper layer in 2 x 2 cells: 0 apart, 1 evenly mixed."""
    bodies = sim.world.particle_bodies
    x = np.concatenate([body.x for body in bodies])
    upper = np.concatenate([np.full(len(body), body.name == "upper") for body in bodies])
    _, cell = np.unique(np.floor(x / (2 * sim.dx)).astype(int), axis=0, return_inverse=True)
    share = np.bincount(cell.ravel(), upper) / np.bincount(cell.ravel())
    return float((4 * share * (1 - share))[cell.ravel()].mean())
