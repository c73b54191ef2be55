"""Self-collision of meshes: detection against brute force, derivatives, bodies driven apart, friction (O1, O12)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_samples import deformed, total_torque

from continua import _core
from continua.errors import GeometryError, SetupError
from continua.geometry.box_mesh import box_mesh
from continua.geometry.simplex_mesh import SimplexMesh
from continua.materials import FixedCorotated
from continua.mesh import Elements
from continua.mesh.collision import CollisionPairs, SelfCollision
from continua.optimize import ImplicitStep, Options, PointState, StepEnergy, minimise

K = 1e5
both = pytest.mark.parametrize("d", [2, 3])


def box(d: int, counts: int = 3, shift: float = 0.0) -> SimplexMesh:
    """Unit box, moved along x."""
    lower = np.eye(d)[0] * shift
    return box_mesh(lower, lower + 1, (counts,) * d)


class Bodies:
    """Several meshes in one array of nodes, as an implicit step sees them."""

    def __init__(self, *meshes: SimplexMesh) -> None:
        starts = np.cumsum([0] + [len(mesh.points) for mesh in meshes])
        self.points = np.vstack([mesh.points for mesh in meshes])
        self.cells = np.vstack([mesh.cells + k for mesh, k in zip(meshes, starts, strict=False)])
        self.surface = np.vstack([mesh.surface + k for mesh, k in zip(meshes, starts, strict=False)])
        self.body = np.repeat(np.arange(len(meshes)), np.diff(starts))

    def collision(self, stiffness: float = K, **options: bool) -> SelfCollision:
        return SelfCollision(self.points, self.cells, self.surface, stiffness=stiffness, **options)


def overlapping(d: int, depth: float = 0.15) -> tuple[Bodies, np.ndarray]:
    """Two unlike boxes that overlap along x, and positions where none of it is symmetric."""
    bodies = Bodies(box(d, 3), box(d, 4, shift=1 - depth))
    rng = np.random.default_rng(4)
    return bodies, bodies.points + 0.01 * rng.normal(size=bodies.points.shape)


def ring(d: int) -> tuple[Bodies, np.ndarray]:
    """A bar bent to more than a full circle, so that its ends lie in each other."""
    bar = box_mesh((0.0,) * d, (12.0,) + (1.0,) * (d - 1), (36,) + (2,) * (d - 1))
    angle, radius = bar.points[:, 0] / 12 * 2 * np.pi * 1.08, 2 + bar.points[:, 1]
    bent = np.column_stack(
        [radius * np.cos(angle), radius * np.sin(angle)] + [1.05 * c for c in bar.points.T[2:]]
    )
    return Bodies(bar), bent + 0.01 * np.random.default_rng(5).normal(size=bent.shape)


def winding_number(x: np.ndarray, facets: np.ndarray, node: int) -> float:
    """How often the facets go around a node, from the angles they are seen at; its own ones are seen edge-on."""
    r = x[facets[(facets != node).all(axis=1)]] - x[node]
    if x.shape[1] == 2:
        a, b = r[:, 0], r[:, 1]
        turns = np.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], np.einsum("fa,fa->f", a, b))
        return float(turns.sum() / (2 * np.pi))
    lengths, dots = np.linalg.norm(r, axis=2), np.einsum("fia,fja->fij", r, r)
    base = lengths.prod(axis=1) + sum(
        dots[:, i, j] * lengths[:, 3 - i - j] for i, j in ((0, 1), (0, 2), (1, 2))
    )
    return float(2 * np.arctan2(np.linalg.det(r), base).sum() / (4 * np.pi))


def brute_force(bodies: Bodies, x: np.ndarray) -> np.ndarray:
    """Every surface node against every body by its winding number, then against every facet it may leave through."""
    found = []
    middles = bodies.points[bodies.surface].mean(axis=1)
    corners = x[bodies.cells]
    edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    for node in np.unique(bodies.surface):
        for body in range(bodies.body.max() + 1):
            of_body = bodies.body[bodies.surface[:, 0]] == body
            own = body == bodies.body[node]
            if abs(winding_number(x, bodies.surface[of_body], node)) <= (1.0 if own else 0.5):
                continue
            allowed = of_body & (bodies.surface != node).all(axis=1)
            if own:
                weights = np.linalg.solve(edges, (x[node] - corners[:, 0])[..., None])[..., 0]
                inside = (weights >= 0).all(axis=1) & (weights.sum(axis=1) <= 1)
                inside &= (bodies.body[bodies.cells[:, 0]] == body) & (bodies.cells != node).all(axis=1)
                cell = bodies.cells[np.flatnonzero(inside)[0]]
                from_cell = np.linalg.norm(middles - bodies.points[cell].mean(axis=0), axis=1)
                allowed &= from_cell < np.linalg.norm(middles - bodies.points[node], axis=1)
            facets = bodies.surface[allowed]
            rows = np.column_stack([np.full(len(facets), node), facets])
            found.append(rows[CollisionPairs(x, rows, stiffness=1.0).depths.argmin()])
    return np.array(found)


def cases(d: int) -> list[tuple[Bodies, np.ndarray]]:
    rng = np.random.default_rng(6)
    crumpled = Bodies(box(d, 5 if d == 3 else 10))
    three = Bodies(box(d, 2), box(d, 3, shift=0.7), box(d, 2, shift=0.3))
    return [
        overlapping(d),
        ring(d),
        (crumpled, crumpled.points + 0.25 * rng.normal(size=crumpled.points.shape)),
        (three, three.points + 0.05 * rng.normal(size=three.points.shape)),
    ]


@both
@pytest.mark.parametrize("case", range(4))
def test_detection_equals_brute_force(d: int, case: int) -> None:
    bodies, x = cases(d)[case]
    found = bodies.collision().pairs(x)
    expected = CollisionPairs(x, brute_force(bodies, x), stiffness=K)
    assert len(found) == len(expected) > 2
    assert np.array_equal(found.nodes[:, 0], expected.nodes[:, 0])
    np.testing.assert_allclose(
        found.ways, expected.ways, atol=1e-13
    )  # facets may tie along their common edge


@both
def test_pairs_do_not_depend_on_what_was_found_before(d: int) -> None:
    bodies, x = overlapping(d)
    used = bodies.collision()
    rng = np.random.default_rng(7)
    for _ in range(10):
        y = x + 0.05 * rng.normal(size=x.shape)
        assert np.array_equal(used.find(y), bodies.collision().find(y))


@both
def test_a_body_at_rest_or_moved_does_not_collide(d: int) -> None:
    bodies = Bodies(box(d, 3), box(d, 2, shift=1.5))
    collision = bodies.collision()
    for x in (bodies.points, bodies.points + 5.0, bodies.points * 3.0, -bodies.points):
        assert len(collision.find(x)) == 0
        assert collision.value(x) == 0.0 and not collision.gradient(x).any()


@both
def test_a_deep_node_leaves_through_the_other_body(d: int) -> None:
    """Also where its own facets are closer."""
    bodies = Bodies(box(d, 8), box(d, 3, shift=0.6))
    found = bodies.collision().find(
        bodies.points + 1e-3 * np.random.default_rng(8).normal(size=bodies.points.shape)
    )
    assert len(found) > 5
    assert (bodies.body[found[:, 1:]] == 1 - bodies.body[found[:, :1]]).all()


@both
def test_ends_of_a_ring_find_each_other(d: int) -> None:
    bodies, x = ring(d)
    found = bodies.collision().find(x)
    along = bodies.points[:, 0]
    assert len(found) > 5
    assert (np.abs(along[found[:, 1:]] - along[found[:, :1]]) > 6).all()
    assert len(bodies.collision(own_body=False).find(x)) == 0


@both
def test_turning_cells_inside_out_is_no_collision(d: int) -> None:
    """A node pushed through its own cells into others, as a hard hit does: the surface is dented, but not entered."""
    bodies = Bodies(box(d, 6))
    collision = bodies.collision()
    pushed = np.flatnonzero(np.isclose(bodies.points, [0.0] + [0.5] * (d - 1)).all(axis=1))
    for depth in np.linspace(0, 0.8, 41):
        x = bodies.points.copy()
        x[pushed, 0] += depth
        assert len(collision.find(x)) == 0
    x[pushed, 0] += 0.7  # out at the far side: it is the far side's nodes that are inside now
    assert not np.isin(collision.find(x)[:, 0], pushed).any()


@both
def test_the_energy_is_continuous_while_bodies_pass_and_cells_fold(d: int) -> None:
    bodies, x = overlapping(d)
    collision, rng = bodies.collision(), np.random.default_rng(13)
    dx = 0.6 * rng.normal(size=x.shape) / 4 + np.where(bodies.body[:, None] == 0, np.eye(d)[0] * 0.2, 0.0)

    def jump(samples: int) -> float:
        return float(np.abs(np.diff([collision.value(x + t * dx) for t in np.linspace(0, 1, samples)])).max())

    assert jump(1501) < 0.2 * jump(151)


@both
def test_cells_inside_out_contain_nodes_too(d: int) -> None:
    bodies, x = overlapping(d)
    mirrored = x * np.where(np.arange(d) == 0, -1.0, 1.0)
    collision = bodies.collision()
    assert set(map(tuple, collision.find(mirrored))) == set(map(tuple, collision.find(x)))


@both
@pytest.mark.parametrize("sample", [overlapping, ring])
def test_forces_and_stiffness_are_derivatives_of_the_energy(sample, d: int) -> None:
    bodies, x = sample(d)
    collision = bodies.collision()
    rng = np.random.default_rng(9)
    collision.prepare(x)
    gradient, h = collision.gradient(x), 1e-6
    for _ in range(3):
        dx = rng.normal(size=x.shape)
        dx /= np.abs(dx).max()
        slope = (collision.value(x + h * dx) - collision.value(x - h * dx)) / (2 * h)
        assert abs(slope - np.vdot(gradient, dx)) < 1e-7 * np.linalg.norm(gradient)
        change = (collision.gradient(x + h * dx) - collision.gradient(x - h * dx)) / (2 * h)
        product = collision.product(dx)
        assert np.linalg.norm(change - product) < 1e-7 * np.linalg.norm(product)
        other = rng.normal(size=x.shape)
        symmetric = np.vdot(other, product) - np.vdot(dx, collision.product(other))
        assert abs(symmetric) < 1e-12 * np.linalg.norm(other) * np.linalg.norm(product)
    size = np.abs(gradient).sum()
    assert np.abs(gradient.sum(axis=0)).max() < 1e-13 * size
    assert np.abs(total_torque(x, gradient)).max() < 1e-12 * size
    stiffer = bodies.collision(1.001 * K)
    assert abs(slope - np.vdot(stiffer.gradient(x), dx)) > 1e-5 * abs(slope)


@both
def test_diagonal_belongs_to_the_prepared_positions(d: int) -> None:
    bodies, x = overlapping(d)
    collision = bodies.collision()
    collision.prepare(x)
    entry = np.unravel_index(np.abs(collision.gradient(x)).argmax(), x.shape)
    unit = np.zeros_like(x)
    unit[entry] = 1.0
    before = collision.product(unit)
    assert before[entry] == pytest.approx(collision.diagonal()[entry], rel=1e-12)
    collision.value(bodies.points + 10.0 * bodies.body[:, None])  # a trial of the line search
    assert np.array_equal(collision.product(unit), before)


def separated(depth: float, stiffness: float) -> tuple[float, float]:
    """Momentum and largest depth after implicit steps of two elastic boxes that start in each other."""
    bodies = Bodies(box(3, 2), box(3, 3, shift=1 - depth))
    elements = Elements(bodies.points, bodies.cells, FixedCorotated(1e5, 0.3))
    terms = [_Term(elements), bodies.collision(stiffness)]
    mass, dt = elements.lumped_mass(), 1 / 24
    now = PointState(bodies.points.copy(), np.zeros_like(bodies.points))
    for _ in range(8):
        acceleration = -sum(term.gradient(now.x) for term in terms) / mass[:, None]
        step = ImplicitStep.of("backward-euler", dt, now, acceleration)
        energy = StepEnergy(step, mass, terms)
        x, report = minimise(energy, step.starts(acceleration), Options.scaled(1e5, tolerance=1e-6))
        assert report.converged
        now = PointState(x, step.velocity(x))
    momentum = np.abs(mass @ now.v).max() / (mass.sum() * np.abs(now.v).max() + 1e-300)
    left = terms[1].pairs(now.x)
    return float(momentum), float(left.depths.max(initial=0.0)) if len(left) else 0.0


class _Term:
    """Elements as a term."""

    def __init__(self, energy: Elements) -> None:
        self.value, self.gradient, self._hessian = energy.value, energy.gradient, energy.hessian

    def prepare(self, x: np.ndarray, *, positive: bool = False) -> None:
        hessian = self._hessian(x, positive=positive)
        self.product, self.diagonal = hessian.product, hessian.diagonal


def test_overlapping_cubes_are_pushed_apart() -> None:
    momentum, depth = separated(0.2, stiffness=1e6)
    assert depth < 0.01 and momentum < 1e-9
    _, untouched = separated(0.2, stiffness=0.0)
    assert untouched == pytest.approx(0.2, rel=1e-6)


@both
def test_same_bits_for_any_number_of_threads(d: int) -> None:
    bodies = Bodies(*(box(d, 8 if d == 3 else 60, shift=s) for s in (0.0, 0.9, 1.8)))
    x = bodies.points + 2e-3 * np.random.default_rng(10).normal(size=bodies.points.shape)
    results, before = [], _core.threads()
    try:
        for threads in (1, 2, 3):
            _core.set_threads(threads)
            collision = bodies.collision()
            collision.prepare(x)
            parts = (
                collision.find(x),
                collision.gradient(x),
                collision.product(deformed(x)),
                collision.diagonal(),
            )
            results.append([np.float64(collision.value(x)).tobytes()] + [part.tobytes() for part in parts])
    finally:
        _core.set_threads(before)
    assert results[0] == results[1] == results[2]


@both
def test_positions_that_are_not_finite_have_infinite_energy(d: int) -> None:
    bodies, x = overlapping(d)
    x[3] = np.nan
    assert bodies.collision().value(x) == np.inf


@both
def test_forces_are_what_single_pairs_push_with(d: int) -> None:
    bodies, x = overlapping(d)
    pairs = bodies.collision().pairs(x)
    alone = [CollisionPairs(x, [row], stiffness=K).gradient()[row[0]] for row in pairs.nodes]
    np.testing.assert_allclose(pairs.forces, np.linalg.norm(alone, axis=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"points": np.zeros((4, 4))}, GeometryError, "points"),
        ({"points": np.full((4, 3), np.nan)}, GeometryError, "finite"),
        ({"cells": [[0, 1, 2]]}, GeometryError, "cells"),
        ({"cells": [[0, 1, 2, 4]]}, GeometryError, "cells: row 0 names point 4"),
        ({"surface": [[0, 1, 9]]}, GeometryError, "facets: row 0 names point 9"),
        ({"surface": np.empty((0, 3), int)}, GeometryError, "needs cells and facets"),
        ({"stiffness": -1.0}, SetupError, "stiffness"),
        ({"epsilon": 0.0}, SetupError, "epsilon"),
    ],
)
def test_wrong_meshes_are_refused_with_a_reason(changes, error, message: str) -> None:
    good = {"points": np.eye(4, 3), "cells": [[0, 1, 2, 3]], "surface": [[0, 1, 2]], "stiffness": 1.0}
    SelfCollision(**good)
    with pytest.raises(error, match=message):
        SelfCollision(**(good | changes))
