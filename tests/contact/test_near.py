"""Contact looks only at what lies near: the rest of a body changes nothing, and nothing near is passed over."""

import numpy as np
import pytest
from obstacle_scenes import box, floor, world_of
from scenes import JELLY, A, H
from two_fields import body_of

from continua import _core, colliders, shapes
from continua.contact.fields import obstacle_contacts
from continua.grid.blocks import Lattice
from continua.integrators import ObstacleTable

SOLIDS = {
    "plane": colliders.Plane((0.3, 1.0, 0.2), (0.0, 0.1, 0.0)),
    "box": colliders.Box((0.0, 0.1, 0.0), (0.6, 0.8, 0.5)),
    "room": colliders.Box((0.0, 0.0, 0.0), (1.2, 1.4, 1.1), inverted=True),
    "sphere": colliders.Sphere((0.1, 0.0, -0.1), 0.4),
    "capsule": colliders.Capsule((-0.3, 0.0, 0.0), (0.3, 0.2, 0.1), 0.25),
    "sampled": colliders.Shape(shapes.Torus((0.0, 0.0, 0.0), 0.5, 0.2), resolution=24),
}


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("mode", ["separate", "slip"])
def test_gaps_do_not_depend_on_the_far_part_of_a_body(degree, mode):
    """Nodes see the particles whose stencils hold them and no others."""
    found = []
    for height in (3.0, 9.0):
        body = box([0.0, 0.1, -2.0], [5.0, height, 2.0], velocity=(0.0, -0.1, 0.0))
        world = world_of([body], [floor(3, mode=mode)], place=0.37, degree=degree)
        one = world.to_grid(1e-4)[0]
        table = ObstacleTable.of(world.obstacles, 0.0, world.lattice)
        contacts = obstacle_contacts(one, table, world.lattice, degree)
        places = world.grids[0].node_positions().reshape(-1, 3)[contacts.node]
        order = np.lexsort(np.round(places / H, 6).T)
        found.append([part[order] for part in (places, contacts.gap_fill, contacts.gap_extent, contacts.gap)])
    assert len(found[0][0]) > 20
    for low, high in zip(*found, strict=True):
        np.testing.assert_allclose(low, high, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SOLIDS)
def test_push_out_moves_what_is_too_deep_and_nothing_else(name, dtype):
    """By the distances of single points, of which the core looks at several at once."""
    solid, dx, depth = SOLIDS[name], 0.05, 0.02
    points = np.random.default_rng(3).uniform(-0.8, 0.8, (4001, 3))
    body = body_of("dust", points, A, JELLY, dtype=dtype)
    a, order = body.set.arrays, _core.Order()
    lattice = Lattice(dx, np.zeros(3), np.zeros(3, np.int32))
    order.sort(a.x, a.count, lattice, 3, 2)
    a.x[:, : a.count] = a.x[:, order.order]  # as the kernels leave them
    before = a.x[:, : a.count].T.astype(np.float64)
    table = ObstacleTable.of([solid], 0.0, lattice)
    impulses = np.zeros((len(table), 3))
    pushed = _core.push_out(a, order, lattice, 3, depth, dx, table.rows, table.samples, impulses)
    after = a.x[:, : a.count].T.astype(np.float64)
    deep = solid.signed_distance(before)[0] < -depth
    assert pushed >= deep.sum() > 100
    assert ((before != after).any(axis=1) == deep).all()
    assert solid.signed_distance(after)[0].min() > -depth - 1e-3 * dx
