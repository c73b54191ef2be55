"""Sand is poured on a block of jelly.

Two materials meet on one grid: the jelly (fixed corotated, J15 section 3.1.3) remembers its shape, the sand
(Drucker-Prager) forgets it at once. An emitter pours the sand for one second and a bit. There is no contact detection:
particles of both write to the same nodes, so each feels the weight and the blows of the other.

What to look at: the stream digs a crater into the jelly, the heap grows until its slopes reach the edges, and what
comes later runs off over the corners. The jelly sinks under the heap and bulges at its sides. The check takes the sand
away and lets the jelly stand up again.

22 000 particles at the end, 8 300 steps; on two cores about 90 seconds.
"""

import numpy as np

from continua import Simulation
from continua.bodies.emitter import Emitter
from continua.contact import colliders
from continua.gallery._measure import depth, kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import DruckerPrager, FixedCorotated
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_most, near

COST = "22 000 particles, 8 300 steps, 1.5 min"
SMALL = ["dx=0.025"]
DOUGH = '{type = "von-mises", E = 2e4, density = 1000.0, yield_stress = 800.0}'
WRONG = [("dough for jelly", [f"body.material={DOUGH}"], "comes back")]

JELLO = FixedCorotated(E=2e4, nu=0.3, density=1000.0)
SAND = DruckerPrager(E=2e5, nu=0.3, density=1600.0, friction_angle=33.0)
WIDTH, HEIGHT = 0.6, 0.25  # of the jelly [m]
POUR, SPEED = 1.2, 1.5  # how long [s] and how fast [m/s]

scene = Scene(
    title="Sand on jelly in 2D",
    simulation=SimulationSettings(dx=0.0078125, gravity=(0.0, -9.81)),
    body=[BodySettings(name="jelly", shape=shapes.Box((0.0, HEIGHT / 2), (WIDTH, HEIGHT)), material=JELLO)],
    emitter=[
        Emitter(shapes.Box((0.0, 0.85), (0.1, 0.05)), SAND, velocity=(0.0, -SPEED), stop=POUR, name="sand")
    ],
    collider=[colliders.Plane(normal=(0.0, 1.0), friction=0.6, name="floor")],
    run=RunSettings(duration=2.0, fps=24.0),
    render=RenderSettings(color_by="body"),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depth below the floor in cells."""
    return {"depth": depth(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """After the pouring, momentum changes by weight and floor alone; freed of the sand the jelly stands up again."""
    sim, jelly = run.sim, run.sim.world.particle_bodies[0]
    error = later_momentum_error(sim, 0.1)
    loaded = float(jelly.x[:, 1].mean())
    sim.world.bodies, sim.world.emitters = [jelly], []
    heights = []
    for _ in range(30):  # it swings without damping, so take the mean of some swings
        sim.run(frames=1, fps=50.0)
        heights.append(float(jelly.x[:, 1].mean()))
    free = float(np.mean(heights))
    modulus = JELLO.E / (1 - JELLO.nu**2) if sim.dimension == 2 else JELLO.E
    # under its own weight
    alone = HEIGHT / 2 + JELLO.density * float(sim.gravity[1]) * HEIGHT**2 / (3 * modulus)
    return [
        at_most("momentum that is not explained", error, kept(sim, 1e-9)),
        at_most("deepest particle below the floor [cells]", run.most("depth"), 0.5 + 1e-5),
        at_most("centre of the loaded jelly over that without sand", loaded / alone, 0.97),
        near("height at which the jelly comes back [m]", free, alone, 0.04),
    ]


def later_momentum_error(sim: Simulation, duration: float) -> float:
    """Change of momentum during `duration` [s] minus weight and impulses of the floor, over the weight."""

    def momentum() -> np.ndarray:
        return sum(
            (b.mass.astype(float) @ b.v.astype(float) for b in sim.world.particle_bodies),
            np.zeros(sim.dimension),
        )

    before, pushed = momentum(), sim.impulses.sum(axis=0)
    sim.run(frames=1, fps=1 / duration)
    floor = (sim.impulses.sum(axis=0) - pushed)[: sim.dimension]
    weight = sum(float(b.mass.sum()) for b in sim.world.particle_bodies) * sim.gravity * duration
    return float(np.abs(momentum() - before - weight - floor).max() / np.abs(weight).max())
