"""A cube is stretched to twice its length and then struck together within two frames (J15 Fig. A.2).

As in cube-stretch the two ends are scripted, and a step of finite elements is as long as a frame. At the strike each
end moves 65 cm in two steps, far more than the size of a tetrahedron. Plain Newton iterations, which look for a root
of the forces, go astray there and never come back; J15 reports that they need 5 steps per frame. The minimiser only
goes downhill in energy and needs one.

What to look at: the sides bulge out where the cube is struck, and when the ends are let go it finds its shape again
within a few frames. Try `--set solid.material.nu=0.3` (bulges less), `--set dt=0.008` (5 steps per frame) or
`--set integrator.krylov=minres` (another solver of the Newton steps).

J15 table A.1 counts 2.9 linear solves per step; here they are 3.7, and 15 at the strike.

5 832 vertices, 24 565 tetrahedra, 36 steps; on two cores about 15 s.
"""

from continua.bodies.shape_error import shape_error
from continua.contact.motions import Keyframes
from continua.gallery._contact import newton_per_step
from continua.gallery._mesh_measure import drift, inverted
from continua.gallery._running import SceneRun
from continua.gallery.cube_stretch import stretched
from continua.scene import CameraSettings, RenderSettings, RunSettings
from continua.validation.case import Measurement, at_most

COST = "5 832 vertices, 36 steps, 15 s"
SMALL = ["solid.mesh.counts=[4, 4, 4]"]
WRONG = [("far too soft to come back in time", ["solid.material.E=300"], "shape error")]

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


def check(run: SceneRun) -> list[Measurement]:
    """The cube has its shape again and did not move away, and steps took few Newton iterations."""
    sim = run.sim
    return [
        at_most("shape error at the end", shape_error(sim.world.mesh_bodies[0]), 5e-3),
        at_most("tetrahedra inside out at the end", inverted(sim), 0),
        at_most("speed without a push [m/s]", drift(sim, 1.0), 1e-7),
        at_most("Newton iterations in a step", newton_per_step(sim), 10),
    ]
