"""Contact rules on grid nodes, depth of particles in colliders, and impulses."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import GridDriver

import continua as ct
from continua.contact.fields import FieldContact, obstacle_contacts
from continua.integrators import ObstacleTable, SymplecticEuler
from continua.integrators.obstacles import Obstacle

H = 0.1
both = pytest.mark.parametrize("d", [2, 3])


def tetrahedron() -> ct.colliders.Mesh:
    vertices = 0.45 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], float)
    faces = np.array([(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)])
    return ct.colliders.Mesh(vertices=vertices, faces=faces, resolution=24)


def obstacles(d: int) -> dict[str, ct.colliders.Collider]:
    """One of every kind; planes, balls and containers, half of them moving."""
    cut = slice(0, d)
    spin = ct.motions.Spin(1.7, (0.1, 0.05, -0.1)[cut], *([(1, 2, 2)] if d == 3 else []))
    slide = ct.motions.Linear((0.5, 0.9, -0.3)[cut])
    kinds: dict[str, ct.colliders.Collider] = {
        "plane": ct.colliders.Plane((0.3, 1, 0.2)[cut], (0.0, 0.02, 0.0)[cut]),
        "moving plane": ct.colliders.Plane((0.3, 1, 0.2)[cut], motion=slide),
        "box": ct.colliders.Box((0.1, 0, 0)[cut], (0.5, 0.6, 0.7)[cut], motion=spin),
        "sphere": ct.colliders.Sphere((0.1, 0.05, 0)[cut], 0.33, motion=spin),
        "bowl": ct.colliders.Sphere((0, 0, 0)[cut], 0.31, inverted=True, motion=slide),
        "capsule": ct.colliders.Capsule((-0.2, 0, 0)[cut], (0.3, 0.1, 0.1)[cut], 0.23, motion=spin),
    }
    if d == 3:
        kinds["mesh"] = tetrahedron()
    return kinds


DT = 0.05  # long enough that gaps count


class Touched:
    """Random node velocities before and after contact with obstacles at time t, and where contact is."""

    def __init__(self, obstacles: list[Obstacle], d: int, t: float = 0.3) -> None:
        rng = np.random.default_rng(0)
        driver = GridDriver(rng.uniform(-4 * H, 4 * H, size=(400, d)), H)
        lattice = driver.field.lattice
        self.mass, _ = driver.scatter()
        self.points, self.before = (
            driver.nodes,
            rng.normal(size=(len(self.mass), d)) * (self.mass > 0)[:, None],
        )
        nodes = np.zeros((len(self.mass), 4))
        nodes[:, :d], nodes[:, 3] = self.before, self.mass
        nodes = nodes.reshape(driver.field.grid.node_shape())
        table = ObstacleTable.of(obstacles, t, lattice)
        field = SymplecticEuler(driver.field).contact_field(nodes)
        self.found = obstacle_contacts(field, table, lattice, 2)
        contact = FieldContact()
        contact.resolve([field], [], lattice, 2, DT, table)
        self.impulses = table.per_obstacle(contact.wall_impulses)[:, :d]
        self.after = nodes.reshape(-1, 4)[:, :d]
        self.in_contact = np.unique(self.found.node[np.isfinite(self.found.gap) | self.found.held])

    def relative(self, v: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Normal speed (n,) and tangential velocity (n, d) relative to the obstacle, at some contacts."""
        d, at = v.shape[1], self.found
        n, v = at.normal[some, :d], v[at.node[some]] - at.velocity[some, :d]
        speed = (v * n).sum(axis=1)
        return speed, v - speed[:, None] * n


def touched(name: str, d: int, mode: str, friction: float) -> tuple[Touched, ct.colliders.Collider]:
    collider = obstacles(d)[name]
    collider.mode, collider.friction = mode, friction
    return Touched([collider], d), collider


def cases(d: int):
    return [
        (name, mode, mu) for name in obstacles(d) for mode in ("separate", "slip") for mu in (0.0, 0.4, 5.0)
    ]


