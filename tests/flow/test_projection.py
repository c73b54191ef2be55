"""The operators of the projection: outflow and its adjoint, what the projection may change, and what goes with it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from mac_boxes import SIZE, Mac, pool, random_box, random_distance, random_potential, random_velocity
from numpy.typing import NDArray
from poisson_boxes import closed_faces

import continua as ct
from continua import _core

both = pytest.mark.parametrize("d", [2, 3])
periodic_or_not = pytest.mark.parametrize("periodic", [False, True], ids=["in air", "periodic"])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = ct.threads()
    ct.set_threads(1)
    yield
    ct.set_threads(before)


# ---- the operators ----


@periodic_or_not
@both
def test_outflow_is_the_sum_over_the_faces_of_a_cell(d: int, periodic: bool) -> None:
    box = random_box(d, periodic)
    velocity, wall = random_velocity(box), random_velocity(box, 3)
    flux = box.coupling * box.plain(velocity) + (1 - box.coupling) * box.plain(wall)
    if not periodic:  # beyond the blocks everything is open and at rest
        flux = np.pad(flux, [(0, 0), *[(0, 1)] * d])
    upper = np.stack([np.roll(flux[a], -1, axis=a) for a in range(d)])
    inside = tuple(slice(n) for n in box.unknown.shape)
    expected = np.where(box.unknown, (upper - flux).sum(axis=0)[inside], 0)
    found = box.plain(box.outflow(velocity, wall))
    assert np.abs(found - expected).max() <= 1e-13
    assert np.abs(box.plain(box.outflow(velocity)) - expected).max() > 0.1  # walls at rest are another flow


@periodic_or_not
@both
def test_differences_are_the_negative_adjoint_of_outflow(d: int, periodic: bool) -> None:
    """<phi, outflow u> = -<open cut u, grad phi>: walls and pressure do no work on each other's behalf.

    The slope at a surface face is phi / cut, so its weight is cut: what of the way between the cells is liquid.
    """
    box = random_box(d, periodic)
    velocity, phi = random_velocity(box), random_potential(box)
    minus_gradient, _ = box.subtract(phi, 0 * velocity)
    work = (box.open * box.quads(box.cuts()) * velocity * minus_gradient).sum()
    assert work != pytest.approx((box.open * velocity * minus_gradient).sum(), rel=1e-3)  # all faces alike
    assert work == pytest.approx((phi * box.outflow(velocity)).sum(), rel=1e-12)
    assert work != pytest.approx((phi * box.outflow(-velocity)).sum(), rel=1e-3)
    upper_instead = np.roll(box.plain(minus_gradient), 1, axis=1)
    weight = box.coupling * box.cuts() * box.plain(velocity)
    assert work != pytest.approx((weight * upper_instead).sum(), rel=1e-3)


@pytest.mark.parametrize("surface", [False, True], ids=["middles of cells", "surface"])
@periodic_or_not
@both
def test_the_pressure_matrix_is_outflow_after_differences(d: int, periodic: bool, surface: bool) -> None:
    box = random_box(d, periodic, surface=surface)
    phi, other = random_potential(box), random_potential(box, 5)
    applied = np.empty_like(phi)
    box.system().apply(phi, applied)
    minus_gradient, _ = box.subtract(phi, np.zeros_like(box.open))
    assert np.abs(applied - box.outflow(minus_gradient)).max() <= 1e-12 * np.abs(applied).max()
    np.testing.assert_allclose(
        applied,
        box.cut((box.matrix() @ box.plain(phi).ravel()).reshape(box.unknown.shape) * box.unknown),
        atol=1e-12 * np.abs(applied).max(),
    )
    assert (phi * applied).sum() > 0
    again = np.empty_like(phi)
    box.system().apply(other, again)
    assert (other * applied).sum() == pytest.approx((phi * again).sum(), rel=1e-12)


@both
def test_only_open_faces_of_liquid_cells_are_touched(d: int) -> None:
    box = random_box(d)
    start = random_velocity(box)
    velocity, valid = box.subtract(random_potential(box), start)
    for a in range(d):
        below = np.roll(box.unknown, 1, axis=a)
        np.moveaxis(below, a, 0)[0] = False
        expected = (box.unknown | below) & (box.coupling[a] > 0)
        np.testing.assert_array_equal(box.plain((valid >> a & 1).astype(float)) > 0, expected)
        changed = (velocity != start)[..., a]
        np.testing.assert_array_equal(changed, box.cut(expected))
    np.testing.assert_array_equal(velocity[..., 3], start[..., 3])
    overwritten, _ = box.subtract(np.zeros(box.liquid.shape), start, overwrite=True)
    assert np.all(overwritten[..., :d] == 0)


# ---- the projection ----


@pytest.mark.parametrize("make", [random_box, pool])
@both
def test_projected_flow_has_no_divergence_and_less_energy(d: int, make) -> None:
    box = make(d)
    velocity = random_velocity(box)
    before, scale = np.abs(box.outflow(velocity)).max(), np.abs(velocity).max()
    phi = box.project(velocity)
    free, _ = box.subtract(phi, velocity)
    assert np.abs(box.outflow(free)).max() <= 1e-11 * scale < 0.1 * scale < before
    lost, _ = box.subtract(phi, 0 * velocity, overwrite=True)
    # What is removed is orthogonal to what stays (G20 A.5: with the minus sign).
    assert box.energy(free) + box.energy(lost) == pytest.approx(box.energy(velocity), rel=1e-10)
    assert box.energy(free) < 0.9 * box.energy(velocity)
    # The plus sign of the printed formula doubles the divergence and adds energy.
    wrong, _ = box.subtract(-phi, velocity)
    assert np.abs(box.outflow(wrong)).max() == pytest.approx(2 * before, rel=1e-9)
    assert box.energy(wrong) > box.energy(velocity)


@both
def test_surfaces_in_the_middle_of_air_cells_give_the_bits_of_no_surface(d: int) -> None:
    """Distance 0 in the middle of air cells, or no distance: every cut is 1."""
    box, plain = random_box(d, periodic=True), random_box(d, periodic=True, surface=False)
    box.distance = np.where(box.unknown, -1.0, 0.0)
    assert np.all(box.cuts() == 1)
    velocity = random_velocity(box)
    phi = box.project(velocity)
    assert phi.tobytes() == plain.project(velocity).tobytes()
    found, expected = box.subtract(phi, velocity), plain.subtract(phi, velocity)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(found, expected, strict=True))
    assert phi.tobytes() != random_box(d, periodic=True).project(velocity).tobytes()


@both
def test_pressure_gives_a_drop_in_air_no_momentum(d: int) -> None:
    """Faces weighed by their part in the liquid: along every line the differences add up to zero, from air to air."""
    shape = (SIZE[d],) * d
    drop = np.linalg.norm(np.indices(shape) - SIZE[d] / 2, axis=0) < SIZE[d] / 3
    box = Mac(drop, np.ones((d, *shape)), distance=random_distance(drop))
    velocity = random_velocity(box)
    free, _ = box.subtract(box.project(velocity), velocity)
    gained = (box.quads(box.cuts()) * (free - velocity)).sum(axis=(0, 1))
    assert np.abs(gained).max() <= 1e-11 < 1 < np.abs(free - velocity).sum()
    assert np.abs((free - velocity).sum(axis=(0, 1))).max() > 1e-2  # all faces alike


@both
def test_a_second_projection_changes_nothing(d: int) -> None:
    box = pool(d)
    free, _ = box.subtract(box.project(random_velocity(box)), random_velocity(box))
    assert np.abs(box.project(free, tolerance=1e-10)).max() == 0
    assert np.abs(box.subtract(box.project(free, tolerance=1e-15), free)[0] - free).max() <= 1e-10


def test_a_stream_function_makes_a_flow_that_stays() -> None:
    n = SIZE[2]
    box = Mac(np.ones((n, n), bool), closed_faces((n, n)))
    psi = np.zeros((n + 1, n + 1))
    psi[1:-1, 1:-1] = np.random.default_rng(0).normal(size=(n - 1, n - 1))
    velocity = box.quads(np.stack([np.diff(psi, axis=1)[:-1], -np.diff(psi, axis=0)[:, :-1]]))
    assert np.abs(box.outflow(velocity)).max() <= 1e-14 * np.abs(velocity).max() * 4
    assert np.abs(box.project(velocity)).max() <= 1e-12
    shear = velocity.copy()
    shear[..., 1] *= 2
    assert np.abs(box.project(shear)).max() > 0.1


@both
def test_moving_walls_push_the_flow(d: int) -> None:
    """Closed faces that move in on one side: what they push in leaves through the surface."""
    shape = (SIZE[d],) * d
    box = Mac(np.indices(shape)[-1] < 6, closed_faces(shape))
    wall = np.zeros((d, *shape))
    wall[0, 0] = 0.5
    velocity = np.zeros_like(box.open)
    free, valid = box.subtract(box.project(velocity, box.quads(wall)), velocity)
    assert np.abs(box.outflow(free, box.quads(wall))).max() <= 1e-10
    top = box.plain(free)[d - 1][..., 6]
    assert top.sum() == pytest.approx(0.5 * 6 * SIZE[d] ** (d - 2), rel=1e-9)
    assert np.abs(box.outflow(free)).max() > 0.1


# ---- extrapolation ----


def spread_by_hand(velocity: NDArray, known: NDArray, layers: int) -> tuple[NDArray, NDArray]:
    """Means of known neighbours, layer after layer, of one component in a box surrounded by nothing."""
    u, known = np.pad(velocity, 1), np.pad(known, 1)
    for _ in range(layers):
        shifts = [(side, a) for a in range(u.ndim) for side in (1, -1)]
        count = sum(np.roll(known, side, axis=a).astype(int) for side, a in shifts)
        total = sum(np.roll(np.where(known, u, 0), side, axis=a) for side, a in shifts)
        new = ~known & (count > 0) & np.pad(np.ones(velocity.shape, bool), 1)
        u = np.where(new, total / np.maximum(count, 1), u)
        known = known | new
    inner = (slice(1, -1),) * u.ndim
    return u[inner], known[inner]


@pytest.mark.parametrize("layers", [0, 1, 3])
@both
def test_extrapolation_takes_means_layer_by_layer(d: int, layers: int) -> None:
    box = random_box(d)
    rng = np.random.default_rng(4)
    velocity = random_velocity(box)
    valid = (rng.random((*box.liquid.shape, d)) < 0.05) @ (1 << np.arange(d))
    valid = valid.astype(np.uint8)
    found, known = box.extrapolate(velocity, valid, layers)
    for a in range(d):
        u, there = spread_by_hand(
            box.plain(velocity)[a], box.plain((valid >> a & 1).astype(float)) > 0, layers
        )
        np.testing.assert_array_equal(box.plain((known >> a & 1).astype(float)) > 0, there)
        np.testing.assert_allclose(box.plain(found)[a], u, rtol=1e-14, atol=1e-15)
    assert (known != valid).any() == (layers > 0)


@both
def test_extrapolation_reaches_as_far_as_its_layers_and_keeps_constants_and_profiles(d: int) -> None:
    """From a plane of known faces everything continues as it was there, also where blocks meet."""
    shape = (SIZE[d],) * d
    box = Mac(np.ones(shape, bool), np.ones((d, *shape)))
    start = np.indices(box.unknown.shape)
    profile = box.quads(np.stack([2.0 + start[-1]] * d))
    known = box.cut(start[0] < 3).astype(np.uint8) * (2**d - 1)
    cleared = profile * (known[..., None] > 0)
    for layers in (1, 4, 6):
        found, there = box.extrapolate(cleared, known, layers)
        np.testing.assert_array_equal(there > 0, box.cut(start[0] < 3 + layers))
        np.testing.assert_array_equal(found[..., :d], (profile * (there[..., None] > 0))[..., :d])


# ---- border ----


def test_wrong_arguments_are_refused_by_name() -> None:
    box = random_box(2)
    u, phi, valid, n = random_velocity(box), random_potential(box), box.liquid.copy(), box.neighbours
    out = np.empty_like(phi)
    beyond = np.where(n < 0, len(u), n)
    with pytest.raises(ValueError, match="velocity"):
        _core.cell_outflow(u[..., :3].copy(), box.open, u, valid, n, 2, out)
    with pytest.raises(ValueError, match="open"):
        _core.cell_outflow(u, box.open[:-1], u, valid, n, 2, out)
    with pytest.raises((ValueError, TypeError), match="wall"):
        _core.cell_outflow(u, box.open, u.astype(np.float32), valid, n, 2, out)
    with pytest.raises((ValueError, TypeError), match="fluid"):
        _core.cell_outflow(u, box.open, u, valid.astype(bool), n, 2, out)
    with pytest.raises(ValueError, match="neighbours"):
        _core.cell_outflow(u, box.open, u, valid, beyond, 2, out)
    with pytest.raises((ValueError, TypeError), match="out"):
        _core.cell_outflow(u, box.open, u, valid, n, 2, out.astype(np.float32))
    with pytest.raises((ValueError, TypeError), match="potential"):
        _core.subtract_differences(phi.astype(np.float32), valid, None, box.open, n, 2, False, u, valid)
    with pytest.raises(ValueError, match="neighbours"):
        _core.subtract_differences(phi, valid, None, box.open, n[:, :-1].copy(), 2, False, u, valid)
    with pytest.raises((ValueError, TypeError), match="distance"):
        _core.subtract_differences(phi, valid, phi.astype(np.float32), box.open, n, 2, False, u, valid)
    with pytest.raises(ValueError, match="distance"):
        _core.subtract_differences(phi, valid, phi[:-1], box.open, n, 2, False, u, valid)
    with pytest.raises(ValueError, match="valid"):
        _core.extrapolate_faces(u, valid[:-1], n, 2, 1)
    with pytest.raises(ValueError, match="increment"):
        _core.face_velocities(u, u, 2, [0.0], valid)
    with pytest.raises(ValueError, match="open"):
        _core.liquid_cells(u, box.open[:-1], n, 2, valid)
