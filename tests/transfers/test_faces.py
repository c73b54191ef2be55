"""Transfers to and from faces of a MAC grid: against sums written out, over seams, of several bodies, at the border."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from clouds import H, both, by_id, kernels, step_of
from face_clouds import FaceDriver, face_cloud, face_field, faces_of, reference_g2p, reference_p2g
from grid_driver import weights

import continua as ct
from continua import _core
from continua.bodies.points import ParticleBody
from continua.materials import IncompressibleFluid
from continua.transfers import APIC, FLIP, PIC, RPIC, PolyPIC, Transfer

# ---- against the textbook ----


@pytest.mark.parametrize("scheme", ["pic", "apic"])
@kernels
@both
def test_particles_to_faces_is_the_written_out_sum(d: int, kernel: str, scheme: str) -> None:
    driver = face_cloud(d, kernel, scheme, n=60)
    mass, momentum = driver.scatter()
    expected = reference_p2g(driver, kernel)
    scale = driver.body.mass.sum()
    assert np.abs(mass - expected[0]).max() <= 1e-13 * scale
    assert np.abs(momentum - expected[1]).max() <= 1e-13 * scale
    # weights of one component used for another are noticed
    of_cells = driver.body.mass @ weights(driver.body.x, driver.cells, H, kernel)
    assert np.abs(mass - np.tile(of_cells, d)).max() > 1e-3 * scale


@pytest.mark.parametrize("scheme", ["pic", "flip", "apic"])
@kernels
@both
def test_faces_to_particles_is_the_written_out_sum(d: int, kernel: str, scheme: str) -> None:
    driver = face_cloud(d, kernel, scheme, n=60)
    _, old, field = face_field(driver)
    x = by_id(driver, driver.body.x.copy())
    v, C = (
        by_id(driver, rows)
        for rows in reference_g2p(driver, kernel, field, old if scheme == "flip" else None)
    )
    moved = by_id(driver, reference_g2p(driver, kernel, field)[0])  # also FLIP moves with the grid
    dt = step_of(field)
    driver.gather(field, dt, old)
    assert np.abs(by_id(driver, driver.body.v) - v).max() <= 1e-13
    assert np.abs(by_id(driver, driver.body.x) - x - dt * moved).max() <= 1e-13
    if scheme == "apic":
        assert H * np.abs(by_id(driver, driver.body.C) - C).max() <= 1e-13
        assert H * np.abs(by_id(driver, driver.body.C) - C.transpose(0, 2, 1)).max() > 0.1


@kernels
@both
def test_a_shift_moves_particles_and_leaves_their_velocity_alone(d: int, kernel: str) -> None:
    plain, moved = face_cloud(d, kernel, "apic"), face_cloud(d, kernel, "apic")
    _, _, field = face_field(plain)
    shift = 0.1 * H * face_field(plain, seed=5)[2]
    extra = by_id(moved, weights(moved.body.x, moved.nodes, H, kernel) @ shift)
    for driver, by in ((plain, None), (moved, moved.quads(shift))):
        driver.advance(driver.quads(field), None, by, step_of(field))
    change = by_id(moved, moved.body.x) - by_id(plain, plain.body.x)
    assert np.abs(change - extra).max() <= 1e-13 and np.abs(extra).max() > 0.05 * H
    np.testing.assert_array_equal(by_id(moved, moved.body.v), by_id(plain, plain.body.v))
    np.testing.assert_array_equal(by_id(moved, moved.body.C), by_id(plain, plain.body.C))


# ---- the channels of cells ----


@kernels
@both
def test_cells_know_their_mass_and_their_number_of_particles(d: int, kernel: str) -> None:
    driver = face_cloud(d, kernel, "apic")
    momentum, mass = driver.channels()
    x, centres = driver.body.x, driver.cells
    spread = driver.body.mass @ weights(x, centres, H, kernel)
    inside = (np.abs(x[:, None] - centres[None]) < H / 2).all(axis=2).sum(axis=0)
    assert np.abs(momentum[:, 3] - spread).max() <= 1e-13 * spread.sum()
    assert momentum[:, 3].sum() == pytest.approx(driver.body.mass.sum(), rel=1e-14)
    np.testing.assert_array_equal(mass[:, 3], inside)
    assert inside.sum() == len(driver.body) and inside.max() > 1


@both
def test_a_particle_between_cells_is_counted_once(d: int) -> None:
    corners = H * np.stack(np.meshgrid(*[np.arange(-5.0, 5.0)] * d, indexing="ij"), -1).reshape(-1, d)
    for nudge in (0.0, 1e-17, -1e-17, 1e-15, -1e-15):
        driver = FaceDriver(corners + nudge, H)
        count = driver.channels()[1][:, 3]
        assert count.sum() == len(corners) and np.all(count == np.round(count))


# ---- periodic axes ----


def over_the_seam(d: int, kernel: str, shift: np.ndarray, seed: int = 3) -> FaceDriver:
    """A cloud around the corner of a box of four blocks that repeats on all axes; `shift` in cells."""
    rng, cells = np.random.default_rng(seed), 16
    q = rng.uniform(-2.0, 2.0, size=(150, d)) + shift
    q[0], q[1], q[2] = 0.0 + shift, -1e-13 + shift, 0.5 + shift
    driver = FaceDriver(
        H * (q % cells), H, kernel=kernel, transfer="apic", mass=rng.uniform(0.5, 2, 150), period=(4,) * d
    )
    body = driver.body
    order = body.ids
    body.v[:], body.C = rng.normal(size=q.shape)[order], rng.normal(size=(150, d, d))[order] / H
    return driver


def by_face(driver: FaceDriver, rows: np.ndarray, back: np.ndarray) -> dict[tuple, np.ndarray]:
    """Rows by axis and place of the face, in half cells, moved `back` cells."""
    place = np.round(2 * (driver.nodes / H - back)).astype(int) % 32
    return {
        (a, *p): row for a, p, row in zip(driver.axis.tolist(), place.tolist(), rows.tolist(), strict=True)
    }


@kernels
@both
def test_a_cloud_over_the_seam_is_like_any_other(d: int, kernel: str) -> None:
    """P2G and G2P give the same after a shift by whole cells, whichever seams they then cross."""
    found = {}
    for cells in (0, 3, 8):
        shift = np.full(d, float(cells))
        driver = over_the_seam(d, kernel, shift)
        mass, momentum = driver.scatter()
        table = by_face(driver, np.column_stack([mass, momentum]), shift)
        waves = np.sin(2 * np.pi * (driver.nodes / H - shift) / 16 + np.arange(d))
        driver.gather(waves, 0.0)
        found[cells] = (table, by_id(driver, driver.body.v), by_id(driver, driver.body.C))
    total = sum(row[0] for row in found[8][0].values()) / d
    for cells in (0, 3):
        faces = found[cells][0].keys() | found[8][0].keys()
        none = [0.0] * (d + 1)
        gaps = [np.subtract(found[cells][0].get(f, none), found[8][0].get(f, none)) for f in faces]
        assert np.abs(gaps).max() <= 1e-13 * total
        assert np.abs(found[cells][1] - found[8][1]).max() <= 1e-12
        assert H * np.abs(found[cells][2] - found[8][2]).max() <= 1e-12


@both
def test_particles_that_cross_the_seam_come_in_on_the_other_side(d: int) -> None:
    driver = FaceDriver(np.full((1, d), 0.1 * H), H, period=(1,) * d)
    driver.gather(np.full(driver.nodes.shape, -1.0), 0.3 * H)
    np.testing.assert_allclose(driver.body.x, 3.8 * H, rtol=1e-14)
    driver.gather(np.full(driver.nodes.shape, 1.0), 0.3 * H)
    np.testing.assert_allclose(driver.body.x, 0.1 * H, rtol=1e-13)


@pytest.mark.parametrize("blocks", [1, 2])
@kernels
def test_short_periods_wrap_onto_themselves(kernel: str, blocks: int) -> None:
    """With one block the stencil of a particle may end in the block that it started in."""
    rng, length = np.random.default_rng(0), 4 * blocks
    driver = FaceDriver(rng.uniform(0, length * H, (50, 2)), H, kernel=kernel, period=(blocks, blocks))
    driver.body.v[:] = rng.normal(size=(50, 2))
    images = [H * length * np.array([i, j]) for i in (-1, 0, 1) for j in (-1, 0, 1)]
    w = driver.body.mass[:, None] * sum(
        weights(driver.body.x + image, driver.nodes, H, kernel) for image in images
    )
    mass, momentum = driver.scatter()
    assert np.abs(mass - w.sum(axis=0)).max() <= 1e-12
    assert np.abs(momentum - driver.own(w.T @ driver.body.v)).max() <= 1e-12


# ---- several bodies ----


@both
def test_bodies_add_up(d: int) -> None:
    """The faces of two bodies, apart in space, are those of one body with all their particles."""
    rng = np.random.default_rng(1)
    near, far = rng.uniform(0, 0.3, (40, d)), rng.uniform(0.2, 1.1, (30, d))
    whole = FaceDriver(np.concatenate([near, far]), H, kernel="quadratic")
    velocity = rng.normal(size=(70, d))
    whole.body.v[:] = velocity[whole.body.ids]
    one, two = (ParticleBody(name, IncompressibleFluid(1.0), d, np.float64) for name in ("one", "two"))
    for body, x, v in ((one, near, velocity[:40]), (two, far, velocity[40:])):
        body.append(x, v, np.zeros((len(x), d, d)), np.ones(len(x)))
    faces = whole.field
    expected = faces_of(faces)
    keys = faces.grid.keys.copy()
    assert faces.sort([one, two]) is None
    np.testing.assert_array_equal(faces.grid.keys, keys)
    for found, all_at_once in zip(faces_of(faces), expected, strict=True):
        assert np.abs(found - all_at_once).max() <= 1e-13
    assert faces.sort([one]) is None
    assert abs(faces_of(faces)[1][..., 3].sum() - 40) == 0


# ---- precision, threads ----

ONE_OF_EACH: dict[str, Callable[[int], Transfer]] = {
    "pic": lambda d: PIC(),
    "flip": lambda d: FLIP(0.95),
    "rpic": lambda d: RPIC(),
    "apic": lambda d: APIC(),
    "polypic": lambda d: PolyPIC(),
}
each = pytest.mark.parametrize("name", ONE_OF_EACH)


def bits(driver: FaceDriver) -> list[bytes]:
    """Everything after a step on the faces with a random velocity."""
    _, old, field = face_field(driver)
    driver.gather(field, step_of(field), old)
    body = driver.body
    return [*(a.tobytes() for a in driver.channels()), body.x.tobytes(), body.v.tobytes(), body.C.tobytes()]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@each
@both
def test_threads_do_not_change_a_bit(d: int, name: str, dtype: type) -> None:
    before, found = ct.threads(), []
    try:
        for threads in (1, 2, 3):
            ct.set_threads(threads)
            scheme = ONE_OF_EACH[name](d)
            found.append(bits(face_cloud(d, "quadratic", scheme, n=6000, cells=9.0, dtype=dtype)))
    finally:
        ct.set_threads(before)
    assert found[0] == found[1] == found[2]


@each
@kernels
@both
def test_single_precision_is_double_up_to_its_rounding(d: int, kernel: str, name: str) -> None:
    found = []
    for dtype in (np.float64, np.float32):
        driver = face_cloud(d, kernel, ONE_OF_EACH[name](d), dtype=dtype)
        assert driver.scatter()[0].sum() == pytest.approx(d * driver.body.mass.sum(dtype=float), rel=1e-5)
        driver.gather(driver.nodes, 0.1, 0.9 * driver.nodes)
        assert driver.body.v.dtype == dtype
        found.append([by_id(driver, np.array(rows)) for rows in (driver.body.x, driver.body.v)])
    for double, single in zip(*found, strict=True):
        assert 0 < np.abs(double - single).max() <= 2e-6 * np.abs(double).max()


# ---- the border to the core ----


def call_arguments() -> tuple[FaceDriver, dict, dict]:
    """A small cloud and arguments that scatter_faces and gather_faces accept."""
    driver = face_cloud(2, "quadratic", "apic", n=20)
    field, particles, exchange = driver.field, driver.body.set, driver.exchange
    nodes = np.zeros(field.grid.node_shape())
    common = dict(
        particles=particles.arrays,
        lattice=field.lattice,
        order=exchange.order,
        plan=field.rule.plan,
        links=exchange.links,
        dimension=2,
        degree=2,
    )
    particles.next_arrays.count = particles.count
    up = common | {"add": False, "momentum": nodes, "mass": nodes.copy()}
    down = common | {
        "out": particles.next_arrays,
        "velocity": nodes.copy(),
        "change": None,
        "shift": None,
        "dt": 0.1,
    }
    return driver, up, down


def refused(call: Callable, arguments: dict, match: str, **wrong) -> None:
    with pytest.raises((ValueError, TypeError), match=match):
        call(**(arguments | wrong))


def test_wrong_arguments_are_refused_by_name() -> None:
    driver, up, down = call_arguments()
    _core.scatter_faces(**up)
    _core.gather_faces(**down)
    assert up["momentum"].any()  # the right ones do something
    nodes, velocity, order = up["momentum"], down["velocity"], up["order"]
    refused(_core.scatter_faces, up, "momentum", momentum=nodes[:, :-1].copy())
    refused(_core.scatter_faces, up, "momentum", momentum=nodes[:, ::2])
    refused(_core.scatter_faces, up, "mass", mass=nodes[:-1])
    refused(_core.scatter_faces, up, "mass", mass=nodes.astype(np.float32))
    refused(_core.scatter_faces, up, "momentum", momentum=nodes.astype(np.float32))
    refused(_core.scatter_faces, up, "degree", degree=4)
    refused(_core.scatter_faces, up, "dimension", dimension=4)
    refused(_core.scatter_faces, up, "momentum", momentum=None)
    refused(_core.scatter_faces, up, "modes", plan=PolyPIC(9).plan(2, 2))
    refused(_core.gather_faces, down, "modes", plan=PolyPIC(9).plan(2, 2))
    refused(_core.gather_faces, down, "out", out=down["particles"])
    refused(_core.gather_faces, down, "velocity", velocity=velocity[..., :3].copy())
    refused(_core.gather_faces, down, "velocity", velocity=velocity.astype(np.float32))
    refused(_core.gather_faces, down, "change", change=velocity[:-1])
    refused(_core.gather_faces, down, "shift", shift=velocity[:, :-1].copy())
    keys, lattice = driver.field.grid.keys, driver.field.lattice
    fewer = _core.Order()
    fewer.sort(driver.body.set.arrays.x, len(driver.body) - 1, lattice, 2, 2)
    refused(_core.scatter_faces, up, "order", order=fewer)
    refused(_core.gather_faces, down, "order", order=fewer)
    one_block = _core.Order.of(order.keys[:1], np.array([0, order.count]), order.order)
    moved = np.append(keys[:-1], keys[-1] + np.uint64(99))  # as many blocks, but not all that are reached
    for call, given in ((_core.scatter_faces, up), (_core.gather_faces, down)):
        refused(call, given, "links", links=_core.link_blocks(one_block, keys, lattice, 2))
        refused(call, given, "links", links=_core.link_blocks(order, keys[:-1], lattice, 2))
        refused(call, given, "links", links=given["links"].reach)
        refused(call, given, "links", links=_core.link_blocks(order, moved, lattice, 2))


def test_particles_that_are_nowhere_are_reported() -> None:
    driver, _, down = call_arguments()
    field = down["velocity"].copy()
    field[:] = np.nan
    assert _core.gather_faces(**(down | {"velocity": field}))["bad"] >= 0
    assert _core.gather_faces(**down)["bad"] == -1
