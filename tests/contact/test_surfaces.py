"""Bodies that know their surface: vertices of solid meshes with outward normals, and sheets, which have two sides.

Their points carry no volume, so contact looks at where the points are, along the normals of the surface.
"""

import numpy as np
import pytest
from scenes import A, G, H, hold_bottom, run, time_step
from two_fields import Fields, body_of, lattice_points

from continua.materials import FixedCorotated

JELLY = FixedCorotated(E=1e6, nu=0.3, density=1000)


def sheet(name, height, up, d=2, velocity=None, half=4):
    """Points of a level sheet; its normals point up or down, or to both sides as they come."""
    n = round(half * H / A)
    line = A * np.arange(-n, n + 1)
    axes = np.meshgrid(*[line] * (d - 1), indexing="ij")
    x = np.stack([axes[0], np.full(axes[0].shape, height), *axes[1:]], axis=-1).reshape(-1, d)
    body = body_of(name, x, A, JELLY, velocity=velocity)
    normals = np.zeros_like(x)
    normals[:, 1] = up * A ** (d - 1)
    return body, normals


def mesh(name, low, high, velocity=None):
    """Vertices of a filled rectangle, with outward normals on its sides."""
    nx, ny = (round((b - a) / A) for a, b in zip(low, high))
    grid = np.stack(np.meshgrid(np.arange(nx + 1), np.arange(ny + 1), indexing="ij"), axis=-1).reshape(-1, 2)
    body = body_of(name, np.array(low) + A * grid, A, JELLY, velocity=velocity)
    i, j = grid.T
    end_x, end_y = (i == 0) | (i == nx), (j == 0) | (j == ny)
    normals = np.zeros((len(grid), 2))
    normals[:, 0] = ((i == nx) * 1.0 - (i == 0)) * A * np.where(end_y, 0.5, 1)
    normals[:, 1] = ((j == ny) * 1.0 - (j == 0)) * A * np.where(end_x, 0.5, 1)
    return body, normals


def world_of(parts, **options):
    """parts: bodies, or (body, normals[, two_sided]) of those with a surface."""
    bodies = [p[0] if isinstance(p, tuple) else p for p in parts]
    world = Fields(bodies, H, slack=0.0, **options)
    for k, p in enumerate(parts):
        if isinstance(p, tuple):
            world.thin[k], world.normals[k] = True, p[1]
            world.two_sided[k] = len(p) > 2
    return world


def block(name="block", d=2, top=0.0):
    deep = [4 * H] * (d - 2)
    return body_of(
        name, lattice_points([-6 * H, top - 4 * H, *(-w for w in deep)], [6 * H, top, *deep], A), A, JELLY
    )


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("up", [1.0, -1.0])
@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_a_sheet_faces_the_other_body_whichever_way_its_normals_point(d, up, above, first):
    height = 0.1 * H if above else -4.1 * H
    cloth = (*sheet("cloth", height, up, d), True)
    parts = [cloth, block(d=d)] if first else [block(d=d), cloth]
    world = world_of(parts, origin=np.full(d, 0.37 * H))
    world.to_grid(1e-5)
    found = world.contacts()
    names = [b.name for b in world.bodies]
    towards_b = -1.0 if above == (names[world.rules[0].a] == "cloth") else 1.0
    x = found.positions(world.lattice)
    inner = (np.abs(np.delete(x, 1, axis=1)) < 1.4 * H).all(axis=1) & np.isfinite(found.gap)
    assert inner.sum() > 5
    assert np.allclose(found.normal[inner, 1], towards_b, atol=1e-3)
    assert np.allclose(found.gap[inner], 0.1 * H, atol=0.02 * H)


@pytest.mark.parametrize("up", [1.0, -1.0])
def test_a_sheet_comes_to_rest_on_a_block(up):
    cloth = (*sheet("cloth", 0.3 * H, up), True)
    world = world_of([block(), cloth], gravity=(0, -G), origin=(0.2 * H, 0.6 * H), friction=0.3)
    hold_bottom(world, 0, -2.5 * H)
    run(world, 0.5, time_step())
    assert np.abs(world.bodies[1].x[:, 1] / H).max() < 0.06


def test_two_sheets_lie_on_each_other():
    parts = [block(), (*sheet("a", 0.1 * H, 1.0), True), (*sheet("b", 0.3 * H, -1.0), True)]
    world = world_of(parts, gravity=(0, -G), origin=(0.2 * H, 0.6 * H), friction=0.3)
    hold_bottom(world, 0, -2.5 * H)
    run(world, 0.5, time_step())
    low, high = (b.x[:, 1].mean() / H for b in world.bodies[1:])
    assert abs(low) < 0.06 and -0.03 < high - low < 0.1


@pytest.mark.parametrize("lower", ["particles", "mesh"])
def test_a_mesh_rests_on_another_body(lower):
    floor = block() if lower == "particles" else mesh("block", (-6 * H, -4 * H), (6 * H, 0))
    world = world_of(
        [floor, mesh("mesh", (-3 * H, 0.2 * H), (3 * H, 4.2 * H))],
        gravity=(0, -G),
        origin=(0.2 * H, 0.6 * H),
        friction=0.3,
    )
    hold_bottom(world, 0, -2.5 * H)
    run(world, 0.5, time_step())
    bottom = world.bodies[1].x[:, 1].min() / H
    assert abs(bottom) < 0.1


def test_a_mesh_slides_down_a_slope():
    slope, mu = np.pi / 6, 0.2
    world = world_of(
        [block(), mesh("mesh", (-5 * H, 0), (-1 * H, 3 * H))],
        gravity=(G * np.sin(slope), -G * np.cos(slope)), origin=(0.2 * H, 0.6 * H), friction=mu,
    )  # fmt: skip
    hold_bottom(world, 0, -2.5 * H)
    dt = time_step()
    v = run(world, 0.25, dt, lambda: world.bodies[1].v[:, 0].mean())
    a = np.polyfit(dt * np.arange(len(v)), v, 1)[0] / G
    assert abs(a - (np.sin(slope) - mu * np.cos(slope))) < 0.03
