"""An explicit step for bodies that each are a continuum of their own: the loop of the product in small."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from continua import _core
from continua.bodies.points import ParticleBody
from continua.contact.fields import ContactField, ContactSet, FieldContact, PairRule, all_pairs, pair_contacts
from continua.grid.blocks import BlockGrid, Lattice
from continua.integrators import ObstacleTable
from continua.transfers import as_transfer


def lattice_points(lower: Sequence[float], upper: Sequence[float], spacing: float) -> np.ndarray:
    """Centres of the cells of a box, (n, d)."""
    axes = [a + spacing * (np.arange(round((b - a) / spacing)) + 0.5) for a, b in zip(lower, upper)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(lower))


def ball_points(center: Sequence[float], radius: float, spacing: float) -> np.ndarray:
    """Lattice points of a ball, the centre in the middle of a cell corner."""
    n = int(np.ceil(radius / spacing))
    grid = lattice_points([-n * spacing] * len(center), [n * spacing] * len(center), spacing)
    return grid[(grid**2).sum(axis=1) < radius**2] + np.asarray(center)


def body_of(name, points, spacing, material, *, velocity=None, dtype=np.float64) -> ParticleBody:
    """A body of particles (n, d) of the same volume, with one velocity or one for each."""
    n, d = points.shape
    body = ParticleBody(name, material, d, dtype)
    v = np.zeros((n, d)) if velocity is None else np.broadcast_to(velocity, (n, d))
    body.append(points, v, np.zeros((n, d, d)), np.full(n, spacing**d))
    return body


class Fields:
    """Bodies in a world without limits, one velocity field each."""

    def __init__(
        self,
        bodies,
        dx,
        *,
        friction=0.0,
        slack=0.25,
        gravity=None,
        origin=None,
        degree=2,
        period=None,
        obstacles=(),
    ) -> None:
        d = bodies[0].dimension
        origin = np.zeros(d) if origin is None else np.asarray(origin, float)
        self.lattice = Lattice(dx, origin, np.zeros(d, np.int32) if period is None else period)
        self.bodies, self.degree = bodies, degree
        self.plan = as_transfer("apic").plan(d, degree)
        self.gravity = np.zeros(d) if gravity is None else np.asarray(gravity, float)
        self.rules: list[PairRule] = all_pairs([b.name for b in bodies], friction, slack)
        self.contact = FieldContact()
        self.fields: list[ContactField] = []
        self.grids: list[BlockGrid] = []
        self.thin = [False] * len(bodies)
        self.normals: list[np.ndarray | None] = [None] * len(
            bodies
        )  # (n, d) times areas, in order of creation
        self.two_sided = [False] * len(bodies)
        self.obstacles, self.time, self.plain = list(obstacles), 0.0, None
        self.after = None  # called with (fields, dt) after contact
        self.view = lambda arrays: arrays  # what contact sees of the particles

    def to_grid(self, dt: float) -> list[ContactField]:
        self.fields, self.grids = [], []
        d = self.lattice.dimension
        for number, body in enumerate(self.bodies):
            a, order = body.set.arrays, _core.Order()
            order.sort(a.x, a.count, self.lattice, d, self.degree)
            assert order.bad < 0
            grid = BlockGrid(self.lattice)
            grid.cover([order])
            nodes = np.empty(grid.node_shape(), a.x.dtype)
            _core.scatter(
                particles=a, parameters=body.parameters, material=body.material.model, lattice=self.lattice,
                order=order, plan=self.plan, links=grid.links[0], dimension=d, degree=self.degree, gradient=True,
                dt=dt, momentum=True, stress=True, add=False, nodes=nodes,
            )  # fmt: skip
            _core.momentum_to_velocity(nodes, d, list(dt * self.gravity))
            normals = self._normals(number)
            some = ContactSet(self.view(a), order, self.thin[number], normals, self.two_sided[number])
            self.fields.append(ContactField(body.name, grid.keys, nodes, [some]))
            self.grids.append(grid)
        return self.fields

    def _normals(self, number: int) -> np.ndarray | None:
        """As the core wants them, in the present order of the particles."""
        body, normals = self.bodies[number], self.normals[number]
        if normals is None:
            return None
        out = np.zeros_like(body.set.arrays.x)
        out[:, : body.count] = normals[body.ids].T
        return out

    def contacts(self):
        """Normals and gaps of the fields as they are."""
        return pair_contacts(self.fields, self.rules, self.lattice, self.degree)

    def step(self, dt: float) -> np.ndarray:
        """Advance all bodies; the impulses of all pairs (rules, 3)."""
        self.to_grid(dt)
        self.time += dt
        table = ObstacleTable.of(self.obstacles, self.time, self.lattice)
        if self.plain is None:
            impulses = self.contact.resolve(self.fields, self.rules, self.lattice, self.degree, dt, table)
        else:  # a wrong variant of the obstacles
            impulses = self.contact.resolve(self.fields, self.rules, self.lattice, self.degree, dt)
            self.plain(self, table)
        if self.after is not None:
            self.after(self.fields, dt)
        for body, one, grid in zip(self.bodies, self.fields, self.grids):
            body.set.next_arrays.count = body.count
            report = _core.gather(
                particles=body.set.arrays, out=body.set.next_arrays, parameters=body.parameters,
                material=body.material.model, lattice=self.lattice, order=one.sets[0].order, plan=self.plan,
                links=grid.links[0], velocity=one.nodes, change=None, dimension=self.lattice.dimension,
                degree=self.degree, mls=False, dt=dt, exponential=False,
            )  # fmt: skip
            assert report["bad"] < 0
            body.set.swap()
        return impulses

    def momentum(self) -> np.ndarray:
        """Of all bodies (d,)."""
        return sum((b.mass[:, None] * b.v).sum(axis=0) for b in self.bodies)

    def energy(self) -> float:
        """Kinetic with the affine part, and elastic."""
        total = 0.0
        spread = self.lattice.dx**2 / {1: np.inf, 2: 4, 3: 3}[self.degree]
        for b in self.bodies:
            total += 0.5 * (b.mass * ((b.v**2).sum(axis=1) + spread * (b.C**2).sum(axis=(1, 2)))).sum()
            total += (b.volume * b.energy_density()).sum()
        return float(total)


def plain_nodes(world: Fields, table: ObstacleTable) -> None:
    """The wrong variant: every node inside an obstacle obeys it, no other does."""
    d = world.lattice.dimension
    for one in world.fields:
        flat = one.nodes.reshape(-1, 4)
        points = np.zeros((len(flat), 3))
        coordinates = np.asarray(_core.node_coordinates(one.keys, d), float).reshape(-1, d)
        points[:, :d] = world.lattice.origin + world.lattice.dx * coordinates
        for row, samples in zip(table.rows, table.samples):
            phi, n = np.empty(len(points)), np.empty((len(points), 3))
            _core.collider_surface(row[None].copy(), [samples], points, phi, n)
            some = np.flatnonzero((phi < 0) & (flat[:, 3] > 0))
            moving = row[16:19] + np.cross(row[19:22], points[some] - row[4:7])
            slide, normal = flat[some, :3] - moving, n[some]
            away = (slide * normal).sum(axis=1)
            slide = slide - away[:, None] * normal
            size = np.linalg.norm(slide, axis=1)
            keep = np.maximum(0, 1 + row[2] * np.minimum(away, 0) / np.where(size > 0, size, 1))
            left = np.zeros_like(slide) if row[1] == 2 else keep[:, None] * slide
            meets = (row[1] > 0) | (away < 0)
            flat[some[meets], :3] = (moving + left)[meets]


def node_velocities(fields: Sequence[ContactField]) -> list[np.ndarray]:
    """Copies of all node arrays."""
    return [copy.deepcopy(f.nodes) for f in fields]
