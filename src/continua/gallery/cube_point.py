"""Three cubes start as a single point each, all vertices in one place, and unfold (J15 Fig. A.8).

The volume of every tetrahedron is zero and its deformation gradient F = 0 says nothing about where it should go. Its
forces do: they come from the rotation nearest to F, for which any will do if it is always the same. One step per frame
is enough for the minimiser to leave this start. The three cubes differ in stiffness, 10 kPa, 100 kPa and 10 MPa, and
do not touch each other.

What to look at: the stiff cube is there after one step, the middle one after some 20. The soft one comes out of
the point as a knot with many tetrahedra inside out and takes about 100 steps. Try `--set solid.soft.material.E=2e3`
(five times softer, not done at the end), `--set solid.drag=2` (less swinging) or `--set solid.mesh.counts=[4,4,4]`: on
so coarse a mesh one cube in three stays folded into itself, which is an equilibrium too.

J15 has 824 000 unknowns and similar counts: 120, 5 and 1 steps.

2 187 vertices, 7 680 tetrahedra, 144 steps; on two cores about 20 s.
"""

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.bodies.start import Placed
from continua.gallery._contact import newton_per_step
from continua.gallery._mesh_measure import drift, inverted
from continua.geometry.meshes import BoxMesh
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

COST = "2 187 vertices, 144 steps, 20 s"
SMALL = ["solid.mesh.counts=[5, 5, 5]", "duration=4.5"]
SMALL += ["solid.soft.material.E=2e4", "solid.stiff.material.E=1e6"]

STIFFNESSES = {"soft": 1e4, "middle": 1e5, "stiff": 1e7}  # Young's moduli [Pa]
NOWHERE = ((0.0, 0.0, 0.0),) * 3  # the matrix that takes every vertex to the origin
APART = 1.7  # from one cube to the next [m]


def cube(number: int, name: str) -> SolidSettings:
    """Cube of that number from the left."""
    left = APART * (number - 1) - 0.5
    lower, upper = (left, 0.0, -0.5), (left + 1.0, 1.0, 0.5)
    return SolidSettings(
        name=name,
        mesh=BoxMesh(lower, upper, (8, 8, 8)),
        material=FixedCorotated(E=STIFFNESSES[name], nu=0.3, density=1000.0),
        start=Placed(matrix=NOWHERE, shift=(left + 0.5, 0.5, 0.0)),
    )


scene = Scene(
    title="Cubes from points",
    simulation=SimulationSettings(
        dx=0.1,
        gravity=(0.0, 0.0, 0.0),
        integrator=Optimization(tolerance=1e-3, max_iterations=1000, collisions="off"),
    ),
    solid=[cube(number, name) for number, name in enumerate(STIFFNESSES)],
    run=RunSettings(duration=6.0, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(1.4, 2.0, 6.6), target=(0.1, 0.45, 0.0))
    ),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """All three are cubes again, where they were, without a tetrahedron inside out."""
    errors = {f"{mesh.name}_shape_error": shape_error(mesh) for mesh in sim.meshes}
    moved, solves = drift(sim, 1.0), newton_per_step(sim)
    assert inverted(sim) == 0, f"{inverted(sim)} tetrahedra are still inside out"
    assert max(errors.values()) < 1e-2, (
        f"a cube is {max(errors.values()):.2%} of its size away from its shape"
    )
    assert moved < 1e-3, f"the cubes gained {moved:.1e} m/s without a push"
    assert sim.diagnostics()["elastic"] < 1e-4 * start["elastic"], "the cubes are still under stress"
    return errors | {"drift": moved, "newton_per_step": solves}
