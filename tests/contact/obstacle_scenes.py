"""Bodies on obstacles: rest, slide, roll, hang, bounce. `place` moves all of it through the grid."""

from __future__ import annotations

import numpy as np
from scenes import JELLY, A, G, H, run, time_step
from two_fields import Fields, ball_points, body_of, lattice_points, plain_nodes

from continua import colliders, motions
from continua.contact.fields import ObstacleLaw
from continua.materials import FixedCorotated, Liquid

WATER = Liquid(bulk_modulus=1e5)
PLACES = (0.0, 1e-6, 0.2, 0.37, 0.5, 0.63, 0.8, 0.99)


def world_of(bodies, obstacles, *, law=None, gravity=None, plain=False, h=H, place=0.0, degree=2):
    """The grid is moved instead of the bodies: nodes lie `place` cells higher."""
    d = bodies[0].dimension
    origin = np.full(d, 0.31 * h)
    origin[1] = place * h
    world = Fields(bodies, h, gravity=gravity, origin=origin, obstacles=obstacles, degree=degree)
    world.contact.law = law or ObstacleLaw()
    world.plain = plain_nodes if plain else None
    return world


def floor(d=2, **options):
    return colliders.Plane(normal=np.eye(d)[1], **options)


def down(slope=0.0, d=2):
    g = np.zeros(d)
    g[:2] = G * np.sin(slope), -G * np.cos(slope)
    return g


def box(low, high, name="block", material=JELLY, velocity=None, spacing=A, dtype=np.float64):
    points = lattice_points(np.array(low) * H, np.array(high) * H, spacing)
    return body_of(name, points, spacing, material, velocity=velocity, dtype=dtype)


def bottom(body):
    """Mean height of the lowest face [cells]; particles are as high as they have been squeezed."""
    y = body.x[:, 1]
    low = y < y.min() + 0.5 * A
    return (y[low] - A / 2 * body.F[low, 1, 1]).mean() / H


def rest(place, material=JELLY, d=2, obstacle=None, seconds=1.0, dtype=np.float64, **options):
    """Height [cells] of a block after a drop of 0.2 cells."""
    deep = [2] * (d - 2)
    body = box(
        [0, 0.2, *(-w for w in deep)], [8 if d == 2 else 4, 4.2, *deep], material=material, dtype=dtype
    )
    world = world_of([body], [obstacle or floor(d)], gravity=down(d=d), place=place, **options)
    run(world, seconds, time_step(material))
    heights = run(world, 0.2, time_step(material), lambda: bottom(body))
    return heights.mean()


def roll(cells, place, seconds=0.4, **options):
    """Acceleration of a disc on 20 degrees over that of a rigid one; mu = 0.5."""
    radius, slope = cells * H, np.radians(20)
    body = body_of("disc", ball_points((0, radius), radius, A), A, JELLY)
    world = world_of([body], [floor(friction=0.5)], gravity=down(slope), place=place, **options)
    return forward(world, body, seconds) / (2 / 3 * G * np.sin(slope))


def roll_in_space(cells, place, *, sphere, seconds=0.4, law=None):
    """The same in 3D: a ball, or a cylinder without ends on a periodic axis."""
    radius, slope = cells * H, np.radians(20)
    if sphere:
        points = ball_points((0, radius, 0), radius, A)
    else:
        disc = ball_points((0, radius), radius, A)
        points = np.concatenate([np.c_[disc, np.full(len(disc), A * (k + 0.5))] for k in range(8)])
    body = body_of("round", points, A, JELLY)
    period = np.array([0, 0, 0 if sphere else 1], np.int32)
    origin = np.array([0.31, place, 0.31 if sphere else 0.0]) * H
    world = Fields(
        [body], H, gravity=down(slope, 3), origin=origin, period=period, obstacles=[floor(3, friction=0.5)]
    )
    world.contact.law = law or ObstacleLaw()
    return forward(world, body, seconds) / ((5 / 7 if sphere else 2 / 3) * G * np.sin(slope))


def forward(world, body, seconds):
    """Mean acceleration along the first axis, without the first fifth of the time."""
    dt = time_step()
    v = run(world, seconds, dt, lambda: body.v[:, 0].mean())
    t, skip = dt * np.arange(len(v)), len(v) // 5
    return np.polyfit(t[skip:], v[skip:], 1)[0]


