"""Pictures of particles in plain NumPy: lit balls with smooth shading and soft shadows, no graphics card needed."""

from __future__ import annotations

import numpy as np

from continua.io.frames import Frame
from continua.render.colliders import Drawable, Ground, Solid, Wires
from continua.render.ground import Backdrop, contact
from continua.render.light import Density, Shadows, sample_surface
from continua.render.raster import NOTHING, Canvas
from continua.render.view import Cloud, View

SOLID = np.array([0.60, 0.64, 0.70], np.float32)
WIRE = np.array([0.42, 0.46, 0.52], np.float32)
_WIRE = -2  # owner of line pixels; solids own -3, -4, ...
_SMOOTHNESS = 0.72  # share of the surface normal against the normal of the single ball
_SHADOW = np.array([0.52, 0.55, 0.62], np.float32)  # what is left of the ground colour in full shadow


class SplatRenderer:
    """Draws the frames of one view; what does not move is drawn once."""

    name = "numpy"

    def __init__(self, view: View) -> None:
        self.view = view
        self.fine = (2 * view.size[0], 2 * view.size[1])  # two by two samples per pixel
        right, _, forward = view.camera.basis()
        light = np.array([0.0, 1.0, 0.0]) - 0.50 * right - 0.55 * forward
        self.light = (light / np.linalg.norm(light)).astype(np.float32)
        self._key: bytes | None = None

    def render(self, frame: Frame) -> np.ndarray:
        """Picture (H, W, 3) of uint8."""
        self._set_stage(frame)
        clouds = self.view.clouds(frame)
        canvas = self.stage.copy()
        x = np.concatenate([cloud.x for cloud in clouds] + [np.zeros((0, 3), np.float32)])
        radius = np.concatenate([np.full(len(cloud.x), 1.15 * cloud.radius) for cloud in clouds] + [np.zeros(0)])
        colors = np.concatenate([cloud.colors for cloud in clouds] + [np.zeros((0, 3), np.float32)])
        pixels, rho = canvas.balls(x, radius.astype(np.float32))
        spacing = 2 * min((cloud.radius for cloud in clouds), default=self.view.extent / 100)
        casters = np.concatenate([x, self.solid_points])
        shadows = Shadows(self.light, casters, spacing) if len(casters) else None
        surface = self._surface(canvas, clouds, x, colors, pixels, rho, shadows)
        return _finish(self._behind(casters, shadows, spacing), surface, self.view.size)

    def _set_stage(self, frame: Frame) -> None:
        """Draw the colliders, unless they are where they were."""
        key = b"" if frame.poses is None else b"".join(np.asarray(part).tobytes() for part in frame.poses)
        if key == self._key:
            return
        self._key = key
        shapes = self.view.shapes(frame)
        self.stage = Canvas(self.view.camera, self.fine)
        grounds = [shape for shape in shapes if isinstance(shape, Ground)]
        center = (self.view.lower + self.view.upper) / 2
        self.backdrop = Backdrop(self.view.camera, self.view.size, grounds, center, self.view.extent)
        self._draw_solids(shapes)

    def _draw_solids(self, shapes: list[Drawable]) -> None:
        solids = [shape for shape in shapes if isinstance(shape, Solid)]
        tables = []
        points = [np.zeros((0, 3), np.float32)]
        first = 0
        for solid in solids:
            layer = Canvas(self.view.camera, self.fine)
            normals = layer.triangles(solid)
            front = np.flatnonzero((layer.owner != NOTHING) & (layer.depth < self.stage.depth))
            self.stage.depth[front] = layer.depth[front]
            self.stage.owner[front] = -3 - (first + np.arange(len(front)))
            tables.append(normals[layer.owner[front]])
            first += len(front)
            points.append(sample_surface(solid, self.view.extent / 150))
        self.solid_normals = np.concatenate([*tables, np.zeros((0, 3), np.float32)])
        self.solid_points = np.concatenate(points)
        for shape in shapes:
            if isinstance(shape, Wires):
                self.stage.lines(shape, max(2, round(self.fine[1] / 480)), _WIRE)

    def _surface(
        self,
        canvas: Canvas,
        clouds: list[Cloud],
        x: np.ndarray,
        colors: np.ndarray,
        pixels: np.ndarray,
        rho: np.ndarray,
        shadows: Shadows | None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Fine columns, rows (P,) and lit linear colours (P, 3) of the pixels that show something."""
        index = np.flatnonzero(canvas.owner != NOTHING)
        row, column = (part.astype(np.float32) for part in np.divmod(index, self.fine[0]))
        depth, owner = canvas.depth[index], canvas.owner[index]
        free = depth < self.backdrop.depth_at(column, row, self.fine) * 1.0005
        index, row, column, depth, owner = (part[free] for part in (index, row, column, depth, owner))
        normal, albedo, open_ = _ball_pixels(self.view, clouds, owner, row, column, x, colors, pixels, rho)
        solid = np.flatnonzero(owner <= _WIRE - 1)
        normal[solid] = self.solid_normals[-3 - owner[solid]]
        albedo[solid] = SOLID
        lit = self._light(normal, albedo**2.2, open_, self._world(column, row, depth), shadows)
        lit[owner == _WIRE] = WIRE**2.2
        return column, row, lit

    def _world(self, column: np.ndarray, row: np.ndarray, depth: np.ndarray) -> np.ndarray:
        """Points (P, 3) [m] that are seen at pixels."""
        right, up, forward = self.view.camera.basis().astype(np.float32)
        focal = np.float32(self.view.camera.focal(self.fine[1]))
        across = (column + np.float32(0.5 - self.fine[0] / 2)) / focal
        along = (np.float32(self.fine[1] / 2 - 0.5) - row) / focal
        rays = forward + across[:, None] * right + along[:, None] * up
        return np.asarray(np.asarray(self.view.camera.eye, np.float32) + depth[:, None] * rays)

    def _light(
        self, normal: np.ndarray, albedo: np.ndarray, open_: np.ndarray, x: np.ndarray, shadows: Shadows | None
    ) -> np.ndarray:
        """Linear colours under one lamp, a bright sky and a dim ground."""
        facing = normal @ self.light
        lamp = np.clip((facing + 0.12) / 1.12, 0, 1)
        if shadows is not None:
            bright = np.flatnonzero(lamp > 0)
            lamp[bright] *= 0.12 + 0.88 * shadows.lit(x[bright] + normal[bright] * np.float32(2 * shadows.texel))
        sky = open_ * (0.5 + 0.5 * normal[:, 1])
        view = -self.view.camera.basis()[2].astype(np.float32)
        rim = np.clip(1 - normal @ view, 0, 1) ** 3 * open_
        warm = np.array([1.02, 0.99, 0.94], np.float32)
        cool = np.array([0.40, 0.44, 0.50], np.float32)
        shade = 0.86 * lamp[:, None] * warm + sky[:, None] * cool + 0.10 * open_[:, None]
        return np.asarray(albedo * shade + 0.05 * rim[:, None], np.float32)

    def _behind(self, casters: np.ndarray, shadows: Shadows | None, spacing: float) -> np.ndarray:
        """Background (H W, 3), linear, with the shadows of this frame."""
        image = self.backdrop.image**2.2
        if shadows is None:
            return image
        for ground, pixels, points, fade in self.backdrop.spots:
            if ground.normal @ self.light <= 0:
                continue
            reach = max(0.03 * self.view.extent, 1.5 * spacing)
            dark = 0.8 * (1 - shadows.soft(points)) + 0.55 * contact(ground, points, casters, reach)
            dark = (np.clip(dark, 0, 1) * fade)[:, None]
            touched = np.flatnonzero(dark[:, 0] > 0.002)
            image[pixels[touched]] *= 1 + dark[touched] * (_SHADOW - 1)
        return np.asarray(image)

    def close(self) -> None:
        """Nothing to release."""


def _ball_pixels(
    view: View,
    clouds: list[Cloud],
    owner: np.ndarray,
    row: np.ndarray,
    column: np.ndarray,
    x: np.ndarray,
    colors: np.ndarray,
    pixels: np.ndarray,
    rho: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normals, colours (P, 3) and openness (P,) of the pixels that balls own; the others stay to be filled."""
    normal = np.zeros((len(owner), 3), np.float32)
    albedo = np.zeros((len(owner), 3), np.float32)
    open_ = np.ones(len(owner), np.float32)
    mine = np.flatnonzero(owner >= 0)
    if not len(mine):
        return normal, albedo, open_
    ball = owner[mine]
    across = (column[mine] + np.float32(0.5) - pixels[ball, 0]) / rho[ball]
    along = (pixels[ball, 1] - row[mine] - np.float32(0.5)) / rho[ball]
    toward = np.sqrt(np.clip(1 - across**2 - along**2, 0, 1))
    right, up, forward = view.camera.basis().astype(np.float32)
    single = across[:, None] * right + along[:, None] * up - toward[:, None] * forward
    smooth, openness = _surface_normals(clouds, x, np.flatnonzero(np.bincount(ball, minlength=len(x))))
    normal[mine] = _unit((1 - _SMOOTHNESS) * single + _SMOOTHNESS * smooth[ball])
    albedo[mine] = colors[ball]
    open_[mine] = openness[ball]
    return normal, albedo, open_


def _surface_normals(clouds: list[Cloud], x: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Surface normals (N, 3) and openness (N,) of the seen balls, body by body."""
    normals, openness = np.zeros_like(x), np.ones(len(x), np.float32)
    first = 0
    for cloud in clouds:
        chosen = seen[(seen >= first) & (seen < first + len(cloud.x))]
        if len(chosen) and len(cloud.x) >= 50:
            normals[chosen], openness[chosen] = Density(cloud.x, 2 * cloud.radius).normals(x[chosen])
        first += len(cloud.x)
    return normals, openness


def _finish(
    behind: np.ndarray, surface: tuple[np.ndarray, np.ndarray, np.ndarray], size: tuple[int, int]
) -> np.ndarray:
    """Average the four samples of each pixel over the background and encode for the screen."""
    column, row, color = surface
    pixel = (row.astype(np.int64) // 2) * size[0] + column.astype(np.int64) // 2
    count = size[0] * size[1]
    cover = np.bincount(pixel, minlength=count)[:, None] / np.float32(4)
    front = np.stack([np.bincount(pixel, color[:, k], count) for k in range(3)], axis=1) / 4
    image = behind * (1 - cover) + front
    table = (255 * (np.arange(4096) / 4095) ** (1 / 2.2) + 0.5).astype(np.uint8)
    return table[(np.clip(image, 0, 1) * 4095 + 0.5).astype(np.int16)].reshape(size[1], size[0], 3)


def _unit(x: np.ndarray) -> np.ndarray:
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9))
