"""Worlds for `exact_contact.py`: colliding spheres, twisted bars, pushed blocks, each at any resolution.

Bars and blocks are boxes cut round one diagonal. A finer mesh of that kind has all edges of the coarse one, so that a
deformed coarse mesh can be taken over without changing its surface: fine worlds start where a coarse one has come into
contact, and all of them are in the same situation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

import continua as ct
from continua.geometry.simplex_mesh import SimplexMesh

Array = NDArray[np.float64]
Path = Callable[[float, Array], Array]  # t [s] and positions at rest (n, 3) [m] -> positions (n, 3) [m]


# ---- spheres (M23 table 2) -----------------------------------------------------------------------------------

SPHERE = ct.materials.FixedCorotated(E=5e4, nu=0.3, density=1000.0)
SPHERE_DT, RADIUS, CLOSING = 0.005, 0.5, 1.0  # [s], [m], speed of each [m/s]
SIDE = np.array([0.505, 0.1, 0.07])  # of the middle of a sphere: they meet off the line of their motion [m]


def sphere(side: int, size: float) -> SimplexMesh:
    """On the left (-1) or on the right (1), with edges of `size` [m]."""
    center = tuple((side * SIDE).tolist())
    return ct.meshes.ShapeMesh(ct.shapes.Sphere(center, RADIUS), size=size).build()


@cache
def sphere_size(nodes: int) -> float:
    """Edges with which two spheres have as nearly so many nodes as the lattice they are cut from allows [m]."""
    size = RADIUS * (22.0 / nodes) ** (1 / 3)
    size *= (2 * len(sphere(1, size).points) / nodes) ** (1 / 3)
    tried = {2 * len(sphere(1, one).points): one for one in size * np.linspace(0.85, 1.15, 13)}
    return float(tried[min(tried, key=lambda found: abs(found - nodes))])


def spheres(nodes: int, contact: ct.ExactContact, damping: float = 0.0) -> ct.Simulation:
    """Two elastic spheres about to collide."""
    size = sphere_size(nodes)
    meshes = [sphere(side, size) for side in (-1, 1)]
    sim = ct.Simulation(
        edge_of(meshes), gravity=(0.0, 0.0, 0.0), dt=SPHERE_DT, integrator=ct.integrators.Optimization()
    )
    for side, mesh in zip((-1, 1), meshes, strict=True):
        velocity = (-side * CLOSING, 0.0, 0.0)
        sim.add(ct.SolidBody(mesh, SPHERE, velocity=velocity, damping=damping, contact=contact))
    return sim


# ---- bars and blocks -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Box:
    """A box of so many cubes at resolution 1, turned about x through its middle; its grips are moved by scripts.

    grips: of rest positions before turning, whether a point is held, and how those go.
    """

    lower: tuple[float, float, float]
    upper: tuple[float, float, float]
    counts: tuple[int, int, int]
    grips: Sequence[tuple[Callable[[Array], NDArray[np.bool_]], Path]]
    turn: float = 0.0  # [rad]

    def points(self, plain: Array) -> Array:
        """Where points of the box that is not turned are."""
        middle = 0.5 * (np.array(self.lower) + np.array(self.upper))
        c, s = np.cos(self.turn), np.sin(self.turn)
        return (plain - middle) @ np.array([[1, 0, 0], [0, c, s], [0, -s, c]]) + middle

    def mesh(self, fine: int) -> tuple[SimplexMesh, Array]:
        """At a resolution, and its points before turning."""
        counts = tuple(fine * n for n in self.counts)
        plain = ct.meshes.BoxMesh(self.lower, self.upper, counts, pattern="same").build()
        return SimplexMesh(self.points(plain.points), plain.cells), plain.points

    def refined(self, values: Array, coarse: int, fine: int) -> Array:
        """Values (N, 3) at the points of a coarse mesh, linear in its tetrahedra, at those of a finer one."""
        few, many = (k * np.array(self.counts) for k in (coarse, fine))
        place = np.indices(tuple(many + 1)).reshape(3, -1).T * (few / many)
        cube = np.minimum(np.floor(place + 1e-9).astype(int), few - 1)
        part = place - cube
        order = np.argsort(-part, axis=1, kind="stable")  # the path round the diagonal that a point lies on
        strides = np.array([(few[1] + 1) * (few[2] + 1), few[2] + 1, 1])
        at = cube @ strides
        found = values[at].copy()
        for k in range(3):
            after = at + strides[order[:, k]]
            found += np.take_along_axis(part, order[:, k : k + 1], 1) * (values[after] - values[at])
            at = after
        return found


@dataclass(frozen=True)
class World:
    """Boxes in contact: what they are made of, and when they have met [s]."""

    name: str
    boxes: Sequence[Box]
    material: ct.materials.Material
    dt: float  # [s]
    damping: float  # [s]
    met: float  # [s]
    coarse: int  # resolution of the mesh that gets there


@dataclass(frozen=True)
class State:
    """Positions and velocities of every box at some resolution, at a time [s]."""

    time: float
    fine: int
    x: Sequence[Array]
    v: Sequence[Array]


def build(world: World, fine: int, contact: ct.ExactContact, start: State | None = None) -> ct.Simulation:
    """The world at a resolution, from the beginning or from a state of a coarser one."""
    begun = 0.0 if start is None else start.time
    meshes = [box.mesh(fine) for box in world.boxes]
    sim = ct.Simulation(
        edge_of([mesh for mesh, _ in meshes]),
        gravity=(0.0, 0.0, 0.0),
        dt=world.dt,
        integrator=ct.integrators.Optimization(),
    )
    for k, (box, (mesh, plain)) in enumerate(zip(world.boxes, meshes, strict=True)):
        scripts = [_script(held(plain), path, mesh.points, begun) for held, path in box.grips]
        body = ct.SolidBody(
            mesh,
            world.material,
            damping=world.damping,
            contact=contact,
            scripted=scripts,
            start=None if start is None else _places(box.refined(start.x[k], start.fine, fine)),
        )
        sim.add(body)
        if start is not None:
            body.v[:] = box.refined(start.v[k], start.fine, fine)
    return sim


def _script(held: NDArray[np.bool_], path: Path, rest: Array, begun: float) -> ct.Scripted:
    chosen = np.flatnonzero(held)
    return ct.Scripted(chosen, lambda t: path(begun + t, rest[chosen]))


def _places(x: Array) -> Callable[[Array], Array]:
    return lambda rest: x


@cache
def met(name: str) -> State:
    """A world that has come into contact, at its coarse resolution.

    By impulses alone: then surfaces touch. A coarse grid would hold them a coarse cell apart.
    """
    world = WORLDS[name]
    sim = build(world, world.coarse, ct.ExactContact(augury="off"))
    while sim.time < world.met - 1e-9:
        sim.step()
    bodies = sim.world.mesh_bodies
    return State(
        sim.time, world.coarse, [body.x.copy() for body in bodies], [body.v.copy() for body in bodies]
    )


def in_contact(name: str, fine: int, contact: ct.ExactContact) -> ct.Simulation:
    """A world in contact at a multiple of its coarse resolution."""
    return build(WORLDS[name], fine, contact, met(name))


def fine_for(name: str, *, nodes: int = 0, boundary: int = 0) -> int:
    """The smallest multiple of the coarse resolution of a world with at least so many nodes, or on the boundary."""
    world = WORLDS[name]
    fine = world.coarse
    while True:
        counts = fine * np.array([box.counts for box in world.boxes])
        found = (counts + 1).prod(axis=1).sum()
        if found >= nodes and found - (counts - 1).prod(axis=1).sum() >= boundary:
            return fine
        fine += world.coarse


def edge_of(meshes: Sequence[SimplexMesh]) -> float:
    """Mean edge of their surfaces, the spacing of the grid that foresees contact [m]."""
    corners = np.concatenate([mesh.points[mesh.surface] for mesh in meshes])
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())


def boundary_nodes(sim: ct.Simulation) -> int:
    """Of all bodies."""
    return sum(len(np.unique(body.surface)) for body in sim.world.mesh_bodies)


def nodes(sim: ct.Simulation) -> int:
    """Of all bodies."""
    return sum(len(body) for body in sim.world.mesh_bodies)


def _twisting(rate: float) -> Path:
    """Turning about z [rad/s]."""

    def path(t: float, rest: Array) -> Array:
        c, s = np.cos(rate * t), np.sin(rate * t)
        return rest @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])

    return path


def _pushing(speed: float) -> Path:
    """Along x [m/s]."""
    return lambda t, rest: rest + np.array([speed * t, 0.0, 0.0])


TWIST, APART, LONG, WIDE = 1.6, 0.32, 2.0, 0.2  # of each end [rad/s], of the middles of bars, their size [m]


def _bar(side: int) -> Box:
    middle = side * APART / 2
    return Box(
        (middle - WIDE / 2, -WIDE / 2, 0.0),
        (middle + WIDE / 2, WIDE / 2, LONG),
        (1, 1, 7),
        [(lambda x: x[:, 2] == 0, _twisting(-TWIST)), (lambda x: x[:, 2] == LONG, _twisting(TWIST))],
    )


CUBE, GAP, PUSH = 1.0, 0.05, 1.5  # [m], [m], speed of each plate [m/s]


def _cube(side: int) -> Box:
    near, far = side * GAP / 2, side * (GAP / 2 + CUBE)
    return Box(
        (min(near, far), -CUBE / 2, -CUBE / 2),
        (max(near, far), CUBE / 2, CUBE / 2),
        (1, 1, 1),
        [(lambda x: x[:, 0] == far, _pushing(-side * PUSH))],
        turn=0.5 if side > 0 else 0.0,
    )


BARS = World(
    "twisted bars",
    [_bar(-1), _bar(1)],
    ct.materials.FixedCorotated(E=7000.0, nu=0.4, density=1000.0),
    dt=0.006,
    damping=0.02,
    met=1.8,
    coarse=2,
)
BLOCKS = World(
    "pushed blocks",
    [_cube(-1), _cube(1)],
    ct.materials.FixedCorotated(E=1000.0, nu=0.3, density=100.0),
    dt=0.005,
    damping=0.1,
    met=0.17,
    coarse=7,
)
WORLDS = {"bars": BARS, "blocks": BLOCKS}
