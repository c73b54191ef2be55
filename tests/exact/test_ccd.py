"""Continuous collision detection: what meets on straight ways is found, at the time of its first meeting."""

from __future__ import annotations

import ipctk
import numpy as np
import pytest
from impulse_samples import CLASSES, Array, first_meetings, forced_hits

from continua import _core

KINDS = [(3, False), (3, True), (2, False)]
COUNT = 12_000  # of each class
SURE = ("interior", "edge", "vertex", "sliver")


def missed(
    kind: str, d: int, edges: bool, *, scale: float = 1.0, shift: float = 0.0, turned: bool = False
) -> float:
    """Part of the stencils that surely meet for which no meeting is found, or a later one."""
    x, u, t = forced_hits(kind, COUNT, d, edges=edges)
    times, _, _ = first_meetings(scale * x + shift, (-scale if turned else scale) * u, edges)
    return float(np.mean(times > t + 1e-6))


@pytest.mark.parametrize(("d", "edges"), KINDS)
@pytest.mark.parametrize("kind", CLASSES)
def test_every_forced_hit_is_found(kind: str, d: int, edges: bool) -> None:
    gate = 0.0 if kind in SURE else 3e-3
    assert missed(kind, d, edges) <= gate
    assert missed(kind, d, edges, turned=True) > 0.5  # gone the other way most of them do not meet


@pytest.mark.parametrize(("d", "edges"), KINDS)
@pytest.mark.parametrize(("scale", "shift"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e3)])
def test_hits_are_found_at_any_scale_and_place(d: int, edges: bool, scale: float, shift: float) -> None:
    for kind in SURE:
        assert missed(kind, d, edges, scale=scale, shift=shift) == 0


@pytest.mark.parametrize(("d", "edges"), KINDS)
def test_the_meeting_is_where_the_stencil_touches(d: int, edges: bool) -> None:
    """At the time found the way is none; the normal is a unit vector against the relative velocity."""
    x, u, _ = forced_hits("interior", 2000, d, edges=edges)
    times, c, n = first_meetings(x, u, edges)
    there = x + times[:, None, None] * u
    size = np.abs(there - there[:, :1]).max(axis=(1, 2)) + np.abs(u - u[:, :1]).max(axis=(1, 2))
    way = np.linalg.norm(np.einsum("pk,pka->pa", c, there), axis=1)
    assert (way / size).max() <= 1e-9
    assert np.abs(c.sum(axis=1)).max() < 1e-14
    assert np.abs(np.linalg.norm(n, axis=1) - 1).max() < 1e-14
    approach = np.einsum("pk,pka,pa->p", c, u, n)
    assert approach.max() < 0
    # g^n is parallel to the relative velocity: that is why impulses along it have no torque.
    start, speed = np.einsum("pk,pka->pa", c, x), np.einsum("pk,pka->pa", c, u)
    assert np.abs(start + times[:, None] * speed).max() < 1e-8


def certified_hit(x: Array, u: Array, edges: bool) -> bool:
    """Whether inclusion functions cannot rule out that the stencil meets."""
    ccd = ipctk.TightInclusionCCD()
    rows = [*x, *(x + u)]
    query = ccd.edge_edge_ccd if edges else ccd.point_triangle_ccd
    order = rows if edges else [rows[k] for k in (3, 0, 1, 2, 7, 4, 5, 6)]
    return bool(query(*order, 0.0, 1.0)[0])


@pytest.mark.parametrize("edges", [False, True])
def test_random_ways_agree_with_a_certified_test(edges: bool) -> None:
    """Nothing that the inclusion test calls free is a hit, and no hit of ours is missed by it."""
    rng = np.random.default_rng(7)
    x, u = rng.normal(size=(2, 1500, 4, 3))
    times, _, _ = first_meetings(x, u, edges)
    certified = np.array([certified_hit(a, b, edges) for a, b in zip(x, u, strict=True)])
    ours = times <= 1
    assert ours.sum() > 50
    assert not (ours & ~certified).any()
    assert (certified & ~ours).sum() <= 2  # it is conservative: near misses are hits to it
    blind = first_meetings(x, 0.5 * u, edges)[0] <= 1  # a test of half the way misses many
    assert (certified & ~blind).sum() > 10


