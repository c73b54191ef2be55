"""What a world does depends on what is in it, and not on the order in which it was added."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

import continua as ct
from continua.integrators import Optimization, SemiImplicit

RUBBER = ct.materials.FixedCorotated(E=1e4, nu=0.3, density=1000.0)
TIGHT = {
    "symplectic": "symplectic",
    "semi-implicit": SemiImplicit(tolerance=1e-12),
    "optimization": Optimization(tolerance=1e-11),
}


# ---- a mesh that was there before the particles ----


def cube(d: int, **options: object) -> ct.SolidBody:
    mesh = ct.meshes.BoxMesh((0.013,) * d, (0.413,) * d, (4,) * d)
    return ct.SolidBody(mesh, RUBBER, velocity=(1.0, 0.1, 0.0)[:d], **options)  # type: ignore[arg-type]


def momentum(sim: ct.Simulation) -> np.ndarray:
    row = sim.diagnostics()
    return np.array([row[f"momentum_{a}"] for a in "xyz"[: sim.dimension]])


@pytest.mark.parametrize("steps", [0, 3])
@pytest.mark.parametrize("integrator", TIGHT)
@pytest.mark.parametrize("d", [2, 3])
def test_a_mesh_meets_particles_that_come_later(d: int, integrator: str, steps: int) -> None:
    """Also where it has moved on its own until then: it goes on from there, hits them, and the momentum stays."""
    sim = ct.Simulation(0.1, (0.0,) * d, integrator=TIGHT[integrator])
    mesh = sim.add(cube(d))
    for _ in range(steps):
        sim.step(0.02)
    assert (mesh.set is None) == (integrator == "optimization" or steps == 0)
    assert mesh.x == pytest.approx(mesh.rest + sim.time * np.array((1.0, 0.1, 0.0)[:d]), abs=1e-9)
    before = momentum(sim)
    block = sim.add(ct.shapes.Box((0.8, 0.213, 0.213)[:d], (0.4, 0.4, 0.4)[:d]), RUBBER)
    assert momentum(sim) == pytest.approx(before, rel=1e-13)
    end = sim.time + 0.5
    while sim.time < end:
        sim.step(end - sim.time)
    assert mesh.set is not None and not sim.world.free_meshes
    assert sim.steppers["main"].field.bodies == [mesh, block]
    assert block.v[:, 0].mean() > 0.3 and mesh.v[:, 0].mean() < 0.7
    scale = np.linalg.norm(before)
    assert np.abs(momentum(sim) - before).max() <= (1e-12 if integrator == "symplectic" else 1e-10) * scale
    assert mesh.x[:, 0].max() < block.x[:, 0].max()  # it has not passed through


def test_a_mesh_that_is_to_stay_off_the_grid_does() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0), integrator="optimization", dt=0.01)
    mesh = sim.add(cube(2, on_grid=False))
    sim.step()
    block = sim.add(ct.shapes.Box((0.8, 0.213), (0.4, 0.4)), RUBBER)
    for _ in range(49):
        sim.step()
    assert mesh.set is None and sim.world.free_meshes == [mesh]
    assert mesh.x == pytest.approx(mesh.rest + (0.5, 0.05), abs=1e-9)  # through the block
    assert np.abs(block.v).max() <= 1e-12


def test_a_run_with_particles_that_came_late_continues_with_the_same_bits() -> None:
    def made(*, late: bool) -> ct.Simulation:
        sim = ct.Simulation(0.1, (0.0, -9.81), integrator="optimization")
        sim.add(cube(2))
        if late:
            sim.step(0.02)
        sim.add(ct.shapes.Box((0.6, 0.213), (0.4, 0.4)), RUBBER)
        return sim

    whole = made(late=True)
    whole.step(0.01)
    other = made(late=False)  # what the stored state belongs to is there from the beginning
    other.load_state(whole.state())
    for sim in (whole, other):
        for _ in range(3):
            sim.step(0.01)
    a, b = whole.state(), other.state()
    assert a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


# ---- order ----


def things(d: int) -> dict[str, Callable[[ct.Simulation], object]]:
    """Bodies that fall onto each other between two colliders, which hold no node together."""
    mesh = ct.meshes.BoxMesh((0.013,) * d, (0.413,) * d, (3,) * d)
    cloth = ct.meshes.Chain([(0.05 + 0.08 * k, 0.47, 0.2)[:d] for k in range(8)], stiffness=100.0)
    down = (0.1, -1.0, 0.05)[:d]
    return {
        "solid": lambda sim: sim.add(ct.SolidBody(mesh, RUBBER, velocity=down, on_grid=True, name="solid")),
        "block": lambda sim: sim.add(
            ct.shapes.Box((0.65, 0.3, 0.2)[:d], (0.4, 0.5, 0.4)[:d]), RUBBER, name="block", velocity=down
        ),
        "snow": lambda sim: sim.add(
            ct.shapes.Sphere((0.3, 0.65, 0.2)[:d], 0.15), ct.materials.Snow(), name="snow", velocity=down
        ),
        "springs": lambda sim: sim.add(ct.SpringBody(cloth, mass=2.0, on_grid=True, name="springs")),
        "floor": lambda sim: sim.add(ct.colliders.Plane((0, 1, 0)[:d], friction=0.3, name="floor")),
        "pole": lambda sim: sim.add(ct.colliders.Sphere((1.15, 0.45, 0.2)[:d], 0.32, name="pole")),
    }


def orders(names: list[str]) -> list[list[str]]:
    """As it is, backwards, and two others that mix bodies and colliders."""
    some = list(permutations(names))
    return [names, names[::-1], list(some[len(some) // 3]), list(some[len(some) // 2 + 17])]


def ended(d: int, integrator: str, order: list[str], steps: int = 20) -> dict[str, np.ndarray]:
    sim = ct.Simulation(0.1, (0, -9.81, 0)[:d], integrator=TIGHT[integrator], dt=2e-3, force_dt=True)
    add = things(d)
    for name in order:
        add[name](sim)
    assert [body.name for body in sim.bodies] == [name for name in order if name not in ("floor", "pole")]
    for _ in range(steps):
        sim.step()
    found = {
        f"{body.name} {k}": a for body in sim.bodies for k, a in body.fields().items() if k in ("x", "v", "J")
    }
    return found | {str(c.name): impulse for c, impulse in zip(sim.colliders, sim.impulses, strict=True)}


@pytest.mark.parametrize("integrator", TIGHT)
@pytest.mark.parametrize("d", [2, 3])
def test_the_order_of_bodies_and_colliders_changes_rounding_only(d: int, integrator: str) -> None:
    """Sums over bodies in another order differ in the last bits, and implicit solves end within their tolerance."""
    first, *others = (ended(d, integrator, order) for order in orders(list(things(d))))
    assert (
        np.abs(first["floor"]).max() > 0.1 and np.abs(first["pole"]).max() > 0.1
    )  # all of them are in contact
    tolerance = 1e-11 if integrator == "symplectic" else 1e-8
    for other in others:
        assert other.keys() == first.keys()
        for name in first:
            scale = np.abs(first[name]).max()
            assert np.abs(other[name] - first[name]).max() <= tolerance * scale, name


def test_bodies_are_named_and_stored_in_the_order_of_adding() -> None:
    sim = ct.Simulation(0.1, (0.0, 0.0))
    chain = ct.meshes.Chain([(1.0, 0.0), (1.2, 0.0)], stiffness=1.0)
    springs = sim.add(ct.SpringBody(chain, mass=1.0))
    block = sim.add(ct.shapes.Box((0.7, 0.2), (0.4, 0.4)), RUBBER)
    solid = sim.add(cube(2))
    assert sim.bodies == [springs, block, solid] and sim.world.mesh_bodies == [springs, solid]
    assert [body.name for body in sim.bodies] == ["springs1", "body1", "solid1"]
    sim.step()
    state = sim.state()
    for number, body in enumerate((springs, block, solid)):
        for name, array in body.snapshot().items():
            np.testing.assert_array_equal(state[f"body{number}/{name}"], array)
    assert {name.split("/")[0] for name in state if "/" in name} == {"body0", "body1", "body2"}
    np.testing.assert_array_equal(state["body2/x"], solid.x)
    np.testing.assert_array_equal(state["body2/grid_x"], solid.set.x.T)
    np.testing.assert_array_equal(state["body1/x"], block.x.T)
