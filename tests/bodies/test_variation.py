"""Material that differs from particle to particle behaves like separate bodies of those materials."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua.bodies.points import ParticleBody
from continua.bodies.variation import Variation, numeric_fields
from continua.errors import MaterialError, SetupError
from continua.materials import FixedCorotated, NamedMaterial, NativeMaterial, NeoHookean, Snow

DX, DT = 0.1, 2e-4
MATERIALS = [kind for kind in get_args(get_args(NamedMaterial)[0]) if issubclass(kind, NativeMaterial)]
SOFT, STIFF = 1e4, 8e4


def box(d: int, lower: float, upper: float) -> ct.shapes.Box:
    """A piece of a bar along x, 0.2 m thick."""
    return ct.shapes.Box(((lower + upper) / 2, *[0.0] * (d - 1)), (upper - lower, *[0.2] * (d - 1)))


def halves(x: NDArray) -> NDArray:
    """Young's modulus [Pa] of a bar that is soft on the left."""
    return np.where(x[:, 0] < 0, SOFT, STIFF)


def squeeze(x: NDArray) -> NDArray:
    """Velocities that deform both halves of the bar."""
    return np.stack([-2 * np.sin(3 * x[:, 0] + 0.5), *(0.5 * np.cos(5 * x[:, 0]) for _ in x[0, 1:])], axis=1)


def world(d: int = 2, precision: str = "double", **options: Any) -> ct.Simulation:
    return ct.Simulation(DX, (0.0, -9.81, 0.0)[:d], precision=precision, **options)


def bar(d: int, precision: str, material: NativeMaterial, **variation: Any) -> ct.Simulation:
    sim = world(d, precision, dt=DT)
    sim.add(box(d, -0.4, 0.4), material, velocity=squeeze, **variation)
    return sim


def by_start(starts: list[NDArray], values: list[NDArray]) -> NDArray:
    """Values of all particles, sorted by where these started."""
    start, value = np.concatenate(starts), np.concatenate(values)
    return value[np.lexsort(np.round(start, 4).T)]


def end_of(sim: ct.Simulation, steps: int = 40) -> tuple[NDArray, float]:
    """Positions after some steps, sorted by where the particles started, and the elastic energy."""
    starts = [body.fields()["x"] for body in sim.bodies]
    for _ in range(steps):
        sim.step()
    elastic = sim.diagnostics()["elastic"]
    return by_start(starts, [body.fields()["x"] for body in sim.bodies]), elastic


def bits(sim: ct.Simulation) -> dict[str, bytes]:
    return {key: array.tobytes() for key, array in sim.state().items()}


# ---- one body of two materials is two bodies --------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("precision", "tolerance"), [("double", 2e-15), ("single", 2e-7)])
@pytest.mark.parametrize("kind", [FixedCorotated, NeoHookean, Snow])
def test_varied_bar_moves_like_two_bodies(d: int, precision: str, tolerance: float, kind: Any) -> None:
    two = world(d, precision, dt=DT)
    two.add(box(d, -0.4, 0.0), kind(SOFT), velocity=squeeze)
    two.add(box(d, 0.0, 0.4), kind(STIFF), velocity=squeeze)
    expected, energy = end_of(two)

    x, elastic = end_of(bar(d, precision, kind(1e3), vary={"E": halves}))
    assert np.abs(x - expected).max() < tolerance
    assert elastic == pytest.approx(energy, rel=100 * tolerance)

    for wrong in (lambda x: halves(-x), lambda x: 0 * x[:, 0] + SOFT):  # swapped; one value for all
        x, elastic = end_of(bar(d, precision, kind(1e3), vary={"E": wrong}))
        assert np.abs(x - expected).max() > 1e-4
        assert elastic != pytest.approx(energy, rel=1e-3)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("precision", "tolerance"), [("double", 2e-15), ("single", 2e-7)])