def slide(mu, place, d=2, seconds=0.3, slope=np.pi / 6, **options):
    """Acceleration minus that of a rigid block, in g; for mu above tan(slope) the creep [m/s]."""
    deep = [2] * (d - 2)
    body = box([0, 0, *(-w for w in deep)], [8, 4, *deep])
    world = world_of([body], [floor(d, friction=mu)], gravity=down(slope, d), place=place, **options)
    dt = time_step()
    v = run(world, seconds, dt, lambda: body.v[:, 0].mean())
    if mu > np.tan(slope):
        return v[len(v) // 2 :].mean()
    half = len(v) // 4
    return np.polyfit(dt * np.arange(len(v))[half:], v[half:], 1)[0] / G - (
        np.sin(slope) - mu * np.cos(slope)
    )


def touch(place, d=2, cells=4, **options):
    """Cells by which a falling ball feels the floor early: 0.1 % of its momentum."""
    radius = cells * H
    body = body_of("ball", ball_points([0, radius + 1.5 * H] + [0] * (d - 2), radius, A), A, JELLY)
    body.v[:, 1] = -1
    world = world_of([body], [floor(d)], place=place, **options)
    given, approach, dt = 0.0, 1.5 * H, 0.25 * time_step()
    p0 = body.mass.sum()
    while given < 1e-3 * p0 and approach > -H:
        world.step(dt)
        given += (body.mass * (body.v[:, 1] + 1)).sum() - given
        approach -= dt
    return approach / H


def spin(gap, place, **options):
    """Sum of the impulses [N s] of the floor on a disc that turns above it."""
    points = ball_points((0, 4 * H + gap * H), 4 * H, A)
    centre = points.mean(axis=0)
    body = body_of("disc", points, A, JELLY, velocity=(points - centre) @ np.array([[0, 1.0], [-1.0, 0]]))
    body.C = np.array([[0, -1.0], [1.0, 0]])
    world = world_of([body], [floor(friction=0.5)], place=place, **options)
    total = 0.0
    for _ in range(50):
        world.step(time_step())
        total += np.abs(world.contact.wall_impulses).sum()
    return total


def layer(place, **options):
    """Height at which a layer of half a cell rests."""
    body = box([0, 0.1], [8, 0.6])
    world = world_of([body], [floor()], gravity=down(), place=place, **options)
    run(world, 0.5, time_step())
    return body.x[:, 1].min() / H - 0.25


def hang(place, **options):
    """By how much a block under a sticky ceiling comes down [cells] in 0.5 s, beyond its own stretch."""
    body = box([0, -4], [8, 0])
    ceiling = colliders.Plane(normal=(0, -1), mode="sticky")
    world = world_of([body], [ceiling], gravity=down(), place=place, **options)
    top = run(world, 0.5, time_step(), lambda: (body.x[:, 1].max() + A / 2) / H)
    return top[len(top) // 2 :].mean()


def plate(thickness, place, **options):
    """Depth of the lowest particle below a thin plate [cells] on which a block fell."""
    body = box([-3, 0.5], [3, 4.5])
    wall = colliders.Box(center=(0, -thickness * H / 2), size=(20 * H, thickness * H))
    world = world_of([body], [wall], gravity=down(), place=place, **options)
    body.v[:, 1] = -1
    run(world, 0.5, time_step())
    return body.x[:, 1].min() / H


def rebound(place, **options):
    """Speed after over before of a block of 8 cells that falls flat."""
    body = box([0, 1], [8, 9], material=FixedCorotated(E=1e5, nu=0.3, density=1000))
    body.v[:, 1] = -0.5
    world = world_of([body], [floor()], place=place, **options)
    v = run(world, 0.5, 0.5 * time_step(body.material), lambda: body.v[:, 1].mean())
    return v[-1] / 0.5


def level(place, material=WATER, seconds=1.5, **options):
    """Change of the level of a liquid, or sand, in a basin [cells], from rest and beyond what its weight squeezes."""
    body = box([0, 0], [16, 8], material=material)
    basin = colliders.Box(center=(8 * H, 20 * H), size=(16 * H, 40 * H), inverted=True)
    world = world_of([body], [basin], gravity=down(), place=place, **options)
    dt = 0.4 * H / (material.wave_speed() + 1)
    y = run(world, seconds, dt, lambda: body.x[:, 1].mean())
    squeeze = G * (8 * H) ** 2 / material.wave_speed() ** 2 / 3  # of the centre; rho c^2 is the modulus
    return 2 * (y[-len(y) // 4 :].mean() - 4 * H + squeeze) / H


def groove(place, **options):
    """Height [cells] at which a square on its corner rests in a right-angled groove that fits it."""
    c = np.sqrt(0.5)
    points = lattice_points((0, 0), (5 * H, 5 * H), A) @ np.array([[c, c], [-c, c]]) + (0, 0.2 * H)
    body = body_of("square", points, A, JELLY)
    walls = [colliders.Plane(normal=(s, 1)) for s in (1, -1)]
    world = world_of([body], walls, gravity=down(), place=place, **options)
    centre = body.x[:, 1].mean() / H
    y = run(world, 0.6, time_step(), lambda: body.x[:, 1].mean() / H)
    return y[len(y) // 2 :].mean() - centre + 0.2


def soft(place, **options):
    """Height [cells] at which a block stands that its weight squeezes by 4 % at the bottom."""
    jelly = FixedCorotated(E=9e4, nu=0.3, density=1000)
    body = box([0, 0], [8, 8], material=jelly)
    world = world_of([body], [floor()], gravity=down(), place=place, **options)
    heights = run(world, 1.0, time_step(jelly), lambda: bottom(body))
    return heights[len(heights) // 4 :].mean()


def piston(place, **options):
    """Cells by which a block between walls is squeezed less than its piston has moved, judged by the force on it."""
    body, speed, seconds = box([0, 0], [8, 8]), 0.04, 0.4
    walls = [floor(), colliders.Plane(normal=(1, 0)), colliders.Plane(normal=(-1, 0), point=(8 * H, 0))]
    plate = colliders.Plane(normal=(0, -1), point=(0, 8 * H), motion=motions.Linear((0, -speed)))
    world = world_of([body], [plate, *walls], place=place, **options)
    dt = time_step()
    force = -run(world, seconds, dt, lambda: world.contact.wall_impulses[0, 1]) / dt
    moved = speed * dt * np.arange(1, len(force) + 1) / H
    late, modulus = len(force) // 2, 1e6 * 0.7 / (1.3 * 0.4)
    return (moved - force / (modulus * H))[late:].mean()


def overhang(place, **options):
    """Height [cells] of a block on a box whose edge it overhangs by 2 of 8 cells, above the box."""
    body = box([0, 0], [8, 4])
    table = colliders.Box(center=(-4 * H, -5 * H), size=(20 * H, 10 * H), friction=0.5)
    low = body.ids[(body.x[:, 1] < A) & (body.x[:, 0] < 4 * H)]
    world = world_of([body], [table], gravity=down(), place=place, **options)

    def height():
        return (body.x[np.isin(body.ids, low), 1].mean() - A / 2) / H

    run(world, 0.6, time_step())
    return run(world, 0.2, time_step(), height).mean()


def span(function, places=PLACES, **options):
    values = [function(p, **options) for p in places]
    return f"{min(values):+.3g} .. {max(values):+.3g}"


if __name__ == "__main__":
    import sys
    import time

    variants = {
        "law": {},
        "A (sd < 0)": {"plain": True},
        "no correction": {"law": ObstacleLaw(correction=0.0)},
        "slack 0": {"law": ObstacleLaw(slack=0.0)},
    }
    few = PLACES[::2]
    for name, o in variants.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        start = time.time()
        print("==", name)
        print("rest", span(rest, **o), "touch", span(touch, **o))
        print(
            "spin .2 .5",
            span(lambda p, **q: spin(0.2, p, **q), **o),
            span(lambda p, **q: spin(0.5, p, **q), few, **o),
        )
        print(
            "slide 0 .2 .4",
            *(span(lambda p, mu=mu, **q: slide(mu, p, **q), few, **o) for mu in (0, 0.2, 0.4)),
        )
        print("creep", span(lambda p, **q: slide(0.7, p, **q), few, **o))
        print(
            "roll 4",
            span(lambda p, **q: roll(4, p, **q), **o),
            "8",
            span(lambda p, **q: roll(8, p, **q), few, **o),
        )
        print("layer", span(layer, few, **o), "hang", span(hang, **o), "groove", span(groove, few, **o))
        print("plate .5 1", *(span(lambda p, w=w, **q: plate(w, p, **q), few, **o) for w in (0.5, 1)))
        print(
            "rebound", span(rebound, few, **o), "level", span(level, few, **o), f"{time.time() - start:.0f} s"
        )
