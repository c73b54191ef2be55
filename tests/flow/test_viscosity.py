"""Implicit viscosity on the MAC grid: the minimum it claims to find, and the flows that have a closed form."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from viscous_tank import Assembled, Cell, Tank, morton

from continua import _core
from continua.grid.blocks import Lattice


def blob(cells: Cell, dtype: type = np.float64) -> Tank:
    """A ball of liquid in air."""
    tank = Tank(cells, 0.1, dtype=dtype)
    middle = np.array(cells) / 2 + 0.2
    at = np.stack(np.meshgrid(*map(np.arange, cells), indexing="ij"), -1) + 0.5
    tank.fluid[...] = np.linalg.norm(at - middle, axis=-1) < min(cells) / 2 - 1.3
    return tank


def random_field(tank: Tank, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    for a in range(tank.dimension):
        tank.velocity[..., a] = np.where(tank.free(a), rng.normal(size=tank.cells), 0)


def rotation(x: NDArray) -> NDArray:
    """A rigid motion [m/s]."""
    d = x.shape[-1]
    spin = np.array([[0, -2, 0.5], [2, 0, -1], [-0.5, 1, 0]])[:d, :d]
    return x @ spin.T + np.array([0.3, -0.7, 0.2])[:d]


def momenta(tank: Tank) -> NDArray:
    """Linear momentum and the entries x_a u_b - x_b u_a of the angular one, of unit masses on the free faces."""
    d = tank.dimension
    linear = [tank.velocity[..., a].sum() for a in range(d)]
    weighted = [[(tank.centres(b)[..., a] * tank.velocity[..., b]).sum() for b in range(d)] for a in range(d)]
    turn = [weighted[a][b] - weighted[b][a] for a, b in combinations(range(d), 2)]
    return np.array(linear + turn)


def channel(across: int, dx: float) -> Tank:
    """Liquid in 0 < y < across dx between plates, endless in x: two layers of solid cells on either side."""
    tank = Tank((4, across + 8), dx, periodic=(0,))
    solid = np.ones(tank.cells, bool)
    solid[:, 4 : 4 + across] = False
    tank.close(solid, sticky=True)
    return tank


@pytest.mark.parametrize("cells", [(12, 8), (8, 4, 8)])
@pytest.mark.parametrize("periodic", [(), (0,)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_step_is_the_minimum_of_the_energy_in_any_geometry(
    cells: Cell, periodic: tuple[int, ...], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    tank = Tank(cells, 0.25, periodic)
    tank.fluid[...] = rng.random(cells) < 0.8
    for axis in set(range(len(cells))) - set(periodic):  # all faces of the liquid exist
        tank.fluid[(slice(None),) * axis + (-1,)] = 0
    tank.close(rng.random(cells) < 0.15, sticky=True)
    tank.open[..., :] *= rng.choice([0, 0.4, 1], p=[0.05, 0.2, 0.75], size=tank.open.shape)
    tank.noslip[rng.random(tank.noslip.shape) < 0.2] = 0
    tank.wall[...] = rng.normal(size=tank.wall.shape)
    random_field(tank, seed)
    nu = rng.uniform(0.01, 0.3, cells)
    expected = Assembled(tank, nu).step(0.7)
    old = tank.velocity.copy()
    report = tank.solve(nu, 0.7)
    assembled = Assembled(tank, nu)
    assert 0 < report["iterations"] < 500
    assert report["residual"] < 1e-11
    np.testing.assert_allclose(assembled.of_tank(), expected, atol=2e-10)
    changed = np.zeros(tank.velocity.shape, bool)
    for cell, a in assembled.unknown:
        changed[cell][a] = True
    assert np.array_equal(tank.velocity[~changed], old[~changed])


def test_one_viscosity_for_all_is_a_field_of_equal_values() -> None:
    one, many = blob((12, 12)), blob((12, 12))
    random_field(one)
    random_field(many)
    one.solve(0.2, 0.1)
    many.solve(np.full(many.cells, 0.2), 0.1)
    assert np.array_equal(one.velocity, many.velocity)


def test_single_precision_agrees_with_double() -> None:
    single, double = blob((12, 12), np.float32), blob((12, 12))
    random_field(single)
    double.velocity[...] = single.velocity
    single.solve(0.2, 0.1, 1e-7)
    double.solve(0.2, 0.1)
    np.testing.assert_allclose(single.velocity, double.velocity, atol=1e-6)


@pytest.mark.parametrize("cells", [(16, 16), (12, 12, 12)])
def test_the_solution_operator_is_symmetric_and_positive(cells: Cell) -> None:
    v, w = blob(cells), blob(cells)
    random_field(v, 2)
    random_field(w, 3)
    before = v.values(), w.values()
    v.solve(0.3, 0.1)
    w.solve(0.3, 0.1)
    one, other = before[1] @ v.values(), before[0] @ w.values()
    assert abs(one - other) < 1e-9 * np.linalg.norm(before[0]) * np.linalg.norm(before[1])
    assert 0 < before[0] @ v.values() < before[0] @ before[0]


@pytest.mark.parametrize("cells", [(16, 16), (12, 12, 12)])
def test_a_rigid_motion_of_free_liquid_feels_no_viscosity(cells: Cell) -> None:
    tank = blob(cells)
    tank.set_field(rotation)
    before = tank.values()
    report = tank.solve(5.0, 1.0)
    assert report["iterations"] == 0 or report["residual"] < 1e-11
    np.testing.assert_allclose(tank.values(), before, atol=1e-10)
    if len(cells) == 2:  # viscosity of each component on its own brakes the rotation
        wrong = Assembled(tank, np.full(cells, 5.0), component_wise=True)
        assert np.abs(wrong.step(1.0) - wrong.of_tank()).max() > 0.1


@pytest.mark.parametrize("sticky", [True, False])
def test_liquid_turning_with_its_container_feels_no_viscosity(sticky: bool) -> None:
    tank = Tank((16, 16), 0.1)
    tank.close(blob(tank.cells).fluid == 0, sticky=sticky)
    tank.set_field(rotation)
    before = tank.values()
    tank.solve(5.0, 1.0)
    np.testing.assert_allclose(tank.values(), before, atol=1e-10)
    tank.wall[...] = 0  # a resting sticky container brakes it, and so does the shape of a slippery one
    tank.solve(5.0, 1.0)
    assert np.abs(tank.values() - before).max() > 0.1


@pytest.mark.parametrize("cells", [(16, 16), (12, 12, 12)])
@pytest.mark.parametrize("tolerance", [1e-2, 1e-12])
def test_free_liquid_keeps_its_linear_and_angular_momentum(cells: Cell, tolerance: float) -> None:
    tank = blob(cells)
    random_field(tank)
    before = momenta(tank)
    tank.solve(0.5, 0.2, tolerance)
    assert np.abs(momenta(tank) - before).max() < 1e-12 * np.abs(tank.velocity).sum()
    solid = np.zeros(cells, bool)
    solid[:, :4] = True
    tank.close(solid, sticky=True)  # a floor takes momentum away
    before = momenta(tank)
    tank.solve(0.5, 0.2, tolerance)
    assert np.abs(momenta(tank) - before).max() > 1e-3


def test_couette_flow_becomes_linear() -> None:
    tank = channel(8, 0.1)
    tank.wall[:, 10:, 0] = 2.0
    height = (np.arange(8) + 0.5) / 8
    for _ in range(4):
        tank.solve(1.0, 100.0)
    np.testing.assert_allclose(tank.velocity[:, 4:12, 0], np.broadcast_to(2 * height, (4, 8)), atol=1e-8)
    assert np.abs(tank.velocity[..., 1]).max() < 1e-10
    tank.noslip[:] = 0  # slippery plates let the liquid slide
    tank.velocity[...] = 0
    tank.solve(1.0, 100.0)
    assert not tank.velocity.any()


def poiseuille_error(across: int, gravity: float = 3.0, nu: float = 0.5) -> float:
    """Largest deviation from the parabola over its peak, channel of height 1 m."""
    tank = channel(across, 1 / across)
    y = (np.arange(across) + 0.5) / across
    for _ in range(6):
        tank.velocity[:, 4 : 4 + across, 0] += gravity * 50.0
        tank.solve(nu, 50.0, 1e-13)
    parabola = gravity / (2 * nu) * y * (1 - y)
    return float(np.abs(tank.velocity[:, 4 : 4 + across, 0] - parabola).max() / (gravity / (8 * nu)))


def test_poiseuille_flow_is_second_order() -> None:
    errors = [poiseuille_error(n) for n in (8, 16, 32)]
    assert errors[1] < 4e-3
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (abs(orders - 2) < 0.05).all()


def test_poiseuille_flow_tells_where_the_wall_is() -> None:
    """Walls at the first faces inside the solid (half a cell too deep) miss the parabola at first order."""
    errors = []
    for across in (8, 16):
        tank = channel(across, 1 / across)
        reference = Assembled(tank, np.full(tank.cells, 0.5))
        edges_alike = [
            (0.5 if len(terms) == 4 else stiffness, terms) for stiffness, terms in reference.samples
        ]
        reference.samples = edges_alike
        for _ in range(6):
            tank.velocity[:, 4 : 4 + across, 0] += 150.0
            for face, value in zip(reference.unknown, reference.step(50.0)):
                tank.velocity[face[0]][face[1]] = value
        y = (np.arange(across) + 0.5) / across
        errors.append(np.abs(tank.velocity[0, 4 : 4 + across, 0] - 3 * y * (1 - y)).max() / 0.75)
    assert errors[1] > 0.05
    assert np.log2(errors[0] / errors[1]) < 1.3


def decayed(steps: int, time: float = 0.5, nu: float = 0.2) -> tuple[float, float, float]:
    """Amplitude of a shear wave after `time`, that of the discrete formula, and exp(-nu k^2 t) with the discrete k."""
    n = 16
    tank = Tank((4, n), 1 / n, periodic=(0, 1))
    y = (np.arange(n) + 0.5) / n
    tank.velocity[..., 0] = np.sin(2 * np.pi * y)
    k2 = (2 * n * np.sin(np.pi / n)) ** 2
    for _ in range(steps):
        tank.solve(nu, time / steps)
    amplitude = 2 / n * (tank.velocity[0, :, 0] @ np.sin(2 * np.pi * y))
    np.testing.assert_allclose(tank.velocity[0, :, 0], amplitude * np.sin(2 * np.pi * y), atol=1e-10)
    return amplitude, (1 + nu * time / steps * k2) ** -steps, np.exp(-nu * k2 * time)


def test_a_shear_wave_decays_at_the_rate_of_its_wave_number() -> None:
    errors = []
    for steps in (32, 64, 128):
        amplitude, discrete, exact = decayed(steps)
        assert abs(amplitude - discrete) < 1e-10
        errors.append(abs(amplitude - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (abs(orders - 1) < 0.1).all()
    assert abs(decayed(128, nu=0.1)[0] - decayed(128)[2]) > 10 * errors[-1]  # half the viscosity is seen


@pytest.mark.parametrize("cells", [(4, 16), (4, 4, 16)])
def test_slippery_walls_leave_uniform_flow_alone(cells: Cell) -> None:
    tank = Tank(cells, 0.1, periodic=tuple(range(len(cells) - 1)))
    solid = np.ones(cells, bool)
    solid[..., 4:12] = False
    tank.close(solid, sticky=False)
    tank.velocity[..., 4:12, 0] = 1.5
    before = tank.velocity.copy()
    tank.solve(10.0, 1.0)
    np.testing.assert_allclose(tank.velocity, before, atol=1e-12)
    tank.noslip[:] = 1
    tank.solve(10.0, 1.0)
    assert np.abs(tank.velocity).max() < 0.1


@pytest.mark.parametrize("dt", [1e-4, 1e-2, 1.0, 100.0])
def test_viscosity_never_adds_energy(dt: float) -> None:
    tank = blob((16, 16))
    solid = np.zeros(tank.cells, bool)
    solid[:, :5] = True
    tank.close(solid, sticky=True)
    random_field(tank)
    energy = [float((tank.velocity**2).sum())]
    for _ in range(5):
        tank.solve(0.3, dt, 1e-10)
        energy.append(float((tank.velocity**2).sum()))
    assert all(after < before * (1 + 1e-9) for before, after in zip(energy[:-1], energy[1:]))


def test_iterations_grow_with_the_root_of_the_time_step() -> None:
    counts = []
    for dt in (1e-4, 1e-1, 1.6):  # dt nu / dx^2 = 0.01, 10, 160
        tank = blob((64, 64))
        random_field(tank)
        counts.append(tank.solve(1.0, dt, 1e-6)["iterations"])
    assert counts[0] <= 6
    assert counts[2] < 5 * counts[1]


def test_threads_give_the_same_bits() -> None:
    results, usual = [], _core.threads()
    for threads in (1, 2):
        _core.set_threads(threads)
        tank = blob((96, 96))
        random_field(tank)
        tank.solve(1.0, 0.01, 1e-8)
        results.append(tank.velocity)
    _core.set_threads(usual)
    assert np.array_equal(*results)


def test_no_liquid_and_no_blocks_are_fine() -> None:
    tank = Tank((4, 4))
    tank.fluid[...] = 0
    tank.velocity[...] = 1
    assert tank.solve(1.0, 1.0) == {"iterations": 0, "residual": 0.0}
    assert (tank.velocity == 1).all()
    lattice = Lattice(1.0, np.zeros(2), np.zeros(2, np.int32))
    cells, faces = np.zeros((0, 16), np.uint8), np.zeros((0, 16, 4))
    no = np.zeros((0, 16, 4), np.uint8)
    table = np.zeros((0, 9), np.int32)
    keys = np.zeros(0, np.uint64)
    report = _core.solve_viscosity(
        keys, lattice, 2, table, faces, cells, faces, faces, no, 1.0, 1.0, 1e-6, 10
    )
    assert report["iterations"] == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("velocity", np.zeros((1, 16, 3))),
        ("velocity", np.zeros((1, 16, 4), np.int32)),
        ("velocity", np.full((1, 16, 4), np.nan)),
        ("fluid", np.zeros((2, 16), np.uint8)),
        ("fluid", np.zeros((1, 16), bool)),
        ("open", np.zeros((1, 16, 4), np.float32)),
        ("wall", np.zeros((1, 4, 4))),
        ("noslip", np.zeros((1, 16), np.uint8)),
        ("neighbours", np.full((1, 9), 1, np.int32)),
        ("neighbours", np.full((1, 9), -2, np.int32)),
        ("keys", np.zeros(1, np.int64)),
        ("nu", -1.0),
        ("nu", np.nan),
        ("nu", np.full((1, 16), -1.0)),
        ("nu", np.zeros(16)),
        ("dt", -0.1),
        ("dt", np.inf),
        ("tolerance", 0.0),
        ("max_iterations", -1),
        ("dimension", 4),
    ],
)
def test_a_wrong_argument_is_named(name: str, value: object) -> None:
    keys = np.array([morton((0, 0))], np.uint64)
    lattice = Lattice(0.1, np.zeros(2), np.zeros(2, np.int32))
    arguments: dict[str, object] = {
        "keys": keys,
        "lattice": lattice,
        "dimension": 2,
        "neighbours": _core.neighbour_blocks(keys, lattice, 2),
        "velocity": np.zeros((1, 16, 4)),
        "fluid": np.ones((1, 16), np.uint8),
        "open": np.ones((1, 16, 4)),
        "wall": np.zeros((1, 16, 4)),
        "noslip": np.zeros((1, 16, 4), np.uint8),
        "nu": 1.0,
        "dt": 0.1,
        "tolerance": 1e-6,
        "max_iterations": 10,
    }
    _core.solve_viscosity(**arguments)
    with pytest.raises(ValueError, match=name):
        _core.solve_viscosity(**{**arguments, name: value})