def test_region_moves_like_a_body_of_its_own(d: int, precision: str, tolerance: float) -> None:
    left, right = Snow(SOFT, 0.3, 300, 0.02, 0.005, 8), Snow(STIFF, 0.1, 500, 0.01, 0.01, 5)
    two = world(d, precision, dt=DT)
    two.add(box(d, -0.4, 0.0), left, velocity=squeeze)
    two.add(box(d, 0.0, 0.4), right, velocity=squeeze)
    expected, energy = end_of(two)

    one = bar(d, precision, left, regions=[(box(d, 0.0, 0.5), right)])
    x, elastic = end_of(one)
    assert np.abs(x - expected).max() < tolerance
    assert elastic == pytest.approx(energy, rel=100 * tolerance)
    assert one.diagnostics()["mass"] == pytest.approx(two.diagnostics()["mass"], rel=1e-6)

    lighter = dataclasses.replace(right, density=300.0)
    x, _ = end_of(bar(d, precision, left, regions=[(box(d, 0.0, 0.5), lighter)]))
    assert np.abs(x - expected).max() > 1e-4


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-12), ("single", 1e-4)])
@pytest.mark.parametrize("kind", MATERIALS)
def test_every_material_may_have_regions(d: int, precision: str, tolerance: float, kind: Any) -> None:
    """With automatic steps, so that waves and viscosity of each particle count."""
    left = kind()
    right = dataclasses.replace(left, **{name: 0.9 * getattr(left, name) for name in numeric_fields(left)})

    def velocities(*bodies: tuple[Any, Any, Any]) -> tuple[NDArray, ct.Simulation]:
        sim = world(d, precision)
        for shape, material, regions in bodies:
            sim.add(shape, material, velocity=squeeze, regions=regions)
        starts = [body.fields()["x"] for body in sim.bodies]
        for _ in range(15):
            sim.step()
        return by_start(starts, [body.fields()["v"] for body in sim.bodies]), sim

    expected, two = velocities((box(d, -0.4, 0.0), left, None), (box(d, 0.0, 0.4), right, None))
    v, one = velocities((box(d, -0.4, 0.4), left, [(box(d, 0.0, 0.5), right)]))
    assert np.abs(v - expected).max() < tolerance
    assert one.time == pytest.approx(two.time, rel=tolerance)
    assert one.diagnostics()["elastic"] == pytest.approx(
        two.diagnostics()["elastic"], rel=tolerance, abs=tolerance
    )
    wrong, _ = velocities((box(d, -0.4, 0.4), left, None))
    assert np.abs(wrong - expected).max() > 5e-3


@pytest.mark.parametrize("precision", ["double", "single"])
def test_equal_values_change_no_bit(precision: str) -> None:
    plain, varied = (
        bar(2, precision, Snow(), vary=vary) for vary in (None, {"E": lambda x: np.full(len(x), 1.4e5)})
    )
    end_of(plain), end_of(varied)
    (a,), (b,) = plain.bodies, varied.bodies
    assert len(b.set.arrays.state) == len(a.set.arrays.state) + 2  # mu and lam
    assert all(np.array_equal(a.fields()[key], b.fields()[key]) for key in a.fields())
    assert list(b.state) == list(b.material.states)  # parameters are no history variables


# ---- what each particle gets ------------------------------------------------------------------------------------


def test_later_regions_win_and_vary_acts_outside_of_them() -> None:
    sim = world()
    body = sim.add(
        box(2, -0.4, 0.4),
        FixedCorotated(1e5),
        vary={"E": lambda x: 1e4 * (2 + x[:, 0]), "density": ct.Gradient(0, (-0.4, 0.0), (100.0, 200.0))},
        regions=[(box(2, 0.0, 0.3), FixedCorotated(3e5)), (box(2, 0.2, 0.4), FixedCorotated(5e5, 0.1, 50.0))],
    )
    x = body.x[:, 0]
    E = np.select([x > 0.2, x > 0], [5e5, 3e5], 1e4 * (2 + x))
    density = np.select([x > 0.2, x > 0], [50.0, 1000.0], 200 + 250 * x)
    nu = np.where(x > 0.2, 0.1, 0.3)
    assert body.parameter_table()[0] == pytest.approx(E / (2 + 2 * nu), rel=1e-14)
    assert body.mass == pytest.approx(density * body.volume, rel=1e-14)


