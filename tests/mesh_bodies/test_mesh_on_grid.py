"""Mesh energies inside MPM: vertices as particles of the grid, explicit and implicit (J15 section 3.3)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, eigsh

import continua as ct
from continua import _core
from continua.bodies.particles import ParticleSet
from continua.contact.boundaries import Periodic
from continua.errors import InstabilityError, SetupError
from continua.integrators import ImplicitGrid
from continua.integrators.grid_energy import GridEnergy
from continua.mesh.vibration import fastest_vibration
from continua.optimize.krylov import dot, norm

RUBBER = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)
INTEGRATORS = ["symplectic", "semi-implicit", "optimization"]


def cube(counts: int = 4, *, d: int = 3, lower: float = 0.013, **options: object) -> ct.SolidBody:
    mesh = ct.meshes.BoxMesh((lower,) * d, (lower + 0.4,) * d, (counts,) * d)
    return ct.SolidBody(mesh, RUBBER, on_grid=True, **options)  # type: ignore[arg-type]


def world(
    integrator: object = "symplectic", *, d: int = 3, gravity: float = 0.0, dx: float = 0.1, **options: object
) -> ct.Simulation:
    g = (0.0, -gravity, 0.0)[:d]
    return ct.Simulation(dx, g, integrator=integrator, **options)  # type: ignore[arg-type]


def run(sim: ct.Simulation, duration: float) -> None:
    end = sim.time + duration
    while end - sim.time > 1e-12:
        sim.step(end - sim.time)


# ---- the energy of node velocities -----------------------------------------------------------------------------


class Shared:
    """Mesh and particles that share nodes, deformed, and the energy of an implicit step of theirs."""

    def __init__(self, d: int = 3, **options: object) -> None:
        self.sim = sim = world("optimization", d=d)
        self.body = body = sim.add(cube(d=d, damping=0.01, drag=0.3, **options))
        sim.add(ct.shapes.Box((0.55,) * d, (0.3,) * d), RUBBER)
        rng = np.random.default_rng(1)
        body.x += 0.02 * rng.standard_normal(body.x.shape)
        stepper = sim.steppers["main"]
        assert isinstance(stepper, ImplicitGrid)
        body.ready(sim.world.wrap, sim.dx, 0)
        self.field = field = stepper.field
        assert field.sort(sim.world.grid_bodies) is None
        (self.exchange,), (self.other,) = field.exchanges  # of the mesh, of the particles
        nodes = self.nodes()
        field.scatter(nodes, 0.0, momentum=True, stress=False)
        every = nodes.reshape(-1, 4)[:, 3]
        self.at = np.flatnonzero(every > 0)
        self.mass = every[self.at]
        self.dt = 0.03
        zero = np.zeros((len(self.mass), 3))
        self.energy = GridEnergy(field, self.at, self.mass, zero, self.dt)
        self.points = stepper._node_points()
        self.rng = rng
        self.d = d

    def nodes(self) -> np.ndarray:
        return np.zeros(self.field.grid.node_shape(), self.field.dtype)

    def random(self) -> np.ndarray:
        v = np.zeros((len(self.mass), 3))
        v[:, : self.d] = self.rng.standard_normal((len(v), self.d))
        return v


@pytest.mark.parametrize("d", [2, 3])
def test_positions_are_interpolated(d: int) -> None:
    """W x_i = x_p for every spline with linear reproduction."""
    shared = Shared(d)
    nodes = shared.nodes()
    nodes.reshape(-1, 4)[:, :3] = shared.points
    assert shared.exchange.values_at(nodes) == pytest.approx(shared.body.x, abs=1e-14)


@pytest.mark.parametrize("d", [2, 3])
def test_energy_and_its_derivatives_agree(d: int) -> None:
    shared = Shared(d)
    energy, v, u, h = shared.energy, shared.random(), shared.random(), 1e-6
    slope = (energy.value(v + h * u) - energy.value(v - h * u)) / (2 * h)
    assert slope == pytest.approx(dot(energy.gradient(v), u), rel=1e-7)
    change = (energy.gradient(v + h * u) - energy.gradient(v - h * u)) / (2 * h)
    energy.prepare(v)
    product = energy.product(u).copy()
    assert norm(change - product) < 1e-7 * norm(product)
    w = shared.random()
    assert dot(w, product) == pytest.approx(dot(u, energy.product(w)), rel=1e-12)


def test_negative_stiffness_of_particles_and_meshes_is_left_out_on_request() -> None:
    """Seen along the direction in which the squeezed bodies give way most."""
    shared = Shared(2)
    energy, v = shared.energy, -30 * shared.points[shared.at]

    def stiffness(u: np.ndarray) -> np.ndarray:
        u = u.reshape(v.shape)
        return (energy.product(u) - energy.mass * u).ravel()

    energy.prepare(v)
    operator = LinearOperator((v.size, v.size), matvec=stiffness, dtype=np.float64)
    (lowest,), direction = eigsh(operator, 1, which="SA", tol=1e-4)
    energy.prepare(v, positive=True)
    left = float(direction[:, 0] @ stiffness(direction[:, 0]))
    assert lowest < 0 <= left


def test_forces_on_nodes_balance() -> None:
    shared = Shared()
    nodes = shared.nodes()
    sums = {}
    for squared in (False, True):
        shared.exchange.scatter_values(shared.body.forces(), nodes, squared=squared)
        force = nodes.reshape(-1, 4)[:, :3]
        scale = np.abs(force).sum()
        total = np.abs(force.sum(axis=0)).max() / scale
        torque = np.abs(np.cross(shared.points, force).sum(axis=0)).max() / scale
        sums[squared] = total, torque
    assert max(sums[False]) < 1e-14
    assert min(sums[True]) > 1e-6  # the wrong weights do not balance


def test_damping_and_drag_belong_to_the_energy() -> None:
    """At rest positions, moving rigidly: no elastic energy, but drag; and nothing resists without it."""
    sim = world(ct.integrators.Optimization(tolerance=1e-10))
    body = sim.add(cube(velocity=(0.5, 0.0, 0.0), drag=2.0))
    sim.world.fixed_dt = 0.02
    run(sim, 0.2)
    assert body.v[:, 0] == pytest.approx(0.5 / (1 + 2.0 * 0.02) ** 10, rel=1e-5)


# ---- steps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("transfer", ["apic", "flip", "pic"])
def test_a_spring_alone_on_its_nodes_moves_as_without_a_grid(transfer: str) -> None:
    """Two masses with disjoint stencils: symplectic Euler of the two, to round-off over 400 steps."""
    sim = world(d=2, dt=0.002, force_dt=True, transfer=transfer)
    chain = ct.meshes.Chain([(0.31, 0.52), (1.47, 0.52)], stiffness=50.0)
    body = sim.add(ct.SpringBody(chain, mass=[1.0, 2.0], start=lambda x: x * (1.1, 1.0)))
    x, v = body.x[:, 0].copy(), np.zeros(2)
    rest = 1.47 - 0.31
    for _ in range(400):
        sim.step()
        pull = 50.0 * (x[1] - x[0] - rest)
        v += 0.002 * np.array([pull / 1.0, -pull / 2.0])
        x += 0.002 * v
    assert body.x[:, 0] == pytest.approx(x, abs=2e-13)
    assert body.x[:, 1] == pytest.approx(0.52, abs=1e-13)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_mesh_and_particles_exchange_momentum(integrator: str) -> None:
    """A meshed cube hits one of particles: both move on, the sum stays."""
    tight = {"symplectic": integrator, "semi-implicit": ct.integrators.SemiImplicit(tolerance=1e-12),
             "optimization": ct.integrators.Optimization(tolerance=1e-12)}[integrator]  # fmt: skip
    sim = world(tight)
    mesh = sim.add(cube(velocity=(1.0, 0.1, 0.0)))
    other = sim.add(ct.shapes.Box((0.75, 0.213, 0.213), (0.4, 0.4, 0.4)), RUBBER)
    before = sim.diagnostics()
    run(sim, 0.4)
    after = sim.diagnostics()
    assert other.v[:, 0].mean() > 0.3 and mesh.v[:, 0].mean() < 0.7
    scale = before["momentum_x"]
    drift = max(abs(after[f"momentum_{a}"] - before[f"momentum_{a}"]) for a in "xyz")
    assert drift < 1e-12 * scale * (1 if integrator == "symplectic" else 100)
    assert after["total"] < before["total"]
    assert mesh.J.min() > 0.5


@pytest.mark.parametrize(
    ("transfer", "least", "most"), [("apic", -1e-10, 1e-10), ("flip", -1e-3, 0.03), ("pic", 0.5, 1.1)]
)
def test_spin_of_a_free_mesh(transfer: str, least: float, most: float) -> None:
    """Loss of angular momentum in a turn: none with APIC, little with FLIP, most with PIC."""
    sim = world(transfer=transfer, dx=0.05)
    sim.add(
        cube(
            8,
            velocity=ct.velocities.Rigid(
                (0.0, 0.0, 0.0), angular=(0, 0, 2 * np.pi), center=(0.213, 0.213, 0.213)
            ),
        )
    )
    before = sim.diagnostics()["angular_z"]
    run(sim, 1.0)
    assert least < 1 - sim.diagnostics()["angular_z"] / before < most


@pytest.mark.parametrize("integrator", ["semi-implicit", "optimization"])
def test_implicit_steps_converge_to_the_explicit_ones(integrator: str) -> None:
    """First order in dt; the grid filters both alike."""

    def end(scheme: str, dt: float) -> np.ndarray:
        sim = world(scheme, dt=dt, force_dt=True)
        body = sim.add(cube(3, start=ct.Placed(np.diag([1.1, 1.0, 1.0]).tolist())))
        run(sim, 0.04)
        return body.x.copy()

    errors = [norm(end(integrator, dt) - end("symplectic", dt)) for dt in (2e-3, 1e-3, 5e-4)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx(1.0, abs=0.25)


def test_the_step_follows_the_fastest_vibration() -> None:
    """The automatic step is stable; one of twice the length in which the mesh alone would be is not."""
    ends = {}
    for factor in (0.8, 3.0):
        sim = world(force_dt=True)
        body = sim.add(cube(start=ct.Placed(np.diag([1.02, 1.0, 1.0]).tolist())))
        sim.world.fixed_dt = factor * 2 / fastest_vibration(body.energy, body.x, body.mass)
        before = sim.diagnostics()["total"]
        for _ in range(200):
            try:
                sim.step()
            except InstabilityError:
                break
        ends[factor] = sim.diagnostics()["total"] / before if np.isfinite(body.x).all() else np.inf
    assert ends[0.8] < 1.05
    assert not ends[3.0] < 10
    free = world()
    free.add(cube())
    assert free.choose_dt().name == "elastic"


def test_a_refined_estimate_of_the_fastest_vibration() -> None:
    body = cube(3)
    matrix = body.energy.hessian(body.x).matrix().toarray()
    mass = np.repeat(body.mass, 3)
    exact = np.sqrt(np.linalg.eigvalsh(matrix / np.sqrt(np.outer(mass, mass))).max())
    assert 0.9 * exact < fastest_vibration(body.energy, body.x, body.mass) <= exact * (1 + 1e-12)


# ---- contact, scripts, worlds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_mesh_rests_on_the_ground(integrator: str) -> None:
    exact = {} if integrator == "symplectic" else {"tolerance": 1e-7}  # 1e-5 would lose 1e-5
    sim = world(ct.integrators.schemes.SCHEMES[integrator](**exact), gravity=1.0)
    body = sim.add(cube(velocity=(0.0, -0.5, 0.0), damping=0.02))
    ground = sim.add(ct.colliders.Plane(normal=(0.0, 1.0, 0.0), mode="separate"))
    before = sim.diagnostics()["momentum_y"]
    run(sim, 1.0)
    assert ground.signed_distance(body.x, sim.time)[0].min() > -0.5 * sim.dx - 1e-9
    gained = sim.diagnostics()["momentum_y"] - before
    weight = -1.0 * body.mass.sum() * sim.time
    assert gained == pytest.approx(weight + sim.impulses[0, 1], rel=1e-5)
    assert body.max_speed < 0.3


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_scripted_vertices_go_where_they_are_told(integrator: str) -> None:
    """A cube hangs by its upper face, which moves; pull and weight make up its momentum."""
    path = ct.motions.Linear(velocity=(0.2, 0.0, 0.0))
    script = ct.Scripted(ct.shapes.Box((0.2, 0.81, 0.2), (1.0, 0.8, 1.0)), path)
    sim = world(integrator, gravity=9.81)
    body = sim.add(cube(scripted=script, damping=0.01))
    before = sim.diagnostics()["momentum_y"]
    run(sim, 0.3)
    top = body.rest[:, 1] > 0.41
    assert body.x[top] == pytest.approx(body.rest[top] + (0.06, 0.0, 0.0), abs=1e-12)
    assert body.x[~top, 1].min() < 0.013 - 1e-3  # stretched by its weight
    gained = sim.diagnostics()["momentum_y"] - before
    expected = -9.81 * body.mass.sum() * sim.time + body.pull[1]
    assert gained == pytest.approx(expected, abs=1e-6 * 9.81 * body.mass.sum())


def test_meshes_cross_periodic_seams() -> None:
    """One that flies around keeps its shape, and its positions go on beyond the seam."""
    sim = world(d=2)
    sim.add(Periodic(axis=0, lower=0.0, upper=0.8))
    body = sim.add(cube(d=2, velocity=(1.0, 0.0)))
    run(sim, 1.0)
    assert body.x == pytest.approx(body.rest + (1.0, 0.0), abs=1e-9)
    assert (body.set.x[:, 0] < 0.8).all()
    body.v[:] = (0.5, 0.0)  # beyond the seam as well
    run(sim, 0.2)
    assert body.x == pytest.approx(body.rest + (1.1, 0.0), abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_run_continues_with_the_same_bits(integrator: str) -> None:
    def make() -> ct.Simulation:
        sim = world(integrator, gravity=9.81)
        sim.add(cube(velocity=(0.3, -1.0, 0.0)))
        sim.add(ct.shapes.Box((0.2, 0.6, 0.2), (0.4, 0.2, 0.4)), RUBBER)
        sim.add(ct.colliders.Plane(normal=(0.0, 1.0, 0.0)))
        return sim

    whole, half = make(), make()
    for _ in range(3):
        whole.step(), half.step()
    other = make()
    other.load_state(half.state())
    for _ in range(3):
        whole.step(), other.step()
    (a,), (b,) = whole.world.mesh_bodies, other.world.mesh_bodies
    assert np.array_equal(a.x, b.x) and np.array_equal(a.set.C, b.set.C)


def test_changes_by_hand_are_seen() -> None:
    sim = world()
    body = sim.add(cube())
    sim.step()
    body.v[:] = (0.5, 0.0, 0.0)
    body.x += (1.0, 0.0, 0.0)
    sim.step(1e-3)
    assert body.v[:, 0] == pytest.approx(0.5, abs=1e-9)
    assert body.x[:, 0].min() == pytest.approx(1.013 + 0.5e-3, abs=1e-6)


def test_where_meshes_live() -> None:
    """On the grid where something else does, or where nothing but the grid can move them."""
    alone = world("optimization")
    free = alone.add(ct.SolidBody(ct.meshes.BoxMesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), RUBBER))
    alone.step(0.01)
    assert free.set is None and alone.world.free_meshes == [free]
    among = world("optimization")
    mesh = among.add(ct.SolidBody(ct.meshes.BoxMesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), RUBBER))
    among.add(ct.shapes.Box((2, 0, 0), (0.3, 0.3, 0.3)), RUBBER)
    among.step(0.01)
    assert isinstance(mesh.set, ParticleSet) and not among.world.free_meshes
    assert mesh in among.steppers["main"].field.bodies
    with pytest.raises(SetupError, match="off the grid"):
        world().add(ct.SolidBody(ct.meshes.BoxMesh((0, 0, 0), (1, 1, 1), (1, 1, 1)), RUBBER, on_grid=False))
    with pytest.raises(SetupError, match="incompressible"):
        world("incompressible").add(cube())


def test_single_precision_follows_double() -> None:
    ends = []
    for precision in ("single", "double"):
        sim = world(precision=precision)
        body = sim.add(cube(velocity=(0.5, 0.0, 0.0), start=ct.Placed(np.diag([1.1, 1, 1]).tolist())))
        run(sim, 0.1)
        ends.append(body.x.copy())
    assert ends[0] == pytest.approx(ends[1], abs=2e-4)


def test_plastic_elements_flow_on_the_grid() -> None:
    """A snow cube as a mesh is compacted where it lands and stays so."""
    sim = world(gravity=9.81)
    snow = ct.materials.Snow()
    mesh = ct.meshes.BoxMesh((0.0, 0.01, 0.0), (0.4, 0.41, 0.4), (4, 4, 4))
    body = sim.add(ct.SolidBody(mesh, snow, velocity=(0.0, -4.0, 0.0)))
    sim.add(ct.colliders.Plane(normal=(0.0, 1.0, 0.0)))
    run(sim, 0.05)
    assert body.elements.history()["Jp"].min() < 0.95


BORDER = {
    "values": np.zeros((3, 5)),
    "particles": None,
    "lattice": None,
    "dimension": 4,
    "degree": 7,
    "nodes": np.zeros((1, 2, 3)),
    "order": None,
    "links": None,
}


@pytest.mark.parametrize("name", BORDER)
def test_wrong_arguments_are_named(name: str) -> None:
    shared = Shared()
    exchange, arrays = shared.exchange, shared.body.set.arrays
    right = {
        "particles": arrays,
        "lattice": exchange.lattice,
        "order": exchange.order,
        "dimension": 3,
        "degree": 2,
        "values": np.zeros_like(arrays.x),
        "links": exchange.links,
        "nodes": shared.nodes(),
    }
    calls = {
        "gather_values": right,
        "scatter_values": right | {"squared": False, "add": False},
    }
    wrong = BORDER | {"order": shared.other.order, "links": shared.other.links}  # of the particles
    for call, given in calls.items():
        getattr(_core, call)(**given)
        if name in given:
            with pytest.raises((ValueError, TypeError, AttributeError), match=name):
                getattr(_core, call)(**(given | {name: wrong[name]}))
