"""Two soft bars are wound around each other until their surfaces touch (after M23 Fig. 1).

Their ends are held together and turned, one end each way. A grid foresees where surfaces would meet and gives them
velocities that fit together (augury), and impulses stop what is left: 3 000 meetings of a vertex and a triangle or of
two edges, where they stop 21 500 without the grid (`--set solid.contact.augury=off`).

What to look at: the bars wind into a rope, their cross-sections flatten where they press on each other, and no surface
is in another one at any step, by the independent look of another library. How often one is wound around the other is
what their ends have turned: that can change only where bars pass through each other.

9 234 vertices, 35 840 tetrahedra, 420 steps; on one core 1 min.
"""

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.bodies.scripted import Scripted
from continua.bodies.solid_body import SolidBody
from continua.contact.motions import Spin
from continua.contact.penalty import ExactContact
from continua.gallery._exact import never_through, seen, solids
from continua.gallery._running import SceneRun
from continua.geometry import shapes
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
from continua.validation.case import Measurement, at_most, near, reported

Array = NDArray[np.float64]

COST = "9 234 vertices, 420 steps, 1 min"
SMALL = ["solid.mesh.counts=[14, 2, 2]", "dx=0.12"]
WRONG = [
    ("bars that do not feel each other", ['solid.contact={collisions="off"}'], "pass through"),
]

LENGTH, SIDE, APART = 2.0, 0.2, 0.32  # of a bar, and between middles [m]
RATE, DURATION, STEP = 1.6, 2.52, 0.006  # of each end [rad/s]; [s]


def held(side: int) -> Scripted:
    """The end of both bars on that side, -1 or 1, which turns about the line between them."""
    plane = shapes.Box((side * LENGTH / 2, 0.0, 0.0), (0.01, LENGTH, LENGTH))
    return Scripted(plane, Spin(side * RATE, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))


def bar(name: str, side: int) -> SolidSettings:
    """One on that side of the axis."""
    low = (-LENGTH / 2, side * APART / 2 - SIDE / 2, -SIDE / 2)
    return SolidSettings(
        name=name,
        mesh=BoxMesh(low, (LENGTH / 2, low[1] + SIDE, SIDE / 2), (56, 8, 8)),
        material=FixedCorotated(E=7000.0, nu=0.4, density=1000.0),
        damping=0.02,
        scripted=[held(-1), held(1)],
        contact=ExactContact(augury=5),
    )


scene = Scene(
    title="Twisted bars",
    simulation=SimulationSettings(
        dx=0.04, gravity=(0.0, 0.0, 0.0), integrator=Optimization(tolerance=1e-8), dt=STEP, cfl=0.95
    ),
    solid=[bar("lower", -1), bar("upper", 1)],
    run=RunSettings(duration=DURATION, fps=1 / (7 * STEP)),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.7, 1.3, 2.7), target=(0.0, 0.0, 0.0))
    ),
)


def centre_line(bar: SolidBody) -> Array:
    """Middles of the layers of a bar (layers, 3) [m], from end to end."""
    layer = np.unique(bar.rest[:, 0].round(9), return_inverse=True)[1]
    sums = np.stack([np.bincount(layer, bar.x[:, axis]) for axis in range(3)], axis=1)
    return sums / np.bincount(layer)[:, None]


def wound(sim: Simulation) -> float:
    """Angle [rad] by which the line from one bar to the other turns about their axis, from end to end."""
    first, second = (centre_line(bar) for bar in solids(sim))
    between = second - first
    angle = np.unwrap(np.arctan2(between[:, 2], between[:, 1]))
    return float(angle[-1] - angle[0])


def watch(sim: Simulation) -> dict[str, float]:
    """Crossing surfaces, momenta, share of elements inside out."""
    return seen(sim)


def check(run: SceneRun) -> list[Measurement]:
    """Bars are as far around each other as their ends, and were never in each other; what ends push is all there is."""
    sim = run.sim
    turned = 2 * RATE * sim.time
    now = sim.diagnostics()
    return [
        never_through(run),
        near("angle by which the bars are wound, over that of their ends", wound(sim) / turned, 1.0, 1e-3),
        at_most("most elements inside out at a time, of all", run.most("inverted"), 0.01),
        reported("turns between the ends", turned / (2 * np.pi)),
        reported("meetings that impulses stopped", now.get("exact_hits", 0.0)),
    ]
