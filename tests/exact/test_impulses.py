"""Impulses of one stencil and of a step: momentum, energy, targets, friction, held vertices, zones."""

from __future__ import annotations

import numpy as np
import pytest
from impulse_samples import Array, Flung, Single, defects, momentum_scale

from continua import _core
from continua.contact.exact.impulses import Impulses, Surfaces, find_hits
from continua.contact.exact.zones import affine_velocities, rigid_velocities
from continua.errors import SetupError

KINDS = [(3, False), (3, True), (2, False)]
ROUNDING = 1e-13


def pattern(single: Single, c: Array, n: Array) -> Array:
    """c n without its rigid part (M23 section 7)."""
    return single.without_rigid_part(c[:, None] * n)


@pytest.mark.parametrize(("d", "edges"), KINDS)
@pytest.mark.parametrize("stick_after", [0, 1000])
def test_one_impulse_keeps_momentum(d: int, edges: bool, stick_after: int) -> None:
    """Linear and angular about the start of the step; the naive impulse only the first."""
    linear, angular, naive = 0.0, 0.0, 0.0
    for single in Single.some(300, d, edges=edges):
        scale = momentum_scale(single.mass, single.v)
        given = single.resolve(most=1, friction=0.5, stick_after=stick_after)[1]
        p, turn = defects(single.x, given, scale)
        linear, angular = max(linear, p), max(angular, turn)
        given = single.resolve(most=1, friction=0.5, exact=False)[1]
        p, turn = defects(single.x, given, scale)
        linear, naive = max(linear, p), max(naive, turn)
    assert linear < ROUNDING
    assert angular < ROUNDING
    assert naive > 1e-2


@pytest.mark.parametrize("thickness", [1e-4, 1e-8, 0.0])
def test_thin_stencils_keep_momentum(thickness: float) -> None:
    """All vertices nearly, or exactly, on a line at the start: their inertia is that of a needle."""
    rng = np.random.default_rng(5)
    worst, given_at_all = 0.0, 0
    for single in Single.some(200):
        axis = rng.normal(size=3)
        places = rng.normal(size=(4, 1))
        x = places * axis + thickness * single.x
        there = single.x + first_time(single) * single.v
        one = Single(x, (there - x) / 0.5, single.mass)
        given = one.resolve(most=1)[1]
        given_at_all += bool(np.abs(given).max() > 0)
        worst = max(worst, *defects(x, given, momentum_scale(one.mass, one.v)))
    assert given_at_all > 20
    assert worst < ROUNDING


def first_time(single: Single) -> float:
    """When it meets."""
    c, _ = single.meeting()
    way, speed = c @ single.x, c @ single.v
    return float(-(way @ speed) / (speed @ speed))


def wrong_target(single: Single) -> Array:
    """The pattern is without its rigid part, but the speed to be removed is not."""
    c, n = single.meeting()
    q = pattern(single, c, n)
    lam = -(c @ single.v @ n) / (q**2 / single.mass[:, None]).sum()
    return np.asarray(single.v + lam * q / single.mass[:, None])


@pytest.mark.parametrize(("d", "edges"), KINDS)
def test_energy_never_grows_without_a_gap(d: int, edges: bool) -> None:
    def energy(single: Single, v: Array) -> float:
        return float(single.mass @ (v**2).sum(axis=1))

    growth, wrong = 0.0, 0.0
    for single in Single.some(300, d, edges=edges):
        before = energy(single, single.v)
        for settings in ({"stick_after": 1000}, {"stick_after": 0}, {"exact": False}):
            after = single.resolve(most=1, friction=0.4, **settings)[0]
            growth = max(growth, energy(single, after) / before - 1)
        wrong = max(wrong, energy(single, wrong_target(single)) / before - 1)
    assert growth < 1e-14
    assert wrong > 1e-2


BOUNCE = 0.2  # of the approach, at most, to make room


@pytest.mark.parametrize(("d", "edges"), KINDS)
@pytest.mark.parametrize("gap", [0.0, 0.2])
def test_the_speed_reaches_its_target(d: int, edges: bool, gap: float) -> None:
    """That of the pattern, which parts to leave a gap but never as fast as it came; all of the relative velocity where
    impulses are along it."""
    acted = 0
    for single in Single.some(200, d, edges=edges):
        c, n = single.meeting()
        room = max(0.0, gap - n @ (c @ single.x))
        q = pattern(single, c, n)
        target, plain = (min(room, -BOUNCE * speed) for speed in ((q * single.v).sum(), n @ (c @ single.v)))
        speed = np.abs(single.v).max()
        after = single.resolve(most=1, gap=gap, stick_after=1000)[0]
        weak = (q**2 / single.mass[:, None]).sum() < 0.011 * (c**2 / single.mass).sum()
        if (q * single.v).sum() < target and not weak:
            acted += 1
            assert (q * after).sum() == pytest.approx(target, abs=1e-12 * speed)
        naive = single.resolve(most=1, gap=gap, exact=False)[0]
        assert n @ (c @ naive) == pytest.approx(plain, abs=1e-12 * speed)
        stuck = single.resolve(most=1, stick_after=0)[0]
        assert np.abs(c @ stuck).max() < 1e-8 * speed  # g^n is along it up to the time of the meeting
        assert abs(n @ (c @ single.v) - plain) > 1e-6
    assert acted > 100


