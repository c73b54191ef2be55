"""Two soft tori, linked like a chain, fly apart, turn against each other and twist (W20 section 4.4).

Nobody looks for collisions: points on both surfaces give their velocities to a grid and read back a common one, and
where that pushes a surface it is an impulse. It acts between the tori and between parts of one torus. A push that lasts
lets surfaces creep into each other, the less the shorter the steps: these are half as long as they could be.

What to look at: the rings snap tight, the hoops flatten where they hang on each other, and the turning winds them up.
They stay linked, by the double integral of Gauss over their centre lines, which is 1 for a chain and 0 for rings that
have passed through each other.

1 700 vertices, 6 100 tetrahedra, 2 600 steps; on one core 45 s, most of them for which surfaces face each other.
"""

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.bodies.solid_body import SolidBody
from continua.bodies.velocity import Rigid
from continua.contact.penalty import GridContact
from continua.gallery._hybrid import solid_depth, solids, time_to_look
from continua.gallery._measure import energy
from continua.gallery._mesh_measure import drift
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
from continua.validation.case import Measurement, at_least, at_most, near

Array = NDArray[np.float64]

COST = "1 700 vertices, 6 100 tetrahedra, 2 600 steps, 45 s"
SMALL = ["dx=0.05", "solid.mesh.size=0.14", "duration=0.4"]
WRONG = [
    (
        "tori that do not see each other",
        ['solid.contact={collisions="off"}', "integrator=optimization"],
        "deepest point",
    )
]

RADIUS, TUBE = 0.45, 0.14  # of the tori [m]
SPEED, SPIN = 1.0, 6.0  # at which they part [m/s] and turn about the line between them, one each way [rad/s]
AROUND = 96  # pieces of a centre line


def torus(side: int) -> SolidSettings:
    """One of two links of a chain, which flies away from the other and turns."""
    middle = (side * RADIUS / 2, 0.0, 0.0)
    return SolidSettings(
        name="left" if side < 0 else "right",
        mesh=ShapeMesh(
            shapes.Torus(middle, RADIUS, TUBE, (0.0, 1.0, 0.0) if side < 0 else (0.0, 0.0, 1.0)), 0.09
        ),
        material=FixedCorotated(E=4e4, nu=0.4, density=1000.0),
        velocity=Rigid((side * SPEED, 0.0, 0.0), (side * SPIN, 0.0, 0.0), middle),
        contact=GridContact(friction=0.2),
    )


scene = Scene(
    title="Twisted tori",
    simulation=SimulationSettings(dx=0.035, gravity=(0.0, 0.0, 0.0), elastic_cfl=0.2),
    solid=[torus(-1), torus(1)],
    run=RunSettings(duration=1.5, fps=24.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.6, 1.6, 3.2), target=(0.0, 0.0, 0.0))
    ),
)


def centre_line(torus: SolidBody) -> Array:
    """Middles of slices of a torus (AROUND, 3) [m], all the way around."""
    relative = torus.rest - torus.rest.mean(axis=0)
    a, b = np.argsort(np.ptp(relative, axis=0))[1:]  # the plane that it rests in
    angle = np.arctan2(relative[:, b], relative[:, a])
    order = np.argsort(angle)
    turn = np.concatenate([angle[order] - 2 * np.pi, angle[order], angle[order] + 2 * np.pi])
    x = np.tile(torus.x[order], (3, 1))
    middles = 2 * np.pi * (np.arange(AROUND) / AROUND - 0.5)
    weights = np.exp(-(((turn - middles[:, None]) / 0.15) ** 2))
    mean: Array = weights @ x / weights.sum(axis=1, keepdims=True)
    return mean


def linking(sim: Simulation) -> float:
    """How often one centre line goes through the other: the double integral of Gauss, 1 in a chain, 0 apart."""
    a, b = (centre_line(torus) for torus in solids(sim))
    da, db = (np.roll(line, -1, axis=0) - line for line in (a, b))
    r = (a + da / 2)[:, None] - (b + db / 2)[None]
    cross = np.cross(da[:, None], db[None])
    return abs(float((np.einsum("ija,ija->ij", r, cross) / np.linalg.norm(r, axis=2) ** 3).sum())) / (
        4 * np.pi
    )


def watch(sim: Simulation) -> dict[str, float]:
    """Depth of surface points in tori [cells], least volume of an element over that at rest, energy [J]."""
    depth = solid_depth(sim) if time_to_look(sim) else 0.0
    volume = min(float(body.J.min()) for body in solids(sim))
    return {"depth": depth, "volume": volume, "energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """No surface ever is in a torus, no element inside out, the chain is one; nothing is gained."""
    return [
        at_most("deepest point in a torus [cells]", run.most("depth"), 0.5),
        at_least("least volume of an element", run.least("volume"), 0.05),
        near("how often the tori are linked", linking(run.sim), 1.0, 0.1),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), 0.01),
        at_most(
            "momentum from nowhere, over that of all mass at the speed of the start",
            drift(run.sim, SPEED),
            0.05,
        ),
    ]