@pytest.mark.parametrize(("d", "name", "mode", "mu"), [(d, *case) for d in (2, 3) for case in cases(d)])
def test_contact_obeys_signorini_and_coulomb(d: int, name: str, mode: str, mu: float) -> None:
    at, _ = touched(name, d, mode, mu)
    some = np.isfinite(at.found.gap) | at.found.held
    assert some.sum() > 10 and len(at.in_contact) == some.sum()  # one contact per node
    held = at.found.held[some]
    assert held.any() == (mode == "slip")
    closing = np.where(held, 0.0, np.maximum(at.found.gap[some], 0.0) / DT)  # what is left of the way
    vn, vt = at.relative(at.before, some)
    un, ut = at.relative(at.after, some)
    assert (un + closing).min() >= -1e-14  # (a) nothing goes farther than its gap
    assert (vn + closing).min() < -0.1  # which the velocities before would have done
    assert np.abs(un[held]).max(initial=0.0) <= 1e-14
    leaving = ~held & (vn + closing >= 0)
    assert leaving.any() or mode == "slip"
    for u, v in ((un, vn), (ut, vt)):
        np.testing.assert_allclose(u[leaving], v[leaving], rtol=0, atol=1e-15)
    energy = (vn**2 + (vt**2).sum(axis=1)) - (un**2 + (ut**2).sum(axis=1))
    assert energy.min() >= -1e-14  # (b) no energy gained relative to the obstacle
    friction, pressure = np.linalg.norm(ut - vt, axis=1), np.maximum(0, -vn - closing)
    assert (friction - mu * pressure).max() <= 1e-14  # (c) inside the cone
    turned = (ut * vt).sum(axis=1)
    assert turned.min() >= -1e-14  # friction never reverses the sliding
    if mu == 0.4:
        sticky = np.linalg.norm(vt, axis=1)  # what sticking would have needed breaks the cone
        assert (sticky - mu * pressure).max() > 0.1
        assert (
            np.abs(friction - np.minimum(mu * pressure, sticky)).max() <= 1e-13
        )  # and it is as large as it may be
    change = at.mass[:, None] * (at.after - at.before)
    np.testing.assert_allclose(at.impulses[0], change.sum(axis=0), atol=1e-12 * at.mass.sum())


@pytest.mark.parametrize(("d", "name"), [(d, name) for d in (2, 3) for name in obstacles(d)])
def test_contact_is_where_obstacles_are(d: int, name: str) -> None:
    """Deep nodes always, those beyond its reach never, all others keep their bits; normals and speeds are its own."""
    at, collider = touched(name, d, "separate", 0.4)
    phi, normal = collider.signed_distance(at.points, 0.3)
    deep = np.flatnonzero((phi < -0.5 * H) & (at.mass > 0))
    assert len(deep) > 5 and np.isin(deep, at.in_contact).all()
    assert phi[at.in_contact].max() <= 0.9 * H and (at.mass[at.in_contact] > 0).all()
    outside = np.setdiff1d(np.arange(len(phi)), at.in_contact)
    assert np.array_equal(at.after[outside], at.before[outside])
    assert not np.array_equal(at.after, at.before)
    node = at.found.node
    np.testing.assert_allclose(at.found.distance, phi[node], atol=1e-12)
    np.testing.assert_allclose(at.found.normal[:, :d], normal[node], atol=1e-12)
    velocity = collider.movement.pose(0.3, d).velocity_at(at.points)
    np.testing.assert_allclose(at.found.velocity[:, :d], velocity[node], atol=1e-12)


@pytest.mark.parametrize(("d", "name"), [(d, name) for d in (2, 3) for name in obstacles(d)])
def test_sticky_nodes_move_with_the_obstacle(d: int, name: str) -> None:
    at, collider = touched(name, d, "sticky", 0.0)
    held = at.found.held
    phi = collider.signed_distance(at.points, 0.3)[0]
    deep = np.flatnonzero((phi < -0.5 * H) & (at.mass > 0))
    assert np.isin(deep, at.found.node[held]).all()
    obstacle = at.found.velocity[held, :d]
    assert np.abs(at.after[at.found.node[held]] - obstacle).max() <= 1e-15
    slipping, _ = touched(name, d, "slip", 0.0)
    assert np.array_equal(slipping.found.held, held)
    assert np.abs(slipping.after[at.found.node[held]] - obstacle).max() > 0.1


@both
def test_the_last_of_several_regions_decides(d: int) -> None:
    """Also against colliders, whatever these want."""
    low, high = (-2.0,) * d, (2.0,) * d
    up = ct.boundaries.FixedVelocity(low, high, (None, 1.0, 0.5)[:d])
    along = ct.boundaries.FixedVelocity(low, high, (1.0, 0.0, None)[:d])
    ball = ct.colliders.Sphere((0,) * d, 2.0, mode="sticky", motion=ct.motions.Linear((5, 5, 5)[:d]))
    at = Touched([ball, up, along], d)
    active = at.after[at.mass > 0]
    assert np.all(active[:, :2] == (1.0, 0.0)) and (d == 2 or np.all(active[:, 2] == 0.5))


@both
@pytest.mark.parametrize("mode", ["separate", "slip"])
def test_several_colliders_act_whatever_their_order(d: int, mode: str) -> None:
    """Walls of a corner, one of them moving: nothing enters either, and each is told its own impulse."""
    walls = [
        ct.colliders.Plane((1, 0, 0)[:d], mode=mode, friction=0.3),
        ct.colliders.Plane((0, 1, 0)[:d], mode=mode, motion=ct.motions.Linear((0.0, 0.4, 0.0)[:d])),
    ]
    one, other = Touched(walls, d), Touched(walls[::-1], d)
    np.testing.assert_allclose(one.after, other.after, atol=1e-13)
    np.testing.assert_allclose(one.impulses, other.impulses[::-1], atol=1e-12 * one.mass.sum())
    inside = (one.points < -0.5 * H)[:, :2].all(axis=1) & (one.mass > 0)
    assert inside.sum() > 5
    u = one.after[inside]
    assert u[:, 0].min() >= -1e-13 and u[:, 1].min() >= 0.4 - 1e-13
    if mode == "slip":
        np.testing.assert_allclose(u[:, :2], np.tile((0.0, 0.4), (len(u), 1)), atol=1e-13)