@pytest.mark.parametrize(("d", "edges"), KINDS)
@pytest.mark.parametrize("mu", [0.1, 0.6, 100.0])
def test_friction_is_in_the_cone_and_never_reverses(d: int, edges: bool, mu: float) -> None:
    sliding, reversed_by_pattern = 0, 0
    for single in Single.some(300, d, edges=edges, seed=3):
        c, n = single.meeting()
        smooth, normal_given, _, _ = single.resolve(most=1, stick_after=1000)
        rough, given, _, _ = single.resolve(most=1, stick_after=1000, friction=mu)
        q = pattern(single, c, n)
        compliance = (q**2 / single.mass[:, None]).sum()
        lam = (normal_given * q / single.mass[:, None]).sum() / compliance
        if not lam > 0:
            continue
        u = c @ smooth
        slip = u - (u @ n) * n
        along = slip / np.linalg.norm(slip)
        across = pattern(single, c, -along)
        weight = (across**2 / single.mass[:, None]).sum()
        friction = given - normal_given
        size = (friction * across / single.mass[:, None]).sum() / weight
        assert friction == pytest.approx(size * across, abs=1e-11)
        assert -1e-12 <= size <= mu * lam * (1 + 1e-9)
        after = c @ rough @ along
        assert -1e-12 < after <= np.linalg.norm(slip) * (1 + 1e-12)
        sliding += bool(after > 1e-9)
        # What stops the slip that the pattern sees may be more than there is.
        seen = -(across * smooth).sum()
        reversed_by_pattern += bool(seen > np.linalg.norm(slip) * (1 + 1e-9))
    assert sliding > 10
    assert reversed_by_pattern > 10


def test_variants_compare_as_they_should() -> None:
    """How many random hits are resolved by each kind of impulse within 50 tries, and what it costs."""
    singles = Single.some(400)
    rows = {}
    for name, settings in (
        ("naive", {"exact": False}),
        ("exact", {"stick_after": 1000}),
        ("stick", {"stick_after": 0}),
        ("default", {}),
    ):
        iterations, unresolved = 0, 0
        for single in singles:
            _, _, count, clean = single.resolve(most=50, **settings)
            iterations, unresolved = iterations + count, unresolved + (not clean)
        rows[name] = (iterations / len(singles), unresolved)
    assert rows["naive"][1] == 0
    assert rows["stick"][1] == 0
    assert rows["default"][1] == 0
    assert rows["exact"][1] > 0  # why later iterations are along the relative velocity
    assert rows["stick"][0] < 1.3
    assert rows["default"][0] < 2.0


@pytest.mark.parametrize(("d", "edges"), KINDS)
def test_held_vertices_stay_and_take_what_the_others_lose(d: int, edges: bool) -> None:
    worst, acted = 0.0, 0
    for k, single in enumerate(Single.some(200, d, edges=edges)):
        held = np.zeros(d + 1, bool)
        held[: (d if k % 2 else 1)] = True
        after, given, _, _ = single.resolve(held=held, friction=0.3)
        assert np.array_equal(after[held], single.v[held])
        change = single.mass[~held, None] * (after - single.v)[~held]
        assert change == pytest.approx(given[~held], abs=1e-9 * np.abs(given).max() + 1e-300)
        acted += bool(np.abs(given[held]).max() > 0)
        worst = max(worst, defects(single.x, given, np.abs(given).sum() + 1e-300)[0])
    assert acted > 150
    assert worst < ROUNDING
    everything = Single.some(1, d, edges=edges)[0].resolve(held=np.ones(d + 1, bool))
    assert everything[2:] == (0, True)


def near_pair(gap: float, speed: float) -> tuple[Surfaces, Array, Array, Array]:
    """Two tetrahedra, an apex above a facet, that slide along each other."""
    facets = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    lower = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, -1]])
    upper = np.array([[0.3, 0.3, gap], [1, 0.2, 1], [-0.4, 1, 1], [0, -0.5, 1.2]])
    x = np.concatenate([lower, upper]) + 0.7
    v = np.zeros_like(x)
    v[4:] = [0.3, 0.1, -speed]
    parts = np.repeat([0, 1], 4)
    mass = np.linspace(1, 2, 8)
    both = np.concatenate([facets[:, ::-1], facets + 4])
    return Surfaces(both, parts, np.full((2, 2), 0.4)), x, v, mass


