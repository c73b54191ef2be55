"""Rigid bodies among others on a grid: momentum, the contact potential, and what they give and take."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import continua as ct
from continua.bodies import rigid_surface
from continua.bodies.body import GridMotion
from continua.contact.contact_potential import energies, gradients, returned
from continua.errors import SetupError
from continua.integrators.prediction import Explicit

DX = 0.1
RUBBER = ct.materials.FixedCorotated(E=2e4, nu=0.3, density=1000.0)
both = pytest.mark.parametrize("d", [2, 3])


def ball(d: int, x: float = 0.0, **settings: object) -> ct.RigidBody:
    center = (x, 0.02, -0.03)[:d]
    return ct.RigidBody(ct.shapes.Sphere(center, 0.33), density=700.0, **settings)  # type: ignore[arg-type]


def random_fibres(d: int, count: int = 40) -> tuple[NDArray, NDArray]:
    generator = np.random.default_rng(2)
    normals = generator.normal(size=(count, d))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals + 0.6 * generator.normal(size=(count, d)), normals


# ---- the potential -------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("wrong", [1.0, 1.1])
def test_gradient_of_the_potential(d: int, wrong: float) -> None:
    fibres, normals = random_fibres(d)
    found, h = gradients(fibres, normals, wrong * 3.0, 2.0), 1e-5
    for a in range(d):
        step = h * np.eye(d)[a]
        slope = (energies(fibres + step, normals, 3.0, 2.0) - energies(fibres - step, normals, 3.0, 2.0)) / (
            2 * h
        )
        error = np.abs(slope - found[:, a]).max() / np.abs(found).max()
        assert error < 1e-7 if wrong == 1.0 else error > 1e-3


@both
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_return_map_is_on_the_cone_of_coulomb(d: int, friction: float) -> None:
    fibres, normals = random_fibres(d)
    k, g = 3.0, 2.0
    back = returned(fibres, normals, k, g, friction)
    before, s = (fibres * normals).sum(axis=1), (back * normals).sum(axis=1)
    parted = before > 1
    assert parted.any() and (~parted).any()
    assert (back[parted] == normals[parted]).all()  # no shear and no cohesion
    stress = gradients(back, normals, k, g)
    pressure = -(stress * normals).sum(axis=1)
    shear = np.linalg.norm(stress + pressure[:, None] * normals, axis=1)
    assert np.abs(s - before)[~parted].max() < 1e-12  # the normal part stays
    assert (shear - friction * pressure)[~parted].max() < 1e-12
    cut = ~parted & (
        g * np.linalg.norm(fibres - before[:, None] * normals, axis=1) > friction * k * (1 - s) ** 2
    )
    assert np.abs(shear - friction * pressure)[cut].max() < 1e-12
    kept = ~parted & ~cut
    assert np.abs(back - fibres)[kept].max(initial=0.0) < 1e-12


def test_normal_part_is_that_of_the_triangle_frame() -> None:
    """QR of F = d D^-1 with D in the orthonormal frame of the triangle gives r33 = d3.n; with D in world axes not."""
    generator = np.random.default_rng(5)
    corners = generator.normal(size=(3, 3))
    edges = np.stack([corners[1] - corners[0], corners[2] - corners[0]], axis=1)
    normal = np.cross(edges[:, 0], edges[:, 1])
    normal /= np.linalg.norm(normal)
    d3 = normal + 0.4 * generator.normal(size=3)
    frame = np.linalg.qr(edges)[0]
    rest = np.column_stack([edges, normal])
    now = np.column_stack([edges, d3])
    local = np.column_stack([frame, normal]).T @ rest
    r33 = [abs(np.linalg.qr(now @ np.linalg.inv(D))[1][2, 2]) for D in (local, rest)]
    assert r33[0] == pytest.approx(abs(d3 @ normal), abs=1e-12)
    assert r33[1] != pytest.approx(abs(d3 @ normal), abs=1e-3)


# ---- through the gradients of weights ------------------------------------------------------------------------


def on_grid(body: ct.RigidBody, threads: int = 1) -> tuple[ct.Simulation, object]:
    sim = ct.Simulation(DX, (0.0,) * body.dimension, kernel="quadratic")
    sim.add(body)
    sim.start()
    body.ready(lambda x: x, DX, 0)
    stepper = sim.steppers["rigid"]
    stepper.sort([body])
    return sim, stepper.field.exchanges[0][0]


@both
def test_matrices_are_the_gradient_of_an_energy(d: int) -> None:
    """sum V psi(d3 + dt (grad v) d3) by node velocities: dt V dpsi/dd3 (grad w . d3), by differences; they sum to 0."""
    body = ball(d)
    _, exchange = on_grid(body)
    normals = body.skin.normals
    fibres, dt, k, g = 0.9 * normals, 0.05, 2.0, 1.5
    generator = np.random.default_rng(4)
    shape = exchange.grid.node_shape()
    v = 0.1 * generator.normal(size=shape)

    def energy(v: NDArray) -> float:
        trial = fibres + dt * np.einsum("qab,qb->qa", exchange.gradients_at(v), fibres)
        return float(energies(trial, normals, k, g).sum())

    trial = fibres + dt * np.einsum("qab,qb->qa", exchange.gradients_at(v), fibres)
    nodes = np.zeros(shape)
    pull = dt * gradients(trial, normals, k, g)[:, :, None] * fibres[:, None, :]
    exchange.scatter_matrices(pull, nodes)
    assert np.abs(nodes[..., :d].sum(axis=(0, 1))).max() < 1e-13 * np.abs(nodes).max() * nodes.size
    h = 1e-5
    u = generator.normal(size=shape)
    u[..., d:] = 0
    slope = (energy(v + h * u) - energy(v - h * u)) / (2 * h)
    assert (nodes * u).sum() == pytest.approx(slope, rel=1e-7)
    exchange.scatter_matrices(pull.transpose(0, 2, 1).copy(), nodes)
    assert (nodes * u).sum() != pytest.approx(slope, rel=1e-3)


def test_same_bits_with_any_number_of_threads() -> None:
    body = ball(3)
    _, exchange = on_grid(body)
    values = np.random.default_rng(0).normal(size=(len(body.skin.points), 3, 3))
    before, found = ct.threads(), []
    try:
        for threads in (1, 2, 3):
            ct.set_threads(threads)
            nodes = np.zeros(exchange.grid.node_shape())
            exchange.scatter_matrices(values, nodes)
            found.append((nodes, exchange.gradients_at(nodes)))
    finally:
        ct.set_threads(before)
    assert all((a[0] == found[0][0]).all() and (a[1] == found[0][1]).all() for a in found)


# ---- impulses ------------------------------------------------------------------------------------------------


def after_field(body: ct.RigidBody, field: object) -> tuple[NDArray, NDArray]:
    """Velocity and angular momentum of a body at rest after other continua have given its nodes a velocity field."""
    d = body.dimension
    _, exchange = on_grid(body)
    x = exchange.grid.coordinates() if hasattr(exchange.grid, "coordinates") else node_places(exchange)
    nodes, met = (np.zeros(exchange.grid.node_shape()) for _ in range(2))
    met[..., :d] = field(x)  # type: ignore[operator]
    body.begin(0.01)
    assert not body.predict(0.0, 0.01, np.zeros(d), Explicit())
    none = lambda exchange: np.zeros(len(body.skin.points), bool)  # noqa: E731
    motion = GridMotion(nodes, nodes, met, none, none)
    body.press([exchange], motion, 0.01)
    body.respond([exchange], motion, 0.01)
    body.accept(0.01, (), np.zeros(d))
    return body.velocity, body.state.L


def node_places(exchange: object) -> NDArray:
    from continua import _core

    grid = np.asarray(_core.node_coordinates(exchange.grid.keys, exchange.dimension), np.float64)
    return np.asarray(exchange.lattice.origin + exchange.lattice.dx * grid)


@both
def test_uniform_change_is_taken_once(d: int) -> None:
    """Impulses sum m_q dv over the mass M of the body, not over m_q, which would be N_q times too much."""
    body, u = ball(d), np.array([0.3, -0.2, 0.1])[:d]
    v, _ = after_field(body, lambda x: np.broadcast_to(u, x.shape))
    assert np.abs(v - u).max() < 1e-12
    count = len(body.skin.points)
    assert count > 50 and np.abs(count * v - u).max() > 1


@both
def test_rotation_is_reproduced_with_the_inertia_of_the_particles(d: int) -> None:
    body = ball(d)
    w = np.array([0.2, -0.3, 0.4]) if d == 3 else np.array([0.0, 0.0, 0.4])

    def spinning(x: NDArray) -> NDArray:
        arms = np.zeros((*x.shape[:-1], 3))
        arms[..., :d] = x - body.center
        return np.cross(w, arms)[..., :d]

    start = body.center
    _, L = after_field(body, spinning)
    arms = np.zeros((len(body.skin.points), 3))
    arms[:, :d] = body.skin.points.at(body.boundary.points) - start
    mass = body.skin.points.mass
    J_q = (mass * (arms**2).sum(axis=1)).sum() * np.eye(3) - np.einsum("q,qa,qb->ab", mass, arms, arms)
    given = J_q @ w if d == 3 else J_q[2, 2] * w
    assert np.abs(L - given).max() < 1e-12 * np.abs(given).max()
    solid = body.motion.J @ w
    assert np.abs(L - solid).max() > 0.3 * np.abs(solid).max()  # a surface has 5/3, or twice, of it


# ---- in a world ----------------------------------------------------------------------------------------------


@both
def test_momentum_is_kept_with_another_continuum(d: int) -> None:
    """A ball thrown at a rubber block, both free: what one gets the other loses."""
    sim = ct.Simulation(DX, (0.0,) * d)
    body = sim.add(ball(d, velocity=(2.0, 0.3, 0.0)[:d]))
    block = sim.add(ct.shapes.Box((0.8, 0.0, 0.0)[:d], (0.6, 0.8, 0.8)[:d]), RUBBER)
    before = sim.diagnostics()
    while sim.time < 0.2:
        sim.step(0.2 - sim.time)
    after = sim.diagnostics()
    scale = abs(before["momentum_x"])
    for axis in "xyz"[:d]:
        assert after[f"momentum_{axis}"] == pytest.approx(before[f"momentum_{axis}"], abs=1e-10 * scale)
    assert block.v[:, 0].mean() > 0.2 and body.velocity[0] < 1.9
    assert after["total"] < before["total"] * (1 + 1e-6)


@both
def test_balls_do_not_pass_each_other(d: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Head on: they come to rest against each other less than two cells deep, and never gain energy.

    Without the potential the grid alone lets them through by several cells.
    """

    def meet(stiff: bool) -> tuple[float, float]:
        sim = ct.Simulation(0.05, (0.0,) * d)
        z = (0.0,) * (d - 2)
        a, b = (
            ct.RigidBody(
                ct.shapes.Sphere((-s * 0.3, 0.0, *z), 0.2), density=1000.0, velocity=(s * 1.0, 0.0, *z)
            )
            for s in (1.0, -1.0)
        )
        sim.add(a), sim.add(b)
        if not stiff:
            monkeypatch.setattr(rigid_surface, "REST", 0.0)
            monkeypatch.setattr(rigid_surface, "IMPACT", 0.0)
        energy = [sim.diagnostics()["kinetic"]]
        gap = np.inf
        while sim.time < 0.4:
            sim.step(0.4 - sim.time)
            energy.append(sim.diagnostics()["kinetic"])
            gap = min(gap, (b.center[0] - a.center[0] - 0.4) / 0.05)
        return gap, float(np.diff(energy).max() / energy[0])

    gap, gain = meet(True)
    assert gap > -2.0
    assert gain < 1e-6
    assert meet(False)[0] < -4.0


