"""Strands that grow out of surfaces."""

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.spatial import cKDTree

import continua as ct
from continua.errors import GeometryError
from continua.geometry import shapes, skin
from continua.geometry.contour import gradient
from continua.geometry.meshes import AnyCurves, BoxMesh, Curl, Fur

BALL = shapes.Sphere((0.1, 0.2, 0.3), 0.5)
BOX = shapes.Box((0, 0, 0), (1, 1, 1))
TETRAHEDRON = shapes.Mesh(
    vertices=np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]),
    faces=[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
)
SURFACES = {
    "ball": BALL,
    "torus": shapes.Torus((0, 0, 0), 1.0, 0.3, (1, 2, 0)),
    "combined": BOX - shapes.Sphere((0, 0.5, 0), 0.3),
    "turned": shapes.Rotated(BOX, 30, (0, 1, 1)),
    "mesh": TETRAHEDRON,
    "turned mesh": shapes.Rotated(TETRAHEDRON, 30, (0, 1, 1)),
}


def strands(fur: Fur) -> np.ndarray:
    """Points (count, segments + 1, 3) of all strands, which have equal numbers of points."""
    return fur.build().points.reshape(fur.count, fur.segments + 1, 3)


@pytest.mark.parametrize("name", SURFACES)
def test_roots_lie_on_the_surface_and_leave_along_the_outward_normal(name: str) -> None:
    on = SURFACES[name]
    points = strands(Fur(on, 60, 0.1, 8, lean=(0, -2, 0), curl=Curl(0.01, 1)))
    assert np.abs(on.signed_distance(points[:, 0])).max() < 1e-12
    first = points[:, 1] - points[:, 0]
    assert np.linalg.norm(first, axis=1) == pytest.approx(0.1 / 8, rel=1e-12)
    # steps of 1e-6 m resolve a curved surface to 1e-6/0.3; a root that near to an edge has no normal
    slope = gradient(on, points[:, 0], 1e-6)
    assert np.einsum("nc,nc->n", first, slope).min() > (1 - 1e-6) * 0.1 / 8


def test_a_mesh_that_is_smooth_gives_smooth_normals() -> None:
    ball = ct.meshes.mesh_of(BALL, 0.1)
    used, faces = np.unique(ball.surface, return_inverse=True)
    mesh = shapes.Mesh(vertices=ball.points[used], faces=faces.reshape(-1, 3))
    points = strands(Fur(mesh, 400, 0.1, 4))
    radial = points[:, 0] - np.array(BALL.center)
    cosine = np.einsum("nc,nc->n", points[:, 1] - points[:, 0], radial)
    cosine /= 0.025 * np.linalg.norm(radial, axis=1)
    facet = mesh.surface.vertices[mesh.surface.faces]
    flat = np.cross(facet[:, 1] - facet[:, 0], facet[:, 2] - facet[:, 0])
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    number, _, _ = skin.nearest_facets(points[:, 0], mesh.surface.vertices, mesh.surface.faces)
    wrong = np.einsum("nc,nc->n", flat[number], radial) / np.linalg.norm(radial, axis=1)
    assert np.degrees(np.arccos(cosine)).mean() < 0.5 * np.degrees(np.arccos(wrong)).mean()


def evenness(roots: np.ndarray, area: float) -> tuple[float, float, float]:
    """Smallest and mean distance of neighbours and the largest hole, over the side of a square of mean area."""
    side = np.sqrt(area / len(roots))
    near = cKDTree(roots).query(roots, 2)[0][:, 1]
    rng = np.random.default_rng(0).normal(size=(20_000, 3))
    everywhere = np.array(BALL.center) + BALL.radius * rng / np.linalg.norm(rng, axis=1, keepdims=True)
    return near.min() / side, near.mean() / side, cKDTree(roots).query(everywhere)[0].max() / side


