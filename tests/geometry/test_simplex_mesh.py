"""Meshes of triangles and tetrahedra: what is refused, what is put right, and what is derived from the arrays."""

import math

import numpy as np
import pytest

from continua.errors import GeometryError
from continua.geometry.meshes import SimplexMesh, box_mesh

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
CORNER = np.concatenate([np.zeros((1, 3)), np.eye(3)])


def regular(dimension: int) -> SimplexMesh:
    """One simplex whose edges all have the length sqrt(2)."""
    if dimension == 2:
        return SimplexMesh([[0, 0], [math.sqrt(2), 0], [math.sqrt(0.5), math.sqrt(1.5)]], [[0, 1, 2]])
    return SimplexMesh([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1]], [[0, 1, 2, 3]])


def surface_integral(mesh: SimplexMesh) -> tuple[np.ndarray, float]:
    """Integral of the outward normal, and of x.n / d, which is the volume (divergence theorem)."""
    corners = mesh.points[mesh.surface]
    if mesh.dimension == 2:
        along = corners[:, 1] - corners[:, 0]
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1)
    else:
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    return normals.sum(axis=0), float((normals * corners.mean(axis=1)).sum()) / mesh.dimension


def test_cells_given_inside_out_are_turned():
    mesh = SimplexMesh(SQUARE, [[0, 1, 2], [0, 3, 2]])
    assert mesh.turned == 1 and np.array_equal(mesh.volumes, [0.5, 0.5])
    assert set(mesh.cells[1]) == {0, 2, 3}


@pytest.mark.parametrize(
    ("points", "cells", "message"),
    [
        ([[0, 0], [1]], [[0, 1, 2]], "rows of numbers"),
        ([[0, 0, 0, 0]], [[0]], r"need the shape \(N, 2\) or \(N, 3\), not \(1, 4\)"),
        ([[0, 0], [1, math.nan], [0, 1]], [[0, 1, 2]], "point 1 of mesh is not finite"),
        (SQUARE, [[0, 1, 2, 3]], r"must be triangles, whole numbers of shape \(M, 3\), not \(1, 4\)"),
        (SQUARE, [[0.0, 1.0, 2.0]], "must be triangles"),
        (CORNER, np.zeros((0, 4), int), "mesh has no cells"),
        (
            SQUARE,
            [[0, 1, 2], [0, 2, 4]],
            r"cell 1 of mesh refers to a point that does not exist, \(0, 2, 4\)",
        ),
        (SQUARE, [[0, 1, 2], [0, 2, -1]], "cell 1 of mesh refers"),
        (SQUARE, [[0, 1, 2]], "point 3 of mesh belongs to no cell"),
        (SQUARE, [[0, 1, 2], [0, 3, 3]], r"cell 1 of mesh, \(0, 3, 3\), has no volume"),
        ([[0, 0], [1, 0], [2, 1e-12]], [[0, 1, 2]], "cell 0 of mesh, .* has no volume"),
        (SQUARE, [[0, 1, 2], [0, 1, 3]], "cells 0 and 1 of mesh overlap"),
        (SQUARE, [[0, 1, 2], [0, 2, 3], [2, 0, 1]], "shares a facet with more than one other|overlap"),
        ([*CORNER, [1, 1, 1]], [[0, 1, 2, 3], [0, 1, 2, 4]], "cells 0 and 1 of mesh overlap"),
    ],
)
def test_meshes_that_cannot_be_right_are_refused(points, cells, message):
    with pytest.raises(GeometryError, match=message):
        SimplexMesh(points, cells)


def test_arrays_are_own_contiguous_and_read_only():
    points = SQUARE.copy()
    mesh = SimplexMesh(points, [[0, 1, 2], [0, 2, 3]])
    points += 1
    assert np.array_equal(mesh.points, SQUARE) and mesh.points.flags.c_contiguous
    assert mesh.cells.dtype == np.int32 and len(mesh) == 2
    for array in (mesh.points, mesh.cells, mesh.surface):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("counts", [(3, 4), (3, 4, 2)])
