"""Surfaces of shapes: closed, outward, on the surface, with sharp edges."""

from __future__ import annotations

import numpy as np
import pytest

from continua.geometry.contour import loops
from continua.geometry.sampled_shape import outline
from continua.geometry.shapes import Box, Cylinder, Rotated, Shape, Sphere, Torus
from continua.geometry.surface import closed_surface

BLOCKS = Box((0, 0, 0), (1, 2, 1.2)) | Box((1, 0, 0), (1, 1, 0.5))
SOLIDS: dict[str, tuple[Shape, float]] = {
    "ball": (Sphere((0.3, 0, 0), 1.0), 4 / 3 * np.pi),
    "torus": (Torus((0, 0, 0), 1.0, 0.3, (1.0, 2.0, 0.5)), 2 * np.pi**2 * 0.09),
    "blocks": (BLOCKS, 2.9),
    "turned blocks": (Rotated(BLOCKS, 31.0, (1.0, 1.0, 0.0)), 2.9),
    "drilled": (
        Box((0, 0, 0), (2, 2, 2)) - Cylinder((0, 0, -2), (0, 0, 2), 0.5),
        8 - 2 * np.pi * 0.25,
    ),
    "lens": (Sphere((-0.5, 0, 0), 1.0) & Sphere((0.5, 0, 0), 1.0), np.pi / 12 * 5),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_surface_is_closed_and_encloses_the_volume(name: str) -> None:
    """Faces are flat where the surface bends, which costs a volume of second order: 64 cells, 0.4 %."""
    shape, volume = SOLIDS[name]
    found = outline(shape, 64)
    assert found.vertices.shape[1] == 3 and found.faces.shape[1] == 3
    size = float(np.ptp(found.vertices, axis=0).max()) / 64
    assert np.abs(shape.signed_distance(found.vertices)).max() < 1e-3 * size
    a, b, c = found.vertices[found.faces].transpose(1, 0, 2)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(volume, rel=4e-3)
    surface = closed_surface(found.vertices, found.faces)  # raises where it has holes
    assert surface.volume() == pytest.approx(volume, rel=4e-3)


@pytest.mark.parametrize("name", ["blocks", "turned blocks"])
def test_sharp_edges_are_exact(name: str) -> None:
    shape, volume = SOLIDS[name]
    found = outline(shape, 20)
    assert closed_surface(found.vertices, found.faces).volume() == pytest.approx(volume, rel=1e-6)


def area(line: np.ndarray) -> float:
    """Anticlockwise positive."""
    (x, y), (u, w) = line.T, np.roll(line, -1, axis=0).T
    return float(np.sum(x * w - y * u)) / 2


def test_lines_round_a_shape_and_its_holes() -> None:
    shape = (Box((0, 0), (2, 1)) | Box((2, 0), (0.5, 0.5))) - Sphere((0.4, 0), 0.3) - Sphere((-0.5, 0), 0.2)
    areas = sorted(area(line) for line in loops(outline(shape, 100)))
    assert areas == pytest.approx([-np.pi * 0.09, -np.pi * 0.04, 0.25, 2.0], rel=5e-3)
