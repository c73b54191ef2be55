"""A soft ellipsoid is drawn between two rollers that turn against each other (after M23 Fig. 3).

The gap is 60 % of its thickness, and there is no weight: friction draws it in, and with
`--set solid.contact.friction=0.0` it comes back. The rollers are solids of which every vertex is scripted, so that they
are bodies of infinite mass for the contact, and what turns them is known: it is the change of the momentum of the body.

What to look at: the body is flattened, sticks to the rollers and comes out below in its old shape, and no surface is in
another one at any step. M23 has an armadillo, which also touches itself, and gravity.

8 683 vertices, 41 232 tetrahedra, 260 steps; on one core 40 s.
"""

from continua import Simulation
from continua.bodies.scripted import Scripted
from continua.bodies.shape_error import shape_error
from continua.contact.motions import Spin
from continua.contact.penalty import ExactContact
from continua.gallery._exact import never_through, seen, solids, unexplained
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import ShapeMesh
from continua.integrators import Optimization
from continua.materials import FixedCorotated
from continua.scene import (
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    SolidSettings,
)
from continua.validation.case import Measurement, at_most, reported

COST = "8 683 vertices, 260 steps, 40 s"
SMALL = [
    "solid.body.mesh.size=0.035",
    "solid.left.mesh.size=0.045",
    "solid.right.mesh.size=0.045",
    "dx=0.025",
    "duration=0.44",
]
WRONG = [
    ("without friction", ["solid.contact.friction=0.0"], "top of the body"),
    (
        "surfaces do not feel what the inside does",
        ["solid.contact.final_velocity=printed"],
        "momentum that is not explained",
    ),
    ("body and rollers do not see each other", ['solid.contact={collisions="off"}'], "pass through"),
]

RADIUS, LENGTH, GAP = 0.1, 0.14, 0.06  # of a roller without its round ends, and between rollers [m]
THICKNESS, HEIGHT, WIDTH, START = 0.1, 0.18, 0.1, 0.12  # of the body, and height of its middle at first [m]
RATE, SPEED = 8.0, 0.3  # of a roller [rad/s], of the body at first [m/s]
DURATION, STEP = 0.52, 0.002  # [s]
NIP = RADIUS + GAP / 2  # from the middle to the axis of a roller [m]


def roller(side: int) -> SolidSettings:
    """One on that side, -1 or 1, which turns inwards at the top."""
    axis = shapes.Capsule((side * NIP, 0.0, -LENGTH / 2), (side * NIP, 0.0, LENGTH / 2), RADIUS)
    everything = shapes.Box((side * NIP, 0.0, 0.0), (3 * RADIUS, 3 * RADIUS, 2 * LENGTH + 3 * RADIUS))
    turning = Spin(side * RATE, (side * NIP, 0.0, 0.0), (0.0, 0.0, 1.0))
    return SolidSettings(
        name="left" if side < 0 else "right",
        mesh=ShapeMesh(axis, 0.02),
        material=FixedCorotated(E=1e5, nu=0.3, density=1000.0),
        scripted=[Scripted(everything, turning)],
        contact=ExactContact(friction=0.5),
    )


def body() -> SolidSettings:
    """The soft one, just above where it touches both rollers."""
    return SolidSettings(
        name="body",
        mesh=ShapeMesh(shapes.Ellipsoid((0.0, START, 0.0), (THICKNESS / 2, HEIGHT / 2, WIDTH / 2)), 0.0095),
        material=FixedCorotated(E=5000.0, nu=0.3, density=1000.0),
        velocity=(0.0, -SPEED, 0.0),
        damping=0.005,
        contact=ExactContact(friction=0.5),
    )


scene = Scene(
    title="Through the rollers",
    simulation=SimulationSettings(
        dx=0.016, gravity=(0.0, 0.0, 0.0), integrator=Optimization(tolerance=1e-11), dt=STEP, cfl=0.95
    ),
    solid=[body(), roller(-1), roller(1)],
    run=RunSettings(duration=DURATION, fps=50.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.1, 0.25, 0.85), target=(0.0, 0.0, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Crossing surfaces, momenta, share of elements inside out."""
    return seen(sim)


def check(run: SceneRun) -> list[Measurement]:
    """The body has come out below and was never in a roller, and rollers are all that pushed."""
    sim = run.sim
    soft = solids(sim)[0]
    now = sim.diagnostics()
    return [
        never_through(run),
        at_most("top of the body over the line between the axes [m]", float(soft.x[:, 1].max()), 0.0),
        at_most("most elements inside out at a time, of all", run.most("inverted"), 0.01),
        at_most("momentum that is not explained, over all that was pushed", unexplained(run), 1e-10),
        reported("shape error at the end", shape_error(soft)),
        reported("meetings that impulses stopped", now.get("exact_hits", 0.0)),
    ]
