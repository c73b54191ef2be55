"""Bodies that rest, slide, roll and fly past each other, in 2D: what contact must get right, as numbers.

Units of length are cells H; dt = 0.4 H/c; the lower body is held at its bottom.
"""

from __future__ import annotations

import numpy as np
from two_fields import Fields, ball_points, body_of, lattice_points

from continua.materials import FixedCorotated

H, A, G = 0.05, 0.025, 9.81
JELLY = FixedCorotated(E=1e6, nu=0.3, density=1000)


def time_step(material=JELLY, h=H):
    return 0.4 * h / material.wave_speed()


def turned(points, angle):
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, s], [-s, c]])


def hold_bottom(world, body, below, angle=0.0):
    """Nodes of a body deeper than `below` along the turned vertical stay at rest."""
    up = np.array([-np.sin(angle), np.cos(angle)])

    def hold(fields, dt):
        low = world.grids[body].node_positions() @ up < below
        fields[body].nodes[low, :3] = 0

    world.after = hold


def block_on_block(
    offset=(0.0, 0.0), drop=0.0, slope=0.0, mu=0.0, angle=0.0, width=20, slack=0.25, material=JELLY
):
    """An 8 x 4 block above a wide one; gravity leans by `slope`, everything is turned by `angle`."""
    lower = lattice_points((-6 * H, -4 * H), ((width - 6) * H, 0), A)
    upper = lattice_points((0, drop * H), (8 * H, (4 + drop) * H), A)
    bodies = [body_of("a", turned(lower, angle), A, JELLY), body_of("b", turned(upper, angle), A, material)]
    down = turned(np.array([[np.sin(slope), -np.cos(slope)]]), angle)[0]
    world = Fields(bodies, H, friction=mu, slack=slack, gravity=G * down, origin=np.array(offset) * H)
    hold_bottom(world, 0, -2.5 * H, angle)
    return world


def run(world, seconds, dt, watch=None):
    """Values of watch() at every step."""
    seen = []
    for _ in range(max(1, round(seconds / dt))):
        world.step(dt)
        if watch is not None:
            seen.append(watch())
    return np.array(seen)


def face_gap(world, angle=0.0):
    """Between the lowest row of b and the highest of a under it [cells]; half a particle each."""
    up, along = np.array([-np.sin(angle), np.cos(angle)]), np.array([np.cos(angle), np.sin(angle)])
    a, b = (body.x for body in world.bodies)
    row = b @ up < (b @ up).min() + 0.5 * A
    inner = (a @ along > (b @ along).min() + H) & (a @ along < (b @ along).max() - H)
    top = a[inner] @ up
    return ((b[row] @ up).mean() - top[top > top.max() - 0.5 * A].mean() - A) / H


def static(offset, view=None, material=JELLY):
    """Gap [cells] after a drop of 0.2 cells, and by how much it still changes in the last half second."""
    world = block_on_block(offset, drop=0.2, material=material)
    world.view = view or world.view
    gaps = run(world, 1.0, time_step(), lambda: face_gap(world))
    tenth = len(gaps) // 10
    return gaps[-tenth:].mean(), gaps[-tenth:].mean() - gaps[5 * tenth : 6 * tenth].mean()


def slide(mu, offset=(0.0, 0.0), angle=0.0, slope=np.pi / 6, seconds=0.5):
    """Acceleration along the slope minus that of a rigid block, in g."""
    world = block_on_block(offset, slope=slope, mu=mu, angle=angle, width=36)
    along = np.array([np.cos(angle), np.sin(angle)])
    dt = time_step()
    v = run(world, seconds, dt, lambda: world.bodies[1].v.mean(axis=0) @ along)
    t = dt * np.arange(len(v))
    half = len(v) // 4
    return np.polyfit(t[half:], v[half:], 1)[0] / G - (np.sin(slope) - mu * np.cos(slope))


