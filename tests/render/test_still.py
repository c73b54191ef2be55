"""Pictures show the body where it is, and never fail for what a run may contain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from continua.errors import MissingExtraError, OutputError
from continua.io import BodyFrame, Frame, Recorder
from continua.render import Camera, raster, still, still_of_run
from continua.render.camera import framing
from continua.render.colors import color_scale
from continua.render.raster import Canvas
from continua.render.view import view_of_frames

Image = pytest.importorskip("PIL.Image")
SIZE = (320, 180)
DX = 0.08


def ball(center: tuple[float, ...] = (0.0, 0.5, 0.0), radius: float = 0.3, name: str = "ball") -> BodyFrame:
    d = len(center)
    axis = np.arange(-radius, radius, DX / 2) + DX / 4
    x = np.stack(np.meshgrid(*[axis] * d), -1).reshape(-1, d)
    x = x[np.linalg.norm(x, axis=1) < radius] + center
    return BodyFrame(name, "points", "snow", {"x": x, "v": 0 * x, "id": np.arange(len(x))})


def read(path: Path) -> np.ndarray:
    return np.asarray(Image.open(path).convert("RGB")).astype(float)


def picture(path: Path, bodies: list[BodyFrame], **options: Any) -> np.ndarray:
    options = {"size": SIZE, "dx": DX, "legend": False, **options}
    still(Frame(0, 0.0, bodies), path, **options)
    image = read(path)
    assert image.shape == (SIZE[1], SIZE[0], 3)
    return image


def orange(image: np.ndarray) -> np.ndarray:
    """Pixels in which red clearly beats blue, as the second colour of the palette does and nothing else."""
    return image[..., 0] > image[..., 2] + 30


def test_the_body_is_where_the_camera_says(tmp_path: Path) -> None:
    camera = Camera((0.0, 0.5, 4.0), (0.0, 0.5, 0.0), fov=30)
    hidden = BodyFrame("none", "points", "", {name: np.zeros((0, 3)) for name in ("x", "v", "id")})
    center = np.array([0.4, 0.7, 0.0])
    bodies = [hidden, ball(tuple(center), 0.2)]
    seen = orange(picture(tmp_path / "a.png", bodies, color_by="body", camera=camera))
    expected, depth = camera.project(center[None], SIZE)
    rows, columns = np.nonzero(seen)
    np.testing.assert_allclose([columns.mean(), rows.mean()], expected[0], atol=3)
    radius = 0.2 * camera.focal(SIZE[1]) / depth[0]
    assert seen.sum() == pytest.approx(np.pi * radius**2, rel=0.2)


def test_the_nearer_body_covers_the_farther_one(tmp_path: Path) -> None:
    camera = Camera((0.0, 0.5, 4.0), (0.0, 0.5, 0.0), fov=30)
    front, back = ball((0.0, 0.5, 1.0), 0.3, "front"), ball((0.0, 0.5, -1.0), 0.3, "back")
    for bodies, orange_in_middle in (([back, front], True), ([front, back], False)):
        image = picture(tmp_path / "a.png", bodies, color_by="body", camera=camera)
        assert orange(image)[SIZE[1] // 2, SIZE[0] // 2] == orange_in_middle


def test_the_automatic_camera_frames_everything(tmp_path: Path) -> None:
    lower, upper = np.array([-1.0, 0, -3]), np.array([2.0, 0.5, 1])
    camera = framing(lower, upper, SIZE)
    corners = np.array([[x, y, z] for x in (-1, 2.0) for y in (0, 0.5) for z in (-3, 1.0)])
    pixels, depth = camera.project(corners, SIZE)
    assert (depth > 0).all()
    assert (pixels > 0.05 * np.array(SIZE)).all() and (pixels < 0.95 * np.array(SIZE)).all()
    assert (np.ptp(pixels, axis=0) / SIZE).max() > 0.75
    up, _ = camera.project(np.array([[0.5, 0.0, -1.0], [0.5, 0.5, -1.0]]), SIZE)
    assert up[1, 1] < up[0, 1]


def test_a_body_casts_a_shadow_on_the_ground(tmp_path: Path) -> None:
    plane = {"type": "plane", "normal": (0, 1, 0)}
    camera = Camera((0.0, 2.0, 4.0), (0.0, 0.3, 0.0))
    tiny = ball((0.0, 0.5, 0.0), 0.05)
    without = picture(tmp_path / "a.png", [tiny], colliders=[plane], camera=camera)
    with_ball = picture(tmp_path / "b.png", [ball((0.0, 0.7, 0.0))], colliders=[plane], camera=camera)
    spot, _ = camera.project(
        np.array([[0.35, 0.0, -0.25]]), SIZE
    )  # the light comes from the upper left front
    column, row = spot[0].astype(int)
    assert with_ball[row, column].mean() < without[row, column].mean() - 15


def test_particles_below_the_ground_are_hidden_by_it(tmp_path: Path) -> None:
    plane = {"type": "plane", "normal": (0, 1, 0)}
    camera = Camera((0.0, 2.0, 4.0), (0.0, 0.0, 0.0))
    bodies = [ball((5.0, 0.5, -20.0), 0.1, "other"), ball((0.0, -0.8, 0.0))]
    image = picture(tmp_path / "a.png", bodies, colliders=[plane], camera=camera, color_by="body")
    assert not orange(image).any()
    assert orange(picture(tmp_path / "b.png", bodies, camera=camera, color_by="body")).any()


SOLIDS = [
    {"type": "box", "center": (0, 0.5, 0), "size": (0.6, 0.6, 0.6)},
    {"type": "sphere", "center": (0, 0.5, 0), "radius": 0.35},
    {"type": "capsule", "start": (-0.2, 0.5, 0), "end": (0.2, 0.5, 0), "radius": 0.2},
    {
        "type": "shape",
        "shape": {
            "type": "union",
            "shapes": [
                {"type": "torus", "center": (0, 0.5, 0), "radius": 0.3, "tube": 0.1, "axis": (0, 0, 1)},
                {"type": "cylinder", "start": (0, 0.5, -0.05), "end": (0, 0.5, 0.05), "radius": 0.3},
            ],
        },
    },
    {"type": "mesh", "vertices": [[-1, 0, 0], [1, 0, 0], [0, 1.5, 0]], "faces": [[0, 1, 2]]},
]


@pytest.mark.parametrize("collider", SOLIDS, ids=lambda collider: collider["type"])
def test_solid_colliders_hide_what_is_behind_and_follow_their_pose(
    tmp_path: Path, collider: dict[str, Any]
) -> None:
    camera = Camera((0.0, 0.5, 4.0), (0.0, 0.5, 0.0), fov=30)
    bodies = [ball((9.0, 0.0, -9.0), 0.1, "other"), ball((0.0, 0.5, -0.6), 0.08)]
    options: dict[str, Any] = {"size": SIZE, "dx": DX, "legend": False, "color_by": "body", "camera": camera}
    for shift, visible in ((0.0, False), (1.5, True)):
        poses = np.array([[shift, 0.0, 0.0]]), np.eye(3)[None]
        still(Frame(0, 0.0, bodies, poses), tmp_path / "a.png", colliders=[collider], **options)
        assert orange(read(tmp_path / "a.png")).any() == visible


@pytest.mark.parametrize("collider", SOLIDS[:4], ids=lambda collider: collider["type"])
def test_containers_are_drawn_as_lines(tmp_path: Path, collider: dict[str, Any]) -> None:
    bodies = [ball((9.0, 0.0, -9.0), 0.1, "other"), ball((0.0, 0.5, 0.0), 0.15)]
    camera = Camera((0.0, 0.9, 4.0), (0.0, 0.5, 0.0), fov=30)
    options: dict[str, Any] = {"camera": camera, "color_by": "body"}
    plain = picture(tmp_path / "a.png", bodies, **options)
    wired = picture(tmp_path / "b.png", bodies, colliders=[{**collider, "inverted": True}], **options)
    assert orange(wired).sum() > 0.4 * orange(plain).sum()
    assert (np.abs(wired - plain).max(axis=2) > 20).sum() > 50


def test_one_sees_through_the_hole_of_a_torus(tmp_path: Path) -> None:
    """A shape is drawn as what it is; those with a formula as the collider of that name."""
    camera = Camera((0.0, 0.5, 4.0), (0.0, 0.5, 0.0), fov=30)
    bodies = [ball((9.0, 0.0, -9.0), 0.1, "other"), ball((0.0, 0.5, -0.6), 0.08)]
    options: dict[str, Any] = {"color_by": "body", "camera": camera}
    torus = {"type": "torus", "center": (0, 0.5, 0), "radius": 0.3, "tube": 0.1, "axis": (0, 0, 1)}
    seen = picture(tmp_path / "a.png", bodies, colliders=[{"type": "shape", "shape": torus}], **options)
    assert orange(seen).any()
    pixels, _ = camera.project(np.array([[0.3, 0.5, 0.1], [0.0, 0.8, 0.1], [0.45, 0.5, 0.0]]), SIZE)
    ring, top, free = (seen[round(y), round(x)] for x, y in pixels)
    assert np.abs(ring - free).max() > 30 and np.abs(top - free).max() > 30
    for plain in SOLIDS[:3]:
        images = [
            picture(tmp_path / "a.png", bodies, colliders=[collider], **options)
            for collider in (plain, {"type": "shape", "shape": plain})
        ]
        assert np.array_equal(*images)
    gone = {"type": "shape", "shape": {"type": "mesh", "path": "/nowhere/gone.stl"}}
    odd = {"type": "shape", "shape": {"type": "teapot"}}
    assert orange(picture(tmp_path / "a.png", bodies, colliders=[gone, odd], **options)).any()


def test_skipping_hidden_balls_changes_no_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    x = generator.uniform(-0.5, 0.5, (8000, 3)).astype(np.float32)
    radius = generator.uniform(0.05, 0.06, len(x)).astype(np.float32)
    camera = Camera((0.0, 0.0, 4.0), (0.0, 0.0, 0.0), fov=30)
    quick, full = Canvas(camera, SIZE), Canvas(camera, SIZE)
    pixels, rho = quick.balls(x, radius)
    hidden = raster._hidden(pixels, camera.project(x, SIZE)[1], rho, radius, SIZE)
    assert hidden.sum() > 100
    monkeypatch.setattr(raster, "_hidden", lambda pixels, *others: np.zeros(len(pixels), bool))
    full.balls(x, radius)
    np.testing.assert_array_equal(quick.depth, full.depth)


def frames_that_are_odd() -> dict[str, Frame]:
    nothing = np.zeros((0, 3))
    empty = BodyFrame("empty", "points", "snow", {"x": nothing, "v": nothing, "id": np.zeros(0)})
    single = BodyFrame(
        "one", "points", "snow", {"x": np.ones((1, 3)), "v": np.ones((1, 3)), "id": np.zeros(1)}
    )
    lost = ball()
    lost.arrays["x"][0] = np.nan
    lost.arrays["x"][1] = np.inf
    lost.arrays["x"][2] = 1e30
    lost.arrays["v"][3] = np.nan
    flat = ball()
    flat.arrays["x"][:, 1] = 0
    return {
        "nothing": Frame(0, 0.0, []),
        "empty": Frame(0, 0.0, [empty]),
        "single": Frame(0, 0.0, [single, empty]),
        "lost": Frame(0, 0.0, [lost]),
        "flat": Frame(0, 0.0, [flat]),
    }


@pytest.mark.parametrize("name", list(frames_that_are_odd()))
@pytest.mark.parametrize("dx", [None, DX])
def test_odd_frames_are_drawn_too(tmp_path: Path, name: str, dx: float | None) -> None:
    plane = {"type": "plane", "normal": (0, 1, 0)}
    odd = {"type": "torus"}
    with np.errstate(all="raise", under="ignore"):
        shown = still(
            frames_that_are_odd()[name], tmp_path / "a.png", size=SIZE, dx=dx, colliders=[plane, odd]
        )
    assert shown.renderer == "numpy"
    assert read(tmp_path / "a.png").std() > 1


def test_flat_frames_are_drawn_with_equal_scales(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    colliders = [
        {"type": "plane", "normal": (0, 1), "point": (0, 0)},
        {"type": "box", "center": (0.5, 0.2), "size": (0.2, 0.2)},
        {"type": "sphere", "center": (-0.5, 0.2), "radius": 0.1},
        {"type": "capsule", "start": (0.5, 0.8), "end": (0.8, 0.8), "radius": 0.1, "inverted": True},
    ]
    empty = BodyFrame("none", "points", "", {name: np.zeros((0, 2)) for name in ("x", "v", "id")})
    frame = Frame(0, 0.0, [empty, ball((0.0, 0.5))])
    shown = still(frame, tmp_path / "a.png", color_by="body", size=(640, 360), dx=DX, colliders=colliders)
    assert shown.renderer == "matplotlib"
    seen = orange(read(tmp_path / "a.png"))[:, : int(0.84 * 640)]
    rows, columns = np.nonzero(seen)
    assert np.ptp(rows) == pytest.approx(np.ptp(columns), abs=4)
    assert np.ptp(rows) > 40
    assert seen.sum() == pytest.approx(np.pi / 4 * np.ptp(rows) ** 2, rel=0.15)


def test_flat_shapes_have_holes(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    square = {"type": "box", "center": (0.0, 0.5), "size": (0.6, 0.6)}
    corner = {"type": "box", "center": (0.3, 0.8), "size": (0.2, 0.2)}
    shape = {
        "type": "difference",
        "shape": {"type": "union", "shapes": [square, corner]},
        "minus": [{"type": "sphere", "center": (0.0, 0.5), "radius": 0.2}],
    }
    corners = np.array([(-0.6, -0.1), (0.6, -0.1), (-0.6, 1.1), (0.6, 1.1)])
    tiny = BodyFrame("none", "points", "", {"x": corners, "v": 0 * corners, "id": np.arange(4)})
    frame = Frame(0, 0.0, [tiny])
    options: dict[str, Any] = {"size": (640, 360), "dx": 0.01, "legend": False}
    images = []
    for name, colliders in (("a.png", []), ("b.png", [{"type": "shape", "shape": shape}])):
        still(frame, tmp_path / name, colliders=colliders, **options)
        images.append(read(tmp_path / name))
    drawn = np.abs(images[1] - images[0]).max(axis=2) > 20
    rows, columns = np.nonzero(drawn)
    scale = np.ptp(rows) / 0.7  # pixels per metre, from the square and what sticks out of it
    assert drawn.sum() == pytest.approx((0.36 + 0.03 - np.pi * 0.04) * scale**2, rel=0.04)
    assert not drawn[round(rows.max() - 0.3 * scale), round(columns.min() + 0.3 * scale)]


def test_the_legend_says_time_and_colours(tmp_path: Path) -> None:
    frame = Frame(0, 1.25, [ball(), ball((1.0, 0.5, 0.0), name="é 雪 \n" * 20)])
    for by in ("speed", "body"):
        still(frame, tmp_path / "a.png", size=SIZE, dx=DX, color_by=by)
        still(frame, tmp_path / "b.png", size=SIZE, dx=DX, color_by=by, legend=False)
        changed = np.abs(read(tmp_path / "a.png") - read(tmp_path / "b.png")).max(axis=2) > 10
        assert changed[-40:, :80].any()
        assert changed[-60:, -160:].any()
        assert not changed[:80].any()


def test_a_still_of_a_run_uses_its_colliders_and_its_whole_range(tmp_path: Path) -> None:
    description = {"dx": DX, "dimension": 3, "scene": {"colliders": [{"type": "plane", "normal": [0, 1, 0]}]}}
    with Recorder(tmp_path / "run", description=description) as recorder:
        for index in range(3):
            recorder.frame(Frame(index, float(index), [ball((float(index), 0.5, 0.0))]))
    with_plane = still_of_run(tmp_path / "run", tmp_path / "a.png", size=SIZE)
    assert with_plane.path == tmp_path / "a.png"
    still_of_run(tmp_path / "run", tmp_path / "b.png", size=SIZE, frame=0)
    still_of_run(tmp_path / "run", tmp_path / "c.png", size=SIZE, frame=0, colliders=[])
    first, last, bare = read(tmp_path / "b.png"), read(tmp_path / "a.png"), read(tmp_path / "c.png")
    assert np.abs(first - last).max() > 50
    assert np.abs(first - bare).max() > 50


def test_wishes_that_cannot_be_met_are_one_sentence(tmp_path: Path) -> None:
    frame = Frame(0, 0.0, [ball()])
    with pytest.raises(OutputError, match=r"ends in \.png"):
        still(frame, tmp_path / "a.gif")
    with pytest.raises(OutputError, match="choose between 16 and 16384"):
        still(frame, tmp_path / "a.png", size=(0, 0))
    with pytest.raises(OutputError, match="does not exist; create it"):
        still(frame, tmp_path / "missing" / "a.png", size=SIZE)
    Recorder(tmp_path / "empty", description={}).finish()
    with pytest.raises(OutputError, match="no frames yet"):
        still_of_run(tmp_path / "empty", tmp_path / "a.png")


def test_missing_libraries_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"matplotlib .*continua\[render\]"):
        still(Frame(0, 0.0, [ball((0.0, 0.5))]), tmp_path / "a.png", size=SIZE)


BARE = """
import sys
for name in ("PIL", "PIL.Image", "matplotlib"):
    sys.modules[name] = None
