"""A cube is stretched to twice its length and then struck together within two frames (J15 Fig. A.2).

As in cube-stretch the two ends are scripted, and a step of finite elements is as long as a frame. At the strike each
end moves 65 cm in two steps, far more than the size of a tetrahedron. Plain Newton iterations, which look for a root
of the forces, go astray there and never come back; J15 reports that they need 5 steps per frame. The minimiser only
goes downhill in energy and needs one.

What to look at: the sides bulge out where the cube is struck, and when the ends are let go it finds its shape again
within a few frames. Try `--set solid.material.nu=0.3` (bulges less), `--set dt=0.008` (5 steps per frame) or
`--set integrator.krylov=minres` (another solver of the Newton steps).

J15 table A.1 counts 2.9 linear solves per step; here they are 3.4, and 15 at the strike.

5 832 vertices, 24 565 tetrahedra, 36 steps; on two cores about 15 s.
"""

from continua import Simulation
from continua.bodies.shape_error import shape_error
from continua.contact.motions import Keyframes
from continua.gallery._contact import newton_per_step
from continua.gallery._mesh_measure import drift, inverted
from continua.gallery.cube_stretch import stretched
from continua.scene import CameraSettings, RenderSettings, RunSettings

COST = "5 832 vertices, 36 steps, 15 s"
SMALL = ["solid.mesh.counts=[4, 4, 4]"]

FRAME = 1 / 24  # [s]
TIMES = [0.0, 12 * FRAME, 14 * FRAME]  # at rest, stretched, struck [s]
WAYS = [0.0, 0.5, -0.15]  # of each end, outwards [m]
RELEASED = 15 * FRAME  # [s]


scene = stretched(
    "Cube stretched, then struck",
    Keyframes(TIMES, [(way, 0.0, 0.0) for way in WAYS]),
    RELEASED,
    RunSettings(duration=36 * FRAME, fps=24.0),
    RenderSettings(color_by="speed", camera=CameraSettings(position=(1.9, 1.7, 3.4), target=(0.0, 0.5, 0.0))),
)


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """The cube has its shape again and did not move away, and steps took few Newton iterations."""
    error, moved, solves = shape_error(sim.world.mesh_bodies[0]), drift(sim, 1.0), newton_per_step(sim)
    assert error < 5e-3, f"the cube is {error:.2%} of its size away from its shape"
    assert inverted(sim) == 0, f"{inverted(sim)} tetrahedra are inside out"
    assert moved < 1e-7, f"the cube gained {moved:.1e} m/s without a push"
    assert solves < 10, f"a step takes {solves:.1f} Newton iterations"
    return {"shape_error": error, "drift": moved, "newton_per_step": solves}
