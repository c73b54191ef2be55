"""What a picture or film shows: camera, colours, colliders and sizes, chosen once for a whole run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from continua.errors import OutputError
from continua.grid.reach import resolution
from continua.io.export import in_space
from continua.io.folder import RunFolder
from continua.io.frames import BodyFrame, Frame
from continua.render.bodies import solid_of, wires_of
from continua.render.camera import Camera, framing
from continua.render.colliders import Drawable, Ground, Solid, Wires, drawables, seen_from
from continua.render.colors import ColorScale, color_scale
from continua.render.strands import Tubes, tubes_of

_KNOT = 0.15  # radius of the points of a spring network over the length of its springs
COARSE = (
    1e-5  # of the size of a scene; positions that single precision resolves no better are drawn from nearby
)
_SCANNED = 24  # frames of a run that are looked at to choose ranges
_LOOKED_AT = 200_000  # and particles of a body in them


@dataclass
class Cloud:
    """Particles to draw: positions (N, 3) [m], colours (N, 3) in 0..1, radius [m]."""

    x: np.ndarray
    colors: np.ndarray
    radius: float


@dataclass
class View:
    """Everything about a picture that does not change from frame to frame.

    Lengths are from `origin` (3,) [m], which is zero unless a 3D scene is so far from it that single precision, in
    which pictures are drawn, would show.
    """

    dimension: int
    size: tuple[int, int]
    lower: np.ndarray
    upper: np.ndarray
    scale: ColorScale
    camera: Camera
    dx: float | None = None
    colliders: Sequence[Mapping[str, Any]] = field(default_factory=list)
    hide: Sequence[str] = ()
    show_legend: bool = True
    show_time: bool = True
    spacings: dict[str, float] = field(default_factory=dict)
    origin: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def extent(self) -> float:
        """Longest side of what is shown [m]."""
        return max(float((self.upper - self.lower).max()), 1e-9)

    def clouds(self, frame: Frame) -> list[Cloud]:
        """The particles of a frame, but hidden bodies, as coloured balls that touch; none far out of sight."""
        clouds = []
        center = (self.lower + self.upper) / 2
        for body in self.shown(frame):
            if body.skin() is not None or body.strands() is not None:
                continue
            x = in_space(body.x)
            near = (np.abs(x - center) < 30 * self.extent).all(axis=1)  # False for NaN
            if near.any():
                colors = self.scale.colors(body)[near]
                share = 0.5 if body.cells is None else _KNOT
                x = x[near].astype(np.float32) if self.dimension == 3 else x[near]
                clouds.append(Cloud(x, colors, share * self.spacing(body)))
        return clouds

    def shown(self, frame: Frame) -> list[BodyFrame]:
        """The bodies of a frame that are not hidden."""
        shown = [body for body in frame.bodies if body.name not in self.hide]
        if self.origin.any():
            shown = [replace(body, arrays={**body.arrays, "x": body.x - self.origin}) for body in shown]
        return shown

    def solids(self, frame: Frame) -> list[Solid]:
        """The surfaces of the mesh bodies of a 3D frame."""
        eye = np.asarray(self.camera.eye)
        solids = [solid_of(body, self.scale.colors(body), eye) for body in self.shown(frame)]
        return [solid for solid in solids if solid is not None]

    def wires(self, frame: Frame) -> list[Wires]:
        """The springs of bodies without a surface."""
        wires = [wires_of(body) for body in self.shown(frame)]
        return [one for one in wires if one is not None]

    def strands(self, frame: Frame) -> list[Tubes]:
        """The strands of a 3D frame."""
        tubes = [tubes_of(body, self.scale.colors(body)) for body in self.shown(frame)]
        return [one for one in tubes if one is not None]

    def spacing(self, body: BodyFrame) -> float:
        """Typical distance of neighbouring particles [m]; decided once, so that a film does not flicker."""
        if body.name not in self.spacings:
            known = self.dx or body.cells is not None
            self.spacings[body.name] = body.spacing(self.dx or 0.0) if known else _spacing(body.x)
        return self.spacings[body.name]

    def shapes(self, frame: Frame) -> list[Drawable]:
        """The colliders where they are in this frame."""
        result: list[Drawable] = []
        for number, collider in enumerate(self.colliders):
            pose = None
            if frame.poses is not None and number < len(frame.poses[0]):
                pose = frame.poses[0][number], frame.poses[1][number]
            result += drawables(collider, pose)
        return [seen_from(shape, self.origin) for shape in result] if self.origin.any() else result


def view_of_frames(
    frames: Sequence[Frame],
    *,
    color_by: str = "speed",
    limits: Sequence[float] | None = None,
    colliders: Sequence[Mapping[str, Any]] = (),
    size: tuple[int, int] = (1280, 720),
    dx: float | None = None,
    camera: Camera | None = None,
    hide: Sequence[str] = (),
) -> View:
    """View in which all the frames are seen; see `still` for the parameters."""
    if len(size) != 2 or min(size) < 16 or max(size) > 16384:
        raise OutputError(f"a picture of {size} pixels cannot be drawn; choose between 16 and 16384 per side")
    lower, upper = _bounds(frames)
    scale = color_scale(frames, color_by, limits)
    dimension = next((frame.dimension for frame in frames if frame.bodies), 3)
    view = View(
        dimension, (int(size[0]), int(size[1])), lower, upper, scale, Camera((0, 0, 1), (0, 0, 0)), dx
    )
    view.colliders, view.hide = list(colliders), hide
    if dimension == 3 and resolution(lower, upper, np.float32) > COARSE * view.extent:
        view.origin = (lower + upper) / 2
        view.lower, view.upper = lower - view.origin, upper - view.origin
        camera = camera and camera.seen_from(view.origin)
    if frames:
        _include_colliders(view, view.shapes(frames[0]))
    view.camera = camera or framing(view.lower, view.upper, view.size)
    return view


def view_of_run(run: RunFolder, **options: Any) -> View:
    """View in which a whole run is seen, with the colliders and the grid spacing of its description."""
    indices = run.frame_indices()
    if not indices:
        raise OutputError(f"{run.path} has no frames yet; run the simulation first")
    chosen = sorted(
        {indices[round(k)] for k in np.linspace(0, len(indices) - 1, min(_SCANNED, len(indices)))}
    )
    options.setdefault("colliders", colliders_of(run))
    options.setdefault("dx", float(run.description.get("dx") or 0) or None)
    return view_of_frames([thinned(run.read_frame(index)) for index in chosen], **options)


def thinned(frame: Frame) -> Frame:
    """The frame with some of the particles of large bodies, enough to choose camera and colours."""
    bodies = []
    for body in frame.bodies:
        every = len(body) // _LOOKED_AT + 1 if body.cells is None else 1
        arrays = {name: array[::every].copy() for name, array in body.arrays.items()}
        bodies.append(replace(body, arrays=arrays if every > 1 else body.arrays))
    return replace(frame, bodies=bodies)


def colliders_of(run: RunFolder) -> list[Mapping[str, Any]]:
    """Colliders in the description of a run, or in its scene."""
    scene = run.description.get("scene")
    for place in (run.description, scene if isinstance(scene, Mapping) else {}):
        listed = place.get("colliders")
        if isinstance(listed, list):
            return [one for one in listed if isinstance(one, Mapping)]
    return []


def _bounds(frames: Sequence[Frame]) -> tuple[np.ndarray, np.ndarray]:
    """Box (3,), (3,) around all but a few stray particles of all frames."""
    lows, highs = [], []
    for frame in frames:
        for body in frame.bodies:
            x = in_space(body.x[:: len(body) // 50_000 + 1])
            x = x[np.isfinite(x).all(axis=1)]
            if len(x):
                lows.append(np.percentile(x, 0.1, axis=0))
                highs.append(np.percentile(x, 99.9, axis=0))
    if not lows:
        return np.full(3, -0.5), np.full(3, 0.5)
    lower, upper = np.min(lows, axis=0), np.max(highs, axis=0)
    grow = 0.02 * float((upper - lower).max()) or 0.5
    return lower - grow, upper + grow


def _include_colliders(view: View, shapes: list[Drawable]) -> None:
    """Widen the box to the ground below and to colliders nearby, but not to distant scenery."""
    lower, upper, extent = view.lower.copy(), view.upper.copy(), view.extent
    reach = 0.35 * extent
    for shape in shapes:
        if isinstance(shape, Ground) and shape.normal[1] > 0.7:
            below = lower[1] - shape.point[1]
            if 0 < below < 0.6 * extent:
                view.lower[1] = shape.point[1]
        elif not isinstance(shape, Ground):
            points = shape.vertices if isinstance(shape, Solid) else shape.start
            low, high = points.min(axis=0), points.max(axis=0)
            if (low < upper + reach).all() and (high > lower - reach).all():
                view.lower = np.minimum(view.lower, np.maximum(low, lower - reach))
                view.upper = np.maximum(view.upper, np.minimum(high, upper + reach))


def _spacing(x: np.ndarray) -> float:
    """Particle spacing [m] from the volume of the cells that hold particles."""
    x = x[np.isfinite(x).all(axis=1)]
    if len(x) < 2:
        return 0.05
    d = x.shape[1]
    low, high = np.percentile(x, 1, axis=0), np.percentile(x, 99, axis=0)
    x = x[((x >= low) & (x <= high)).all(axis=1)]
    size = np.maximum(high - low, 1e-6 * max(float((high - low).max()), 1e-9))
    cell = 2 * float((np.prod(size) / len(x)) ** (1 / d))
    for _ in range(4):  # hollow or sparse bodies need smaller cells than their box suggests
        spot = np.floor((x - low) / cell).astype(np.int64) + 2**20
        filled = len(np.unique(sum(spot[:, axis] << (21 * axis) for axis in range(d))))
        spacing = cell * float((filled / len(x)) ** (1 / d))
        cell = 2 * spacing
    return spacing
