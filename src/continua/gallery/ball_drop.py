"""A rubber ball hits the ground so hard that it is flattened, and springs back (J15 Fig. A.6).

The ball arrives at 20 m/s, and one step lasts a frame, in which it would sink in by most of its height. The ground
is a condition of the minimiser: no vertex may be below it, and those that press on it slide along it during a Newton
step. Elasticity and contact are thus solved for together. If vertices are moved out of the ground after an elastic
step instead, layers of tetrahedra are crushed to no volume at all.

What to look at: the ball becomes a dome in one step and flat in the next, without a vertex below the ground or a
tetrahedron inside out, and is round again when it leaves. It jumps 20 cm: backward Euler steps as long as a frame take
most of its energy. Try `--set dt=0.005` (jumps higher), `--set integrator.scheme=bdf2` or
`--set collider.mode=sticky` (stays).

J15 table A.1 counts 3.8 linear solves per step; here they are 6, as only the hit is shown.

4 525 vertices, 22 608 tetrahedra, 12 steps; on two cores about 10 s.
"""

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.contact import colliders
from continua.gallery._contact import clearance, newton_per_step
from continua.gallery._measure import momentum_gap
from continua.gallery._mesh_measure import inverted
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

COST = "4 525 vertices, 12 steps, 10 s"
SMALL = ["solid.mesh.size=0.2"]

RADIUS = 0.5  # [m]

scene = Scene(
    title="Ball dropped hard",
    simulation=SimulationSettings(dx=0.1, gravity=(0.0, -9.81, 0.0), integrator="optimization"),
    solid=[
        SolidSettings(
            name="ball",
            mesh=ShapeMesh(shapes.Sphere(center=(0.0, 1.4, 0.0), radius=RADIUS), size=0.066),
            material=FixedCorotated(E=1e5, nu=0.45, density=1000.0),
            velocity=(0.0, -20.0, 0.0),
        )
    ],
    collider=[colliders.Plane(normal=(0.0, 1.0, 0.0), name="ground")],
    run=RunSettings(duration=0.5, fps=24.0),
    render=RenderSettings(
        color_by="speed", camera=CameraSettings(position=(1.3, 1.0, 2.7), target=(0.0, 0.36, 0.0))
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """The ball has left the ground, is round, and the ground gave it all the momentum that its weight did not."""
    ball = sim.world.mesh_bodies[0]
    height, gap, error = float(ball.x[:, 1].min()), momentum_gap(sim, start), shape_error(ball)
    below, solves = max(-clearance(sim), 0.0), newton_per_step(sim)
    kept = sim.diagnostics()["total"] / start["total"]
    assert height > 0, "the ball did not leave the ground"
    assert below < 1e-12, f"a vertex is {below:.1e} m below the ground"
    assert inverted(sim) == 0, f"{inverted(sim)} tetrahedra are inside out"
    assert error < 0.05, f"the ball is {error:.1%} of its size away from its shape"
    assert gap < 1e-6, f"momentum balance is off by {gap:.1e}"
    assert kept < 1, f"the ball has {kept:.2f} of its energy"
    return {
        "height": height,
        "shape_error": error,
        "momentum_gap": gap,
        "energy_kept": kept,
        "newton_per_step": solves,
    }
