"""A soft torus falls on the ground and its hole is squeezed shut (J15 Fig. A.9).

The torus comes down on its edge at 5 m/s. Two kinds of contact act at once: the ground is a condition that no vertex
may break, and the torus pushes itself apart where a vertex gets into another part of it, by an energy that grows with
the cube of the depth. Such an energy is found only once something is inside, so steps must be short against the
thickness of the tube: five per frame, as in the source.

What to look at: the sides of the hole meet, hold the torus up and open again; it rocks over and lies flat. Vertices
are never below the ground, and in each other by less than 5 % of the radius of the tube. Try
`--set solid.contact.collisions=others` (the tube passes through itself), `--set solid.material.E=5e5` (the hole stays
open), or `--set solid.contact.stiffness=1e5` (soft contact).

990 vertices, 3 800 tetrahedra, 180 steps; on two cores about 15 s.
"""

from continua import Simulation
from continua.contact import colliders
from continua.contact.penalty import PenaltyContact
from continua.gallery._contact import clearance, newton_per_step, overlap
from continua.gallery._measure import momentum_gap
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
from continua.validation.case import Measurement, at_most

COST = "990 vertices, 3 800 tetrahedra, 180 steps, 15 s"
SMALL = ["solid.mesh.size=0.15", "duration=0.167"]
WRONG = [("a torus that does not see itself", ["solid.contact.collisions=others"], "in the torus")]

RADIUS, TUBE = 0.5, 0.22  # of the circle and of the tube around it [m]
TORUS = shapes.Torus((0.0, 0.75, 0.0), RADIUS, TUBE, axis=(0.0, 0.12, 1.0))

scene = Scene(
    title="Torus on the ground",
    simulation=SimulationSettings(dx=0.1, gravity=(0.0, -9.81, 0.0), dt=1 / 120, integrator=Optimization()),
    solid=[
        SolidSettings(
            name="torus",
            mesh=ShapeMesh(TORUS, 0.12),
            material=FixedCorotated(E=1e5, nu=0.4, density=1000.0),
            velocity=(0.0, -5.0, 0.0),
            contact=PenaltyContact("all"),
        )
    ],
    collider=[colliders.Plane((0.0, 1.0, 0.0), friction=0.5, name="ground")],
    run=RunSettings(duration=1.5, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.4, 1.6, 3.6), target=(0.0, 0.6, 0.0))
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Depths below the ground and in the torus [m]."""
    return {"below": -clearance(sim), "inside": overlap(sim, own_body=True)}


def check(run: SceneRun) -> list[Measurement]:
    """No vertex ever is below the ground or deep in the torus, and the ground took up the momentum that is missing."""
    return [
        at_most("deepest vertex below the ground [m]", run.most("below"), 1e-12),
        at_most("deepest vertex in the torus, over the radius of its tube", run.most("inside") / TUBE, 0.05),
        at_most("Newton iterations in a step", newton_per_step(run.sim), 80),
        at_most("momentum that is not explained", momentum_gap(run.sim, run.start), 1e-6),
    ]
