"""Colours mean the same thing in every frame, and a wrong field name is answered with the right ones."""

from __future__ import annotations

import numpy as np
import pytest

from continua.errors import OutputError
from continua.io import BodyFrame, Frame
from continua.render.colors import NEUTRAL, color_scale, ramp


def body(name: str = "a", material: str = "snow", count: int = 100, **fields: np.ndarray) -> BodyFrame:
    x = np.zeros((count, 3))
    v = np.stack([np.linspace(0, 10, count), np.zeros(count), np.zeros(count)], axis=1)
    return BodyFrame(name, "points", material, {"x": x, "v": v, "id": np.arange(count), **fields})


def test_speed_runs_from_rest_to_nearly_the_fastest() -> None:
    scale = color_scale([Frame(0, 0.0, [body()])], "speed")
    assert scale.low == 0
    assert scale.high == pytest.approx(9.9)
    colors = scale.colors(body())
    assert colors.shape == (100, 3)
    np.testing.assert_allclose(colors[0], ramp(np.array([0.0]))[0])
    np.testing.assert_allclose(colors[-1], ramp(np.array([1.0]))[0])


def test_the_range_covers_all_frames_and_may_be_fixed() -> None:
    frames = [Frame(0, 0.0, [body(heat=np.full(100, 1.0))]), Frame(1, 1.0, [body(heat=np.full(100, 5.0))])]
    scale = color_scale(frames, "heat")
    assert (scale.low, scale.high) == (1, 5)
    assert color_scale(frames, "heat", limits=(0, 7)).high == 7
    with pytest.raises(OutputError, match="range 3 to 3 is empty"):
        color_scale(frames, "heat", limits=(3, 3))


def test_one_wild_particle_does_not_spoil_the_range() -> None:
    heat = np.linspace(0, 1, 1000)
    heat[7] = 1e9
    heat[8] = np.nan
    scale = color_scale([Frame(0, 0.0, [body(count=1000, heat=heat)])], "heat")
    assert scale.high < 1.01
    assert np.isfinite(scale.colors(body(count=1000, heat=heat))).all()


def test_j_is_neutral_at_one() -> None:
    J = np.linspace(0.9, 1.05, 100)
    scale = color_scale([Frame(0, 0.0, [body(J=J)])], "J")
    assert (scale.low + scale.high) / 2 == pytest.approx(1)
    blue, red = scale.colors(body(J=J))[[0, -1]]
    assert blue[2] > blue[0]
    assert red[0] > red[2]


def test_vectors_and_tensors_count_by_their_length() -> None:
    F = np.tile(np.eye(3), (100, 1, 1))
    scale = color_scale([Frame(0, 0.0, [body(F=F)])], "F", limits=(0, 2 * np.sqrt(3)))
    np.testing.assert_allclose(scale.colors(body(F=F))[0], ramp(np.array([0.5]))[0], atol=1e-6)


@pytest.mark.parametrize("by", ["material", "body"])
def test_names_keep_their_colour(by: str) -> None:
    first, second = body("a", "jelly"), body("b", "rubber")
    scale = color_scale([Frame(0, 0.0, [first]), Frame(1, 1.0, [second, first])], by)
    assert scale.categories == (["jelly", "rubber"] if by == "material" else ["a", "b"])
    assert not np.allclose(scale.colors(first)[0], scale.colors(second)[0])


def test_bodies_without_the_field_are_neutral() -> None:
    scale = color_scale([Frame(0, 0.0, [body(heat=np.arange(100.0)), body("b")])], "heat")
    np.testing.assert_allclose(scale.colors(body("b"))[0], NEUTRAL)


def test_an_unknown_field_lists_those_there_are() -> None:
    with pytest.raises(
        OutputError,
        match="cannot color by 'temperature'; choose one of speed, material, body, continuum, id, J",
    ):
        color_scale([Frame(0, 0.0, [body(J=np.ones(100))])], "temperature")


def test_constant_and_missing_values_still_have_a_range() -> None:
    for frames in (
        [Frame(0, 0.0, [body(count=0)])],
        [Frame(0, 0.0, [])],
        [Frame(0, 0.0, [body(heat=np.ones(100))])],
    ):
        by = "heat" if frames[0].bodies and "heat" in frames[0].bodies[0].arrays else "speed"
        scale = color_scale(frames, by)
        assert scale.low < scale.high


def test_bodies_of_one_continuum_have_one_colour() -> None:
    """Two bodies of one continuum and one of another; frames keep the names."""
    bodies = [body(count=3), body(count=3), body(count=3)]
    bodies[2].continuum = "sand"
    scale = color_scale([Frame(0, 0.0, bodies)], "continuum")
    assert scale.categorical and scale.categories == ["main", "sand"]
    shades = [tuple(scale.colors(one)[0]) for one in bodies]
    assert shades[0] == shades[1] != shades[2]