def test_free_flight_is_not_braked_by_the_grid() -> None:
    """Alone on its grid a body keeps its momenta to rounding: surfaces that see only themselves are not in contact."""
    sim = ct.Simulation(0.05, (0.0, 0.0, 0.0))
    body = sim.add(
        ct.RigidBody(
            ct.shapes.Box((0, 0, 0), (0.3, 0.2, 0.15)),
            density=500.0,
            velocity=(0.2, 0.1, 0),
            spin=(1.0, 3.0, 2.0),
        )
    )
    L, v = body.state.L.copy(), body.velocity
    while sim.time < 0.5:
        sim.step(0.5 - sim.time)
    assert np.abs(body.state.L - L).max() < 1e-12 * np.abs(L).max()
    assert np.abs(body.velocity - v).max() < 1e-14


def test_goes_on_with_the_same_bits() -> None:
    def world() -> ct.Simulation:
        sim = ct.Simulation(DX, (0.0, -9.81))
        sim.add(ball(2))
        sim.add(ct.RigidBody(ct.shapes.Box((0.1, 0.75), (0.8, 0.3)), density=300.0, spin=1.0, friction=0.3))
        sim.add(ct.colliders.Plane((0, 1), (0, -0.4), friction=0.4))
        return sim

    one, other = world(), world()
    for _ in range(30):
        one.step()
    other.load_state(one.state())
    for sim in (one, other):
        for _ in range(10):
            sim.step()
    assert all((one.state()[key] == other.state()[key]).all() for key in one.state())


def test_single_precision_and_periodic_axes() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0), precision="single")
    sim.add(ct.boundaries.Periodic(0, -0.8, 0.8))
    body = sim.add(ball(2, velocity=(1.0, 0.0)))
    sim.add(ct.colliders.Box((0.6, 0.02), (0.1, 2.0)))  # met from the left after a while, and as an image
    for _ in range(100):
        sim.step()
    assert 0.2 < body.center[0] + 0.33 <= 0.551
    assert np.abs(body.velocity[0]) < 1e-9


def test_continua_and_colliders_are_told_apart() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0, 0.0))
    body = sim.add(ball(3))
    assert body.continuum == "rigid"
    with pytest.raises(SetupError, match="cannot share the continuum"):
        sim.add(ct.shapes.Box((2, 0, 0), (1, 1, 1)), RUBBER, continuum="rigid")


def test_regions_of_fixed_velocity_are_refused() -> None:
    sim = ct.Simulation(DX, (0.0, 0.0, 0.0))
    sim.add(ball(3))
    sim.add(ct.boundaries.FixedVelocity((-1, -1, -1), (1, 1, 1), (0, 0, 0)))
    with pytest.raises(SetupError, match="collider with a motion"):
        sim.step()