def test_roots_are_spread_evenly() -> None:
    """Random points have a mean distance of 1/2 and no smallest one, a hexagonal lattice 1.07 and holes of 0.62."""
    area = 4 * np.pi * BALL.radius**2
    low, mean, hole = evenness(strands(Fur(BALL, 500, 0.1, 2))[:, 0], area)
    assert low > 0.25 and mean > 0.75 and hole < 1.1
    rng = np.random.default_rng(3).normal(size=(500, 3))
    random = np.array(BALL.center) + BALL.radius * rng / np.linalg.norm(rng, axis=1, keepdims=True)
    low, mean, hole = evenness(random, area)
    assert low < 0.25 and mean < 0.75 and hole > 1.1


def test_both_sides_of_a_thin_sheet_get_their_share() -> None:
    roots = strands(Fur(shapes.Box((0, 0, 0), (1, 1, 0.02)), 200, 0.1, 2))[:, 0]
    assert (roots[:, 2] > 0).sum() == pytest.approx(100, abs=10)  # random ones: 100 +- 7


def test_equal_seeds_grow_equal_strands_and_others_do_not() -> None:
    one, same, other = (Fur(BALL, 30, 0.1, 4, seed=s, variation=0.5).build().points for s in (1, 1, 2))
    assert np.array_equal(one, same) and not np.array_equal(one, other)


def test_part_chooses_where_strands_grow() -> None:
    part = shapes.Sphere((0.5, 0.5, 0.1), 0.003)  # a three hundred thousandth of the surface of the box
    roots = strands(Fur(BOX, 20, 0.1, 2, part=part))[:, 0]
    assert part.signed_distance(roots).max() < 0 and np.abs(BOX.signed_distance(roots)).max() < 1e-12
    with pytest.raises(GeometryError, match="no surface inside part; move or enlarge it"):
        Fur(BOX, 20, 0.1, 2, part=shapes.Sphere((0, 0, 0), 0.4)).build()


def test_lengths_vary_as_told() -> None:
    points = strands(Fur(BALL, 300, 0.2, 10, variation=0.4, lean=(1, 0, 0)))
    lengths = np.linalg.norm(np.diff(points, axis=1), axis=2).sum(axis=1)
    assert lengths.max() <= 0.2 + 1e-12 and lengths.min() >= 0.12
    assert lengths.mean() == pytest.approx(0.16, abs=4 * 0.08 / np.sqrt(12 * 300))
    one = strands(Fur(BALL, 300, 0.2, 10))
    assert np.array_equal(one[:, 0], points[:, 0])  # what strands look like does not move their roots


def test_strands_lean_and_never_back_into_the_surface() -> None:
    lean = np.array([0.0, -1.0, 0.0])
    points = strands(Fur(BOX, 200, 0.3, 12, lean=tuple(lean)))
    normal = (points[:, 1] - points[:, 0]) / (0.3 / 12)
    tip = (points[:, -1] - points[:, -2]) / (0.3 / 12)
    side = np.abs(normal[:, 1]) < 0.5
    assert np.abs(tip[side] - (normal[side] + lean) / np.sqrt(2)).max() < 1e-9  # half way between the two
    rise = np.einsum("ntc,nc->nt", np.diff(points, axis=1), normal)
    assert rise.min() > 0
    assert np.array_equal(
        strands(Fur(BALL, 40, 0.1, 4))[:, 2], strands(Fur(BALL, 40, 0.1, 4, lean=(0, 0, 0)))[:, 2]
    )


def test_curls_wind_about_the_middle_line() -> None:
    """Seen along a straight strand, its tip has turned 2 pi turns about the middle line, at the radius."""
    curl = Curl(0.01, 3)
    points = strands(Fur(BOX, 50, 0.5, 90, curl=curl))
    normal = (points[:, 1] - points[:, 0]) / np.linalg.norm(points[:, 1] - points[:, 0], axis=1)[:, None]
    away = points - points[:, :1]
    away -= np.einsum("ntc,nc->nt", away, normal)[..., None] * normal[:, None]
    radius = np.linalg.norm(away, axis=2)
    assert radius[:, 31:] == pytest.approx(0.01, rel=1e-9) and radius[:, :2].max() < 1e-15
    first, second = away[:, 2:-1], away[:, 3:]
    cross = np.einsum("ntc,nc->nt", np.cross(first, second), normal)
    angle = np.arctan2(cross, np.einsum("ntc,ntc->nt", first, second)).sum(axis=1)
    assert np.abs(angle) == pytest.approx(2 * np.pi * 3 * 88 / 90, rel=1e-9)


