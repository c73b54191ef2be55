"""Two balls that spin collide off centre, and lose no momentum of either kind (M23 Figs. 12, 15).

With explicit steps nothing is lost: elastic forces and damping have no torque where the step begins, transfers to the
grid and back keep what velocities and their affine parts hold together, and impulses are made to. Backward Euler keeps
the momentum, as well as it is solved for, and loses angular momentum, since its forces have no torque only where the
step ends. As published, where surfaces do not feel that the inside follows them, it loses momentum, too:

    continua compare momentum-plots --over 'integrator=symplectic,{type="optimization",tolerance=1e-9}'
    continua compare momentum-plots --over solid.contact.final_velocity=recoil,printed --set integrator=optimization

What to look at: the curves in `momentum.png` of these; in the scene, how the balls roll on each other by friction.
The balls differ in size, since errors of equal ones cancel. The small version has longer steps (`dt=0.00125`).

1 574 vertices, 6 504 tetrahedra, 750 steps; on one core 15 s.
"""

from continua import Simulation
from continua.bodies.velocity import Rigid
from continua.contact.penalty import ExactContact
from continua.gallery._exact import (
    angular_change,
    kinetic,
    momentum_change,
    never_through,
    seen,
)
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.geometry.meshes import ShapeMesh
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

COST = "1 574 vertices, 750 steps, 15 s"
SMALL = ["solid.mesh.size=0.12", "dx=0.12", "dt=0.00125", "duration=0.2"]
OPTIMIZED = 'integrator={type="optimization",tolerance=1e-9}'
WRONG = [
    ("backward Euler, which is not made to keep it", [OPTIMIZED], "angular momentum"),
    (
        "backward Euler as published",
        [OPTIMIZED, "solid.contact.final_velocity=printed"],
        "change of the momentum",
    ),
    (
        "impulses as published, with nothing foreseen",
        ["solid.contact.augury=off", "solid.contact.impulses=naive"],
        "angular momentum",
    ),
    ("damping as published", ["solid.damping_form=printed"], "angular momentum"),
    ("balls that do not feel each other", ['solid.contact={collisions="off"}', OPTIMIZED], "pass through"),
]

RADIUS, SMALLER, GAP, OFFSET = 0.25, 0.2, 0.02, 0.1  # of the left and of the right ball, between, aside [m]
SPEED, SPIN = 1.0, 3.0  # of each [m/s], [rad/s]
STEPS, STEP = 750, 4e-4  # [s]


def ball(name: str, side: int) -> SolidSettings:
    """One on that side, -1 or 1, on its way to the other."""
    radius = RADIUS if side < 0 else SMALLER
    middle = (side * (radius + GAP / 2), side * OFFSET / 2, 0.0)
    return SolidSettings(
        name=name,
        mesh=ShapeMesh(shapes.Sphere(middle, radius), 0.06),
        material=FixedCorotated(E=5e4, nu=0.3, density=1000.0),
        velocity=Rigid((-side * SPEED, 0.0, 0.0), (0.0, 0.3 * SPIN, SPIN), middle),
        damping=1e-3,
        contact=ExactContact(friction=0.3, augury=5),
    )


scene = Scene(
    title="Momentum of two balls that collide",
    simulation=SimulationSettings(dx=0.06, gravity=(0.0, 0.0, 0.0), dt=STEP),
    solid=[ball("left", -1), ball("right", 1)],
    run=RunSettings(duration=STEPS * STEP, fps=100.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.5, 0.7, 2.1), target=(0.0, 0.0, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Crossing surfaces, momenta, kinetic energy [J], share of elements inside out."""
    return seen(sim) | {"kinetic": kinetic(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Momentum and angular momentum are those of the start to rounding, though the balls have struck each other."""
    now = run.sim.diagnostics()
    return [
        never_through(run),
        at_most("most change of the momentum, over sum m |v|", momentum_change(run), 1e-12),
        at_most(
            "most change of the angular momentum, over sum m |v| and the radius",
            angular_change(run, RADIUS),
            1e-12,
        ),
        at_most("most elements inside out at a time, of all", run.most("inverted"), 0.01),
        at_most("most kinetic energy over that of the start, minus 1", run.growth("kinetic"), 1e-2),
        reported("meetings that impulses stopped", now.get("exact_hits", 0.0)),
        reported("kinetic energy left", float(run.seen["kinetic"][-1] / run.seen["kinetic"][0])),
    ]