def stick(offset=(0.0, 0.0), angle=0.0, slack=0.25):
    """Speed [m/s] averaged over the second second, friction 0.7 on 30 degrees."""
    world = block_on_block(offset, slope=np.pi / 6, mu=0.7, angle=angle, slack=slack)
    along = np.array([np.cos(angle), np.sin(angle)])
    x = run(world, 2.0, time_step(), lambda: world.bodies[1].x.mean(axis=0) @ along)
    return x[-1] - x[len(x) // 2]


def glide(gap, angle=0.0, offset=(0.0, 0.0)):
    """Part of its speed that a block loses over a block, without load and with friction, on 0.5 m."""
    world = block_on_block(offset, drop=gap, mu=0.5, angle=angle, width=26)
    world.gravity[:] = 0
    along = np.array([np.cos(angle), np.sin(angle)])
    world.bodies[1].v[:] = along
    run(world, 0.5, time_step())
    return 1 - (world.bodies[1].v @ along).mean()


def lift(offset=(0.0, 0.0)):
    """Momentum of the lower block over that of one that leaves it, from touching."""
    world = block_on_block(offset)
    world.gravity[:] = 0
    world.after = None
    world.bodies[1].v[:] = (0, 0.5)
    run(world, 0.1, time_step())
    p = [np.abs((b.mass[:, None] * b.v).sum(axis=0)).max() for b in world.bodies]
    return p[0] / p[1]


def roll(cells, offset=(0.0, 0.0), slack=0.25, seconds=None):
    """Acceleration of a disc on 20 degrees over that of a rigid one, 2/3 g sin; mu = 0.5."""
    radius, slope = cells * H, np.radians(20)
    length = 2 * radius + 0.4
    lower = lattice_points((-radius - 2 * H, -4 * H), (length, 0), A)
    bodies = [body_of("a", lower, A, JELLY), body_of("b", ball_points((0, radius), radius, A), A, JELLY)]
    world = Fields(bodies, H, friction=0.5, slack=slack, gravity=(G * np.sin(slope), -G * np.cos(slope)),
                   origin=np.array(offset) * H)  # fmt: skip
    hold_bottom(world, 0, -2.5 * H)
    dt = time_step()
    v = run(world, seconds or 0.5, dt, lambda: bodies[1].v[:, 0].mean())
    t, skip = dt * np.arange(len(v)), len(v) // 5
    return np.polyfit(t[skip:], v[skip:], 1)[0] / (2 / 3 * G * np.sin(slope))


def discs(h=H, material=None):
    """Two soft discs that meet head on along the diagonal (Sulsky et al. 1994)."""
    material = material or FixedCorotated(E=1000, nu=0.3, density=1000)
    bodies = [
        body_of(n, ball_points((c, c), 0.2, h / 2), h / 2, material, velocity=(v, v))
        for n, c, v in (("a", 0.2, 0.1), ("b", 0.8, -0.1))
    ]
    return Fields(bodies, h)


def touch(h=H, offset=(0.0, 0.0)):
    """Approach [cells] by which 0.1 % of the momentum was exchanged early, rise of energy, loss of momentum."""
    world = discs(h)
    world.lattice.origin[:] = np.array(offset) * h
    p0 = (world.bodies[0].mass[:, None] * world.bodies[0].v).sum(axis=0)
    exact = (np.sqrt(2) * 0.6 - 0.4) / (np.sqrt(2) * 0.2)
    dt = 0.4 * h / (world.bodies[0].material.wave_speed() + 0.2)
    t, e0, rise, given, start = 1.3, world.energy(), 0.0, np.zeros(2), None
    for b, s in zip(world.bodies, (1, -1)):
        b.set.arrays.x[:, : b.count] += s * 0.1 * t
    while t < exact + 1.0:
        given += world.step(dt)[0, :2]
        t += dt
        if start is None and np.abs(given).max() > 1e-3 * p0.max():
            start = t
        rise = max(rise, world.energy() / e0 - 1)
    lost = np.abs(world.momentum()).max() / p0.max()
    speed = np.linalg.norm((world.bodies[1].v).mean(axis=0)) / (0.1 * np.sqrt(2))
    return (exact - start) * 0.2 * np.sqrt(2) / h, rise, lost, speed


def spin_above(gap):
    """Impulse and relative change of spin of a disc that turns above a block."""
    lower = lattice_points((-8 * H, -4 * H), (8 * H, 0), A)
    points = ball_points((0, 4 * H + gap * H), 4 * H, A)
    centre = points.mean(axis=0)
    disc = body_of("b", points, A, JELLY, velocity=(points - centre) @ np.array([[0, 1.0], [-1.0, 0]]))
    disc.C = np.array([[0, -1.0], [1.0, 0]])
    world = Fields([body_of("a", lower, A, JELLY), disc], H, friction=0.5)
    total = np.zeros(3)
    for _ in range(100):
        total += np.abs(world.step(time_step())).sum(axis=0)
    return total.max()


if __name__ == "__main__":
    offsets = [(0, 0), (0.25, 0.4), (0.5, 0.7), (0.77, 0.93)]
    print("static gap, drift", [tuple(np.round(static(o), 4)) for o in offsets])
    print("spin above", [spin_above(g) for g in (0.2, 0.3, 0.5)])
    print("touch", [tuple(f"{v:.3g}" for v in touch(h)) for h in (0.05, 0.025)])
    for mu in (0, 0.2, 0.4):
        print("slide", mu, [round(slide(mu, o), 4) for o in offsets], round(slide(mu, angle=np.pi / 6), 4))
    print("stick", [f"{stick(o):.2g}" for o in offsets[:2]], f"{stick(angle=np.pi / 6):.2g}")
    print("glide", [f"{glide(g, a):.2g}" for g in (0, 0.5) for a in (0, np.radians(20))])
    print("lift", [lift(o) for o in offsets])
    print("roll 4", [round(roll(4, o), 3) for o in offsets], "8", [round(roll(8, o), 3) for o in offsets[:2]])