@pytest.mark.parametrize("form", ["exact", "naive"])
def test_near_pairs_are_pushed_apart(form: str) -> None:
    """By the spring times the time step, and no faster than a tenth of the overlap per step."""
    surfaces, x, v, mass = near_pair(0.004, 0.0)
    step, thickness, stiffness = 1e-3, 0.01, 50.0
    impulses = Impulses(
        surfaces, mass, np.zeros(8, bool), thickness=thickness, gap=0.0, stiffness=stiffness, form=form
    )
    done = impulses.resolve(x, v, step)
    assert done.proximity == 1
    assert done.hits == 0
    lam = step * stiffness * 0.006
    assert done.impulses[4, 2] == pytest.approx(lam, rel=0.02)  # friction acts on the same vertices, across
    size = np.linalg.norm(done.impulses[4, :2])
    assert size <= 0.4 * lam * 1.02
    p, turn = defects(x, done.impulses, lam)
    assert p < ROUNDING
    # The normal part has no torque as it is; the friction across the gap would have.
    assert (turn < ROUNDING) == (form == "exact")
    stiff = Impulses(surfaces, mass, np.zeros(8, bool), thickness=thickness, gap=0.0, stiffness=1e9)
    after = stiff.resolve(x, v, step).v
    c = np.array([-0.4, -0.3, -0.3, 0, 1, 0, 0, 0])
    assert (c @ after)[2] == pytest.approx(0.1 * 0.006 / step, rel=1e-6)
    fast = stiff.resolve(x, np.where(np.arange(8)[:, None] > 3, 5.0, 0) * np.array([0, 0, 1.0]), step)
    assert fast.proximity == 0  # already parting


def zone_of(scene: Flung) -> Impulses:
    """No iterations: all of it by zones."""
    return scene.impulses(most=0)


@pytest.mark.parametrize("d", [2, 3])
def test_zones_keep_momentum_and_let_nothing_meet(d: int) -> None:
    for seed in range(4):
        scene = Flung(seed, d)
        done = zone_of(scene).resolve(scene.x, scene.v, scene.dt)
        assert done.failed == ""
        assert done.zones > 0
        assert all(len(found.times) == 0 for found in find_hits(scene.surfaces, scene.x, done.v, scene.dt))
        assert max(defects(scene.x, done.impulses, momentum_scale(scene.mass, scene.v))) < ROUNDING
        assert scene.energy(done.v) <= scene.energy(scene.v)
        assert any(len(found.times) for found in find_hits(scene.surfaces, scene.x, scene.v, scene.dt))


@pytest.mark.parametrize("d", [2, 3])
def test_a_zone_cannot_meet_itself(d: int) -> None:
    """det(1 + t [w]) = 1 + t^2 |w|^2."""
    rng = np.random.default_rng(2)
    x, v, mass = rng.normal(size=(7, d)), 3 * rng.normal(size=(7, d)), rng.uniform(1, 2, 7)
    moved = rigid_velocities(x, v, mass)
    gradient = np.linalg.lstsq(x - x.mean(axis=0), moved - moved.mean(axis=0), rcond=None)[0].T
    assert gradient == pytest.approx(-gradient.T, abs=1e-12)
    squared = (gradient**2).sum() / 2
    for t in (0.1, 1.0, 10.0):
        determinant = np.linalg.det(np.eye(d) + t * gradient)
        assert determinant == pytest.approx(1 + t**2 * squared, rel=1e-12)
    free = np.linalg.lstsq(x - x.mean(axis=0), v - v.mean(axis=0), rcond=None)[0].T
    assert abs(np.linalg.det(np.eye(d) + free) - (1 + (free**2).sum() / 2)) > 1e-2
    assert max(defects(x, mass[:, None] * (moved - v), momentum_scale(mass, v))) < 5e-15


def test_zones_of_a_line_keep_momentum() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(5, 1)) * np.array([1.0, 2.0, -0.5])
    v, mass = rng.normal(size=(5, 3)), np.ones(5)
    moved = rigid_velocities(x, v, mass)
    assert max(defects(x, moved - v, momentum_scale(mass, v))) < ROUNDING


