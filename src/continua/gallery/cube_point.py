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

import numpy as np

from continua.bodies.start import Placed
from continua.gallery import cube_random
from continua.gallery._running import SceneRun
from continua.validation.case import Measurement

COST = "2 187 vertices, 144 steps, 20 s"
SMALL = ["solid.mesh.counts=[5, 5, 5]", "duration=4.5"]
SMALL += ["solid.soft.material.E=2e4", "solid.stiff.material.E=1e6"]
WRONG = [("the soft cube in honey", ["solid.soft.drag=100", "duration=1"], "inside out")]

NOWHERE = ((0.0, 0.0, 0.0),) * 3  # the matrix that takes every vertex to the origin

scene = cube_random.cubes(
    "Cubes from points",
    lambda number, lower, upper: Placed(matrix=NOWHERE, shift=tuple(np.add(lower, upper) / 2)),
)


def check(run: SceneRun) -> list[Measurement]:
    """All three are cubes again, where they were, without a tetrahedron inside out."""
    return cube_random.check(run)
