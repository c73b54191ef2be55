"""Single strands, bundles, braids, and curves from files."""

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.spatial import cKDTree

from continua.errors import GeometryError
from continua.geometry.curve_files import chained
from continua.geometry.meshes import AnyCurves, Braid, Bundle, FileCurves, Strand, read_curves


def test_a_strand_goes_from_point_to_point() -> None:
    curves = Strand([(0, 0, 0), (1, 0, 0), (1, 2, 0)], segments=4).build()
    assert len(curves) == 1 and len(curves.points) == 9
    assert curves.points[[0, 4, 8]].tolist() == [[0, 0, 0], [1, 0, 0], [1, 2, 0]]
    assert np.linalg.norm(np.diff(curves.points, axis=0), axis=1) == pytest.approx([0.25] * 4 + [0.5] * 4)


def test_strands_of_a_bundle_are_parallel_and_fill_the_disc() -> None:
    """The mean square distance of an even disc from its middle is r^2 / 2; that of its rim would be r^2."""
    start, end = np.array([1.0, 0, 0]), np.array([1.0, 2, 1])
    points = Bundle(tuple(start), tuple(end), 0.1, 200, 10).build().points.reshape(200, 11, 3)
    assert np.diff(points, axis=1) == pytest.approx(np.broadcast_to((end - start) / 10, (200, 10, 3)))
    off = points[:, 0] - start
    assert np.abs(off @ (end - start)).max() < 1e-12
    radius = np.linalg.norm(off, axis=1)
    assert radius.max() < 0.1 and (radius**2).mean() == pytest.approx(0.1**2 / 2, rel=1e-6)
    assert cKDTree(off).query(off, 2)[0][:, 1].min() > 0.8 * np.sqrt(np.pi * 0.1**2 / 200)
    assert Bundle((0, 0, 0), (0, 1, 0), 0.1, 1, 5).build().points[0].tolist() == [0, 0, 0]


def crossings(u: np.ndarray, v: np.ndarray) -> list[int]:
    """Signs of the crossings of two lines (S, 3) along y seen along z: 1 where the one in front goes to larger x."""
    gap = u - v
    change = np.flatnonzero(np.sign(gap[1:, 0]) != np.sign(gap[:-1, 0]))
    return [int(np.sign(gap[k, 2]) * np.sign(gap[k + 1, 0] - gap[k, 0])) for k in change]


@pytest.mark.parametrize("bundles", [3, 5])
def test_a_braid_is_alternating_and_its_bundles_do_not_touch(bundles: int) -> None:
    braid = Braid((0, 0, 0), (0, 2, 0), 0.02, 10, 200, 3, bundles=bundles, across=(1, 0, 0))
    points = braid.build().points.reshape(bundles, 10, 201, 3)
    for i in range(bundles):
        for j in range(i):
            near = cKDTree(points[i].reshape(-1, 3)).query(points[j].reshape(-1, 3))[0].min()
            assert near > 0.2 * 0.02 - 0.01 * 0.02  # 1.1 diameters of lines less one of bundles
    middle = np.array([braid._line(k, braid._width(), 200) for k in range(bundles)])
    signs = crossings(middle[0], middle[1])
    # A braid turns neither way: a twisted rope would have all crossings of one sign.
    assert len(signs) >= 2 * braid.turns - 1 and abs(sum(signs)) <= 1
    twist = 2 * np.pi * 3 * np.linspace(0, 1, 201)
    rope = [np.stack([s * np.cos(twist), twist, s * np.sin(twist)], axis=1) for s in (1, -1)]
    assert abs(sum(crossings(*rope))) > 1


def test_strands_of_a_bundle_keep_their_places_in_a_braid() -> None:
    points = Braid((0, 0, 0), (0, 2, 0), 0.02, 12, 400, 3).build().points.reshape(3, 12, 401, 3)
    from_middle = points - points.mean(axis=1, keepdims=True)
    gram = np.einsum("batc,bdtc->tbad", from_middle, from_middle)
    assert (
        np.abs(gram - gram[0]).max() < 1e-9
    )  # distances and angles within the section are those at the root


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Strand([(0, 0, 0)]), "points: list should have at least 2 items"),
        (lambda: Strand([(0, 0), (1, 1)]), "all points must have 3 coordinates"),
        (lambda: Strand([(0, 0, 0), (0, 0, 0)]).build(), "points 0 and 1 of a curve are at the same place"),
        (lambda: Bundle((0, 0, 0), (0, 0, 0), 0.1, 5, 5), "start and end must differ"),
        (
            lambda: Bundle((0, 0, 0), (0, 1, 0), 0.1, 0, 5),
            "count: input should be greater than or equal to 1",
        ),
        (lambda: Braid((0, 0, 0), (0, 1, 0), 0.01, 5, 50, 1, bundles=4), "bundles must be an odd number"),
        (lambda: Braid((0, 0, 0), (0, 1, 0), 0.01, 5, 5, 1), "a braid of 1 turns needs at least 12 segments"),
        (lambda: Braid((0, 0, 0), (0, 1, 0), 0.01, 5, 50, 1, across=(0, 2, 0)), "must not be parallel"),
        (lambda: Braid((0, 0, 0), (0, 1, 0), 0.1, 5, 50, 3).build(), "do not fit .* thinner bundles"),
    ],
)
def test_mistakes(make, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        make()


def test_descriptions_survive_a_file() -> None:
    kind = TypeAdapter(AnyCurves)
    for made in (
        Strand([(0, 0, 0), (1, 0, 0)]),
        Braid((0, 0, 0), (0, 1, 0), 0.01, 5, 50, 1),
        FileCurves("a.obj"),
    ):
        assert kind.validate_python(kind.dump_python(made, mode="json")) == made


POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [5, 5, 5], [0, 0, 1], [0, 0, 2.0]])


