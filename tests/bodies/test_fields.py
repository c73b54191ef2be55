"""Passive fields stay with their particles, act on nothing and are seen in frames, exports and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua.errors import ContinuaError, SetupError
from continua.io import RunFolder, export
from continua.materials import FixedCorotated, Liquid, Snow

DX = 0.1
BLOCK = {2: ct.shapes.Box((0.0, 0.3), (0.8, 0.4)), 3: ct.shapes.Box((0.0, 0.3, 0.0), (0.8, 0.4, 0.4))}
NOZZLE = ct.shapes.Box((0.0, 1.0), (0.1, 0.4))


def stripes(x: NDArray) -> NDArray:
    return np.floor(8 * x[:, 0]) + 0.25 * x[:, 1]


def drop(
    material: Any, d: int = 2, precision: str = "double", **options: Any
) -> tuple[ct.Simulation, ct.Body]:
    """A spinning block that hits the ground, so that particles are sorted anew again and again."""
    sim = ct.Simulation(DX, (0.0, -9.81, 0.0)[:d], precision=precision)
    sim.add(ct.colliders.Plane((0.0, 1.0, 0.0)[:d], (0.0, 0.05, 0.0)[:d]))
    spin = ct.velocities.Rigid((0.0, -3.0, 0.0)[:d], 8.0 if d == 2 else (0.0, 0.0, 8.0))
    return sim, sim.add(BLOCK[d], material, velocity=spin, name="block", **options)


def advance(sim: ct.Simulation, steps: int) -> None:
    for _ in range(steps):
        sim.step()


def bits(sim: ct.Simulation) -> dict[str, bytes]:
    return {key: array.tobytes() for key, array in sim.state().items()}


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("material", [FixedCorotated(1e4), Snow(), Liquid()], ids=lambda m: m.label)
def test_fields_stay_with_their_particles(d: int, precision: str, material: Any) -> None:
    sim, body = drop(material, d, precision, fields={"dye": stripes, "heat": 300.0})
    x = body.fields()["x"].astype(np.float64)
    dye = body.state["dye"].copy()
    np.testing.assert_allclose(dye, stripes(x), atol=1e-6)
    advance(sim, 60)
    assert np.array_equal(body.fields()["dye"], dye) and (body.fields()["heat"] == 300).all()
    assert not np.array_equal(body.state["dye"], dye)  # the rows have moved, and the dye with them


def test_fields_follow_history_and_what_varies() -> None:
    E = ct.Gradient(0, (-0.4, 0.4), (1e5, 3e5))
    sim, body = drop(Snow(), vary={"E": E}, fields={"dye": stripes})
    plain, other = drop(Snow(), vary={"E": E})
    table, dye = body.parameter_table()[:, np.argsort(body.ids)], body.fields()["dye"]
    assert list(body.state) == ["Jp", "dye"] and list(other.state) == ["Jp"]
    advance(sim, 60)
    advance(plain, 60)
    assert np.array_equal(body.parameter_table()[:, np.argsort(body.ids)], table)
    assert np.array_equal(body.fields()["dye"], dye)
    for name, array in other.fields().items():  # dye acts on nothing
        assert np.array_equal(body.fields()[name], array)
    assert body.state["Jp"].min() < 1 and sim.diagnostics()["total"] == plain.diagnostics()["total"]


class Jelly(ct.materials.PythonMaterial):
    """Linear in the strain, and strict about its state."""

    states = {"age": 0.0}

    def energy(self, F: NDArray, state: dict[str, NDArray]) -> NDArray:
        assert list(state) == ["age"]
        return 5e4 * ((F - np.eye(F.shape[1])) ** 2).sum(axis=(1, 2))

    def stress(self, F: NDArray, state: dict[str, NDArray]) -> NDArray:
        assert list(state) == ["age"]
        return 1e5 * (F - np.eye(F.shape[1]))


def test_materials_do_not_see_passive_fields() -> None:
    sim, body = drop(Jelly(), fields={"dye": stripes})
    dye = body.fields()["dye"]
    advance(sim, 30)
    assert sim.diagnostics()["elastic"] > 0 and np.array_equal(body.fields()["dye"], dye)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2, lambda x: np.full(len(x), 2.0)),
        (np.float32(0.5), lambda x: np.full(len(x), 0.5)),
        (lambda x: 3.0, lambda x: np.full(len(x), 3.0)),
        (np.arange(128), lambda x: np.arange(128.0)),
        (list(range(128)), lambda x: np.arange(128.0)),
        (ct.Gradient(0, (-0.4, 0.4), (0, 1)), lambda x: (x[:, 0] + 0.4) / 0.8),
    ],
    ids=["int", "number of NumPy", "function of one number", "array", "list", "gradient"],
)
def test_every_kind_of_value(value: Any, expected: Any) -> None:
    _, body = drop(Snow(), fields={"dye": value})
    np.testing.assert_allclose(body.state["dye"], expected(body.x), atol=1e-15)


def test_streams_carry_fields() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0))
    fields = {"dye": 1.0, "height": lambda x: x[:, 1], "layer": ct.Gradient(1, (0.8, 1.2), (0, 1))}
    body = sim.add(ct.Emitter(NOZZLE, FixedCorotated(1e4), (2.0, 0.0), fields=fields))
    advance(sim, 60)
    assert len(body) > 100 and (body.state["dye"] == 1).all()
    np.testing.assert_allclose(body.state["height"], body.x[:, 1], atol=1e-12)  # the stream is straight
    np.testing.assert_allclose(body.state["layer"], (body.x[:, 1] - 0.8) / 0.4, atol=1e-12)
    assert np.ptp(body.state["height"]) > 0.25


@pytest.mark.parametrize("precision", ["double", "single"])
def test_resumed_run_keeps_the_bits(precision: str, tmp_path: Path) -> None:
    def run(name: str, frames: int, dye: Any = stripes, **options: Any) -> ct.Simulation:
        sim, _ = drop(Snow(), precision=precision, fields={"dye": dye})
        sim.add(ct.Emitter(NOZZLE, Snow(), (20.0, 0.0), fields={"dye": lambda x: x[:, 1], "heat": 2.0}))
        sim.run(frames=frames, fps=200, output=tmp_path / name, checkpoint_interval=1, **options)
        return sim

    whole = run("whole", 6)
    run("parts", 3)
    parts = run("parts", 6, dye=0.0, resume=True)  # what was stored counts
    assert bits(parts) == bits(whole) and len(parts.bodies[1]) > 20
    other, _ = drop(Snow(), precision=precision)
    other.add(ct.Emitter(NOZZLE, Snow(), (20.0, 0.0)))
    with pytest.raises(SetupError, match="another precision, material, transfer or fields"):
        other.load_state(whole.state())


def test_frames_exports_and_pictures_show_the_field(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    left = ct.shapes.Box((-0.5, 0.0), (0.8, 0.8))
    right = ct.shapes.Box((0.5, 0.0), (0.8, 0.8))
    sim = ct.Simulation(DX, (0.0, 0.0))
    first = sim.add(left, FixedCorotated(), fields={"dye": lambda x: np.where(x[:, 1] > 0, 1.0, 0.0)})
    sim.add(right, FixedCorotated())
    sim.run(frames=1, fps=100, output=tmp_path / "run")
    frame = RunFolder(tmp_path / "run").read_frame(1)
    assert np.array_equal(frame.bodies[0].arrays["dye"], first.fields()["dye"].astype(np.float32))
    assert "dye" not in frame.bodies[1].arrays
    for to in ("ply", "vtk"):
        files = [path for path in export(tmp_path / "run", to) if path.suffix != ".pvd"]
        assert [b"dye" in path.read_bytes() for path in files] == ["body1" in path.name for path in files]

    def picture(by: str) -> NDArray:
        """Mean colours (3, 3) of the upper half and the lower half of the left block, and of the right block."""
        file = ct.render.still_of_run(
            tmp_path / "run", tmp_path / f"{by}.png", color_by=by, size=(320, 180), legend=False
        )
        pixels = np.asarray(image.open(file.path).convert("RGB")).astype(float)
        middle, side = 90, 40
        parts = [pixels[40:70, 100:120], pixels[110:140, 100:120], pixels[60:120, 200:220]]
        assert pixels.shape == (2 * middle, 8 * side, 3)
        return np.array([part.mean(axis=(0, 1)) for part in parts])

    upper, lower, without = picture("dye")
    assert upper[0] > lower[0] + 60 and lower[2] < 160  # yellow is much, dark blue is little
    assert np.ptp(without) < 20  # grey: no such field
    upper, lower, _ = picture("body")
    assert np.abs(upper - lower).max() < 10  # another colouring does not show it


def test_function_of_an_emitter_is_tried_at_once() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0))
    with pytest.raises(SetupError, match=r'function of the field "dye" .* not \(\d+, 2\)'):
        sim.add(ct.Emitter(NOZZLE, Snow(), (20.0, 0.0), start=1.0, fields={"dye": lambda x: x}))
    assert not sim.bodies and not sim.world.emitters


# ---- mistakes ----------------------------------------------------------------------------------------------------

NAMES = {"id": 1.0, "x": 1.0, "v": 1.0, "J": 1.0, "volume": 1.0, "mass": 1.0, "speed": 1.0, "Jp": 1.0}
MISTAKES: dict[str, tuple[Any, str]] = {
    **{name: ({name: 1.0}, f"'{name}' has a name that particles of snow use for something else") for name in NAMES},
    "two words": ({"my dye": 1.0}, "'my dye' must have a name of letters"),
    "no text": ({3: 1.0}, "3 must have a name of letters"),
    "not ASCII": ({"\u0394": 1.0}, "must have a name of letters"),
    "no dict": ("dye", "fields must be a dict"),
    "too many": ({f"f{k}": 1.0 for k in range(16)}, "17 history variables, .* has room for 16"),
    "wrong shape": ({"dye": np.ones(5)}, r'value of the field "dye" .* each of the 128 .* not \(5,\)'),
    "wrong shape of a function": ({"dye": lambda x: x}, r'function of the field "dye" .* not \(128, 2\)'),
    "no number": ({"dye": "red"}, "must give numbers"),
    "not finite": ({"dye": lambda x: np.nan * x[:, 0]}, "must give finite numbers"),
    "axis": ({"dye": ct.Gradient(2, (0, 1), (0, 1))}, "follows axis 2, but a 2D world"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_sentence(mistake: str) -> None:
    fields, message = MISTAKES[mistake]
    sim = ct.Simulation(DX, (0.0, -9.81))
    with pytest.raises(SetupError, match=message) as caught:
        sim.add(BLOCK[2], Snow(), fields=fields)
    assert "\n" not in str(caught.value) and not sim.bodies


@pytest.mark.parametrize("mistake", ["id", "Jp", "two words", "axis", "no dict", "no number"])
def test_mistakes_of_emitters(mistake: str) -> None:
    fields, message = MISTAKES[mistake]
    with pytest.raises(ContinuaError, match=message if mistake not in ("no dict", "no number") else "fields"):
        ct.Emitter(NOZZLE, Snow(), (1.0, 0.0), fields=fields)
