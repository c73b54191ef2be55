"""Three cubes whose vertices start at random places untangle themselves (J15 Fig. A.7).

Every vertex of a cube starts anywhere in the room of the cube, whatever its neighbours do: about half of the
tetrahedra are inside out. The fixed corotated energy is finite for them too, so that a step is still the minimum of an
energy, and the minimiser finds one: one step per frame, as ever. The three cubes differ in stiffness, 10 kPa, 100 kPa
and 10 MPa, and do not touch each other.

What to look at: the stiff cube is a cube after one step. The middle one needs some 20, and the soft one about 100: it
untangles, overshoots and swings. Try `--set solid.start.seed=7` (another tangle),
`--set solid.material.nu=0.1` (yields in volume) or `--set solid.mesh.counts=[4,4,4]`: on so coarse a mesh one cube in
eight stays folded into itself, which is an equilibrium too.

J15 has 824 000 unknowns and similar counts: 100, 40 and 1 steps.

2 187 vertices, 7 680 tetrahedra, 144 steps; on two cores about 20 s.
"""

from collections.abc import Callable

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.bodies.start import Placed, Scattered
from continua.contact.penalty import PenaltyContact
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
APART = 1.7  # from one cube to the next [m]
Corner = tuple[float, float, float]


def cubes(title: str, start: Callable[[int, Corner, Corner], Placed | Scattered]) -> Scene:
    """Three cubes side by side; start gives the first positions of the one of a number between two corners [m]."""
    solid = []
    for number, (name, E) in enumerate(STIFFNESSES.items()):
        left = APART * (number - 1) - 0.5
        lower, upper = (left, 0.0, -0.5), (left + 1.0, 1.0, 0.5)
        solid.append(
            SolidSettings(
                name=name,
                mesh=BoxMesh(lower, upper, (8, 8, 8)),
                material=FixedCorotated(E=E, nu=0.3, density=1000.0),
                start=start(number, lower, upper),
                contact=PenaltyContact("off"),
            )
        )
    patient = Optimization(tolerance=1e-3, max_iterations=1000)
    return Scene(
        title=title,
        simulation=SimulationSettings(dx=0.1, gravity=(0.0, 0.0, 0.0), integrator=patient),
        solid=solid,
        run=RunSettings(duration=6.0, fps=24.0),
        render=RenderSettings(
            color_by="body", camera=CameraSettings(position=(1.4, 2.0, 6.6), target=(0.1, 0.45, 0.0))
        ),
    )


scene = cubes("Cubes from random vertices", lambda number, lower, upper: Scattered(lower, upper, seed=number))


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """All three are cubes again, where they were, without a tetrahedron inside out."""
    errors = {f"{mesh.name}_shape_error": shape_error(mesh) for mesh in sim.world.mesh_bodies}
    moved, solves = drift(sim, 1.0), newton_per_step(sim)
    assert inverted(sim) == 0, f"{inverted(sim)} tetrahedra are still inside out"
    assert max(errors.values()) < 1e-2, (
        f"a cube is {max(errors.values()):.2%} of its size away from its shape"
    )
    assert moved < 1e-3, f"the cubes gained {moved:.1e} m/s without a push"
    assert sim.diagnostics()["elastic"] < 1e-4 * start["elastic"], "the cubes are still under stress"
    return errors | {"drift": moved, "newton_per_step": solves}