def test_array_follows_the_order_of_the_particles() -> None:
    sim = world()
    x = sim.add(box(2, -0.4, 0.4), FixedCorotated(), sampling="jittered").x
    body = ct.Simulation(DX, (0, 0)).add(
        box(2, -0.4, 0.4), FixedCorotated(), sampling="jittered", vary={"E": halves(x)}
    )
    assert np.array_equal(body.x, x)
    assert body.parameter_table()[0] == pytest.approx(halves(x) / 2.6, rel=1e-14)


@pytest.mark.parametrize(("axis", "positions"), [(0, (-1, 0, 2)), (1, (0.0, 0.5, 1.0))])
def test_gradient_is_linear_between_positions_and_constant_beyond(axis: int, positions: Any) -> None:
    gradient = ct.Gradient(axis, positions, (1.0, 5.0, 2.0))
    a, b, c = positions
    x = np.zeros((6, 2))
    x[:, axis] = a - 1, a, (a + b) / 2, b, (b + c) / 2, c + 1
    assert gradient(x) == pytest.approx([1, 1, 3, 5, 3.5, 2])


@pytest.mark.parametrize("kind", MATERIALS)
def test_every_number_of_every_material_can_vary(kind: Callable[[], NativeMaterial]) -> None:
    """What a particle gets is what a material with its values has, and what cannot vary is the same for all."""
    material, x = kind(), np.zeros((3, 2))
    for name in numeric_fields(material):
        values = getattr(material, name) * np.array([1.0, 0.98, 0.9]) + np.array([0.0, 1e-3, 2e-3])
        each = [dataclasses.replace(material, **{name: value}) for value in values.tolist()]  # type: ignore[type-var]
        variation = Variation(material, {name: values})
        parameters, density = variation.at(x)
        expected = np.array([m.parameter_values() for m in each]).T
        assert parameters == pytest.approx(expected, rel=1e-14)
        assert density.tolist() == [m.density for m in each]
        changes = (parameters != parameters[:, :1]).any(axis=1)
        assert not (changes & ~variation.varied()).any()
        assert changes.any() or name == "density"


def test_energy_is_that_of_each_particle() -> None:
    body = bar(2, "double", NeoHookean(1e3, 0.2), vary={"E": halves}).bodies[0]
    body.F = np.array([[1.2, 0.1], [0.0, 0.9]])
    soft, stiff = (float(NeoHookean(E, 0.2).energy(body.F[:1])[0]) for E in (SOFT, STIFF))
    assert body.energy_density() == pytest.approx(np.where(body.x[:, 0] < 0, soft, stiff), rel=1e-13)
    assert body.energy_density() != pytest.approx(NeoHookean(1e3, 0.2).energy(body.F), rel=0.5)


# ---- time step ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("precision", "tolerance"), [("double", 1e-12), ("single", 1e-6)])
@pytest.mark.parametrize(
    ("vary", "fastest"),
    [
        ({"E": halves}, FixedCorotated(STIFF)),
        ({"density": lambda x: np.where(x[:, 1] < 0, 10.0, 4000.0)}, FixedCorotated(1e7, 0.3, 10.0)),
    ],
)
def test_fastest_wave_of_any_particle_sets_dt(
    precision: str, tolerance: float, vary: Any, fastest: FixedCorotated
) -> None:
    base = FixedCorotated(1e7)  # with E varied no particle is as stiff as this
    sim = world(2, precision)
    body = sim.add(box(2, -0.4, 0.4), base, vary=vary)
    expected = sim.world.elastic_cfl * DX / fastest.wave_speed()
    assert sim.choose_dt().dt == pytest.approx(expected, rel=tolerance)
    assert expected != pytest.approx(sim.world.elastic_cfl * DX / base.wave_speed(), rel=0.1)
    sim.step()
    assert body.max_wave_speed == pytest.approx(fastest.wave_speed(), rel=tolerance)
    body.refresh()
    assert body.max_wave_speed == pytest.approx(fastest.wave_speed(), rel=tolerance)