import numpy as np
from continua.io import BodyFrame, Frame
from continua.render import still
x = np.random.default_rng(0).random((500, 3))
frame = Frame(0, 0.0, [BodyFrame("b", "points", "snow", {"x": x, "v": x, "id": np.arange(500)})])
print(still(frame, sys.argv[1], size=(64, 48)).renderer)
"""


def test_numpy_alone_is_enough_for_a_picture(tmp_path: Path) -> None:
    source = str(Path(sys.modules["continua.io"].__file__ or "").parents[2])
    command = [sys.executable, "-c", BARE, str(tmp_path / "a.png")]
    result = subprocess.run(command, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True)
    assert result.stdout.strip() == "numpy", result.stderr
    assert read(tmp_path / "a.png").shape == (48, 64, 3)


def test_spacing_is_found_without_a_grid() -> None:
    view = view_of_frames([Frame(0, 0.0, [ball()])])
    assert view.spacing(ball()) == pytest.approx(DX / 2, rel=0.35)
    assert color_scale([Frame(0, 0.0, [ball()])]).label == "speed [m/s]"


def test_hidden_bodies_are_not_drawn_but_keep_the_picture_in_place(tmp_path: Path) -> None:
    bodies = [ball((-0.5, 0.5, 0.0), name="air"), ball((0.5, 0.5, 0.0), name="dust")]
    both = orange(picture(tmp_path / "both.png", bodies, color_by="body"))
    one = picture(tmp_path / "one.png", bodies, color_by="body", hide=["air"])
    none = picture(tmp_path / "none.png", bodies, color_by="body", hide=["air", "dust"])
    assert both.any() and (orange(one) == both).mean() > 0.99
    assert not orange(none).any() and np.abs(one[:, : SIZE[0] // 3] - none[:, : SIZE[0] // 3]).mean() < 1