def test_fur_grows_on_bodies_where_they_are() -> None:
    mesh, soft = BoxMesh((0, 0, 0), (1, 1, 1), (2, 2, 2)), ct.materials.FixedCorotated(E=1e4)
    body = ct.SolidBody(mesh, soft, start=ct.Placed(np.eye(3), (5, 0, 0)))
    points = strands(Fur(body, 40, 0.1, 3))
    moved = shapes.Box((5.5, 0.5, 0.5), (1, 1, 1))
    assert np.abs(moved.signed_distance(points[:, 0])).max() < 1e-12
    assert moved.signed_distance(points[:, 1]) == pytest.approx(0.1 / 3, rel=1e-9)
    flat = ct.SolidBody(BoxMesh((0, 0), (1, 1), (2, 2)), soft, name="flat")
    with pytest.raises(GeometryError, match="SolidBody 'flat' has no surface of triangles"):
        Fur(flat, 40, 0.1, 3).build()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fur(BALL, 0, 0.1, 4), "count: input should be greater than or equal to 1, got 0"),
        (lambda: Fur(BALL, 5, 0.0, 4), "length: input should be greater than 0"),
        (lambda: Fur(BALL, 5, 0.1, 1), "segments: input should be greater than or equal to 2"),
        (lambda: Fur(shapes.Sphere((0, 0), 1), 5, 0.1, 4), "on must be a 3D shape"),
        (lambda: Fur(BALL, 5, 0.1, 4, part=shapes.Sphere((0, 0), 1)), "part must be a 3D shape"),
        (lambda: Fur(BALL, 5, 0.1, 4, lean=(0, 1)), "lean needs 3 coordinates"),
        (lambda: Fur(BALL, 5, 0.1, 4, variation=1), "variation must be less than 1"),
        (lambda: Fur(BALL, 5, 0.1, 10, curl=Curl(0.1, 2)), "a curl of 2 turns needs at least 12 segments"),
        (lambda: Fur(shapes.Points([[0, 0, 0]]), 5, 0.1, 4).build(), "points have no inside and no surface"),
        (lambda: Fur("ball", 5, 0.1, 4).build(), "only scene files know others by their names"),
    ],
)
def test_mistakes(make, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        make()


def test_descriptions_survive_a_file() -> None:
    kind = TypeAdapter(AnyCurves)
    fur = Fur(BALL, 5, 0.1, 12, part=BOX, curl=Curl(0.1, 2), lean=(0, 1, 0))
    assert kind.validate_python(kind.dump_python(fur, mode="json")) == fur


def brute(x: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances (n,) of points x (n, 3) from triangles (F, 3, 3), by points all over these."""
    a, b = (grid.ravel() for grid in np.meshgrid(*2 * [np.linspace(0, 1, 201)]))
    inside = a + b <= 1
    weights = np.stack([a, b, 1 - a - b], axis=1)[inside]
    return cKDTree((weights @ corners).reshape(-1, 3)).query(x)[0]


def test_nearest_facets_equal_brute_force() -> None:
    rng = np.random.default_rng(5)
    vertices, faces = rng.random((24, 3)), np.arange(24).reshape(8, 3)
    vertices[faces[0]] *= (8.0, 0.1, 0.1)  # a large one among small ones
    x = 3 * rng.random((50, 3)) - 1
    facet, weights, off = skin.nearest_facets(x, vertices, faces)
    foot = np.einsum("nk,nkc->nc", weights, vertices[faces[facet]])
    assert weights.min() >= 0 and weights.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert np.linalg.norm(x - foot, axis=1) == pytest.approx(off, abs=1e-12)
    found = brute(x, vertices[faces])
    assert (off <= found + 1e-12).all() and np.abs(off - found).max() < 0.01