# ---- growing, saving ---------------------------------------------------------------------------------------------


def test_particles_may_come_in_parts() -> None:
    variation = Variation(Snow(), {"E": halves, "density": lambda x: 300 + x[:, 0]})
    whole, parts = (ParticleBody("snow", Snow(), 2, np.float64, variation) for _ in range(2))
    x = np.random.default_rng(1).uniform(-1, 1, (100, 2))
    whole.append(x, 0 * x, np.zeros((100, 2, 2)), np.ones(100))
    slowest = Snow(SOFT, density=301.0).wave_speed()
    for piece in np.split(x[np.argsort(x[:, 0])], [3, 20, 21, 70]):
        parts.append(piece, 0 * piece, np.zeros((len(piece), 2, 2)), np.ones(len(piece)))
        if piece[-1, 0] < 0:
            assert parts.max_wave_speed == pytest.approx(slowest, rel=5e-3)
    assert parts.max_wave_speed == whole.max_wave_speed > 2 * slowest
    order = np.argsort(x[:, 0])
    assert np.array_equal(parts.parameter_table(), whole.parameter_table()[:, order])
    assert np.array_equal(parts.mass, whole.mass[order])


def test_emitter_flows_beside_a_varied_body() -> None:
    sim = bar(2, "double", Snow(), vary={"E": halves})
    stream = sim.add(ct.Emitter(ct.shapes.Box((0, 1), (0.2, 0.2)), Snow(2e5), (0.0, -10.0)))
    for _ in range(200):
        sim.step()
    assert len(stream) > 20 and len(stream.set.arrays.state) == 1
    assert stream.mass == pytest.approx(400 * (DX / 2) ** 2)
    assert sim.diagnostics()["particles"] == len(stream) + len(sim.bodies[0])


def test_fresh_particles_are_as_stiff_as_the_material() -> None:
    body = ParticleBody("snow", Snow(), 2, np.float64)
    for _ in range(2):
        # as if everything so far had softened
        body.set.limits = dataclasses.replace(body.set.limits, wave_speed=0.5 * Snow().wave_speed())
        body.append(np.zeros((1, 2)), np.zeros((1, 2)), np.zeros((1, 2, 2)), np.ones(1))
        assert body.max_wave_speed == Snow().wave_speed()


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("precision", ["double", "single"])
def test_restored_run_goes_on_with_the_same_bits(d: int, precision: str) -> None:
    def make(E: Any = halves) -> ct.Simulation:
        return bar(d, precision, Snow(), vary={"E": E}, regions=[(box(d, 0.2, 0.4), Snow(density=500.0))])

    whole, again = make(), make(lambda x: 3 * halves(x))  # what was stored counts
    for _ in range(20):
        whole.step()
    again.load_state({key: array.copy() for key, array in whole.state().items()})
    assert again.diagnostics()["elastic"] == whole.diagnostics()["elastic"]
    for sim in (whole, again):
        for _ in range(20):
            sim.step()
    assert bits(again) == bits(whole)
    with pytest.raises(SetupError, match="another precision, material"):
        bar(d, precision, Snow()).load_state(whole.state())


# ---- mistakes ----------------------------------------------------------------------------------------------------


class Jam(ct.materials.PythonMaterial):
    """Too simple to vary."""