def test_obj_lines_and_edges(tmp_path) -> None:
    rows = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS)
    (tmp_path / "a.obj").write_text(rows + "# two curves\nl 1 2 3\nl -1 -2\nf 1 2 3\n")
    curves = read_curves(tmp_path / "a.obj")
    assert curves.offsets.tolist() == [0, 3, 5]
    assert np.array_equal(curves.points, POINTS[[0, 1, 2, 5, 4]])  # points without a line are left out
    (tmp_path / "b.obj").write_text(rows + "l 2 3\nl 1 2\n")  # one edge each, in any order
    again = FileCurves(tmp_path / "b.obj", scale=2, translate=(0, 0, 1)).build()
    assert np.array_equal(again.points, 2 * POINTS[:3] + [0, 0, 1])


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply_edges(tmp_path, order: str) -> None:
    head = f"ply\nformat {order} 1.0\ncomment hair\nelement vertex 6\nproperty float x\nproperty double y\n"
    head += "property float z\nproperty uchar w\nelement edge 3\nproperty int vertex1\n"
    head += "property int vertex2\nend_header\n"
    edges = np.array([[1, 2], [0, 1], [4, 5]])
    if order == "ascii":
        body = "".join(f"{x} {y} {z} 7\n" for x, y, z in POINTS) + "".join(f"{a} {b}\n" for a, b in edges)
        data = body.encode()
    else:
        mark = "<" if "little" in order else ">"
        table = np.zeros(6, [("x", mark + "f4"), ("y", mark + "f8"), ("z", mark + "f4"), ("w", "u1")])
        table["x"], table["y"], table["z"] = POINTS.T
        data = table.tobytes() + edges.astype(mark + "i4").tobytes()
    (tmp_path / "a.ply").write_bytes(head.encode() + data)
    curves = read_curves(tmp_path / "a.ply")
    assert np.array_equal(curves.points, POINTS[[0, 1, 2, 4, 5]]) and curves.offsets.tolist() == [0, 3, 5]


@pytest.mark.parametrize("suffix", [".vtk", ".vtu", ".msh"])
def test_lines_of_other_formats(tmp_path, suffix: str) -> None:
    meshio = pytest.importorskip("meshio")
    form = {".msh": "gmsh", ".vtk": "vtk", ".vtu": "vtu"}[suffix]
    meshio.Mesh(POINTS, [("line", [[0, 1], [1, 2], [4, 5]])]).write(tmp_path / f"a{suffix}", form)
    curves = read_curves(tmp_path / f"a{suffix}")
    assert np.array_equal(curves.points, POINTS[[0, 1, 2, 4, 5]])


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([[0, 1], [1, 2], [1, 3]], "point 1 of these curves is on 3 lines; strands do not branch"),
        ([[0, 1], [1, 2], [2, 0], [3, 4]], "a closed ring; strands have two ends"),
        ([[0, 9]], "points that it does not have"),
        ([], "has no lines"),
    ],
)
def test_what_is_no_strand_is_refused(edges: list, message: str) -> None:
    with pytest.raises(GeometryError, match=message):
        chained(POINTS, edges)


def test_files_that_hold_no_curves(tmp_path) -> None:
    with pytest.raises(GeometryError, match="does not exist"):
        read_curves(tmp_path / "none.obj")
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(GeometryError, match="unknown format, use one of .obj"):
        read_curves(tmp_path / "a.txt")
    for name, text in (("a.obj", "v 1 2\nl a b\n"), ("a.ply", "no ply"), ("a.vtk", "nothing")):
        (tmp_path / name).write_text(text)
        with pytest.raises(GeometryError, match="cannot be read as .*, export it again"):
            read_curves(tmp_path / name)
    (tmp_path / "b.obj").write_text("v 0 0 0\n")
    with pytest.raises(GeometryError, match="has no lines"):
        read_curves(tmp_path / "b.obj")
