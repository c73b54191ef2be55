"""Mesh bodies in pictures: where they are, what hides what, and how their surface is lit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from continua.geometry import shapes
from continua.geometry.meshes import SimplexMesh, box_mesh, chain, cloth_springs, mesh_of
from continua.io.frames import BodyFrame, Frame
from continua.render.bodies import creased_normals, solid_of, wires_of
from continua.render.camera import Camera
from continua.render.splat import SplatRenderer
from continua.render.still import still
from continua.render.view import view_of_frames

BALL = mesh_of(shapes.Sphere((0, 0, 0), 1.0), 0.3)
CUBE = box_mesh((-1, -1, -1), (1, 1, 1), (2, 2, 2))


def body_of(made: SimplexMesh, name: str = "ball", shift: tuple[float, ...] = (0, 0, 0)) -> BodyFrame:
    x = made.points + np.array(shift)[: made.dimension]
    arrays = {"x": x, "v": 0 * x, "id": np.arange(len(x)), "height": x[:, 1]}
    return BodyFrame(name, "mesh", "jelly", arrays, made.cells, made.surface)


def picture(*bodies: BodyFrame, **options: object) -> np.ndarray:
    frame = Frame(0, 0.0, list(bodies))
    camera = Camera((0.0, 0.0, 8.0), (0.0, 0.0, 0.0))
    view = view_of_frames([frame], size=(160, 120), camera=camera, **options)
    return SplatRenderer(view).render(frame).astype(int)


def test_a_ball_covers_the_disc_that_it_should() -> None:
    camera = Camera((0.0, 0.0, 8.0), (0.0, 0.0, 0.0))
    empty = picture(hide=["ball"])
    changed = np.abs(picture(body_of(BALL), color_by="body") - empty).sum(axis=2) > 60
    radius = camera.focal(120) / np.sqrt(8.0**2 - 1)  # of the rim seen from 8 radii away
    assert changed.sum() == pytest.approx(np.pi * radius**2, rel=0.06)
    assert changed[60, 80] and not changed[:5].any()


def test_interior_points_are_not_drawn_as_particles() -> None:
    frame = Frame(0, 0.0, [body_of(BALL)])
    view = view_of_frames([frame], color_by="body")
    assert view.clouds(frame) == [] and len(view.solids(frame)) == 1
    assert view_of_frames([frame], hide=["ball"]).solids(frame) == []


def test_the_nearer_body_hides_the_other() -> None:
    # The first colour of the palette is blue, the second orange.
    for depths, orange in (((-2, 2), True), ((2, -2), False)):
        bodies = [body_of(BALL, name, (0, 0, z)) for name, z in zip("ab", depths, strict=True)]
        red, _, blue = picture(*bodies, color_by="body")[60, 80]
        assert (red > blue) == orange


def test_particles_inside_a_mesh_are_hidden_by_it() -> None:
    x = 0.3 * np.random.default_rng(0).standard_normal((200, 3)).clip(-1, 1)
    cloud = BodyFrame("cloud", "points", "snow", {"x": x, "v": 0 * x, "id": np.arange(200)})
    with_cloud = picture(body_of(BALL, "a"), cloud, color_by="body")
    assert np.abs(with_cloud - picture(body_of(BALL, "a"), color_by="body"))[50:70, 70:90].max() < 12


def test_colours_run_over_the_surface_with_the_field() -> None:
    image = picture(body_of(BALL), color_by="height", limits=(-1, 1))
    high, low = image[50, 80], image[75, 80]
    assert high[0] > low[0] + 40  # the top of the scale is yellow, its bottom blue


def test_normals_are_smooth_on_a_ball_and_sharp_on_a_cube() -> None:
    corners = BALL.points[BALL.surface]
    normals = creased_normals(corners, BALL.surface)
    assert np.einsum("fci,fci->fc", normals, corners).min() > 0.98
    faces = creased_normals(CUBE.points[CUBE.surface], CUBE.surface)
    assert np.abs(faces).max(axis=2).min() > 1 - 1e-12  # along an axis, nowhere the mean of two sides


def test_sheets_are_lit_from_both_sides() -> None:
    cloth = cloth_springs(4, 4, (1.0, 1.0))
    arrays = {"x": cloth.points, "v": 0 * cloth.points, "id": np.arange(16)}
    body = BodyFrame("cloth", "springs", "", arrays, cloth.edges, cloth.triangles)
    for side in (5.0, -5.0):
        solid = solid_of(body, np.ones((16, 3)), np.array([0.0, side, 0.0]))
        assert solid is not None and (np.sign(solid.normals[:, 1]) == np.sign(side)).all()
    assert wires_of(body) is None


def test_broken_points_leave_the_rest_of_the_picture() -> None:
    body = body_of(BALL)
    body.arrays["x"][BALL.surface[0, 0]] = np.nan
    solid = solid_of(body, np.ones((len(body), 3)), np.zeros(3))
    assert solid is not None and len(BALL.surface) - 20 < len(solid.triangles) < len(BALL.surface)
    assert np.isfinite(solid.vertices).all() and picture(body, color_by="body").shape == (120, 160, 3)


def test_chains_are_lines_with_knots() -> None:
    line = chain([(-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    arrays = {"x": line.points, "v": 0 * line.points, "id": np.arange(3)}
    body = BodyFrame("chain", "springs", "", arrays, line.edges, line.triangles)
    wires = wires_of(body)
    assert wires is not None and len(wires.start) == 2
    image, empty = picture(body, color_by="body"), picture(color_by="body")
    assert (np.abs(image - empty).sum(axis=2) > 40)[58:62].any(axis=0).sum() > 20


@pytest.mark.parametrize("made", [mesh_of(shapes.Sphere((0, 0), 1.0), 0.3)])
def test_triangles_of_a_plane_body_are_filled(tmp_path: Path, made: SimplexMesh) -> None:
    pytest.importorskip("matplotlib")
    image = pytest.importorskip("PIL.Image")
    frame = Frame(0, 0.0, [body_of(made)])
    still(frame, tmp_path / "a.png", color_by="height", size=(320, 240))
    still(
        Frame(0, 0.0, [body_of(made, "b")]),
        tmp_path / "b.png",
        color_by="height",
        size=(320, 240),
        hide=["b"],
    )
    shown, hidden = (np.array(image.open(tmp_path / f"{name}.png"))[..., :3].astype(int) for name in "ab")
    changed = np.abs(shown - hidden).sum(axis=2) > 60
    rows, columns = np.nonzero(changed)
    box = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    assert changed.sum() / box == pytest.approx(np.pi / 4, abs=0.05)  # a full disc in its square
