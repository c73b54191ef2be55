"""A braid of three bundles is pulled tight (W20 Fig. 4.12).

Three bundles of strands, over and under each other, are clamped at both ends. The ends are pulled apart by more than
the braid can give: its bundles try to become straight and press each other where they cross.

What to look at: the braid becomes longer and thinner, and stays a braid. The order in which its bundles cross, and
which of them lies in front, is the same from end to end as before the pull, no strand went through another one, and
no strand is more than a percent longer. Try `--set strands.contact.sweeps=0 --set strands.contact.stiffness=1.0`
(strands that do not feel each other: they go straight through).

The published braid has 372 000 elements. The small version has fewer and coarser strands:
`strands.curves.strands=12`, `strands.curves.segments=30`.

7 300 vertices, 2 300 steps; on one core about 80 s.
"""

import numpy as np
from numpy.typing import NDArray

from continua import Scripted, Simulation, Strands
from continua.contact.motions import Keyframes
from continua.contact.strand_contact import StrandContact
from continua.gallery._running import SceneRun
from continua.gallery._strands import crossed_share, length_change, strands
from continua.geometry import shapes
from continua.geometry.ropes import Braid
from continua.materials.rod import Rod
from continua.scene import (
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
    StrandsSettings,
)
from continua.validation.case import Measurement, at_least, at_most, near

COST = "7 300 vertices, 2 300 steps, 80 s"
SMALL = ["strands.curves.strands=12", "strands.curves.segments=30", "duration=0.2"]
WRONG = [
    (
        "strands that do not feel each other",
        ["strands.contact.sweeps=0", "strands.contact.stiffness=1.0"],
        "went through each other",
    ),
    ("fewer turns, which the pull takes out", ["strands.curves.turns=1.0"], "crossings of bundles"),
]

LENGTH, RADIUS, TURNS, BUNDLES = 0.6, 0.02, 1.5, 3
PULL, PULLED = 0.06, 0.15  # way of each end [m], time that it takes [s]
CLAMP = 0.045  # length of what is held at each end [m]
ROD = Rod(E=1e6, radius=2e-3, density=1300.0)


def clamp(side: float) -> Scripted:
    """All points at an end of the braid, pulled away from the other one."""
    way = Keyframes(
        times=[0.0, PULLED], positions=[(0.0, 0.0, 0.0), (side * PULL, 0.0, 0.0)], interpolation="smooth"
    )
    return Scripted(shapes.Box((side * LENGTH / 2, 0.0, 0.0), (2 * CLAMP, 1.0, 1.0)), motion=way)


scene = Scene(
    title="A braid is pulled tight",
    simulation=SimulationSettings(dx=0.012, gravity=(0.0, 0.0, 0.0)),
    strands=[
        StrandsSettings(
            name="braid",
            curves=Braid(
                (-LENGTH / 2, 0.0, 0.0),
                (LENGTH / 2, 0.0, 0.0),
                RADIUS,
                strands=40,
                segments=60,
                turns=TURNS,
                bundles=BUNDLES,
                across=(0.0, 1.0, 0.0),
            ),
            material=ROD,
            contact=StrandContact(friction=0.3, stiffness=1e3, pic=0.5, points=2),
            scripted=[clamp(-1.0), clamp(1.0)],
        )
    ],
    run=RunSettings(duration=0.25, fps=60.0),
    render=RenderSettings(
        color_by="body", camera=CameraSettings(position=(0.1, 0.25, 1.1), target=(0.0, 0.0, 0.0), fov=26.0)
    ),
)


def crossings(x: NDArray[np.float64]) -> list[tuple[int, int, bool]]:
    """The braid as its bundles cross, seen across it and from one end to the other: which two, and whether the first
    is in front; x (bundles, points, 3) [m]: middle lines."""
    along = np.linspace(x[..., 0].min(axis=1).max(), x[..., 0].max(axis=1).min(), 400)
    lines = np.array([[np.interp(along, line[:, 0], line[:, c]) for c in (1, 2)] for line in x])
    found = []
    for a in range(len(x)):
        for b in range(a + 1, len(x)):
            wide, deep = lines[a] - lines[b]
            place = np.flatnonzero(wide[1:] * wide[:-1] < 0)
            found += [(k, a, b, bool(deep[k] > 0)) for k in place]
    return [(a, b, front) for _, a, b, front in sorted(found)]


def middle_lines(body: Strands, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the bundles (bundles, points, 3) [m], with points at x (N, 3) [m]."""
    per_bundle = (len(body.curves.offsets) - 1) // BUNDLES
    return x.reshape(BUNDLES, per_bundle, -1, 3).mean(axis=1)


def watch(sim: Simulation) -> dict[str, float]:
    """Largest change of the length of a strand."""
    return {"stretch": length_change(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The braid is the same braid, no strand went through another one, and strands keep their length."""
    sim = run.sim
    (braid,) = strands(sim)
    before = crossings(middle_lines(braid, braid.curves.points))
    after = crossings(middle_lines(braid, braid.x))
    same = len(before) == len(after) and all(a == b for a, b in zip(before, after, strict=True))
    return [
        at_least("meetings of segments", sim.diagnostics()["strand_contacts"], 1000),
        at_most("share of them that went through each other", crossed_share(sim), 0.01),
        near("crossings of bundles along the braid", len(after), round(2 * BUNDLES * TURNS), 0),
        near("whether they are those of the start, in this order", float(same), 1.0, 0),
        at_most("most change of the length of a strand", run.most("stretch"), 0.01),
    ]
