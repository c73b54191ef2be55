"""Discrete elastic rods: derivatives, balance, curvature of a circle, directors, the state that only steps change."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_samples import dense, derivative_errors, total_torque
from rod_samples import SECTIONS, line, moved, polygon, strands
from scipy.spatial.transform import Rotation

import continua as ct
from continua.errors import GeometryError, MaterialError
from continua.geometry.curves import Curves
from continua.materials import FixedCorotated, Rod
from continua.mesh import Rods

every = pytest.mark.parametrize(
    ("shape", "section"), [(a, b) for a in ("straight", "curled") for b in SECTIONS]
)


# ---- derivatives ---------------------------------------------------------------------------------------------


@every
def test_derivatives(shape: str, section: str) -> None:
    rods, x = moved(shape, section)
    gradient, hessian = derivative_errors(rods, x)
    assert gradient < 1e-7 and hessian < 1e-5
    H, full = dense(rods, x), rods.hessian(x)
    scale = np.abs(H).max()
    assert np.abs(H - H.T).max() <= 1e-13 * scale
    assert np.abs(full.matrix().toarray() - H).max() <= 1e-13 * scale
    assert np.abs(full.diagonal().ravel() - np.diag(H)).max() <= 1e-13 * scale


def test_finite_differences_notice_a_wrong_radius() -> None:
    rods, x = moved("curled", "elliptic")
    wrong = Rods(rods.curves, Rod(E=1e5, radius=(0.0701, 0.03)))
    wrong.restore(rods.frames())
    gradient, _ = derivative_errors(rods, x, gradient_of=wrong)
    assert gradient > 1e-5


def test_finite_differences_notice_sections_that_cannot_turn() -> None:
    rods, x = moved("curled", "elliptic")
    H, full = dense(rods, x), rods.hessian(x)
    held = super(type(full), full).matrix().toarray()  # without what turning lets go
    assert np.abs(held - H).max() > 1e-3 * np.abs(H).max()
    assert np.linalg.eigvalsh(held - H).min() > -1e-12 * np.abs(H).max()  # and no less stiff


@every
def test_positive_elements_give_a_positive_product(shape: str, section: str) -> None:
    rods, x = moved(shape, section)
    scale = np.abs(dense(rods, x)).max()
    assert np.linalg.eigvalsh(dense(rods, x)).min() < -1e-2 * scale
    assert np.linalg.eigvalsh(dense(rods, x, positive=True)).min() > -1e-13 * scale


@every
def test_it_is_exact_at_rest_without_negative_stiffness(shape: str, section: str) -> None:
    rods = Rods(strands(shape), Rod(E=1e5, radius=SECTIONS[section]))
    x = rods.curves.points
    H = dense(rods, x)
    assert rods.value(x) <= 1e-20 and np.abs(rods.gradient(x)).max() <= 1e-9
    assert np.abs(dense(rods, x, positive=True) - H).max() <= 1e-9 * np.abs(H).max()


@every
def test_the_inverse_for_preconditioners(shape: str, section: str) -> None:
    """Positive definite everywhere; exact, to single precision, where sections need not turn."""
    rods, x = moved(shape, section)
    units = np.eye(x.size).reshape(-1, *x.shape)
    scale = np.abs(dense(rods, x)).max()
    added = np.full(x.shape, 1e-2 * scale)

    def inverse(weight: float = 1.0) -> np.ndarray:
        solve = rods.inverse(added, weight)
        return np.array([solve(unit).ravel() for unit in units])

    rods.prepare(x)
    found = inverse()
    assert np.abs(found - found.T).max() <= 1e-13 * np.abs(found).max()
    assert np.linalg.eigvalsh(found).min() > 0
    full = rods.hessian(x, positive=True)
    held = super(type(full), full).matrix().toarray()
    A = 3 * held + np.diag(added.ravel())
    assert np.abs(A @ inverse(3.0) - np.eye(x.size)).max() <= 1e-4
    assert np.abs(A @ inverse(2.9) - np.eye(x.size)).max() > 1e-3


# ---- balance -------------------------------------------------------------------------------------------------


@every
def test_forces_of_free_strands_have_no_sum_and_no_torque(shape: str, section: str) -> None:
    rods, x = moved(shape, section)
    force = rods.gradient(x)
    size = np.abs(force).sum()
    assert np.abs(force.sum(axis=0)).max() <= 1e-12 * size
    assert np.abs(total_torque(x, force)).max() <= 1e-9 * size


def test_a_held_section_gives_torque() -> None:
    """Where a section cannot turn, the angles are not in equilibrium with the points alone."""
    rods, x = moved("curled", "elliptic")
    along = np.diff(x[:2], axis=0)
    rods.hold(np.array([0], np.int32), along, np.cross(along, (0.3, 0.1, 1.0)))
    force = rods.gradient(x)
    assert np.abs(total_torque(x, force)).max() > 1e-6 * np.abs(force).sum()
    assert np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()


@every
def test_turning_everything_costs_nothing(shape: str, section: str) -> None:
    rods, x = moved(shape, section)
    rods.accept(x)
    turned = Rotation.from_rotvec((0.3, -0.4, 0.2)).apply(x) + 3.0
    np.testing.assert_allclose(rods.value(turned), rods.value(x), rtol=1e-10)
    assert abs(rods.value(1.01 * turned) / rods.value(x) - 1) > 1e-3


# ---- curvature -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "error"), [(20, 3.9e-4), (40, 9.6e-5), (80, 2.4e-5)])
def test_the_curvature_of_a_circle_converges_at_second_order(n: int, error: float) -> None:
    """A straight rod along a quarter of a circle has the energy (n - 1) B l/2 k^2 with k = |kb|/l near 1/R."""
    x = polygon(n, 2.0, np.pi / 2)
    edge = float(np.linalg.norm(x[1] - x[0]))

    def curvature(material: Rod) -> float:
        rods = Rods(Curves(line(n, n * edge)), material)
        return float(np.sqrt(2 * rods.value(x) / (B * edge * (n - 1))))

    B = Rod(E=1e6, radius=0.02).bending_stiffness[0]
    assert curvature(Rod(E=1e6, radius=0.02)) - 1 / 2 == pytest.approx(error, rel=0.02)
    assert abs(curvature(Rod(E=1e6, radius=0.02, bending=1.02)) - 1 / 2) > 5 * error


def test_half_axes_bend_in_their_directions() -> None:
    """The first half axis, along z, is for bending out of the plane; the second one for bending in it."""
    material = Rod(E=1e6, radius=(0.03, 0.01))
    x = polygon(20, 5.0, 0.5)
    edge = float(np.linalg.norm(x[1] - x[0]))
    in_plane = Rods(Curves(line(20, 20 * edge)), material, directors=(0, 0, 1)).value(x)
    out_of_plane = Rods(Curves(line(20, 20 * edge)), material, directors=(0, 1, 0)).value(x)
    assert out_of_plane / in_plane == pytest.approx(9.0, rel=1e-9)
    leaning = Rods(Curves(line(20, 20 * edge)), material, directors=(0, 1, 0.1))
    assert leaning.value(x) == pytest.approx(in_plane, rel=1e-9)  # its sections turn to where bending is easy


def test_a_sharp_kink_does_not_twist_a_round_rod() -> None:
    """Bending a round rod costs the same in all directions, however it is twisted. The square of the average of the
    curvatures of both edges is less where they are twisted: a kink of more than 82 degrees would twist by itself."""
    bent = Rod(E=1e6, radius=0.02)
    kinked = np.array(
        [(0, 0, 0), (1, 0, 0), (1 + np.cos(1.9), np.sin(1.9), 0), (1 + 2 * np.cos(1.9), 2 * np.sin(1.9), 0)]
    )
    (B, _), beta = bent.bending_stiffness, bent.twisting_stiffness
    kb = 2 * np.tan(1.9 / 2)
    rods = Rods(Curves(line(3, 3.0)), bent)
    assert rods.value(kinked) == pytest.approx(0.5 * B * kb**2, rel=1e-9)
    twist = np.linspace(0, np.pi, 1001)
    averaged = 0.5 * B * (kb * np.cos(twist / 2)) ** 2 + 0.5 * beta * twist**2
    assert averaged.argmin() > 0 and averaged.min() < 0.9 * averaged[0]


# ---- directors -----------------------------------------------------------------------------------------------


def test_directors_stay_unit_vectors_across_their_edges() -> None:
    rods = Rods(strands("curled"), Rod(E=1e5, radius=(0.07, 0.03)))
    rng, x = np.random.default_rng(2), rods.curves.points.copy()
    projected = first = rods.frames()["director"][0]
    for _ in range(200):
        x = x + 0.02 * rng.normal(size=x.shape)
        rods.accept(x)
        frames = rods.frames()
        projected = projected - frames["tangent"][0] @ projected * frames["tangent"][0]
    assert np.abs(np.linalg.norm(frames["director"], axis=1) - 1).max() <= 1e-14
    assert np.abs((frames["tangent"] * frames["director"]).sum(axis=1)).max() <= 1e-14
    assert np.linalg.norm(projected) < 0.99 * np.linalg.norm(first)  # which projecting alone would not keep


def test_directors_are_carried_without_spin() -> None:
    """Around a cone of half angle a they turn by its solid angle, 2 pi (1 - cos a)."""
    a, steps = 0.7, 400
    turn = 2 * np.pi * np.arange(steps + 1) / steps
    ends = np.stack([np.sin(a) * np.cos(turn), np.sin(a) * np.sin(turn), np.cos(a) + 0 * turn], axis=1)
    rods = Rods(Curves([np.zeros(3), ends[0]]), Rod(E=1e5, radius=0.01))
    before = rods.frames()["director"][0]
    for end in ends[1:]:
        rods.accept([np.zeros(3), end])
    after = rods.frames()["director"][0]
    cosine = float(before @ after)
    assert cosine == pytest.approx(np.cos(2 * np.pi * (1 - np.cos(a))), abs=1e-3)
    assert abs(cosine - 1) > 0.1


def test_trials_do_not_change_the_state() -> None:
    rods, x = moved("curled", "elliptic")
    before = {name: array.copy() for name, array in rods.frames().items()}
    first = rods.value(x), rods.gradient(x)
    rods.value(x + 0.5)
    rods.hessian(1.1 * x)
    assert rods.value(x) == first[0] and np.array_equal(rods.gradient(x), first[1])
    assert all(np.array_equal(before[name], array) for name, array in rods.frames().items())
    rods.accept(x)
    assert not np.array_equal(before["director"], rods.frames()["director"])
    np.testing.assert_allclose(rods.value(x), first[0], rtol=1e-13)  # now the angles are zero
    assert np.abs(rods.angles(x)).max() <= 1e-12


def test_twist_is_counted_beyond_a_turn() -> None:
    rods, x = Rods(Curves(line(4)), Rod(E=1e6, radius=0.02), directors=(0, 1, 0)), line(4)
    ends, along = np.array([0, 3], np.int32), np.tile((1.0, 0, 0), (2, 1))
    for angle in np.linspace(0, 9, 11):
        rods.hold(ends, along, np.array([(0, 1, 0), (0, np.cos(angle), np.sin(angle))]))
        rods.accept(x)
    np.testing.assert_allclose(rods.frames()["twist"][1:4], 3.0, rtol=1e-12)
    rods.hold(ends[:1], along[:1], np.array([(0.0, 1, 0)]))
    rods.accept(x)
    assert np.abs(rods.frames()["twist"]).max() <= 1e-12  # a free end lets it go


def test_sections_settle_wherever_they_begin() -> None:
    """Bent along their stiff half axis they turn over, each part of a strand as chance will have it."""
    rng = np.random.default_rng(4)
    upright = np.linspace((0, 0, 0), (0, 1, 0), 61)
    curves = Curves(np.concatenate([upright + (0.1 * k, 0, 0) for k in range(20)]), [61] * 20)
    rods = Rods(curves, Rod(E=1e7, radius=(2e-3, 1e-3)), directors=(1, 0, 0))
    height = curves.points[:, 1:2]
    x = curves.points + 0.1 * np.hstack([np.sin(2 * height), 0 * height, 0 * height])
    x += 1e-4 * rng.normal(size=x.shape)
    turned = np.abs(rods.angles(x))
    assert turned.max() > 1.5
    rods.accept(x)
    energy = rods.value(x)
    assert np.abs(rods.angles(x)).max() <= 1e-10
    rods.accept(x)
    assert rods.value(x) == pytest.approx(energy, rel=1e-13)


# ---- twist ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("section", SECTIONS)
def test_a_straight_rod_shares_twist_uniformly(section: str) -> None:
    places = np.cumsum([0, 0.1, 0.3, 0.2, 0.1, 0.4, 0.2])
    x = np.stack([places, 0 * places, 0 * places], axis=1)
    rods = Rods(Curves(x), Rod(E=1e6, radius=SECTIONS[section]), directors=(0, 1, 0))
    rods.hold(
        np.array([0, 5], np.int32),
        np.diff(x[[0, 1]], axis=0).repeat(2, 0),
        np.array([(0, 1, 0), (0, 0, 1.0)]),
    )
    middle = 0.5 * (places[1:] + places[:-1])
    angles = rods.angles(x)[:-1]
    np.testing.assert_allclose(angles, np.pi / 2 * (middle - middle[0]) / np.ptp(middle), rtol=0, atol=1e-8)
    by_number = np.pi / 2 * np.arange(6) / 5
    assert np.abs(angles - by_number).max() > 1e-2


def lowest_stiffness(material: Rod, twist: float, count: int = 48) -> float:
    """The least eigenvalue of a ring of a straight rod whose ends, the same edge, are twisted against each other."""
    edge = 2 * np.sin(np.pi / count)
    rods = Rods(Curves(line(count + 1, (count + 1) * edge)), material)
    for part in np.linspace(0.05, 1, 20):
        angle = part * 2 * np.pi * (count + 1) / count
        radius = edge / (2 * np.sin(angle / (count + 1) / 2))
        x = polygon(count + 1, radius, angle)
        rods.accept(x)
    assert np.abs(x[:2] - x[-2:]).max() < 1e-12
    director, along = rods.frames()["director"][0], np.diff(x[:2], axis=0)
    for part in np.linspace(0, 1, 9):
        turned = Rotation.from_rotvec(part * twist * along[0] / edge).apply(director)
        rods.hold(np.array([0, count], np.int32), along.repeat(2, 0), np.stack([director, turned]))
        rods.accept(x)
    assert rods.frames()["twist"].sum() == pytest.approx(twist, rel=1e-9)
    free = slice(6, -6)  # the edge that is both ends is held
    return float(np.linalg.eigvalsh(rods.hessian(x).matrix().toarray()[free, free])[0])


def test_a_twisted_ring_buckles() -> None:
    """At a total twist of 2 pi sqrt(3) B/beta (Za62)."""
    material = Rod(E=1e6, radius=0.02, nu=0.2)
    B, beta = material.bending_stiffness[0], material.twisting_stiffness
    critical = 2 * np.pi * np.sqrt(3) * B / beta
    rounding = 1e-9 * B  # the ring may turn about the held edge, which costs nothing
    assert lowest_stiffness(material, 0.9 * critical) > -rounding
    assert lowest_stiffness(material, 1.1 * critical) < -1e6 * rounding
    softer = Rod(E=1e6, radius=0.02, nu=0.2, twisting=0.8)
    assert lowest_stiffness(softer, 1.1 * critical) > -rounding


# ---- threads, errors -----------------------------------------------------------------------------------------


def test_the_same_bits_for_any_number_of_threads() -> None:
    curves = strands("curled", (61,) * 400)
    x = curves.points + 1e-3 * np.random.default_rng(1).normal(size=curves.points.shape)
    found, before = [], ct.threads()
    try:
        for threads in (1, 2, 3):
            ct.set_threads(threads)
            rods = Rods(curves, Rod(E=1e5, radius=(2e-3, 1e-3)))
            rods.accept(curves.points + 0.5 * (x - curves.points))
            H = rods.hessian(x)
            rods.prepare(x)
            solved = rods.inverse(np.ones(x.shape))(x)
            products = [H.product(x), H.diagonal(), solved]
            found.append([rods.value(x), rods.gradient(x), *products, *rods.frames().values()])
    finally:
        ct.set_threads(before)
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other))
    assert not np.array_equal(found[0][1], rods.gradient(x + 1e-15))


def test_errors_say_what_to_change() -> None:
    curves = strands("straight")
    with pytest.raises(MaterialError, match=r"ct\.materials\.Rod"):
        Rods(curves, FixedCorotated())  # type: ignore[arg-type]
    with pytest.raises(GeometryError, match="directors"):
        Rods(curves, Rod(), directors=(0.1, 2, 1))
    with pytest.raises(MaterialError, match="radius"):
        Rod(radius=0.0)
    with pytest.raises(MaterialError, match="radius"):
        Rod(radius=(1e-3, -1e-3))
    rods = Rods(curves, Rod())
    with pytest.raises(ValueError, match="no edge begins at point 8"):
        rods.hold(np.array([8], np.int32), np.ones((1, 3)), np.ones((1, 3)))


def test_there_is_no_energy_where_an_edge_has_no_length() -> None:
    x = line(4)
    rods = Rods(Curves(x), Rod())
    x[2] = x[1]
    assert rods.value(x) == np.inf
    folded = line(2)
    folded[2] = folded[0]
    assert Rods(Curves(line(2)), Rod()).value(folded) == np.inf