GOOD, DISK = FixedCorotated(), ct.shapes.Sphere((0.0, 0.0), 0.1)
MISTAKES: dict[str, tuple[Any, dict[str, Any], str]] = {
    "unknown field": (GOOD, {"vary": {"young": halves}}, 'no number "young" .* it has E, nu, density'),
    "field that is no number": (GOOD, {"vary": {"type": halves}}, 'no number "type"'),
    "wrong shape": (GOOD, {"vary": {"E": np.ones(5)}}, r'array for "E" .* each of the 64 .* \(64,\), not \(5,\)'),
    "wrong shape of a function": (GOOD, {"vary": {"E": lambda x: x}}, r"the function .*, not \(64, 2\)"),
    "no numbers": (GOOD, {"vary": {"E": lambda x: "soft"}}, "must give numbers"),
    "negative": (GOOD, {"vary": {"E": lambda x: x[:, 0]}}, '"E" in vary .* E: input should be greater than 0'),
    "too large": (GOOD, {"vary": {"nu": lambda x: 0.3 + abs(x[:, 0])}}, '"nu" in vary .* less than 0.5'),
    "weightless": (GOOD, {"vary": {"density": lambda x: 0 * x[:, 0]}}, '"density" in vary .* greater than 0'),
    "not finite": (GOOD, {"vary": {"E": lambda x: x[:, 0] * np.nan}}, "must give finite numbers"),
    "no dict": (GOOD, {"vary": halves}, "vary must be a dict"),
    "other class": (GOOD, {"regions": [(DISK, NeoHookean())]}, "neo-hookean cannot be part of .* fixed-corotated"),
    "no pair": (GOOD, {"regions": [DISK]}, r"pairs \(shape, material\)"),
    "pair in the wrong order": (GOOD, {"regions": [(GOOD, DISK)]}, r"pairs \(shape, material\)"),
    "3D region": (GOOD, {"regions": [(ct.shapes.Sphere((0, 0, 0), 1), GOOD)]}, "3D region .* 2D body"),
    "axis of a gradient": (GOOD, {"vary": {"E": ct.Gradient(2, (0, 1), (1, 2))}}, "2D body has no axis 2"),
    "material in Python": (Jam(), {"vary": {"E": halves}}, "Jam is written in Python"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_get_one_sentence(mistake: str) -> None:
    material, variation, message = MISTAKES[mistake]
    sim = world()
    with pytest.raises(MaterialError, match=message) as caught:
        sim.add(box(2, -0.4, 0.4), material, **variation)
    assert "\n" not in str(caught.value)
    assert not sim.bodies


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, (0, 1), (1, 2, 3)), "2 positions need as many values, not 3"),
        ((0, (0, 0), (1, 2)), "positions must rise"),
        ((0, (0,), (1,)), "positions"),
        ((3, (0, 1), (1, 2)), "axis"),
        ((0, (0, 1), (1, np.inf)), "values"),
    ],
)
def test_mistakes_in_gradients(arguments: Any, message: str) -> None:
    with pytest.raises(MaterialError, match=message):
        ct.Gradient(*arguments)


def test_values_inside_regions_do_not_matter() -> None:
    sim = world()
    body = sim.add(
        box(2, -0.4, 0.4),
        FixedCorotated(),
        vary={"E": lambda x: np.where(x[:, 0] < 0, np.nan, 1e4)},
        regions=[(box(2, -0.5, 0.0), FixedCorotated(STIFF))],
    )
    assert np.isfinite(body.parameter_table()).all()


def test_region_without_particles_gives_a_warning() -> None:
    sim = world()
    with pytest.warns(UserWarning, match=r'regions\[0\] of body "body1" holds no particle'):
        sim.add(box(2, -0.4, 0.4), Snow(), regions=[(box(2, 5, 6), Snow(1e6)), (box(2, 0, 1), Snow(1e5))])
    assert len(sim.world.warnings) == 1
