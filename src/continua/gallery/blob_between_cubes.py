"""Eight cubes close in on a soft figure, with any number of steps per frame (J15 Fig. A.12).

The cubes are colliders that come from the corners of a larger cube and leave a cross of gaps 0.3 m wide between them;
the figure, a ball with a head and limbs, has to find room there. Every cube is a condition on all vertices, and many
vertices touch two cubes at once.

Backward Euler as a minimisation takes steps of a whole frame here. Shorter steps are easier, because inertia outweighs
stiffness in them: while the cubes close in on a coarse mesh, 1, 2 and 4 steps per frame take 19, 41 and 58 Newton
iterations, and 260, 278 and 290 products with the Hessian in all. The source has 46, 58 and 88 s per frame.

What to look at: head and limbs are caught first, then the body is pressed into the gaps and the cubes into the body;
it keeps 94 % of its volume and slows down. Try `--set dt=0.0104167` (4 steps per frame) or
`--set solid.material.nu=0` (a sponge, which gives way instead of spreading).

2 300 vertices, 9 500 tetrahedra, 30 steps; on two cores about 10 s.
"""

import numpy as np

from continua import Simulation
from continua.bodies.solid_body import SolidBody
from continua.contact import colliders
from continua.contact.motions import Keyframes
from continua.gallery._contact import clearance, newton_per_step
from continua.gallery._measure import momentum_gap
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
from continua.validation.case import Measurement, at_least, at_most, reported

COST = "2 300 vertices, 9 500 tetrahedra, 30 steps, 10 s"
SMALL = ["solid.mesh.size=0.3", "duration=1.0"]
WRONG = [("a sponge for jelly", ["solid.material.nu=0"], "least volume")]

FPS = 24.0  # frames per second
SIDE, FAR, NEAR = 0.6, 1.2, 0.45  # of the cubes, and their middles from the planes of symmetry [m]
LIMBS = [(1.15, 0.3, 0.1), (-1.15, 0.2, -0.1), (0.4, -1.15, 0.1), (-0.45, -1.1, -0.1)]


def figure() -> shapes.Union:
    """A ball with a head, two arms and two legs."""
    ball, head = shapes.Sphere((0.0, 0.0, 0.0), 0.55), shapes.Sphere((0.0, 0.75, 0.1), 0.32)
    return shapes.Union([ball, head, *(shapes.Capsule((0.0, 0.0, 0.0), limb, 0.2) for limb in LIMBS)])


def cube(number: int) -> colliders.Box:
    """From one of eight corners."""
    corner = np.array([1.0 if number & bit else -1.0 for bit in (1, 2, 4)])
    way = tuple((NEAR - FAR) * corner)
    motion = Keyframes([0.0, 0.75], [(0.0, 0.0, 0.0), way], interpolation="smooth")
    return colliders.Box(tuple(FAR * corner), (SIDE, SIDE, SIDE), motion=motion, name=f"cube {number + 1}")


def squeeze(size: float, dt: float | None = None) -> Scene:
    """With edges of that size [m] and steps of dt [s], left out: of a frame."""
    return Scene(
        title="Blob between cubes",
        simulation=SimulationSettings(dx=0.1, gravity=(0.0, 0.0, 0.0), dt=dt, integrator="optimization"),
        solid=[
            SolidSettings(
                name="blob",
                mesh=ShapeMesh(figure(), size),
                material=FixedCorotated(E=5e4, nu=0.4, density=1000.0),
            )
        ],
        collider=[cube(number) for number in range(8)],
        run=RunSettings(duration=1.25, fps=FPS),
        render=RenderSettings(
            color_by="body", camera=CameraSettings(position=(1.0, 1.1, 5.9), target=(0.0, -0.1, 0.0))
        ),
    )


scene = squeeze(0.12)


def work(steps_per_frame: int) -> float:
    """Products with the Hessian, of a coarse mesh, while the cubes close in."""
    sim = squeeze(0.3, 1 / (FPS * steps_per_frame)).build()
    sim.run(frames=18, fps=FPS)
    return sim.diagnostics()["total_krylov_iterations"]


def watch(sim: Simulation) -> dict[str, float]:
    """Depth in the cubes [m], and volume over that at rest."""
    solid = sim.world.mesh_bodies[0]
    assert isinstance(solid, SolidBody)
    volumes = solid.mesh.volumes
    return {"depth": -clearance(sim), "volume": float(solid.J @ volumes / volumes.sum())}


def check(run: SceneRun) -> list[Measurement]:
    """The figure never was in a cube and keeps its volume; impulses balance; short steps need less work each."""
    one, two, four = (work(steps) for steps in (1, 2, 4))
    return [
        at_most("deepest vertex in a cube [m]", run.most("depth"), 1e-12),
        at_least("least volume over that at rest", run.least("volume"), 0.93),
        at_most("momentum that is not explained", momentum_gap(run.sim, run.start), 1e-6),
        at_most("work of 2 steps per frame over that of 1", two / one, 1.5),
        at_most("work of 4 steps per frame over that of 1", four / one, 2.0),
        reported("Newton iterations in a step", newton_per_step(run.sim)),
    ]