def test_zones_follow_what_is_held() -> None:
    """A body on a floor that moves, by zones alone; between plates that change places there is no way out."""
    facets = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    body = 0.2 * np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) + [0, 0, 0.01]
    plate = 5 * np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    x = np.concatenate([body, plate, plate + [0, 0, 0.4]])
    plates = np.array([[4, 5, 6], [4, 6, 7], [8, 10, 9], [8, 11, 10]])
    surfaces = Surfaces(np.concatenate([facets, plates]), np.repeat([0, 1, 2], 4), np.zeros((3, 3)))
    held = np.arange(12) >= 4
    impulses = Impulses(surfaces, np.ones(12), held, thickness=0, gap=0, most=0)
    v = np.zeros((12, 3))
    v[:4] = [0.1, 0, -1]
    v[4:8] = [0, 0, 0.5]
    done = impulses.resolve(x, v, 0.1)
    assert done.failed == ""
    assert done.v[:3] == pytest.approx(np.tile([0, 0, 0.5], (3, 1)), abs=1e-9)
    assert np.array_equal(done.v[3], v[3])  # its tip stays clear of both plates
    assert np.array_equal(done.v[4:], v[4:])
    assert max(defects(x, done.impulses, 1.0)) < 1e-12
    assert done.impulses[4:8].sum(axis=0) == pytest.approx([0.3, 0, -4.5])
    v[4:8], v[8:] = [0, 0, 3.0], [0, 0, -3.0]
    done = impulses.resolve(x, v, 0.1)
    assert "moved by scripts or colliders has no way out" in done.failed


def test_affine_motions_that_turn_inside_out_are_none() -> None:
    x = np.random.default_rng(1).normal(size=(6, 3))
    held = np.ones(6, bool)
    gradient = np.diag([0.3, -0.8, 0.1])
    assert affine_velocities(x, x @ gradient, held, 1.0) == pytest.approx(x @ gradient, abs=1e-12)
    assert affine_velocities(x, x @ gradient, held, 1.3) is None
    assert affine_velocities(x, x**2, held, 1.0) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"mass": np.zeros(56)}, "positive"),
        ({"mass": np.ones(3)}, "one mass"),
        ({"held": np.zeros(3, bool)}, "mark of being held"),
        ({"gap": -1.0}, "gap"),
        ({"thickness": np.nan}, "thickness"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"most": -1}, "most"),
        ({"form": "other"}, "form"),
    ],
)
def test_wrong_settings_are_refused(change: dict[str, object], words: str) -> None:
    scene = Flung(0)
    settings = {"mass": scene.mass, "held": scene.held, "thickness": 0.0, "gap": 0.0} | change
    with pytest.raises(SetupError, match=words):
        Impulses(scene.surfaces, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("facets", "part", "friction", "words"),
    [
        (np.array([[0, 1, 3]]), np.zeros(3, int), np.zeros((1, 1)), "vertex 3"),
        (np.array([[0, 1, -1]]), np.zeros(3, int), np.zeros((1, 1)), "negative"),
        (np.array([[0, 1, 2, 3]]), np.zeros(4, int), np.zeros((1, 1)), "two or three"),
        (np.array([[0, 1, 2]]), np.array([0, 0, 1]), np.zeros((1, 1)), "part 1"),
        (np.array([[0, 1, 2]]), np.array([0, 0, 1]), np.array([[0, 1], [2, 0.0]]), "symmetric"),
        (np.array([[0.5, 1, 2]]), np.zeros(3, int), np.zeros((1, 1)), "whole numbers"),
    ],
)
def test_wrong_surfaces_are_refused(facets: Array, part: Array, friction: Array, words: str) -> None:
    with pytest.raises(SetupError, match=words):
        Surfaces(facets, part, friction)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("facets", np.array([[0, 1, 9]], np.int32)),
        ("edges", np.array([[0, -1]], np.int32)),
        ("points", np.array([77], np.int32)),
        ("held", np.zeros(3, np.uint8)),
        ("inverse_mass", np.full(4, -1.0)),
        ("part", np.array([0, 0, 0, 5], np.int32)),
        ("friction", np.array([[-1.0]])),
        ("gap", -1.0),
        ("dt", 0.0),
        ("most", -1),
        ("v", np.full((4, 3), np.inf)),
        ("impulse", np.zeros((3, 3))),
    ],
)
def test_the_border_names_wrong_arguments(name: str, value: object) -> None:
    right: dict[str, object] = {
        "x": np.random.default_rng(0).normal(size=(4, 3)),
        "dt": 1.0,
        "facets": np.array([[0, 1, 2]], np.int32),
        "edges": np.empty((0, 2), np.int32),
        "points": np.arange(4, dtype=np.int32),
        "held": np.zeros(4, np.uint8),
        "inverse_mass": np.ones(4),
        "part": np.zeros(4, np.int32),
        "friction": np.zeros((1, 1)),
        "gap": 0.0,
        "exact": True,
        "most": 3,
        "stick_after": 4,
        "v": np.zeros((4, 3)),
        "impulse": np.zeros((4, 3)),
    }
    assert _core.collision_impulses(**right) == (0, 0, True)
    with pytest.raises(ValueError, match=name):
        _core.collision_impulses(**(right | {name: value}))
