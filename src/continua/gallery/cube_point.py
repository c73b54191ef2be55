"""Three cubes start as a single point each, all vertices in one place, and unfold (J15 Fig. A.8).

The volume of every tetrahedron is zero and its deformation gradient F = 0 says nothing about where it should go. Its
forces do: they come from the rotation nearest to F, for which any will do if it is always the same. One step per frame
is enough for the minimiser to leave this start. The three cubes differ in stiffness, 10 kPa, 100 kPa and 10 MPa, and
do not touch each other.

What to look at: the stiff cube is there after one step, the middle one after some 20. The soft one comes out of
the point as a knot with many tetrahedra inside out, is untangled after 50 steps, and swings by more than 1 % of its
size until step 150. Try `--set solid.soft.material.E=2e3` (five times softer, not done at the end),
`--set solid.drag=2` (less swinging) or `--set solid.mesh.counts=[4,4,4]`: on so coarse a mesh one cube in three stays
folded into itself, which is an equilibrium too.

J15 has 824 000 unknowns and 120, 5 and 1 steps. The middle cube does not do as well as that; its gate is that of
cube-random, 80 steps, twice the 40 of J15 from random vertices.

2 187 vertices, 7 680 tetrahedra, 174 steps; on two cores about 20 s.
"""

import numpy as np

from continua import Simulation
from continua.bodies.start import Placed
from continua.gallery import cube_random
from continua.gallery._running import SceneRun
from continua.validation.case import Measurement

COST = "2 187 vertices, 174 steps, 20 s"
SMALL = ["solid.mesh.counts=[5, 5, 5]"]
WRONG = [("the soft cube in honey", ["solid.soft.drag=100"], "steps to recover, soft")]

NOWHERE = ((0.0, 0.0, 0.0),) * 3  # the matrix that takes every vertex to the origin

scene = cube_random.cubes(
    "Cubes from points",
    lambda number, lower, upper: Placed(matrix=NOWHERE, shift=tuple(np.add(lower, upper) / 2)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """1 for every mesh that is a cube, else 0."""
    return cube_random.watch(sim)


def check(run: SceneRun) -> list[Measurement]:
    """All three become cubes within the steps of cube-random, stay where they were and come to rest."""
    return cube_random.check(run)
