"""Falling sand turns a wheel, and its bearing stops it once the sand has gone (W20 Fig. 4.1).

The wheel is a rigid body: a closed triangle mesh of six paddles and a hub, with the mass and the inertia of what it
encloses, on an axle about which it turns and does nothing else. It exchanges impulses with the sand, a continuum of its
own, at the nodes of the grid that both reach; nothing else couples them, and nothing holds them together.

What the wheel gains about the axle the sand must lose, beside what its weight does to it. The impulses are equal and
opposite at nodes, but the wheel takes them at points of its surface, up to a cell and a half away, so that the balance
holds for impulses and not quite for their torques. The bearing takes all forces, and counts them.

What to look at: the stream comes down on the right, so the wheel turns clockwise, until its paddles are nearly as fast
as the sand. Each paddle carries a heap down and lets it go. When the last sand has left, the wheel slows down by the
friction of its bearing, exp(-t c / I).

15 000 particles, 4 200 steps; on a busy core about 4 minutes.
"""

import numpy as np

from continua import Simulation
from continua.bodies.axle import Axle
from continua.bodies.emitter import Emitter
from continua.bodies.rigid_body import RigidBody
from continua.continuum import Contact, Continuum
from continua.gallery._measure import kept
from continua.gallery._paddles import paddle_wheel
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import DruckerPrager
from continua.scene import (
    CameraSettings,
    RenderSettings,
    RigidSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most, near

COST = "15 000 particles, 4 200 steps, 4 min"
SMALL = ["dx=0.05", "duration=2.2"]
WRONG = [
    ("a motor helps", ["rigid.wheel.axle.motor={torque=-5.0}"], "wheel gained over"),
    ("sand falls on the other side", ["emitter.sand.shape.center=[-0.17, 0.55, 0.0]"], "turned clockwise"),
    ("a bearing without friction", ["rigid.wheel.axle.drag=0.0"], "speed at the end"),
]

PADDLES, HUB, TIP, WIDTH, DEPTH = 6, 0.08, 0.3, 0.06, 0.3  # number, radii, paddle and axle length [m]
DRAG = 1.0  # of the bearing [N m s]
POUR, END = 0.8, 2.6  # when the stream ends, and the run [s]
BELOW = -TIP - 0.1  # height under which sand has left the wheel [m]

VERTICES, FACES = paddle_wheel(PADDLES, HUB, TIP, WIDTH, DEPTH)

scene = Scene(
    title="Wheel turned by sand",
    simulation=SimulationSettings(dx=0.02, gravity=(0.0, -9.81, 0.0)),
    continuum=[Continuum("sand")],
    rigid=[
        RigidSettings(
            name="wheel",
            shape=shapes.Mesh(vertices=VERTICES, faces=FACES),
            density=400.0,
            axle=Axle((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), drag=DRAG),
        )
    ],
    emitter=[
        Emitter(
            shapes.Box((0.17, 0.55, 0.0), (0.08, 0.08, 0.16)),
            DruckerPrager(E=1e5, nu=0.3, density=1600.0, friction_angle=33.0),
            velocity=(0.0, -1.5, 0.0),
            stop=POUR,
            sampling="jittered",
            continuum="sand",
            name="sand",
        )
    ],
    contact=[Contact("sand", "wheel", friction=0.4)],
    run=RunSettings(duration=END, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.9, 0.5, 1.6), target=(0.05, -0.02, 0.0))
    ),
)


def wheel(sim: Simulation) -> RigidBody:
    """The rigid body of the scene."""
    return next(body for body in sim.bodies if isinstance(body, RigidBody))


def watch(sim: Simulation) -> dict[str, float]:
    """Turning of the wheel [rad/s], torque of the weight of the sand [N m], its mass [kg], its highest point [m]."""
    sand = sim.world.particle_bodies[0]
    moment = float(sand.mass @ sand.x[:, 0]) if len(sand) else 0.0
    return {
        "rate": float(wheel(sim).spin[2]),
        "torque": moment * float(sim.gravity[1]),
        "mass": float(sand.mass.sum()),
        "top": float(sand.x[:, 1].max()) if len(sand) else np.inf,
    }


def check(run: SceneRun) -> list[Measurement]:
    """The wheel gains what the sand loses, turns the right way, and stops."""
    sim, seen = run.sim, run.seen
    body, rate, dt = wheel(sim), seen["rate"], np.diff(seen["time"])
    inertia, (emitter, sand, spacing) = body.motion.axial_inertia(body.state), sim.world.emitters[0]
    axle = body.axle
    assert axle is not None
    taken = axle.drag * float(dt @ rate[1:])  # angular impulse that the bearing took [N m s]
    gained = inertia * float(rate[-1]) + taken
    steps = zip(seen["time"][:-1], seen["time"][1:], strict=True)
    arms = sum(emitter.released(float(a), float(b), spacing)[:, 0].sum() for a, b in steps)
    came = float(sand.mass[0]) * float(arms) * emitter.velocity[1]
    weight = float(dt @ seen["torque"][:-1])
    lost = came + weight - (sim.diagnostics()["angular_z"] - inertia * float(rate[-1]))
    pulled = np.array([float(sim.diagnostics()[f"momentum_{a}"]) for a in "xyz"]) - body.pull
    pulled -= sim.gravity * float(dt @ seen["mass"][:-1] + body.motion.mass * sim.time)
    pulled -= sand.mass.sum() * np.array(emitter.velocity)
    alone = np.flatnonzero(seen["top"] < BELOW)
    gone = alone[0] if len(alone) else len(rate) - 1
    slower = np.exp(-axle.drag / inertia * (sim.time - seen["time"][gone]))
    fastest = float(np.abs(rate).max())
    return [
        near("what the wheel gained over what the sand lost", gained / lost, 1.0, 0.05),
        at_least("most that it turned clockwise [rad/s]", -run.least("rate"), 1.0),
        at_most("when all the sand has left [s]", float(seen["time"][gone]), 0.75 * END),
        near("slowing down since then", float(rate[-1] / rate[gone]), float(slower), 0.01, 1.0),
        at_most("speed at the end over the highest", abs(float(rate[-1])) / fastest, 0.05),
        at_most(
            "momentum that weight and bearing do not explain",
            float(np.abs(pulled).max() / np.abs(body.pull).max()),
            kept(sim, 1e-9),
        ),
    ]
