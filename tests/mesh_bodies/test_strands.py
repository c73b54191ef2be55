"""Strands in worlds: statics of a clamped rod, scripted sections, the same bits on resume, errors."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import FRAME, jelly, world

import continua as ct
from continua.errors import ContinuaError, GeometryError, MaterialError, SetupError
from continua.geometry.curves import Curves
from continua.materials import Rod

ROD = Rod(E=1e6, radius=0.01)
FLAT = Rod(E=1e6, radius=(0.02, 0.005))


def line(count: int, length: float = 1.0) -> Curves:
    """`count` segments along x."""
    return Curves(np.linspace((0, 0, 0), (length, 0, 0), count + 1))


def curls(count: int = 3, points: int = 12) -> Curves:
    """Coils beside each other."""
    s = np.linspace(0, 4, points)
    coil = 0.1 * np.stack([np.cos(s) - 1, np.sin(s), 0.5 * s], axis=1)
    return Curves(np.concatenate([coil + (0.3 * k, 0, 0) for k in range(count)]), [points] * count)


# ---- statics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [10, 20, 40])
@pytest.mark.parametrize("axis", [1, 2])
def test_the_tip_of_a_cantilever(count: int, axis: int) -> None:
    """Clamped at its first two points it drops by P L^3/(3 EI) (N - 1)(2 N - 1)/(2 N^2): it bends at points."""
    load, length = 1e-6, 2.0

    def tip(material: Rod) -> float:
        body = ct.Strands(line(count, length), material, scripted=ct.Scripted([0, 1]), directors=(0, 1, 0))
        K = body.energy.hessian(body.rest).matrix().tocsc()[6:, 6:]
        force = np.zeros(K.shape[0])
        force[3 * (count - 2) + axis] = load
        return float(np.linalg.solve(K.toarray(), force)[3 * (count - 2) + axis])

    exact = load * length**3 / (3 * FLAT.bending_stiffness[axis - 1])
    discrete = exact * (count - 1) * (2 * count - 1) / (2 * count**2)
    assert tip(FLAT) == pytest.approx(discrete, rel=1e-3)
    assert abs(tip(FLAT) / exact - 1) == pytest.approx(1.5 / count, rel=0.1)  # first order
    assert tip(Rod(E=1e6, radius=(0.02, 0.005), bending=1.01)) != pytest.approx(discrete, rel=1e-3)


# ---- motion --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("integrator", "on_grid"), [("optimization", False), ("optimization", True), ("symplectic", None)]
)
def test_a_strand_falls_and_keeps_its_momentum(integrator: str, on_grid: bool | None) -> None:
    sim = ct.Simulation(0.05, (0.0, -10.0, 0.0), integrator=integrator)
    body = sim.add(ct.Strands(curls(), FLAT, velocity=(0.1, 0, 0.2), on_grid=on_grid))
    while sim.time < 0.05:
        sim.step()
    momentum = body.mass @ body.v / body.mass.sum()
    np.testing.assert_allclose(momentum, (0.1, -10 * sim.time, 0.2), rtol=1e-6)
    assert body.totals().elastic < 1e-6 * FLAT.stretching_stiffness
    assert abs(momentum[1] + 9.8 * sim.time) > 1e-3  # as it would be with less gravity


def test_a_clamped_strand_hangs_from_its_root_on_the_grid_and_off_it() -> None:
    tips = []
    for integrator in ("symplectic", "optimization"):
        sim = ct.Simulation(0.1, (0.0, -10.0, 0.0), integrator=integrator)
        body = sim.add(ct.Strands(line(10), ROD, scripted=ct.Scripted([0, 1])))
        while sim.time < 0.1 - 1e-12:
            sim.step(min(5e-3, 0.1 - sim.time))
        np.testing.assert_array_equal(body.x[:2], body.rest[:2])
        tips.append(body.x[-1, 1])
    assert tips[0] == pytest.approx(tips[1], abs=0.1 * 0.05) and tips[0] < -0.03


# ---- sections ------------------------------------------------------------------------------------------------


def twisted(motion: ct.motions.Motion | None, time: float) -> ct.Strands:
    """A rod held at both ends, the second one by this motion."""
    sim = world((0.0, 0.0, 0.0))
    scripts = [ct.Scripted([0, 1]), ct.Scripted([9, 10], motion)]
    body = sim.add(ct.Strands(line(10), FLAT, scripted=scripts, contact=ct.PenaltyContact()))
    while sim.time < time - 1e-12:
        sim.step(FRAME)
    return body


def test_sections_turn_with_the_motion_of_their_script() -> None:
    turning = ct.motions.Spin(3.0, (0, 0, 0), (1, 0, 0))
    body = twisted(turning, 24 * FRAME)
    twist = body.rods.frames()["twist"]
    np.testing.assert_allclose(twist[1:10], 3.0 / 9, rtol=1e-8)
    np.testing.assert_array_equal(twist[[0, 10]], 0.0)
    energy = 0.5 * FLAT.twisting_stiffness * 3.0**2 / 0.9
    assert body.totals().elastic == pytest.approx(energy, rel=1e-8)
    assert not twisted(None, 4 * FRAME).rods.frames()["twist"].any()


def test_a_bent_root_carries_its_section_along() -> None:
    """Points that a function moves have no rotation: the section goes along without spin."""
    sim = world((0.0, 0.0, 0.0))

    def root(t: float) -> np.ndarray:
        return np.array([(0, 0, 0), (0.1 * np.cos(t), 0.1 * np.sin(t), 0)])

    body = sim.add(ct.Strands(line(10), FLAT, scripted=ct.Scripted([0, 1], root), directors=(0, 0.6, 0.8)))
    while sim.time < 1 - 1e-9:
        sim.step(FRAME)
    expected = (-0.6 * np.sin(sim.time), 0.6 * np.cos(sim.time), 0.8)
    np.testing.assert_allclose(body.rods.frames()["director"][0], expected, atol=1e-12)


# ---- resuming, looking ---------------------------------------------------------------------------------------


def turning(integrator: str) -> ct.Simulation:
    sim = ct.Simulation(0.1, (0.0, -9.81, 0.0), integrator=integrator)
    grip = ct.Scripted([0, 1, 12, 13], ct.motions.Spin(4.0, (0, 0, 0), (0.3, 1, 0.2)))
    sim.add(ct.Strands(curls(), FLAT, scripted=grip, damping=1e-4, name="hair"))
    return sim


@pytest.mark.parametrize("integrator", ["optimization", "symplectic"])
def test_a_run_continues_with_the_same_bits(integrator: str) -> None:
    whole, first = turning(integrator), turning(integrator)
    for _ in range(10):
        whole.step()
    for _ in range(5):
        first.step()
    state = first.state()
    second = turning(integrator)
    second.load_state(state)
    (body,), (other,) = whole.world.mesh_bodies, second.world.mesh_bodies
    assert isinstance(body, ct.Strands) and isinstance(other, ct.Strands)
    assert other.totals() != body.totals()
    assert other.totals().elastic == first.world.mesh_bodies[0].totals().elastic
    for _ in range(5):
        second.step()
    for name, array in body.snapshot().items():
        np.testing.assert_array_equal(other.snapshot()[name], array)
    # Sections are part of the state: without theirs the strand goes on differently.
    third = turning(integrator)
    mine = {key: array for key, array in state.items()}
    for key in mine:
        if key.endswith("rod_director"):
            turned = np.cross(mine[key.replace("director", "tangent")], mine[key])
            mine[key] = np.cos(0.1) * mine[key] + np.sin(0.1) * turned
    third.load_state(mine)
    for _ in range(5):
        third.step()
    assert not np.array_equal(third.world.mesh_bodies[0].x, body.x)


def test_a_refused_step_leaves_the_sections_where_they_are() -> None:
    sim = turning("optimization")
    sim.step()
    (body,) = sim.world.mesh_bodies
    assert isinstance(body, ct.Strands)
    before = {name: array.copy() for name, array in body.rods.frames().items()}
    body.begin(sim.time + 0.5)
    body.energy.gradient(body.x + 0.01)
    assert all(np.array_equal(array, before[name]) for name, array in body.rods.frames().items())


def test_what_frames_and_summaries_show() -> None:
    sim = turning("optimization")
    (body,) = sim.world.mesh_bodies
    fields = body.fields()
    assert set(fields) == {"id", "x", "v", "radius", "strand"}
    np.testing.assert_allclose(fields["radius"], 0.01)  # that of a circle of the same area
    np.testing.assert_array_equal(fields["strand"], np.repeat([0, 1, 2], 12))
    cells, surface = body.topology()
    np.testing.assert_array_equal(cells[:2], [[0, 1], [1, 2]])
    assert len(cells) == 33 and len(surface) == 0
    assert (body.kind, body.stem, body.label, body.cell) == ("strands", "strands", "rod", "segment")
    assert body.mass.sum() == pytest.approx(
        FLAT.density * FLAT.area * np.linalg.norm(np.diff(body.rest, axis=0), axis=1)[:11].sum() * 3
    )
    assert body.nbytes <= 600 * len(body)


# ---- errors --------------------------------------------------------------------------------------------------


class Made:
    """A description of curves."""

    def build(self) -> Curves:
        return line(4)


def test_curves_may_be_described() -> None:
    assert len(ct.Strands(Made(), ROD)) == 5


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ct.Strands(np.zeros((3, 3)), ROD), SetupError, "need Curves"),
        (lambda: ct.Strands(line(3), jelly()), SetupError, r"ct\.materials\.Rod"),
        (lambda: ct.Strands(Curves(np.zeros((1, 3))), ROD), GeometryError, "at least 2"),
        (lambda: ct.Strands(line(3), Rod(radius=0.0)), MaterialError, "radius"),
        (lambda: ct.Strands(line(3), ROD, directors=(1, 0, 0)), GeometryError, "across the rod"),
        (lambda: world((0.0, 0.0)).add(ct.Strands(line(3), ROD)), SetupError, "3D"),
        (lambda: world((0.0, 0.0, 0.0)).add(ct.shapes.Box((0, 0, 0), (1, 1, 1)), ROD), SetupError, "Strands"),
        (
            lambda: ct.SolidBody(ct.meshes.BoxMesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), ROD),
            MaterialError,
            "Strands",
        ),
    ],
)
def test_errors_say_what_to_change(make: object, error: type[ContinuaError], message: str) -> None:
    with pytest.raises(error, match=message):
        make()  # type: ignore[operator]


def test_a_start_without_shape_is_refused() -> None:
    sim = world((0.0, 0.0, 0.0))
    flat = ct.Placed(((0, 0, 0), (0, 0, 0), (0, 0, 0)))
    sim.add(ct.Strands(line(3), ROD, start=flat, name="thread"))
    with pytest.raises(SetupError, match='"thread".*no length'):
        sim.step(FRAME)
