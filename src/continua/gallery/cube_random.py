"""Three cubes whose vertices start at random places untangle themselves (J15 Fig. A.7).

Every vertex of a cube starts anywhere in the room of the cube, whatever its neighbours do: about half of the
tetrahedra are inside out. The fixed corotated energy is finite for them too, so that a step is still the minimum of an
energy, and the minimiser finds one: one step per frame, as ever. The three cubes differ in stiffness, 10 kPa, 100 kPa
and 10 MPa, and do not touch each other.

What to look at: the stiff cube is a cube after one step. The middle one needs some 20. The soft one is untangled after
about 90, overshoots, and swings by more than 1 % of its size until step 117. Try `--set solid.start.seed=7` (another
tangle), `--set solid.material.nu=0.1` (yields in volume) or `--set solid.mesh.counts=[4,4,4]`: on so coarse a mesh one
cube in eight stays folded into itself, which is an equilibrium too.

J15 has 824 000 unknowns and similar counts: 100, 40 and 1 steps.

2 187 vertices, 7 680 tetrahedra, 174 steps; on two cores about 20 s.
"""

from collections.abc import Callable

import numpy as np

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.bodies.solid_body import SolidBody
from continua.bodies.start import Placed, Scattered
from continua.contact.penalty import PenaltyContact
from continua.gallery._contact import newton_per_step
from continua.gallery._mesh_measure import drift, inverted
from continua.gallery._running import SceneRun
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
from continua.validation.case import Measurement, at_most, reported

COST = "2 187 vertices, 174 steps, 20 s"
SMALL = ["solid.mesh.counts=[5, 5, 5]"]
WRONG = [("the soft cube in honey", ["solid.soft.drag=100"], "steps to recover, soft")]

# Twice the steps of a cube of 5 x 5 x 5 vertices with E = 1e4 and 1e6 Pa, and of the middle one of J15 Fig. A.7.
STEPS = {"soft": 172, "middle": 80, "stiff": 6}
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
    patient = Optimization(tolerance=1e-8, max_iterations=1000)
    return Scene(
        title=title,
        simulation=SimulationSettings(dx=0.1, gravity=(0.0, 0.0, 0.0), integrator=patient),
        solid=solid,
        run=RunSettings(duration=7.25, fps=24.0),
        render=RenderSettings(
            color_by="body", camera=CameraSettings(position=(1.4, 2.0, 6.6), target=(0.1, 0.45, 0.0))
        ),
    )


scene = cubes("Cubes from random vertices", lambda number, lower, upper: Scattered(lower, upper, seed=number))


def is_cube(mesh: SolidBody) -> bool:
    """Whether it has its shape to 1 % of its size and no tetrahedron is inside out."""
    return shape_error(mesh) < 1e-2 and not (mesh.J <= 0).any()


def watch(sim: Simulation) -> dict[str, float]:
    """1 for every mesh that is a cube, else 0."""
    return {str(mesh.name): is_cube(mesh) for mesh in sim.world.mesh_bodies if isinstance(mesh, SolidBody)}


def steps_to_recover(run: SceneRun, name: str) -> float:
    """Steps after which a mesh is a cube and stays one; infinite if it is none at the end."""
    last = np.flatnonzero(run.seen[name] == 0)[-1]
    return np.inf if last == len(run.seen[name]) - 1 else float(last + 1)


def check(run: SceneRun) -> list[Measurement]:
    """All three become cubes again, within twice the steps of others who did this, stay where they were and come to
    rest."""
    sim = run.sim
    steps = [
        at_most(f"steps to recover, {name}", steps_to_recover(run, name), most)
        for name, most in STEPS.items()
    ]
    return [
        *steps,
        at_most("tetrahedra inside out at the end", inverted(sim), 0),
        at_most("largest shape error at the end", max(map(shape_error, sim.world.mesh_bodies)), 1e-2),
        at_most("speed without a push [m/s]", drift(sim, 1.0), 1e-4),
        at_most(
            "elastic energy over that of the start", sim.diagnostics()["elastic"] / run.start["elastic"], 1e-5
        ),
        reported("Newton iterations in a step", newton_per_step(sim)),
    ]
