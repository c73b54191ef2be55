"""Rigid bodies against obstacles: where they touch, and the impulses that keep them apart."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua import _core
from continua.contact.colliders import FAR, KINDS, MODES
from continua.geometry.boundary import TouchPoints

Array = NDArray[np.float64]
Samples = tuple[NDArray, NDArray, float] | None
TOLERANCE = 1e-12  # of the largest velocity, to which the impulses are solved
SWEEPS = 2000
BENDS, BENT = 4, 1e-3  # solves for the way of points that turn, and its relative change that needs no other
ROUNDS = 20  # in which points are added that impulses at others have brought too near
MISSED = 1e-10  # of the largest velocity, by which a point may be too fast without being added
SAME = 1e-3  # of the size of a body, within which balls touch at one point
TOUCHING = 1e-6  # of the size of a body: gap of a point that sticky and slip obstacles hold
STEEP = 2.0  # how fast the distance to an obstacle may change with position
QUICK = 4.0  # times the speed of a bounce that gravity alone gives in a step: slower impacts do not bounce
KIND, MODE, FRICTION, SIGN = 0, 1, 2, 3  # columns of the table


@dataclass(frozen=True)
class Contacts:
    """Points of a body that may touch obstacles in a step (n,)."""

    arms: Array  # (n, 3) from the middle of the body [m]
    bends: Array  # (n, 3, 3) sum R e e^T over the radii R and directions e of a round surface [m]
    normals: Array  # (n, 3) out of the obstacle
    velocities: Array  # (n, 3) of the obstacle there [m/s]
    gaps: Array  # (n,) at the beginning of the step [m]
    friction: Array  # (n,) infinite where the obstacle is sticky
    held: NDArray[np.bool_]  # (n,) touching an obstacle that it may not leave
    rows: NDArray[np.intp]  # (n,) of the table

    def __len__(self) -> int:
        return len(self.rows)


def contacts_of(
    points: TouchPoints,
    X: Array,
    R: Array,
    origin: Array,
    rows: Array,
    samples: Sequence[Samples],
    within: float,
    dt: float,
) -> Contacts:
    """Of a body with its points about `origin` (d,), now turned by R (3, 3) about its middle at X (3,), and obstacles
    (rows, columns) as they are at the end of a step dt [s]: those that are nearer than `within` [m] at either end."""
    frame = R[:, : points.points.shape[1]]
    arms = (points.points - origin) @ frame.T
    size = float(np.sqrt((arms**2).sum(axis=1).max()))
    curved = points.round
    found = []
    for number, row in _surfaces(rows):
        phi, _ = _surface(row, samples[number], X[None])
        speed = _speed(row, X, size)
        if phi[0] > STEEP * size + within + dt * speed:
            continue
        flat = KINDS[int(row[KIND])] == "plane" and not curved.any()
        chosen = points.hull if flat else np.arange(len(arms))
        phi, normal = _surface(row, samples[number], X + arms[chosen])
        kept = phi < within + dt * speed + STEEP * np.where(curved, points.reach, 0.0)[chosen]
        chosen, phi, normal = chosen[kept], phi[kept], normal[kept]
        arm, bends = arms[chosen].copy(), np.zeros((len(chosen), 3, 3))
        own = np.zeros(len(chosen), bool)
        for _ in range(2 if curved.any() else 0):  # on a curved obstacle the normal is another one there
            lowest, bends = _lowest(points, chosen, arms, frame, normal)
            own = curved[chosen] & (np.linalg.norm(lowest - arms[chosen], axis=1) <= points.reach[chosen])
            arm = np.where(own[:, None], lowest, arms[chosen])
            phi, normal = _surface(row, samples[number], X + arm)
        bends[~own] = 0.0
        u = row[16:19] + np.cross(row[19:22], X + arm - row[4:7])
        gap = phi + dt * np.einsum("ni,ni->n", normal, u)  # the obstacle has gone that far in the step
        beside = curved[chosen] & ~own & (gap >= 0)  # neighbours touch first
        near = np.flatnonzero((np.minimum(gap, phi) < within) & ~beside)
        near = near[_apart(arm[near], SAME * size)]
        if not len(near):
            continue
        mode = MODES[int(row[MODE])]
        held = (gap < TOUCHING * size) & (mode != "separate")
        friction = np.full(len(phi), np.inf if mode == "sticky" else row[FRICTION])
        parts = (arm, bends, normal, u, gap, friction, held, np.full(len(phi), number))
        found.append([part[near] for part in parts])
    if not found:
        none, empty = np.zeros((0, 3)), np.zeros(0)
        return Contacts(
            none, np.zeros((0, 3, 3)), none, none, empty, empty, np.zeros(0, bool), np.zeros(0, np.intp)
        )
    return Contacts(*(np.ascontiguousarray(np.concatenate(parts)) for parts in zip(*found, strict=True)))


def _surfaces(rows: Array) -> Iterator[tuple[int, Array]]:
    """Rows of obstacles with their numbers. Rooms are their walls, since a point may touch several of them; regions of
    fixed velocity have no surface."""
    for number, row in enumerate(rows):
        kind = KINDS[int(row[KIND])]
        if kind == "box" and row[SIGN] < 0:
            for axis, side in itertools.product(range(3), (1.0, -1.0)):
                center, half = row[22 + axis], row[25 + axis]
                if half < FAR:
                    wall = row.copy()
                    wall[[KIND, SIGN]] = KINDS.index("plane"), 1.0
                    wall[22:] = 0.0
                    wall[22 + axis], wall[25] = -side, -side * center - half
                    yield number, wall
        elif kind != "region":
            yield number, row


def _surface(row: Array, samples: Samples, x: Array) -> tuple[Array, Array]:
    """Signed distances (n,) and normals (n, 3) of an obstacle at points x (n, 3)."""
    phi, normal = np.empty(len(x)), np.empty((len(x), 3))
    _core.collider_surface(row[None].copy(), [samples], np.ascontiguousarray(x), phi, normal)
    return phi, normal


def _speed(row: Array, X: Array, size: float) -> float:
    """Bound on the speed of an obstacle near a body [m/s]."""
    turning = float(np.linalg.norm(row[19:22]))
    return float(np.linalg.norm(row[16:19])) + turning * (float(np.linalg.norm(X - row[4:7])) + size)


def _lowest(
    points: TouchPoints, chosen: NDArray[np.intp], arms: Array, frame: Array, normals: Array
) -> tuple[Array, Array]:
    """Arms (n, 3) where a round surface near the chosen points is opposite to normals (n, 3), and its bends (n, 3, 3).

    frame (3, d): first directions of the body, as they are now."""
    N = points.normals[chosen] @ frame.T
    axes = points.axes[chosen] @ frame.T
    radii = points.radii[chosen]
    along = -np.einsum("nka,na->nk", axes, normals)
    facing = np.maximum(1 - np.einsum("na,na->n", N, normals), 1e-3)
    down = (radii * along**2).sum(axis=1) / facing
    lowest = arms[chosen] + np.einsum("nk,nka->na", radii * along, axes) - down[:, None] * N
    return lowest, np.einsum("nk,nka,nkb->nab", radii, axes, axes)


def _apart(arms: Array, hair: float) -> NDArray[np.intp]:
    """Numbers of points (n, 3) without those that are at the place of an earlier one: a ball has many of them."""
    _, first = np.unique(np.round(arms / hair), axis=0, return_index=True)
    return np.sort(first)


@dataclass(frozen=True)
class Struck:
    """What obstacles did to a body in a step."""

    twist: Array  # (6,) afterwards
    impulses: Array  # (n, 3) [N s] at the contacts
    sweeps: int


def strike(
    contacts: Contacts, mobility: Array, twist: Array, dt: float, restitution: float, slow: float
) -> Struck:
    """Impulses of obstacles on a body of some mobility (6, 6) and twist (6,), which has no other forces in the step.

    The body may come as near as touching. What closes faster than `slow` [m/s] and arrives bounces off with its speed
    times `restitution`, as far as that adds no energy: with friction or several points, Newton's rule could.
    """
    plain, closing = Struck(twist, np.zeros((len(contacts), 3)), 0), np.zeros(len(contacts))
    for _ in range(BENDS):
        before, closing = closing, _closing(contacts, plain.twist, dt)
        if plain.sweeps and np.abs(closing - before).max() <= BENT * np.abs(closing).max():
            break
        plain = _solved(contacts, mobility, twist, closing)
    approach = -_normal_speeds(contacts, twist)
    arrives = (approach > slow) & (-approach <= closing) & ~contacts.held
    if restitution == 0 or not arrives.any():
        return plain
    bouncing = _solved(contacts, mobility, twist, np.where(arrives, restitution * approach, closing))
    return _between(contacts, twist, plain, bouncing)


def _closing(contacts: Contacts, twist: Array, dt: float) -> Array:
    """Least normal velocities (n,) [m/s] for which points do not come nearer than touching. What turns does not move
    along a line: in the step points also go by (dt^2/2) w x (w x arm), with the spin w after the impulses. Where the
    surface is round another point touches then, (dt^2/2) R (e.(w x n))^2 lower."""
    w, n = twist[3:], contacts.normals
    turning = np.cross(w, n)
    bend = np.einsum("na,na->n", np.cross(w, np.cross(w, contacts.arms)), n)
    bend -= np.einsum("na,nab,nb->n", turning, contacts.bends, turning)
    bend *= 0.5 * dt
    return np.asarray(-np.maximum(np.maximum(contacts.gaps, 0.0) / dt + bend, 0.0))


def _normal_speeds(contacts: Contacts, twist: Array) -> Array:
    v = twist[:3] + np.cross(twist[3:], contacts.arms) - contacts.velocities
    return np.asarray(np.einsum("ni,ni->n", v, contacts.normals))


def _solved(contacts: Contacts, mobility: Array, twist: Array, targets: Array) -> Struck:
    """With the points that come too near, and those that do so because of them, until there are no more."""
    speeds = [np.abs(twist[:3]).max(), np.abs(np.cross(twist[3:], contacts.arms)).max()]
    scale = max(*map(float, speeds), float(np.abs(contacts.velocities).max()), float(np.abs(targets).max()))
    struck = Struck(twist, np.zeros((len(contacts), 3)), 0)
    active = contacts.held.copy()
    for _ in range(ROUNDS):
        late = ~active & (_normal_speeds(contacts, struck.twist) < targets - MISSED * scale)
        if struck.sweeps and not late.any():
            break
        active |= late
        after, impulses = twist.copy(), np.ascontiguousarray(struck.impulses[active])
        after += mobility @ _wrench(contacts.arms[active], impulses)
        sweeps = _core.rigid_impulses(
            np.ascontiguousarray(mobility),
            after,
            contacts.arms[active],
            contacts.normals[active],
            contacts.velocities[active],
            targets[active],
            contacts.friction[active],
            contacts.held[active],
            impulses,
            TOLERANCE * scale,
            SWEEPS,
        )
        whole = np.zeros((len(contacts), 3))
        whole[active] = impulses
        struck = Struck(after, whole, struck.sweeps + max(sweeps, 1))
    return struck


def _wrench(arms: Array, impulses: Array) -> Array:
    """Impulse and angular impulse (6,) about the middle of impulses (n, 3) at arms (n, 3)."""
    return np.concatenate([impulses.sum(axis=0), np.cross(arms, impulses).sum(axis=0)])


def _between(contacts: Contacts, twist: Array, plain: Struck, bouncing: Struck) -> Struck:
    """The impulses between those without and with a bounce, as near to the latter as adds no energy.

    The energy that impulses J add, beside the work of moving obstacles, is J.(v + v')/2 - J.u over the points, with the
    velocities before and after: a quadratic function of the share s of the bounce that is taken, and not positive at
    s = 0. Impulses that keep the conditions of contact and friction keep them in between.
    """

    def mixed(share: float) -> tuple[Array, Array]:
        impulses = (1 - share) * plain.impulses + share * bouncing.impulses
        return impulses, (1 - share) * plain.twist + share * bouncing.twist

    def energy(share: float) -> float:
        impulses, after = mixed(share)
        mean = 0.5 * (twist + after)
        v = mean[:3] + np.cross(mean[3:], contacts.arms) - contacts.velocities
        return float((impulses * v).sum())

    share = 1.0
    if energy(1.0) > 0:
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if energy(middle) <= 0 else (low, middle)
        share = low
    impulses, after = mixed(share)
    return Struck(after, impulses, plain.sweeps + bouncing.sweeps)


def displacement(contacts: Contacts, mobility: Array, most: float) -> Array:
    """The smallest twist (6,) [m, rad] in the norm of the energy that takes points out of obstacles, each by at most
    `most` [m], and pushes no other in. It is no motion: velocities do not know of it."""
    shift = np.zeros(6)
    inside = contacts.gaps < 0
    if inside.any():
        still = Contacts(
            contacts.arms,
            contacts.bends,
            contacts.normals,
            np.zeros_like(contacts.normals),
            contacts.gaps,
            np.zeros(len(contacts)),
            np.zeros(len(contacts), bool),
            contacts.rows,
        )
        targets = np.where(inside, np.minimum(-contacts.gaps, most), -contacts.gaps)
        shift = _solved(still, mobility, shift, targets).twist
    return shift


def per_row(contacts: Contacts, impulses: Array, count: int) -> Array:
    """Sums (rows, 3) [N s] over the contacts of every row."""
    total = np.zeros((count, 3))
    np.add.at(total, contacts.rows, impulses)
    return total
