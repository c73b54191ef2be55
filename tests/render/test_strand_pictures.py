"""Strands in pictures: how wide they are, what hides what, and how they are lit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from continua.geometry import shapes
from continua.geometry.curves import Curves
from continua.geometry.meshes import Bundle, Fur, Strand
from continua.io.frames import BodyFrame, Frame
from continua.render import splat
from continua.render.camera import Camera
from continua.render.raster import Canvas, along_segments
from continua.render.splat import SplatRenderer
from continua.render.still import still
from continua.render.strands import Hair, tubes_of
from continua.render.view import view_of_frames

SIZE = (160, 120)
CAMERA = Camera((0.0, 0.0, 8.0), (0.0, 0.0, 0.0))


def body_of(curves: Curves, radius: float, name: str = "hair") -> BodyFrame:
    count = len(curves.points)
    arrays = {"x": curves.points, "v": 0 * curves.points, "id": np.arange(count), "strand": curves.curve_of}
    arrays |= {"radius": np.full(count, radius), "height": curves.points[:, 1]}
    return BodyFrame(name, "strands", "rod", arrays, curves.segments, np.zeros((0, 3), np.int32))


def picture(*bodies: BodyFrame, **options: object) -> np.ndarray:
    frame = Frame(0, 0.0, list(bodies))
    view = view_of_frames([frame], size=SIZE, camera=CAMERA, **options)
    return SplatRenderer(view).render(frame).astype(int)


def covered(*bodies: BodyFrame) -> np.ndarray:
    empty = picture(*bodies, hide=[body.name for body in bodies])
    return np.abs(picture(*bodies, color_by="body") - empty).sum(axis=2) > 60


ROPE = Strand([(-1.0, 0.3, 0.0), (1.0, -0.2, 0.0)], segments=20).build()


@pytest.mark.parametrize("segments", [1, 20])
@pytest.mark.parametrize("radius", [0.05, 0.3])
def test_a_tube_covers_the_area_that_it_should(radius: float, segments: int) -> None:
    """A capsule of length L and radius r seen from afar covers 2 r L + pi r^2, of however many segments it is made."""
    start, end = np.array([-1.0, 0.3, 0.0]), np.array([1.0, -0.2, 0.0])
    x = np.linspace(start, end, segments + 1)
    size = 640, 480
    canvas = Canvas(CAMERA, size)
    numbers = np.arange(segments)
    canvas.tubes(x, np.full(segments + 1, radius), np.stack([numbers, numbers + 1], axis=1), 7)
    scale = CAMERA.focal(size[1]) / np.sqrt(8.0**2 - radius**2)  # of the rim, seen from afar
    expected = (2 * radius * np.linalg.norm(end - start) + np.pi * radius**2) * scale**2
    assert (canvas.owner >= 0).sum() == pytest.approx(expected, rel=0.02)
    assert (canvas.owner >= 0).sum() != pytest.approx(expected - np.pi * (radius * scale) ** 2, rel=0.02)
    assert set(np.unique(canvas.owner)) == {-1, *range(7, 7 + segments)}
    middle = canvas.depth[canvas.owner == 7 + segments // 2].min()
    assert middle == pytest.approx(8 - radius, rel=1e-3)  # in front by its radius


def test_thin_strands_are_about_a_pixel_wide_and_have_no_gaps() -> None:
    seen = covered(body_of(ROPE, 1e-6))
    columns = np.flatnonzero(seen.any(axis=0))
    assert (np.diff(columns) == 1).all() and len(columns) >= 59  # 2 m at 30 pixels per m
    assert 1 <= seen[:, columns].sum(axis=0).mean() <= 2.5


def test_strands_are_neither_particles_nor_springs() -> None:
    frame = Frame(0, 0.0, [body_of(ROPE, 0.1)])
    view = view_of_frames([frame], color_by="body")
    assert view.clouds(frame) == [] and view.solids(frame) == [] and view.wires(frame) == []
    assert len(view.strands(frame)) == 1
    assert view_of_frames([frame], hide=["hair"]).strands(frame) == []
    springs = replace(frame.bodies[0], kind="springs")
    assert tubes_of(springs, np.zeros((len(springs), 3))) is None


def test_the_nearer_strand_hides_the_other() -> None:
    # The first colour of the palette is blue, the second orange.
    for depths, orange in (((-1, 1), True), ((1, -1), False)):
        bodies = []
        for name, z in zip("ab", depths, strict=True):
            bodies.append(body_of(Strand([(-1, 0, z), (1, 0, z)], segments=4).build(), 0.2, name))
        red, _, blue = picture(*bodies, color_by="body")[60, 80]
        assert (red > blue) == orange


def test_a_tube_is_in_front_by_its_radius() -> None:
    """A ball whose front lies between the middle line and the front of a tube is hidden by it."""
    ball = {"x": np.zeros((1, 3)), "v": np.zeros((1, 3)), "id": np.arange(1), "volume": np.full(1, 0.4**3)}
    cloud = BodyFrame("ball", "points", "snow", ball)
    tube = body_of(Strand([(-1, 0, 0), (1, 0, 0)], segments=4).build(), 0.35)
    red, _, blue = picture(tube, cloud, color_by="body", dx=0.4)[60, 80]
    assert blue > red  # the tube is the first body
    thin = body_of(Strand([(-1, 0, 0), (1, 0, 0)], segments=4).build(), 0.05)
    red, _, blue = picture(thin, cloud, color_by="body", dx=0.4)[60, 80]
    assert red > blue


def test_colours_run_along_strands_with_the_field() -> None:
    upright = Strand([(0, -1, 0), (0, 1, 0)], segments=2).build()
    image = picture(body_of(upright, 0.2), color_by="height", limits=(-1, 1))
    assert image[35, 80, 0] > image[85, 80, 0] + 40  # the top of the scale is yellow, its bottom blue


def test_a_thick_tube_is_round() -> None:
    """Light comes from above: the upper side of a tube is brighter than the lower one."""
    image = picture(body_of(Strand([(-1, 0, 0), (1, 0, 0)], segments=3).build(), 0.4), color_by="body")
    assert image[50, 80].sum() > image[71, 80].sum() + 60


def test_hair_is_brightest_across_the_light() -> None:
    light = np.array([0, 1, 0], np.float32)
    tangent = np.array([[1, 0, 0], [0, 1, 0], [0.6, 0.8, 0]], np.float32)
    hair = Hair(np.arange(3), np.ones(3), tangent, np.zeros((3, 3)))
    lamp = hair.lamp(light, np.zeros(3))
    assert lamp / lamp[0] == pytest.approx([1, 0, 0.6], abs=1e-6)  # sines of the angles to the light
    thick = replace(hair, thin=np.zeros(3))
    assert thick.lamp(light, np.full(3, 0.7)) == pytest.approx(0.7)


def test_segments_and_spots() -> None:
    start, end = np.array([[0.0, 0]] * 4), np.array([[4.0, 0]] * 3 + [[0.0, 0]])
    spots = np.array([[1.0, -2], [-3, 4], [6, 0], [3, 4]])
    part, left, off = along_segments(spots, start, end)
    assert part.tolist() == [0.25, 0, 1, 0] and off.tolist() == [2, 5, 2, 5]
    assert left[:2].tolist() == [2, -4]  # rows count downwards


def test_strands_near_and_behind_the_camera_do_no_harm() -> None:
    curves = Curves([(0, 0, 7.9), (0, 0.1, 8.5), (0, 0, 9.0), (0, 0, 7.0), (0.1, 0, 6.0)], [3, 2])
    assert picture(body_of(curves, 0.01)).shape == (120, 160, 3)
    broken = body_of(ROPE, 0.1)
    broken.arrays["x"] = broken.x.copy()
    broken.arrays["x"][3] = np.nan
    assert np.abs(picture(broken, color_by="body") - picture(body_of(ROPE, 0.1), hide=["hair"])).max() > 60


def test_bands_give_the_picture_that_is_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fur = body_of(Fur(shapes.Sphere((0, 0, 0), 0.5), 100, 0.5, 8, lean=(0, -1, 0)).build(), 0.01)
    whole = picture(fur, color_by="body")
    monkeypatch.setattr(splat, "BAND", SIZE[0] * 17)
    assert (np.abs(picture(fur, color_by="body") - whole).max(axis=2) > 2).mean() < 1e-3


def test_fragments_come_in_any_number_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    body = body_of(Bundle((-1, 0, 0), (1, 0.4, 0.3), 0.3, 20, 6).build(), 0.05)
    whole = picture(body, color_by="body")
    monkeypatch.setattr("continua.render.raster._CHUNK", 700)
    assert np.array_equal(picture(body, color_by="body"), whole)


def test_far_from_the_origin_and_alone(tmp_path: Path) -> None:
    far = Curves(ROPE.points + 1e6)
    still(Frame(0, 0.0, [body_of(far, 0.1)]), tmp_path / "a.png", size=(64, 48), color_by="radius")
    assert (tmp_path / "a.png").stat().st_size > 0
    assert Canvas.tube_ends(CAMERA, SIZE, np.zeros((0, 3)), np.zeros(0))[0].shape == (0, 2)
