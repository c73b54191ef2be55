"""Contact rules on grid nodes, depth of particles in colliders, and impulses."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import GridDriver

import continua as ct
from continua.integrators import ObstacleTable, StepResult, StepSetting, SymplecticEuler

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


def touch(
    driver: GridDriver, nodes: np.ndarray, colliders: list[ct.colliders.Collider], t: float
) -> np.ndarray:
    """Colliders act on node velocities, with mass, at time t; returns the impulses they give, (n, 3)."""
    stepper = SymplecticEuler(driver.field)
    stepper.nodes = nodes
    table = ObstacleTable.of(colliders, t, driver.field.lattice)
    result = StepResult(impulses=np.zeros((len(colliders), 3)))
    stepper.meet_obstacles(StepSetting(t, 0.0, np.zeros(driver.body.dimension), table), result)
    return result.impulses


class Touched:
    """Random node velocities before and after contact with one obstacle at time t."""

    def __init__(
        self, collider: ct.colliders.Collider, d: int, mode: str, friction: float, t: float = 0.3
    ) -> None:
        rng = np.random.default_rng(0)
        collider.mode, collider.friction = mode, friction
        driver = GridDriver(rng.uniform(-4 * H, 4 * H, size=(400, d)), H)
        self.mass, _ = driver.scatter()
        before = rng.normal(size=(len(self.mass), d)) * (self.mass > 0)[:, None]
        quads = np.zeros((len(self.mass), 4))
        quads[:, :d], quads[:, 3] = before, self.mass
        nodes = quads.reshape(driver.field.grid.node_shape()).copy()
        self.impulse = touch(driver, nodes, [collider], t)[0]
        after = nodes.reshape(-1, 4)[:, :d]
        phi, self.normal = collider.signed_distance(driver.nodes, t)
        obstacle = collider.movement.pose(t, d).velocity_at(driver.nodes)
        self.inside = (phi < 0) & (self.mass > 0)
        self.unclear = np.abs(phi) < 1e-9
        self.before, self.after, self.obstacle = before, after, obstacle

    def relative(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Normal speed (n,) and tangential velocity (n, d) relative to the obstacle, of the nodes in contact."""
        v, n = (v - self.obstacle)[self.inside], self.normal[self.inside]
        speed = (v * n).sum(axis=1)
        return speed, v - speed[:, None] * n


def cases(d: int):
    return [
        (name, mode, mu) for name in obstacles(d) for mode in ("separate", "slip") for mu in (0.0, 0.4, 5.0)
    ]


@pytest.mark.parametrize(("d", "name", "mode", "mu"), [(d, *case) for d in (2, 3) for case in cases(d)])
def test_contact_obeys_signorini_and_coulomb(d: int, name: str, mode: str, mu: float) -> None:
    touched = Touched(obstacles(d)[name], d, mode, mu)
    assert touched.inside.sum() > 10
    vn, vt = touched.relative(touched.before)
    un, ut = touched.relative(touched.after)
    assert un.min() >= -1e-14  # (a) nothing enters
    assert vn.min() < -0.1  # which the velocities before would have done
    if mode == "slip":
        assert np.abs(un).max() <= 1e-14
    else:
        leaving = vn >= 0
        assert np.array_equal(touched.after[touched.inside][leaving], touched.before[touched.inside][leaving])
    energy = (vn**2 + (vt**2).sum(axis=1)) - (un**2 + (ut**2).sum(axis=1))
    assert energy.min() >= -1e-14  # (b) no energy gained relative to the obstacle
    friction, pressure = np.linalg.norm(ut - vt, axis=1), np.maximum(0, -vn)
    assert (friction - mu * pressure).max() <= 1e-14  # (c) inside the cone
    turned = (ut * vt).sum(axis=1)
    assert turned.min() >= -1e-14  # friction never reverses the sliding
    if mu == 0.4:
        sticky = np.linalg.norm(vt, axis=1)  # what sticking would have needed breaks the cone
        assert (sticky - mu * pressure).max() > 0.1
        assert (
            np.abs(friction - np.minimum(mu * pressure, sticky)).max() <= 1e-13
        )  # and it is as large as it may be
    outside = ~touched.inside & ~touched.unclear
    assert np.array_equal(touched.after[outside], touched.before[outside])
    change = (touched.mass[:, None] * (touched.after - touched.before)).sum(axis=0)
    np.testing.assert_allclose(touched.impulse[:d], change, atol=1e-12 * touched.mass.sum())


@pytest.mark.parametrize(("d", "name"), [(d, name) for d in (2, 3) for name in obstacles(d)])
def test_sticky_nodes_move_with_the_obstacle(d: int, name: str) -> None:
    touched = Touched(obstacles(d)[name], d, "sticky", 0.0)
    error = np.abs(touched.after - touched.obstacle)[touched.inside]
    assert error.max() <= 1e-15
    slipping = Touched(obstacles(d)[name], d, "slip", 0.0)
    assert np.abs(slipping.after - slipping.obstacle)[slipping.inside].max() > 0.1


@both
def test_several_obstacles_act_in_order(d: int) -> None:
    """The last one that holds a node decides."""
    driver = GridDriver(np.random.default_rng(1).uniform(-0.3, 0.3, size=(200, d)), H)
    mass, _ = driver.scatter()
    nodes = np.zeros((len(mass), 4))
    nodes[:, 3] = mass
    nodes = nodes.reshape(driver.field.grid.node_shape()).copy()
    up = ct.colliders.Sphere((0,) * d, 2.0, mode="sticky", motion=ct.motions.Linear((0, 1, 0)[:d]))
    along = ct.colliders.Sphere((0,) * d, 2.0, mode="sticky", motion=ct.motions.Linear((1, 0, 0)[:d]))
    touch(driver, nodes, [up, along], 0.0)
    active = nodes.reshape(-1, 4)[mass > 0]
    assert np.all(active[:, 0] == 1) and np.all(active[:, 1] == 0)


def splash(push_out: float | None, d: int = 2) -> tuple[float, float]:
    """Deepest particle, in cells, of soft snow without hardening that hits a plane hard; momentum left over."""
    sim = ct.Simulation(0.02, (0,) * d, push_out=push_out)
    ball = ct.shapes.Sphere((0, 0.11, 0)[:d], 0.1)
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
    deepest, missing = splash(0.5, d)
    assert deepest >= -0.5 - 1e-9
    assert missing <= 1e-10  # what pushing out takes is booked as impulse
    if d == 2:
        assert splash(None)[0] < -0.5 - 1e-3  # left to the grid they sink deeper
        assert splash(0.2)[0] >= -0.2 - 1e-9


def test_a_block_at_rest_weighs_what_it_weighs() -> None:
    """The impulse of the floor is weight times time, once the block has settled."""
    sim = ct.Simulation(0.05, (0, -10.0))
    body = sim.add(ct.shapes.Box((0, 0.15), (0.4, 0.3)), ct.materials.FixedCorotated(1e6, 0.3, 1000.0))
    sim.add(ct.colliders.Plane((0, 1), (0, 1e-6)))
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