def splash(push_out: float | None, d: int = 2, sunk: float = 0.0) -> tuple[float, float]:
    """Deepest particle, in cells, of soft snow without hardening that hits a plane hard; momentum left over.

    At first it is so many cells deeper than just above the plane.
    """
    sim = ct.Simulation(0.02, (0,) * d, push_out=push_out)
    ball = ct.shapes.Sphere((0, 0.11 - 0.02 * sunk, 0)[:d], 0.1)
    material = ct.materials.Snow(hardening=0.0)
    body = sim.add(ball, material, velocity=(1.0, -12.0, 0)[:d])
    sim.add(ct.colliders.Plane((0.1, 1, 0)[:d], friction=0.3))
    start, deepest = body.mass @ body.v, 0.0
    plane = sim.colliders[0]
    for _ in range(150):
        sim.step()
        deepest = min(deepest, float(plane.signed_distance(body.x)[0].min()))
    change = body.mass @ body.v - start - sim.impulses[0, :d]
    return deepest / 0.02, float(np.abs(change).max() / np.abs(start).max())


@both
def test_particles_sink_no_deeper_than_allowed(d: int) -> None:
    for sunk in (0.0, 2.0):
        deepest, missing = splash(0.5, d, sunk)
        assert deepest >= -0.5 - 1e-9
        assert missing <= 1e-10  # what pushing out takes is booked as impulse
    if d == 2:
        assert splash(None)[0] >= -0.1  # the grid alone keeps out what comes from outside
        assert splash(None, sunk=2.0)[0] < -1.0  # and leaves alone what was inside
        assert splash(0.2, sunk=2.0)[0] >= -0.2 - 1e-9


def test_particles_beside_edges_of_a_mesh_sink_no_deeper_either() -> None:
    """Normals of a sampled cube turn round its edges: one straight push ends up to a quarter of a cell short."""
    dx = 0.05
    sim = ct.Simulation(dx, (0.0, 0.0, 0.0), push_out=0.5)
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float) - 0.5
    faces = np.array(
        [
            *((0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)),
            *((2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)),
        ]
    )
    cube = sim.add(ct.colliders.Mesh(vertices=corners, faces=faces))
    inside = np.random.default_rng(1).uniform(-0.49, 0.49, (4000, 3))
    edge = np.sort(np.abs(inside), axis=1)[:, 1] > 0.42  # two coordinates near the surface
    sim.add(ct.shapes.Points(inside[edge]), ct.materials.FixedCorotated(1e3, 0.3, 1.0))
    before = -cube.signed_distance(inside[edge])[0].min() / dx
    sim.step(1e-6)
    assert before > 1.0
    assert -cube.signed_distance(sim.bodies[0].x)[0].min() / dx <= 0.5 + 1e-5


def test_a_block_at_rest_weighs_what_it_weighs() -> None:
    """The impulse of the floor is weight times time, once the block has settled."""
    sim = ct.Simulation(0.05, (0, -10.0))
    body = sim.add(ct.shapes.Box((0, 0.15), (0.4, 0.3)), ct.materials.FixedCorotated(1e6, 0.3, 1000.0))
    sim.add(ct.colliders.Plane((0, 1)))
    while sim.time < 1.0:
        sim.step(1.0 - sim.time)
    weight = float(body.mass.sum()) * 10.0
    assert sim.impulses[0, 1] == pytest.approx(weight, rel=0.01)
    assert sim.diagnostics()["momentum_y"] == pytest.approx(sim.impulses[0, 1] - weight, abs=1e-10 * weight)


def test_a_collider_added_during_the_run_leaves_the_impulses_of_the_others() -> None:
    sim = ct.Simulation(0.05, (0, -10.0))
    sim.add(ct.shapes.Box((0, 0.1), (0.2, 0.2)), ct.materials.FixedCorotated(1e5))
    sim.add(ct.colliders.Plane((0, 1)))
    sim.add(ct.boundaries.FixedVelocity((-0.2, 0.1), (0.0, 1.0), (0.1, None)))
    for _ in range(50):
        sim.step()
    before = sim.impulses.copy()
    assert before[0, 1] > 0 and before[1, 0] > 0
    sim.add(ct.colliders.Plane((1, 0), (-2, 0)))
    assert np.array_equal(sim.impulses[[0, 2]], before) and not sim.impulses[1].any()
    sim.step()
    assert sim.impulses[0, 1] >= before[0, 1] and not sim.impulses[1].any()
