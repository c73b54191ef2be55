"""Pictures of particles in plain NumPy: lit balls, smooth surfaces, soft shadows, no graphics card needed."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import numpy as np

from continua.io.frames import Frame
from continua.render.camera import Camera
from continua.render.colliders import Drawable, Solid, Wires
from continua.render.ground import contact
from continua.render.light import Density, Shadows, sample_surface
from continua.render.raster import NOTHING
from continua.render.stage import LINE, Stage, build_stage, draw_solids, line_width, shadow_points
from continua.render.strands import Hair, Tubes, merged, show_tubes
from continua.render.view import Cloud, View

_LINE_COLOR = np.array([0.42, 0.46, 0.52], np.float32) ** 2.2
_SHADOW = np.array([0.50, 0.53, 0.60], np.float32)  # what is left of the ground colour in full shadow
_SMOOTHNESS = 0.72  # share of the surface normal against the normal of the single ball
_LIFT = 2.0  # texels off the surface, where shadows are looked up
_THROUGH = 0.35  # light that a shadow lets through to hair
_FATNESS = 1.15  # balls overlap a little, so that a surface has no holes
BAND = 1 << 18  # pixels that are drawn at once
KEPT_BANDS = 4  # a picture of that many keeps its colliders for the next frame of a film


@dataclass
class Balls:
    """All particles of a frame: positions (N, 3), radii (N,) [m], linear colours (N, 3).

    `pixels` (N, 2) and `rho` (N,) are centres and radii on the screen.
    """

    x: np.ndarray
    radius: np.ndarray
    colors: np.ndarray
    pixels: np.ndarray
    rho: np.ndarray


@dataclass
class Pixels:
    """What is seen at P fine pixels: place, depth and owner (P,), normal and linear colour (P, 3).

    `openness` (P,) is 1 on open surfaces and less in hollows.
    """

    column: np.ndarray
    row: np.ndarray
    depth: np.ndarray
    owner: np.ndarray
    normal: np.ndarray
    color: np.ndarray
    openness: np.ndarray


@dataclass
class Contents:
    """What a frame shows, for all bands of the picture: particles, surfaces, springs, strands, colliders and shadows.

    `casters` (N, 3) [m] are the points that cast shadows, `spacing` [m] how far they are apart.
    """

    key: bytes  # where the colliders are
    shapes: list[Drawable]
    clouds: list[Cloud]
    balls: Balls
    solids: list[Solid]
    wires: list[Wires]
    tubes: list[Tubes]
    strands: Tubes  # all of them
    casters: np.ndarray
    spacing: float
    shadows: Shadows | None
    densities: dict[int, Density] = field(default_factory=dict)  # of the clouds, made when they are needed

    @classmethod
    def of(cls, view: View, frame: Frame, light: np.ndarray) -> Contents:
        """All of a frame; `light` (3,) points towards the light."""
        key = b"" if frame.poses is None else b"".join(np.asarray(part).tobytes() for part in frame.poses)
        shapes, clouds, solids = view.shapes(frame), view.clouds(frame), view.solids(frame)
        balls = _gather(clouds)
        tubes = view.strands(frame)
        spacing = 2 * min((cloud.radius for cloud in clouds), default=view.extent / (800 if tubes else 200))
        skins = [sample_surface(one, min(view.extent / 150, spacing)) for one in solids]
        hair = [one.casters(spacing) for one in tubes]
        casters = np.concatenate([balls.x, shadow_points(view, shapes), *skins, *hair])
        shadows = Shadows(light, casters, spacing) if len(casters) else None
        wires = view.wires(frame)
        strands = merged(tubes)
        return cls(key, shapes, clouds, balls, solids, wires, tubes, strands, casters, spacing, shadows)


class SplatRenderer:
    """Draws the frames of one view, band by band so that memory stays small; several threads may draw at once."""

    name = "numpy"
    parallel = True

    def __init__(self, view: View) -> None:
        self.view = view
        right, _, forward = view.camera.basis()
        light = np.array([0.0, 1.0, 0.0]) - 0.50 * right - 0.55 * forward
        self.light = (light / np.linalg.norm(light)).astype(np.float32)
        width, height = view.size
        rows = max(BAND // width, 1)
        firsts = range(0, height, rows)
        keep = len(firsts) <= KEPT_BANDS
        self.bands = [_Band(view, first, min(rows, height - first), self.light, keep) for first in firsts]

    def render(self, frame: Frame) -> np.ndarray:
        """Picture (H, W, 3) of uint8."""
        width, height = self.view.size
        image = np.empty((height, width, 3), np.uint8)
        contents = Contents.of(self.view, frame, self.light)
        for band in self.bands:
            image[band.first : band.first + band.view.size[1]] = band.draw(contents)
        return image

    def close(self) -> None:
        """Nothing to release."""


class _Band:
    """So many rows of the pictures of a view, from `first` on; `keep` says whether it keeps its colliders."""

    def __init__(self, view: View, first: int, rows: int, light: np.ndarray, keep: bool) -> None:
        camera = replace(view.camera, band=(first, rows, view.size[1]))
        self.view = replace(view, camera=camera, size=(view.size[0], rows))
        self.first, self.light, self.keep = first, light, keep
        self.size = (2 * view.size[0], 2 * rows)  # two by two samples per pixel
        self._lock = threading.Lock()
        self._stage: tuple[bytes, Stage] | None = None

    def draw(self, frame: Contents) -> np.ndarray:
        """Picture (rows, W, 3) of uint8."""
        stage = self._stage_of(frame)
        canvas = stage.canvas.copy()
        normals, colors = draw_solids(canvas, frame.solids, len(stage.normals))
        for wires in frame.wires:
            canvas.lines(wires, line_width(self.view.camera, self.size), LINE)
        balls = replace(frame.balls)
        balls.pixels, balls.rho = canvas.balls(balls.x, balls.radius)
        strands = frame.strands
        canvas.tubes(strands.x, strands.radius, strands.segments, len(balls.x))
        index = np.flatnonzero(canvas.owner != NOTHING)
        pixels = self._visible(index, canvas.depth[index], canvas.owner[index], stage)
        _show_balls(pixels, balls, frame, self.view.camera)
        hair = self._show_tubes(pixels, frame)
        solid = np.flatnonzero(pixels.owner < LINE)
        number = LINE - 1 - pixels.owner[solid]
        pixels.normal[solid] = np.concatenate([stage.normals, normals])[number]
        pixels.color[solid] = np.concatenate([stage.colors, colors])[number]
        lit = self._light(pixels, frame.shadows, hair)
        return _finish(self._background(stage, frame), pixels, lit, self.view.size)

    def _stage_of(self, frame: Contents) -> Stage:
        """The colliders where they are in this frame; drawn anew only if one has moved, or none is kept."""
        with self._lock:
            if self._stage is not None and self._stage[0] == frame.key:
                return self._stage[1]
            stage = build_stage(self.view, frame.shapes, self.light, self.size)
            self._stage = (frame.key, stage) if self.keep else None
            return stage

    def _visible(self, index: np.ndarray, depth: np.ndarray, owner: np.ndarray, stage: Stage) -> Pixels:
        """The pixels that show something which is not behind a plane; still to be coloured."""
        row, column = np.divmod(index.astype(np.int32), np.int32(self.size[0]))
        row, column = row.astype(np.float32), column.astype(np.float32)
        free = np.flatnonzero(depth < 1.0005 * stage.backdrop.depth_at(column, row, self.size))
        empty = np.zeros((len(free), 3), np.float32)
        openness = np.ones(len(free), np.float32)
        return Pixels(column[free], row[free], depth[free], owner[free], empty, empty.copy(), openness)

    def _show_tubes(self, pixels: Pixels, frame: Contents) -> Hair | None:
        """Fill in the pixels that strands own; how these are lit, or None where there are none."""
        first = len(frame.balls.x)
        mine = np.flatnonzero(pixels.owner >= first) if frame.tubes else np.zeros(0, np.intp)
        if not len(mine):
            return None
        spots = np.stack([pixels.column[mine], pixels.row[mine]], axis=1) + np.float32(0.5)
        camera = self.view.camera
        hair, normal, color, openness = show_tubes(
            mine, spots, pixels.owner[mine] - first, frame.strands, frame.tubes, camera, self.size
        )
        pixels.normal[mine], pixels.color[mine], pixels.openness[mine] = normal, color, openness
        return hair

    def _light(self, pixels: Pixels, shadows: Shadows | None, hair: Hair | None) -> np.ndarray:
        """Linear colours (P, 3) under one lamp, a bright sky and a dim ground."""
        normal, openness = pixels.normal, pixels.openness
        lamp = np.clip((normal @ self.light + np.float32(0.12)) / np.float32(1.12), 0, 1)
        if hair is not None:
            lamp[hair.pixels] = hair.lamp(self.light, lamp[hair.pixels])
        if shadows is not None:
            bright = np.flatnonzero(lamp > 0)
            x = _points(pixels, bright, self.view.camera, self.size)
            # Flat faces that the light grazes need up to twice the lift to be free of moire.
            lift = np.where(pixels.owner[bright] < LINE, 2 - lamp[bright], np.float32(1))
            x += normal[bright] * (np.float32(_LIFT * shadows.texel) * lift)[:, None]
            lit = shadows.lit(x)
            if hair is not None:  # hair lets light through
                thin = hair.spread(len(lamp))[bright]
                lit += np.float32(_THROUGH) * thin * (1 - lit)
            lamp[bright] *= np.float32(0.12) + np.float32(0.88) * lit
        sky = openness * (np.float32(0.5) + np.float32(0.5) * normal[:, 1])
        rim = np.clip(1 + normal @ self.view.camera.basis()[2].astype(np.float32), 0, 1)
        rim *= np.float32(0.05) * rim * rim * openness
        dim = np.float32(0.14) * openness
        lit = np.empty_like(pixels.color)
        for channel, (warm, cool) in enumerate(((0.64, 0.28), (0.62, 0.31), (0.58, 0.36))):
            shade = np.float32(warm) * lamp + np.float32(cool) * sky + dim
            lit[:, channel] = pixels.color[:, channel] * shade + rim
        if hair is not None:
            gloss = hair.gloss(self.light, self.view.camera.basis()[2]) * lamp[hair.pixels]
            lit[hair.pixels] += gloss[:, None]
        lit[pixels.owner == LINE] = _LINE_COLOR
        return lit

    def _background(self, stage: Stage, frame: Contents) -> np.ndarray:
        """Background (H W, 3), linear, with the shadows of this frame."""
        image: np.ndarray = stage.behind.copy()
        shadows = frame.shadows
        if shadows is None:
            return image
        reach = max(0.03 * self.view.extent, 1.5 * frame.spacing)
        for spots in stage.backdrop.spots:
            if spots.ground.normal @ self.light > 0:
                dark = 0.8 - 0.8 * shadows.soft(spots.in_light)
                dark += 0.55 * contact(spots.ground, spots.in_plane, frame.casters, reach)
                touched = np.flatnonzero(dark > 0.002)
                dark = (np.minimum(dark[touched], 1) * spots.fade[touched])[:, None]
                image[spots.pixels[touched]] *= 1 + dark * (_SHADOW - 1)
        return image


def _gather(clouds: list[Cloud]) -> Balls:
    """All particles of all bodies in one list."""
    nothing = np.zeros((0, 3), np.float32)
    x = np.concatenate([nothing, *(cloud.x for cloud in clouds)])
    radius = [np.full(len(cloud.x), _FATNESS * cloud.radius, np.float32) for cloud in clouds]
    colors = np.concatenate([nothing, *(cloud.colors for cloud in clouds)]) ** np.float32(2.2)
    return Balls(x, np.concatenate([np.zeros(0, np.float32), *radius]), colors, nothing, nothing)


def _points(pixels: Pixels, chosen: np.ndarray, camera: Camera, size: tuple[int, int]) -> np.ndarray:
    """Points (P, 3) [m] that are seen at the chosen pixels."""
    right, up, forward = camera.basis().astype(np.float32)
    focal = np.float32(camera.focal(size[1]))
    depth = pixels.depth[chosen]
    middle = camera.middle(size)
    across = (pixels.column[chosen] + np.float32(0.5 - middle[0])) / focal * depth
    along = (np.float32(middle[1] - 0.5) - pixels.row[chosen]) / focal * depth
    x = np.stack([across, along, depth], axis=1) @ np.stack([right, up, forward])
    x += np.asarray(camera.eye, np.float32)
    return np.asarray(x)


def _show_balls(pixels: Pixels, balls: Balls, frame: Contents, camera: Camera) -> None:
    """Fill in the pixels that balls own: their normals, colours and openness."""
    mine = np.flatnonzero((pixels.owner >= 0) & (pixels.owner < len(balls.x)))
    if not len(mine):
        return
    ball = pixels.owner[mine]
    step = 1 / balls.rho[ball]
    across = (pixels.column[mine] + np.float32(0.5) - balls.pixels[ball, 0]) * step
    along = (balls.pixels[ball, 1] - pixels.row[mine] - np.float32(0.5)) * step
    toward = -np.sqrt(np.clip(1 - across * across - along * along, 0, 1))
    single = np.stack([across, along, toward], axis=1) @ camera.basis().astype(np.float32)
    seen = np.flatnonzero(np.bincount(ball, minlength=len(balls.x)))
    smooth, openness = _surface_normals(frame, balls.x, seen)
    normal = np.float32(1 - _SMOOTHNESS) * single + (np.float32(_SMOOTHNESS) * smooth)[ball]
    normal /= np.maximum(np.sqrt(np.einsum("ij,ij->i", normal, normal)), np.float32(1e-6))[:, None]
    pixels.normal[mine] = normal
    pixels.color[mine] = balls.colors[ball]
    pixels.openness[mine] = openness[ball]


def _surface_normals(frame: Contents, x: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Surface normals (N, 3) and openness (N,) of the seen balls, body by body."""
    normals, openness = np.zeros_like(x), np.ones(len(x), np.float32)
    first = 0
    for number, cloud in enumerate(frame.clouds):
        chosen = seen[(seen >= first) & (seen < first + len(cloud.x))]
        if len(chosen) and len(cloud.x) >= 50:
            if number not in frame.densities:
                frame.densities[number] = Density(cloud.x, 2 * cloud.radius)
            normals[chosen], openness[chosen] = frame.densities[number].normals(x[chosen])
        first += len(cloud.x)
    return normals, openness


def _finish(behind: np.ndarray, pixels: Pixels, lit: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Average the four samples of each pixel over the background and encode for the screen."""
    count = size[0] * size[1]
    pixel = (pixels.row.astype(np.int64) // 2) * size[0] + pixels.column.astype(np.int64) // 2
    cover = np.bincount(pixel, minlength=count)
    touched = np.flatnonzero(cover)
    image = behind
    image[touched] *= (1 - cover[touched] / np.float32(4))[:, None]
    for channel in range(3):
        image[touched, channel] += np.bincount(pixel, lit[:, channel], count)[touched] / 4
    table = (255 * (np.arange(4096) / 4095) ** (1 / 2.2) + 0.5).astype(np.uint8)
    return np.asarray(
        table[(np.clip(image, 0, 1) * 4095 + 0.5).astype(np.int16)].reshape(size[1], size[0], 3)
    )