def test_boundary_is_closed_and_turns_outwards(counts):
    mesh = box_mesh(np.zeros(len(counts)) + 5, np.array([6.0, 7.0, 8.0])[: len(counts)], counts)
    area, volume = surface_integral(mesh)
    assert np.abs(area).max() < 1e-13
    assert volume == pytest.approx(mesh.volumes.sum(), rel=1e-12)
    inside_out = SimplexMesh(mesh.points, mesh.cells)
    inside_out.surface = mesh.surface[:, ::-1]
    assert surface_integral(inside_out)[1] == pytest.approx(-volume, rel=1e-12)  # so the test can tell


def test_boundary_of_a_square_runs_round_it():
    mesh = SimplexMesh(SQUARE, [[0, 1, 2], [0, 2, 3]])
    assert sorted(map(tuple, mesh.surface.tolist())) == [(0, 1), (1, 2), (2, 3), (3, 0)]


@pytest.mark.parametrize("counts", [(3, 4), (3, 4, 2)])
def test_edges_satisfy_eulers_formula(counts):
    mesh = box_mesh([0] * len(counts), [1] * len(counts), counts)
    facets = (len(mesh) * (mesh.dimension + 1) + len(mesh.surface)) // 2
    if mesh.dimension == 2:
        assert len(mesh.points) - facets + len(mesh) == 1 and len(mesh.edges) == facets
    else:
        assert len(mesh.points) - len(mesh.edges) + facets - len(mesh) == 1
    assert (mesh.edges[:, 0] < mesh.edges[:, 1]).all()


@pytest.mark.parametrize("dimension", [2, 3])
def test_gradients_reproduce_an_affine_map(dimension):
    mesh = box_mesh([0] * dimension, [1, 2, 3][:dimension], [2] * dimension)
    A = np.random.default_rng(1).normal(size=(dimension, dimension))
    moved = mesh.points @ A.T + 0.3
    F = np.einsum("mki,mkj->mij", moved[mesh.cells], mesh.gradients)
    assert np.abs(F - A).max() < 1e-13


@pytest.mark.parametrize(("dimension", "angle"), [(2, 60), (3, math.degrees(math.acos(1 / 3)))])
def test_regular_simplex_has_the_best_quality(dimension, angle):
    quality = regular(dimension).quality()
    assert quality.smallest_angle == pytest.approx(angle, rel=1e-12)
    assert quality.largest_angle == pytest.approx(angle, rel=1e-12)
    assert quality.smallest_ratio == pytest.approx(1, rel=1e-12)


def test_quality_of_right_angled_cells_in_closed_form():
    half_square = SimplexMesh(SQUARE[:3], [[0, 1, 2]]).quality()
    assert (half_square.smallest_angle, half_square.largest_angle) == pytest.approx((45, 90))
    assert half_square.smallest_ratio == pytest.approx(2 * (math.sqrt(2) - 1))  # 2 r / R
    corner = SimplexMesh(CORNER, [[0, 1, 2, 3]]).quality()
    assert (corner.smallest_angle, corner.largest_angle) == pytest.approx(
        (math.degrees(math.acos(1 / math.sqrt(3))), 90)
    )
    assert corner.smallest_ratio == pytest.approx(3 * (1 / (3 + math.sqrt(3))) / (math.sqrt(3) / 2))


def test_worst_cell_is_named():
    flat = SimplexMesh([*SQUARE, [1.2, 0.5]], [[0, 1, 2], [0, 2, 3], [1, 4, 2]])
    assert flat.quality().worst_cell == 2


def test_pieces_that_do_not_touch_are_told_apart():
    points = np.concatenate([SQUARE, SQUARE + 3])
    mesh = SimplexMesh(points, [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    assert mesh.components.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_numbers_too_large_to_pack_still_sort():
    from continua.geometry.simplex_mesh import _keys

    rows = np.array([[2**31 - 2, 5, 1], [0, 1, 2**31 - 2], [2**31 - 2, 5, 0], [0, 1, 2**31 - 2]], np.int32)
    keys = _keys(rows)
    assert keys[1] == keys[3] < keys[2] < keys[0]
