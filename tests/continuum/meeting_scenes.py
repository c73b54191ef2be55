"""Bodies of several continua that lie on, glide past and leave each other, and a contact law in Python to spoil.

Lengths are in cells H; the slab of `continua.validation.continua_scenes` lies under most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import continua as ct
from continua.contact.fields import ContactField, FieldContact, PairRule, pair_contacts
from continua.validation.continua_scenes import JELLY, G, H, Slab, mean_velocity, watch

A = H / 2  # distance of particles
BLOCK = ((0.0, 0.0), (8.0, 4.0))  # [cells]


def box(lower: Sequence[float], upper: Sequence[float], shift: Sequence[float] = (0, 0, 0)) -> ct.shapes.Box:
    """Between two corners [cells]."""
    low, high = np.array(lower, float), np.array(upper, float)
    move = np.array(shift[: len(low)], float)
    return ct.shapes.Box(tuple(H * (move + (low + high) / 2)), tuple(H * (high - low)))


def run(sim: ct.Simulation, duration: float) -> None:
    watch(sim, duration, lambda: 0.0)


class FaceGap:
    """Mean gap [cells] between the top row of one body and the lowest row of another on it; half a particle each."""

    def __init__(self, lower: ct.ParticleBody, upper: ct.ParticleBody) -> None:
        self.bodies = lower, upper
        a, b = (body.fields()["x"] for body in self.bodies)
        self.top, self.bottom = a[:, 1] > a[:, 1].max() - 0.5 * A, b[:, 1] < b[:, 1].min() + 0.5 * A
        self.bottom &= (b[:, 0] > b[:, 0].min() + H) & (b[:, 0] < b[:, 0].max() - H)

    def __call__(self) -> float:
        a, b = (body.fields()["x"] for body in self.bodies)
        top, bottom = a[self.top], b[self.bottom]
        order = np.argsort(top[:, 0])
        below = np.interp(bottom[:, 0], top[order, 0], top[order, 1])
        return float((bottom[:, 1] - below).mean() - A) / H


def static(slab: Slab, material=JELLY, drop: float = 0.2) -> tuple[float, float]:
    """Gap [cells] of a dropped block at the end of a second, and its change since the middle of it."""
    sim = slab.simulation()
    body = slab.add(sim, box((0, drop), (8, 4 + drop), slab.offset), material)
    _, gaps = watch(sim, 1.0, FaceGap(sim.bodies[0], body))
    tenth = len(gaps) // 10
    end = gaps[-tenth:].mean()
    return float(end), float(end - gaps[5 * tenth : 6 * tenth].mean())


def stick_speed(slab: Slab) -> float:
    """Speed [m/s] of a block averaged over the second second."""
    sim = slab.simulation()
    body = slab.add(sim, slab.box(*BLOCK))
    t, x = watch(sim, 2.0, lambda: float(body.x.mean(axis=0) @ slab.along))
    return float(x[-1] - np.interp(1.0, t, x))


def glide_loss(slab: Slab, gap: float) -> float:
    """Part of its speed of 1 m/s that a block loses over a slab, without load, on 0.5 m."""
    sim = slab.simulation()
    body = slab.add(sim, slab.box((0, gap), (8, 4 + gap)), velocity=slab.along)
    run(sim, 0.5)
    return float(1 - mean_velocity(body) @ slab.along)


def lift_ratio(slab: Slab, layer: ct.materials.Material, thickness: float = 4.0) -> float:
    """Momentum of a layer over that of a block that leaves it upwards from touching."""
    sim = ct.Simulation(H, (0.0, 0.0))
    name = "a" if slab.separate else None
    under = sim.add(box((-4, -thickness), (12, 0), slab.offset), layer, continuum=name)
    body = slab.add(sim, box(*BLOCK, slab.offset), velocity=(0.0, 0.5))
    run(sim, 0.1)
    p = [np.abs((b.mass[:, None] * b.v).sum(axis=0)).max() for b in (under, body)]
    return float(p[0] / p[1])


def layers(
    heights: Sequence[tuple[float, float]], *, slack: float = 0.25, friction: float = 0.0, offset=(0.3, 0.4)
) -> ct.Simulation:
    """Layers from 0 to 8 cells, one continuum each, on a slab that is held."""
    slab = Slab(length=12, behind=2, offset=(*offset, 0.0))
    sim = slab.simulation()
    names = ["a", *(f"b{k}" for k in range(len(heights)))]
    for name, (low, high) in zip(names[1:], heights):
        sim.add(box((0, low), (8, high), offset), JELLY, name=name, continuum=name)
    for a, b in zip(names, names[1:]):
        sim.add(ct.Contact(a, b, friction=friction, slack=slack))
    for k, a in enumerate(names):
        for b in names[k + 2 :]:
            sim.add(ct.Contact(a, b, friction=friction, slack=slack))
    return sim


def drifts(sim: ct.Simulation, duration: float) -> np.ndarray:
    """By how much the layers have sunk [cells]."""
    bodies = sim.bodies[1:]
    before = np.array([b.x[:, 1].mean() for b in bodies])
    run(sim, duration)
    return (np.array([b.x[:, 1].mean() for b in bodies]) - before) / H


# ---- the law in Python, to make it wrong ------------------------------------------------------------------------

Change = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # of normals and gaps


class PythonContact:
    """The law for one pair, J = m_red (push n + rub t), with normals and gaps changed at will before it."""

    change: Change = staticmethod(lambda n, gap: (n, gap))  # type: ignore[assignment]
    twist = 0.0  # [radians] by which b sees another normal than a

    def __init__(self) -> None:
        self.contacts = np.zeros(1, np.int64)

    def resolve(
        self, fields: list[ContactField], rules: list[PairRule], lattice, degree, dt, obstacles
    ) -> np.ndarray:
        (rule,) = rules
        found = pair_contacts(fields, rules, lattice, degree)
        n, gap = self.change(found.normal, found.gap)
        keep = (np.abs(n).sum(axis=1) > 0) & np.isfinite(gap)
        n, gap = n[keep], gap[keep]
        sides = [fields[rule.a], fields[rule.b]]
        at = [(np.searchsorted(f.keys, found.key[keep]), found.node[keep]) for f in sides]
        (ua, ma), (ub, mb) = ((f.nodes[where][:, :3], f.nodes[where][:, 3]) for f, where in zip(sides, at))
        J = impulse(ua, ma, ub, mb, n, gap, rule.friction, dt)
        other = impulse(ua, ma, ub, mb, turned(n, self.twist), gap, rule.friction, dt) if self.twist else J
        sides[0].nodes[(*at[0], slice(0, 3))] = ua - J / ma[:, None]
        sides[1].nodes[(*at[1], slice(0, 3))] = ub + other / mb[:, None]
        self.contacts[0] = int((np.abs(J).sum(axis=1) > 0).sum())
        walls = FieldContact()
        walls.resolve(fields, [], lattice, degree, dt, obstacles)
        self.wall_impulses = walls.wall_impulses
        return -J.sum(axis=0)[None]


def impulse(ua, ma, ub, mb, n, gap, friction, dt) -> np.ndarray:
    """(n, 3) [N s] that the first loses and the second gets."""
    r, m = ua - ub, ma / (ma + mb) * mb
    vn = (r * n).sum(axis=1)
    push = np.maximum(vn - np.maximum(gap, 0) / dt, 0)
    t = r - vn[:, None] * n
    slide = np.linalg.norm(t, axis=1)
    rub = np.minimum(friction * push, slide)
    part = np.divide(rub, slide, out=np.zeros_like(rub), where=slide > 0)
    return m[:, None] * (push[:, None] * n + part[:, None] * t)


def turned(n: np.ndarray, angle: float) -> np.ndarray:
    """Normals (n, 3) turned in the plane."""
    c, s = np.cos(angle), np.sin(angle)
    return n @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


__all__ = ["BLOCK", "JELLY", "A", "G", "H", "PythonContact", "Slab"]
