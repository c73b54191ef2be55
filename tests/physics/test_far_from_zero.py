"""What happens does not depend on where zero is: worlds at map coordinates, millions of cells away, do as they do here.

Positions there are rounded to 2^-30 m, so cells of 1 m move by 1e-9 of their size in every step. Elastic forces pass
that on as c^2/dx^2 per second squared: with waves of c = 30 m/s and a third of a second that is below 1e-6 m. Floors
lie off the planes of nodes, since on them rounding alone would decide on which side nodes are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import continua as ct
from continua.errors import InstabilityError, SetupError
from continua.grid.reach import NEAR, REACH
from continua.integrators import Incompressible, Optimization
from continua.materials import FixedCorotated, IncompressibleFluid, Liquid, Snow

MAP = (500_000.0, 4_600_000.0, 100.0)  # easting, northing and height of a place, as on a map [m]
JELLY = FixedCorotated(E=1e6, nu=0.3, density=1000.0)
G = (0.0, -9.81, 0.0)
TOLERANCE = 1e-6  # [m], see above

Worlds = dict[str, Callable[[np.ndarray], ct.Simulation]]


def cube(at: np.ndarray, low: tuple, high: tuple) -> ct.shapes.Box:
    low, high = np.array(low[: len(at)], float), np.array(high[: len(at)], float)
    return ct.shapes.Box(tuple(at + (low + high) / 2), tuple(high - low))


def floor(at: np.ndarray, **options) -> ct.colliders.Plane:
    return ct.colliders.Plane(tuple(np.eye(len(at))[1]), tuple(at + 0.3 * np.eye(len(at))[1]), **options)


def snow(at: np.ndarray) -> ct.Simulation:
    """With friction on a floor, and a ball in its way."""
    sim = ct.Simulation(1.0, G[: len(at)])
    sim.add(cube(at, (0, 1, 0), (4, 4, 4)), Snow(), velocity=(5.0, -9.0, 1.0)[: len(at)])
    sim.add(floor(at, friction=0.3))
    sim.add(ct.colliders.Sphere(tuple(at + (5.3, 1.2, 2.1)[: len(at)]), 1.4))
    return sim


def sampled(at: np.ndarray) -> ct.Simulation:
    """Random points in a ball, on a shape that is known at points only."""
    sim = ct.Simulation(1.0, G)
    sim.add(
        ct.shapes.Sphere(tuple(at + (2.0, 4.2, 2.0)), 2.0), JELLY, velocity=(0, -12.0, 0), sampling="poisson"
    )
    torus = ct.shapes.Torus(tuple(at + (2.0, 0.8, 2.0)), 2.0, 0.9)
    sim.add(ct.colliders.Shape(torus, friction=0.5, resolution=16))
    return sim


def stream(at: np.ndarray) -> ct.Simulation:
    """In through an emitter, out through a drain; a region holds nodes still."""
    sim = ct.Simulation(1.0, G, dt=0.01)
    shape = cube(at, (0, 4, 0), (2, 6, 2))
    sim.add(ct.Emitter(shape, Liquid(bulk_modulus=1e5, density=1000.0), (0.0, -12.1, 0.0)))
    sim.add(ct.boundaries.FixedVelocity(tuple(at - 1.0), tuple(at + (3.0, 0.4, 3.0)), (None, 0.0, None)))
    sim.add(ct.Drain(cube(at, (1, 0, 0), (2, 2, 2))))
    return sim


def periodic(at: np.ndarray) -> ct.Simulation:
    sim = ct.Simulation(1.0, G[: len(at)])
    sim.add(ct.boundaries.Periodic(0, at[0], at[0] + 8))
    sim.add(cube(at, (5, 2, 0), (8, 4, 3)), JELLY, velocity=(20.0, -5.0, 0.0)[: len(at)])
    sim.add(floor(at))
    return sim


def continua(at: np.ndarray) -> ct.Simulation:
    """Two bodies that meet in a contact with friction."""
    sim = ct.Simulation(1.0, G[: len(at)])
    sim.add(ct.Contact("main", "other", friction=0.4))
    sim.add(cube(at, (0, 0, 0), (6, 2, 3)), JELLY)
    sim.add(
        cube(at, (1, 2.2, 0), (4, 4.2, 3)), JELLY, velocity=(4.0, -6.0, 0.0)[: len(at)], continuum="other"
    )
    return sim


def water(at: np.ndarray) -> ct.Simulation:
    """Solved to rounding, and without volume control, whose solve is not: multigrid halves blocks, so that iterations
    depend on where in their blocks cells lie, near zero as well."""
    flow = Incompressible(tolerance=1e-9, viscous_tolerance=1e-9, volume_control=0.0)
    sim = ct.Simulation(1.0, G[: len(at)], integrator=flow)
    room = cube(at, (-0.3, -0.3, -0.3), (8.3, 6.3, 3.3))
    sim.add(ct.colliders.Box(room.center, room.size, inverted=True))
    sim.add(cube(at, (0, 0, 0), (3, 4, 3)), IncompressibleFluid(1000.0, viscosity=500.0))
    return sim


def implicit(at: np.ndarray) -> ct.Simulation:
    sim = ct.Simulation(1.0, G[: len(at)], integrator=Optimization(tolerance=1e-9))
    sim.add(cube(at, (0, 1, 0), (3, 4, 3)), JELLY, velocity=(0.0, -9.0, 0.0)[: len(at)])
    sim.add(floor(at))
    return sim


def mesh(at: np.ndarray, **options) -> ct.Simulation:
    sim = ct.Simulation(1.0, G[: len(at)], **options)
    d = len(at)
    corner = at + 0.8 * np.eye(d)[1]
    block = ct.meshes.box_mesh(corner, corner + 3, (3,) * d)
    sim.add(ct.SolidBody(block, JELLY, velocity=(0.0, -6.0, 0.0)[:d]))
    sim.add(floor(at))
    return sim


def free_mesh(at: np.ndarray) -> ct.Simulation:
    return mesh(at, integrator=Optimization(tolerance=1e-9))


def meshes(at: np.ndarray) -> ct.Simulation:
    """One falls on the other and rubs."""
    d = len(at)
    sim = free_mesh(at)
    corner = at + 4.1 * np.eye(d)[1] + 0.37 * np.eye(d)[0]
    block = ct.meshes.box_mesh(corner, corner + 3, (3,) * d)
    sim.add(ct.SolidBody(block, JELLY, velocity=(1.0, -12.0, 0.0)[:d]))
    return sim


def small(at: np.ndarray) -> ct.Simulation:
    """Cells of 0.1 m, which is no sum of powers of two, ten times as many of them from zero."""
    sim = ct.Simulation(0.1, G[: len(at)])
    sim.add(cube(at, (0, 0.1, 0), (0.4, 0.4, 0.4)), Snow(), velocity=(0.5, -2.0, 0.0)[: len(at)])
    normal = np.eye(len(at))[1]
    sim.add(ct.colliders.Plane(tuple(normal), tuple(at + 0.03 * normal), friction=0.3))
    return sim


WORLDS: Worlds = {
    f.__name__: f for f in (snow, sampled, stream, periodic, continua, water, implicit, mesh, free_mesh)
}
FLAT = [snow, periodic, continua, water, implicit, mesh, free_mesh, meshes]


def walk(sim: ct.Simulation, duration: float) -> list[np.ndarray]:
    """Positions of all bodies in order of creation after some time [s], (N, d) each."""
    while sim.time < duration:
        sim.step(min(duration - sim.time, 1 / 24))
    return [np.asarray(body.fields()["x"], float) for body in sim.bodies]


def compare(make: Callable[[np.ndarray], ct.Simulation], at: np.ndarray, duration: float = 0.3) -> None:
    far = make(at)
    there, here = walk(far, duration), walk(make(np.zeros(len(at))), duration)
    assert sum(map(len, here)) > 0
    for a, b in zip(here, there, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(b - at, a, rtol=0, atol=TOLERANCE)
    assert np.abs(far.dx * 4 * np.asarray(far.world.offset)).max() < 1.01 * np.abs(at).max()


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_on_the_map_is_a_world_at_zero(name: str) -> None:
    compare(WORLDS[name], np.array(MAP))


@pytest.mark.parametrize("make", FLAT, ids=lambda f: f.__name__)
def test_so_in_the_plane_and_below_zero(make: Callable[[np.ndarray], ct.Simulation]) -> None:
    """By whole cells that are no whole blocks."""
    compare(make, np.array([3_000_001.0, -4_600_002.0]))


@pytest.mark.parametrize("at", [(0.0, 0.0), MAP[:2], (0.1, 0.7)])
def test_an_emitter_forgets_no_particle_and_releases_none_twice(at: tuple[float, float]) -> None:
    """Rows that reach the edge of the region exactly at the end of a step enter once, whatever the rounding: a stream
    of 2 m by 12.5 m/s times a second fills 25 m^2 with 4 particles each, and one row more or less."""
    emitter = ct.Emitter(cube(np.array(at), (0, 0), (2, 2)), JELLY, (0.0, -12.5))
    times = np.arange(0, 101) * 0.01  # the lattice moves by a quarter of its spacing
    released = [emitter.released(a, b, 0.5) for a, b in pairwise(times)]
    assert sum(map(len, released)) == pytest.approx(100, abs=4)
    # Seen from the stream, every particle has a place of its own.
    places = [x - (0.0, -12.5 * t) for x, t in zip(released, times[1:], strict=True)]
    rounded = np.round(np.concatenate(places) / 0.25).astype(np.int64)
    assert len(np.unique(rounded, axis=0)) == len(rounded)
    rows = np.unique(rounded[:, 1])
    np.testing.assert_array_equal(np.diff(rows), 2)  # none is missing


@pytest.mark.parametrize("d", [2, 3])
def test_a_fine_grid_on_the_map(d: int) -> None:
    compare(small, np.array(MAP[:d]), 0.05)


def test_near_zero_the_lattice_stays_at_zero() -> None:
    """So that a result does not change when a farther body is thought of."""
    sim = snow(np.array([0.4 * NEAR, -0.9 * NEAR]))
    sim.step()
    assert not sim.world.offset.any()
    assert not sim.world.lattice().origin.any()


def test_the_lattice_moves_by_whole_blocks_along_far_axes_only() -> None:
    sim = snow(np.array(MAP))
    sim.step()
    assert sim.world.offset[0] == sim.world.offset[2] == 0
    assert sim.world.offset[1] == pytest.approx(MAP[1] / 4, abs=2)


@pytest.mark.parametrize("at", [MAP[:2], (0.0, 0.0)])
def test_a_resumed_run_has_the_same_bits(at: tuple[float, float]) -> None:
    """Though its bodies would choose another lattice: they are elsewhere by then."""
    whole = periodic(np.array(at))
    walk(whole, 0.2)
    stored = whole.state()
    straight = walk(whole, 0.4)
    again = periodic(np.array(at))
    again.bodies[0].x[:] += 8.0  # another lattice, if it was chosen by where bodies are
    again.load_state(stored)
    np.testing.assert_array_equal(again.world.offset, whole.world.offset)
    for a, b in zip(straight, walk(again, 0.4), strict=True):
        np.testing.assert_array_equal(a, b)


# ---- how far it goes ------------------------------------------------------------------------------------------


def test_single_precision_says_that_it_cannot_tell_cells_apart() -> None:
    sim = ct.Simulation(1.0, G, precision="single")
    with pytest.raises(SetupError, match='precision = "double", or move the scene nearer to zero'):
        sim.add(cube(np.array(MAP), (0, 0, 0), (4, 4, 4)), Snow())
    with pytest.raises(SetupError, match="emitter"):
        sim.add(ct.Emitter(cube(np.array(MAP), (0, 0, 0), (4, 4, 4)), Snow(), (0.0, -1.0, 0.0)))


def test_single_precision_warns_before_that() -> None:
    sim = ct.Simulation(1.0, G, precision="single")
    with pytest.warns(UserWarning, match="neighbouring numbers of single precision are 0.002 m apart"):
        sim.add(cube(np.array([20_000.0, 0, 0]), (0, 0, 0), (2, 2, 2)), Snow())
    sim.step()


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("distance", [1e18, 1e300])
def test_beyond_all_numbers_is_said(precision: str, distance: float) -> None:
    sim = ct.Simulation(1.0, G[:2], precision=precision)
    with pytest.raises(SetupError, match="move the scene nearer to zero"):
        sim.add(ct.shapes.Box((distance, 0.0), (4.0, 4.0)), JELLY)
    body = sim.add(ct.shapes.Box((0.0, 0.0), (4.0, 4.0)), JELLY)
    with np.errstate(over="ignore"):
        body.x[3] = distance
    with pytest.raises(ct.ContinuaError, match="nearer to zero|no place"):
        sim.step()


def test_bodies_too_far_apart_are_said() -> None:
    sim = ct.Simulation(1e-3, G[:2])
    for x in (0.0, 3.0 * REACH * 1e-3):
        sim.add(ct.shapes.Box((x, 0.0), (0.01, 0.01)), JELLY)
    with pytest.raises(SetupError, match="bring the bodies closer together"):
        sim.step()


def test_a_far_body_that_comes_later_is_said() -> None:
    sim = ct.Simulation(1.0, G[:2])
    sim.add(ct.shapes.Box((0.0, 0.0), (4.0, 4.0)), JELLY)
    sim.step()
    with pytest.raises(SetupError, match="before the first step"):
        sim.add(ct.shapes.Box((2.0 * REACH, 0.0), (4.0, 4.0)), JELLY)


def test_what_flies_off_the_grid_is_said() -> None:
    sim = ct.Simulation(1.0, (0.0, 0.0))
    body = sim.add(ct.shapes.Box((0.0, 0.0), (4.0, 4.0)), JELLY)
    sim.step()
    body.x[7, 0] = 1.5 * REACH
    with pytest.raises(
        InstabilityError, match=r"the grid reaches from -4\.1943e\+06 m to 4\.1943e\+06 m along x"
    ):
        sim.step()
