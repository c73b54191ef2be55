"""Normals where two continua meet, against the geometry: weighted with the reduced mass, over many places in the grid.

Among the wrong variants are the unsmoothed difference of gradients (Nairn 2013) and gradients of mass.
"""

import numpy as np
import pytest
from two_fields import Fields, ball_points, body_of, lattice_points

from continua import _core
from continua.materials import FixedCorotated

H = 0.05
A = H / 2
RMS, MOST = 6.0, 25.0  # degrees
MATERIAL = FixedCorotated(E=1e6, nu=0.3, density=1000)


def turned(points, angle, about=0.0):
    c, s = np.cos(angle), np.sin(angle)
    out = points.copy()
    out[:, :2] = (points[:, :2] - about) @ np.array([[c, s], [-s, c]]) + about
    return out


def up(angle=0.0, d=2):
    n = np.zeros(d)
    n[:2] = -np.sin(angle), np.cos(angle)
    return lambda x: np.broadcast_to(n, x.shape)


def flat(d=2, angle=0.0, jitter=0.0, seed=0):
    wide = [16 * H] + ([8 * H] if d == 3 else [])
    lower = lattice_points(
        [-wide[0] / 2, -4 * H, *(-w / 2 for w in wide[1:])], [8 * H, 0, *(w / 2 for w in wide[1:])], A
    )
    upper = lattice_points([-4 * H, 0] + [-2 * H] * (d - 2), [4 * H, 4 * H] + [2 * H] * (d - 2), A)
    if jitter:
        rng = np.random.default_rng(seed)
        lower += rng.uniform(-jitter, jitter, lower.shape) * A / 2
        upper += rng.uniform(-jitter, jitter, upper.shape) * A / 2
    return turned(lower, angle), turned(upper, angle), up(angle, d)


def ball_on_flat(d=2):
    lower, _, normal = flat(d)
    radius = (5 if d == 2 else 4) * H
    return lower, ball_points([0, radius] + [0] * (d - 2), radius, A), normal


def ball_on_ball(d=2):
    radius = (5 if d == 2 else 4) * H
    a, b = np.zeros(d), np.zeros(d)
    b[:2] = 2 * radius * np.cos(0.5), 2 * radius * np.sin(0.5)

    def between(x):
        n = (x - a) / np.linalg.norm(x - a, axis=1)[:, None] - (x - b) / np.linalg.norm(x - b, axis=1)[
            :, None
        ]
        return n / np.linalg.norm(n, axis=1)[:, None]

    return ball_points(a, radius, A), ball_points(b, radius, A), between


def corner_on_flat(d=2):
    lower, _, normal = flat(d)
    square = turned(
        lattice_points([0] * 2 + [-2 * H] * (d - 2), [5 * H] * 2 + [2 * H] * (d - 2), A), np.pi / 4
    )
    return lower, square, normal


def layers(d=2, lower_height=4.0):
    wide = [-2 * H] * (d - 2)
    half = 4 * H if lower_height < 1 else 8 * H  # layers end together
    lower = lattice_points([-half, -lower_height * H, *wide], [half, 0, *(-w for w in wide)], A)
    upper = lattice_points([-4 * H, 0, *wide], [4 * H, 0.5 * H, *(-w for w in wide)], A)
    return lower, upper, up(0.0, d)


CASES = {
    "flat on flat": (flat, {}),
    "flat, rotated": (flat, {"angle": np.pi / 6}),
    "flat, 17 degrees, jitter": (flat, {"angle": np.radians(17), "jitter": 0.6}),
    "ball on flat": (ball_on_flat, {}),
    "ball on ball": (ball_on_ball, {}),
    "corner on flat": (corner_on_flat, {}),
    "layer on block": (layers, {}),
    "layer on layer": (layers, {"lower_height": 0.5}),
}
CASES_3D = [c for c in CASES if c not in ("flat, 17 degrees, jitter", "layer on block")]


def error(case, d=2, places=20, variant=None):
    """Weighted rms and largest error [degrees] of the normals over places of the grid."""
    make, options = CASES[case]
    rng = np.random.default_rng(3)
    angles, masses = [], []
    for place in range(places):
        more = {"seed": place} if "jitter" in options else {}
        lower, upper, exact = make(d, **options, **more)
        bodies = [body_of("a", lower, A, MATERIAL), body_of("b", upper, A, MATERIAL)]
        world = Fields(bodies, H, origin=rng.uniform(-H, H, d))
        fields = world.to_grid(1e-6)
        found = world.contacts()
        x, n = found.positions(world.lattice), found.normal[:, :d]
        m = [f.nodes[np.searchsorted(f.keys, found.key), found.node, 3] for f in fields]
        reduced = m[0] * m[1] / (m[0] + m[1])
        if variant is not None:
            n = variant(fields, found, d)
        kept = reduced > 0.02 * reduced.max()
        cosine = (n * exact(x)).sum(axis=1)[kept]
        angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
        masses.append(reduced[kept])
    angle, mass = np.concatenate(angles), np.concatenate(masses)
    return float(np.sqrt((mass * angle**2).sum() / mass.sum())), float(angle.max())


@pytest.mark.parametrize("case", CASES)
def test_normals_in_2d(case):
    rms, most = error(case)
    assert rms < RMS and most < MOST


@pytest.mark.parametrize("case", CASES_3D)
def test_normals_in_3d(case):
    rms, most = error(case, d=3, places=3)
    assert rms < RMS and most < MOST


def mass_gradients(fields, found, d):
    """The control: unsmoothed difference of the slopes of mass over the grid, by central differences of nodes."""
    n = np.zeros((len(found.key), d))
    for sign, f in zip((-1, 1), fields):
        at = NodeValues(f.keys, f.nodes[..., 3], d)
        for axis in range(d):
            n[:, axis] += sign * at.slope(found, axis)
    size = np.linalg.norm(n, axis=1)[:, None]
    return np.divide(n, size, out=np.zeros_like(n), where=size > 0)


class NodeValues:
    """Values at nodes by their coordinates."""

    def __init__(self, keys, values, d):
        grid = np.asarray(_core.node_coordinates(keys, d))
        self.d = d
        self.table = {tuple(c): v for c, v in zip(grid.reshape(-1, d).tolist(), values.ravel())}
        self.grid = {int(k): g for k, g in zip(keys, grid)}

    def slope(self, found, axis):
        out = np.zeros(len(found.key))
        for k, (key, node) in enumerate(zip(found.key, found.node)):
            c = self.grid[int(key)][node]
            step = np.eye(self.d, dtype=int)[axis]
            out[k] = self.table.get(tuple(c + step), 0.0) - self.table.get(tuple(c - step), 0.0)
        return out


def test_unsmoothed_normals_fail_on_layers():
    rms, most = error("layer on layer", places=6, variant=mass_gradients)
    assert rms > RMS and most > 90


if __name__ == "__main__":
    for name in CASES:
        plane = "2D {:.1f}/{:.0f}".format(*error(name))
        space = "3D {:.1f}/{:.0f}".format(*error(name, 3, 4)) if name in CASES_3D else ""
        print(f"{name:28s}", plane, space)