@pytest.mark.parametrize("gap", [0.0, 1e-12])
def test_what_slides_in_a_plane_meets_its_edges(gap: float) -> None:
    """The volume is zero all the way, or nearly: a point in the plane of a triangle, parallel edges, a line."""
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    x = np.stack([np.vstack([triangle, [-1.0, 0.25, gap]]), np.vstack([triangle, [-1.0, 1.25, gap]])])
    u = np.zeros_like(x)
    u[:, 3, 0] = 3.0  # through the triangle and out again, or past it
    times, _, normals = first_meetings(x, u)
    assert times[0] == pytest.approx(1 / 3, abs=1e-9)
    assert normals[0] == pytest.approx([-1, 0, 0])
    assert times[1] == 2
    parallel = np.array([[[0.0, 0, 0], [1, 0, 0], [0.5, gap, 1], [1.5, gap, 1]]])
    down = np.zeros_like(parallel)
    down[:, 2:, 2] = -3.0
    assert first_meetings(parallel, down, True)[0][0] == pytest.approx(1 / 3, abs=1e-9)
    beside = parallel + np.array([[0], [0], [1], [1]]) * np.array([1.0, 0, 0])
    assert first_meetings(beside, down, True)[0][0] == 2
    line = np.array([[[0.0, 0], [1, 0], [-1, gap]]])
    along = np.array([[[0.0, 0], [0, 0], [3, 0]]])
    assert first_meetings(line, along)[0][0] == pytest.approx(1 / 3, abs=1e-9)


def touching(direction: Array, distance: float, outward: bool) -> float:
    """Time at which a point that touches a triangle at the start meets it."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, distance]])
    v = np.zeros_like(x)
    v[3] = direction
    facets = np.array([[0, 1, 2]] if outward else np.empty((0, 3)), np.int32)
    times, _, _ = _core.surface_meetings(x, v, 1.0, facets, np.array([[0, 1, 2, 3]], np.int32), False)
    return float(times[0])


@pytest.mark.parametrize("distance", [0.0, 1e-15, -1e-15, 1e-10])
def test_what_touches_may_part_and_slide_but_not_go_on(distance: float) -> None:
    assert touching(np.array([0.0, 0, 1]), distance, True) == 2
    assert touching(np.array([0.1, 0.1, 0]), distance, True) == 2
    assert touching(np.array([0.1, 0.1, -1]), distance, True) == 0
    if distance <= 1e-12:  # which side it came from is only known by the facet's orientation
        assert touching(np.array([0.0, 0, 1]), distance, False) in (0, 2)


def test_what_touches_meets_after_it_was_apart() -> None:
    """A point that touches an edge, which falls away where it is and rises where it goes."""
    x = np.array([[[0.0, 0], [1, 0], [0.5, 1e-10]]])
    falling = np.array([[[0.0, -1], [0, -1.0], [0, 0.0]]])
    assert first_meetings(x, falling)[0][0] == 2
    assert first_meetings(x, -falling)[0][0] == 0
    turning = np.array([[[0.0, -2.0], [0, 1.5], [0.4, 0]]])
    # The edge is at height t (-2 + 3.5 s), the point at s = 0.5 + 0.4 t.
    assert first_meetings(x, turning)[0][0] == pytest.approx(0.25 / 1.4, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("x", {"x": np.zeros((4, 4))}),
        ("x", {"x": np.full((4, 3), np.nan)}),
        ("v", {"v": np.zeros((3, 3))}),
        ("v", {"v": np.zeros((4, 3), np.float32)}),
        ("facets", {"facets": np.array([[0, 1, 4]], np.int32)}),
        ("stencils", {"stencils": np.array([[0, 1, 2, -1]], np.int32)}),
        ("stencils", {"stencils": np.array([[0, 1, 2]], np.int32)}),
        ("dt", {"dt": np.inf}),
    ],
)
def test_wrong_arguments_are_named(name: str, change: dict[str, object]) -> None:
    right: dict[str, object] = {
        "x": np.zeros((4, 3)),
        "v": np.zeros((4, 3)),
        "dt": 1.0,
        "facets": np.empty((0, 3), np.int32),
        "stencils": np.array([[0, 1, 2, 3]], np.int32),
        "of_edges": False,
    }
    _core.surface_meetings(**right)
    with pytest.raises(ValueError, match=name):
        _core.surface_meetings(**(right | change))
