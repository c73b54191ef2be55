"""A depth buffer in NumPy: balls, triangles, tubes and lines, each pixel remembering what is in front."""

from __future__ import annotations

import numpy as np

from continua.render.camera import Camera
from continua.render.colliders import Solid, Wires

NOTHING = -1
_CHUNK = 500_000  # triangle and tube fragments handled at once
_HAIRLINE = 0.9  # pixels; thinner tubes are drawn with that radius
_LARGEST = 48  # pixels; a ball nearer to the camera than this allows is drawn smaller


class Canvas:
    """Depth [m] and owner of every pixel of a picture of `size` (width, height), both flat, row by row."""

    def __init__(self, camera: Camera, size: tuple[int, int]) -> None:
        self.camera = camera
        self.size = size
        self.near = 1e-3 * float(np.linalg.norm(np.subtract(camera.eye, camera.target)))
        self.depth = np.full(size[0] * size[1], np.inf, np.float32)
        self.owner = np.full(size[0] * size[1], NOTHING, np.int32)

    def copy(self) -> Canvas:
        """Independent canvas with the same content."""
        other = Canvas.__new__(Canvas)
        other.camera, other.size, other.near = self.camera, self.size, self.near
        other.depth, other.owner = self.depth.copy(), self.owner.copy()
        return other

    def balls(self, x: np.ndarray, radius: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draw balls at x (N, 3) of radius (N,); pixels get the ball's number.

        Returns the centres (N, 2) and radii (N,) in pixels.
        """
        pixels, depth = self.camera.project(x, self.size)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.clip(self.camera.focal(self.size[1]) * radius / depth, 0.75, _LARGEST).astype(np.float32)
        inside = (pixels > -rho[:, None]).all(axis=1) & (pixels < rho[:, None] + self.size).all(axis=1)
        seen = np.flatnonzero(inside & (depth > self.near))
        seen = seen[~_hidden(pixels[seen], depth[seen], rho[seen], radius[seen], self.size)]
        reach = np.floor(rho[seen] + 0.5).astype(int)  # whole pixels from the centre's pixel to the rim
        reach = np.where(reach > 8, 2 ** np.ceil(np.log2(np.maximum(reach, 1))).astype(int), reach)
        for level in np.unique(reach):
            self._balls(seen[reach == level], pixels, depth, rho, radius, int(level))
        return pixels, rho

    def _balls(
        self,
        numbers: np.ndarray,
        pixels: np.ndarray,
        depth: np.ndarray,
        rho: np.ndarray,
        radius: np.ndarray,
        reach: int,
    ) -> None:
        """Draw balls that reach at most `reach` pixels, one pixel offset of all balls at a time."""
        width, height = self.size
        corner = np.floor(pixels[numbers])
        part = ((pixels[numbers] - corner - np.float32(0.5)) / rho[numbers, None]).T
        column, row = corner.astype(np.int64).T
        z, r, step = depth[numbers], radius[numbers], 1 / rho[numbers]
        across = [(i * step - part[0]) ** 2 for i in range(-reach, reach + 1)]
        fits = [(column + i >= 0) & (column + i < width) for i in range(-reach, reach + 1)]
        for j in range(-reach, reach + 1):
            along = (j * step - part[1]) ** 2
            along[(row + j < 0) | (row + j >= height)] = 2
            for i in range(-reach, reach + 1):
                if i * i + j * j > (reach + 0.8) ** 2:
                    continue
                s = across[i + reach] + along
                keep = np.flatnonzero((s < 1) & fits[i + reach])
                front = z[keep] - r[keep] * np.sqrt(1 - s[keep])
                self._write((row[keep] + j) * width + (column[keep] + i), front, numbers[keep])

    def triangles(self, solid: Solid) -> np.ndarray:
        """Draw triangles; pixels get the row number of the returned table (P, 6): normal and colour."""
        pixels, depth = self.camera.project(solid.vertices.astype(np.float32), self.size)
        corners = pixels[solid.triangles]  # (M, 3, 2)
        safe = (depth[solid.triangles] > self.near).all(axis=1)
        low = np.clip(np.floor(np.where(safe[:, None], corners.min(axis=1), 0)), 0, self.size).astype(
            np.int64
        )
        high = np.clip(np.ceil(np.where(safe[:, None], corners.max(axis=1), 0)), 0, self.size).astype(
            np.int64
        )
        boxes = high - low
        count = boxes.prod(axis=1)
        table: list[np.ndarray] = []
        group = np.cumsum(count) // _CHUNK
        first = 0
        for number in np.unique(group):
            chosen = np.flatnonzero((group == number) & (count > 0))
            rows = self._fragments(solid, chosen, corners, depth, low, boxes, count, first)
            first += len(rows)
            table.append(rows)
        return np.concatenate([*table, np.zeros((0, 6), np.float32)])

    def _fragments(
        self,
        solid: Solid,
        chosen: np.ndarray,
        corners: np.ndarray,
        depth: np.ndarray,
        low: np.ndarray,
        boxes: np.ndarray,
        count: np.ndarray,
        first: int,
    ) -> np.ndarray:
        """Test every pixel of the boxes around the chosen triangles; returns normal and colour (P, 6) of hits."""
        triangle = np.repeat(chosen, count[chosen])
        start = np.repeat(np.cumsum(count[chosen]) - count[chosen], count[chosen])
        local = np.arange(len(triangle)) - start
        column = low[triangle, 0] + local % boxes[triangle, 0]
        row = low[triangle, 1] + local // boxes[triangle, 0]
        a, b, c = (corners[triangle, k] for k in range(3))
        point = np.stack([column, row], axis=1) + 0.5
        area = _cross(b - a, c - a)
        with np.errstate(divide="ignore", invalid="ignore"):  # triangles seen edge on cover nothing
            u, v = _cross(c - b, point - b) / area, _cross(a - c, point - c) / area
            weights = np.stack([u, v, 1 - u - v], axis=1)
        hit = np.flatnonzero((weights >= -1e-6).all(axis=1))
        triangle, weights = triangle[hit], weights[hit]
        nodes = solid.triangles[triangle]
        front = 1 / (weights / depth[nodes]).sum(axis=1)  # 1/depth is linear on the screen
        index = row[hit] * self.size[0] + column[hit]
        won = self._write(index, front.astype(np.float32), first + np.arange(len(index)))
        rows = np.zeros((len(index), 6), np.float32)
        rows[won, :3] = (weights[won, :, None] * solid.normals[nodes[won]]).sum(axis=1)
        rows[won, 3:] = (weights[won, :, None] * solid.colors[nodes[won]]).sum(axis=1)
        return rows

    def lines(self, wires: Wires, width: int, owner: int) -> None:
        """Draw lines of that width in pixels; their pixels get `owner`."""
        ends = np.stack([wires.start, wires.end], axis=1).astype(np.float32)
        pixels, depth = self.camera.project(ends.reshape(-1, 3), self.size)
        reach = np.clip(pixels, -2.0 * max(self.size), 3.0 * max(self.size)).reshape(-1, 2, 2)
        length = np.nan_to_num(np.abs(reach[:, 1] - reach[:, 0]).max(axis=1))
        count = np.clip(1.5 * length, 2, max(8000, 8 * max(self.size))).astype(int)
        segment = np.repeat(np.arange(len(ends)), count)
        part = (np.arange(len(segment)) - np.repeat(np.cumsum(count) - count, count)) / (count[segment] - 1)
        x = ends[segment, 0] + part[:, None].astype(np.float32) * (ends[segment, 1] - ends[segment, 0])
        pixels, depth = self.camera.project(x, self.size)
        shift = np.arange(width) - (width - 1) / 2
        for offset in np.stack(np.meshgrid(shift, shift), axis=-1).reshape(-1, 2):
            spot = np.floor(np.nan_to_num(pixels + offset, nan=-1, posinf=-1, neginf=-1)).astype(np.int64)
            keep = (spot >= 0).all(axis=1) & (spot < self.size).all(axis=1) & (depth > self.near)
            self._write(
                (spot[:, 1] * self.size[0] + spot[:, 0])[keep], depth[keep], np.full(keep.sum(), owner)
            )

    @staticmethod
    def tube_ends(
        camera: Camera, size: tuple[int, int], x: np.ndarray, radius: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where points x (N, 3) of tubes are on the screen (N, 2), their depths (N,) [m] and radii (N,) [pixels]."""
        at, depth = camera.project(x, size)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.maximum(camera.focal(size[1]) * radius / depth, _HAIRLINE).astype(np.float32)
        return at, depth, rho

    def tubes(self, x: np.ndarray, radius: np.ndarray, segments: np.ndarray, owner: int) -> None:
        """Draw round tubes along segments (M, 2) between points x (N, 3) of radius (N,) [m], with round ends.

        Pixels get the number of the segment, counted from `owner`.
        """
        at, depth, rho = self.tube_ends(self.camera, self.size, x, radius)
        a, b = at[segments[:, 0]], at[segments[:, 1]]
        thick = np.maximum(rho[segments[:, 0]], rho[segments[:, 1]])
        with np.errstate(invalid="ignore"):
            inside = (np.minimum(a, b) < self.size + thick[:, None]).all(axis=1)
            inside &= (np.maximum(a, b) > -thick[:, None]).all(axis=1)
            seen = np.flatnonzero(inside & (depth[segments] > self.near).all(axis=1))
        a, b, thick = a[seen], b[seen], thick[seen]
        along = np.abs(b - a)
        steep = along[:, 1] > along[:, 0]  # walk along rows, else along columns
        swap = np.where(steep[:, None], [[1, 0]], [[0, 1]])
        p, q = np.take_along_axis(a, swap, 1), np.take_along_axis(b, swap, 1)
        limit = np.where(steep, self.size[1], self.size[0])
        low = np.clip(np.floor(np.minimum(p[:, 0], q[:, 0]) - thick), 0, limit).astype(np.int64)
        high = np.clip(np.ceil(np.maximum(p[:, 0], q[:, 0]) + thick), 0, limit).astype(np.int64)
        slope = (q[:, 1] - p[:, 1]) / np.where(p[:, 0] == q[:, 0], 1, q[:, 0] - p[:, 0])
        reach = thick * np.sqrt(1 + slope**2)
        across = np.ceil(2 * reach).astype(np.int64) + 1
        count = (high - low) * across
        group = np.cumsum(count) // _CHUNK
        for number in np.unique(group):
            one = np.flatnonzero((group == number) & (count > 0))
            segment = np.repeat(one, count[one])
            local = np.arange(len(segment)) - np.repeat(np.cumsum(count[one]) - count[one], count[one])
            step = low[segment] + local // across[segment]
            middle = p[segment, 1] + slope[segment] * (step + 0.5 - p[segment, 0])
            other = np.floor(middle - reach[segment]).astype(np.int64) + local % across[segment]
            column, row = np.where(steep[segment], other, step), np.where(steep[segment], step, other)
            self._tube_pixels(column, row, seen[segment], segments, (at, depth, rho, radius), owner)

    def _tube_pixels(
        self,
        column: np.ndarray,
        row: np.ndarray,
        segment: np.ndarray,
        segments: np.ndarray,
        ends: tuple[np.ndarray, ...],
        owner: int,
    ) -> None:
        """Draw those pixels that lie on their segments."""
        at, depth, rho, radius = ends
        fits = (column >= 0) & (row >= 0) & (column < self.size[0]) & (row < self.size[1])
        column, row, segment = column[fits], row[fits], segment[fits]
        first, last = segments[segment].T
        spots = np.stack([column, row], axis=1).astype(np.float32) + np.float32(0.5)
        part, _, off = along_segments(spots, at[first], at[last])
        width = (1 - part) * rho[first] + part * rho[last]
        hit = np.flatnonzero(off < width)
        part, first, last = part[hit], first[hit], last[hit]
        middle = 1 / ((1 - part) / depth[first] + part / depth[last])
        bulge = (1 - part) * radius[first] + part * radius[last]
        front = middle - bulge * np.sqrt(1 - (off[hit] / width[hit]) ** 2)
        self._write(row[hit] * self.size[0] + column[hit], front, owner + segment[hit])

    def _write(self, index: np.ndarray, depth: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """Let fragments compete for their pixels; returns which are now in front."""
        depth = depth.astype(np.float32, copy=False)
        np.minimum.at(self.depth, index, depth)
        won = np.flatnonzero(self.depth[index] == depth)
        self.owner[index[won]] = owner[won]
        return won


def along_segments(
    spots: np.ndarray, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For spots (N, 2) on the screen and segments (N, 2) to (N, 2): the part 0..1 of the way to the nearest point, how
    far the spot is to the left of the line, seen with y up, and its distance from the segment (N,) [pixels]."""
    along, away = end - start, spots - start
    square = np.einsum("ij,ij->i", along, along)
    part = np.clip(np.einsum("ij,ij->i", along, away) / np.maximum(square, 1e-12), 0, 1)
    rest = away - part[:, None] * along
    left = _cross(away, along) / np.sqrt(np.maximum(square, 1e-12))
    return part, left, np.sqrt(np.einsum("ij,ij->i", rest, rest))


def _hidden(
    pixels: np.ndarray, depth: np.ndarray, rho: np.ndarray, radius: np.ndarray, size: tuple[int, int]
) -> np.ndarray:
    """Balls that are surely behind others, such as the inside of a body (N,).

    A ball whose centre lies in a cell of 2/3 of its pixel radius covers that whole cell. So a ball is hidden
    if every cell it touches holds a centre that is nearer than its own front.
    """
    if not len(rho):
        return np.zeros(0, bool)
    cell = max(float(rho.min()) / 1.5, 1.0)
    if cell <= 1.0 and rho.min() < 1.5:
        return np.zeros(len(rho), bool)
    reach = int(np.ceil(rho.max() / cell)) + 1
    shape = int(size[1] / cell) + 2 * reach + 2, int(size[0] / cell) + 2 * reach + 2
    spot = np.clip((pixels / cell).astype(np.int32) + reach, 0, (shape[1] - 1, shape[0] - 1))
    index = spot[:, 1] * shape[1] + spot[:, 0]
    nearest = np.full(shape[0] * shape[1], np.inf, np.float32)
    np.minimum.at(nearest, index, depth.astype(np.float32))
    farthest = _maximum(_maximum(nearest.reshape(shape), reach).T, reach).T
    return np.asarray(depth - radius > farthest.reshape(-1)[index])


def _maximum(image: np.ndarray, reach: int) -> np.ndarray:
    """Running maximum over 2 reach + 1 rows."""
    result: np.ndarray = image.copy()
    for shift in range(1, reach + 1):
        np.maximum(result[shift:], image[:-shift], out=result[shift:])
        np.maximum(result[:-shift], image[shift:], out=result[:-shift])
    return result


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
