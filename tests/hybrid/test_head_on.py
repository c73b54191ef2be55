"""Two solids fly at each other: momentum, energy, distance, and what restitution does."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.path import Path
from solid_worlds import block, energy, jelly, momentum, run

import continua as ct

SPEED, H = 0.5, 0.1


def approach(
    dx: float, contact: ct.GridContact, *, d: int = 2, integrator: str = "symplectic", dt: float | None = None
) -> tuple[ct.Simulation, ct.SolidBody, ct.SolidBody]:
    sim = ct.Simulation(dx, (0.0,) * d, integrator=integrator, dt=dt)
    v = np.eye(d)[0] * SPEED
    a = block(sim, np.zeros(d), 0.4, 4, material=jelly(2e4), contact=contact, velocity=v)
    b = block(
        sim,
        (np.eye(d)[0] * 0.6 + np.eye(d)[1] * 0.013),
        0.4,
        4,
        material=jelly(2e4),
        contact=contact,
        velocity=-v,
    )
    return sim, a, b


def outline(body: ct.SolidBody) -> np.ndarray:
    """Corners of a 2D surface, in order around it."""
    following = dict(body.surface.tolist())
    corners = [body.surface[0, 0]]
    while following[corners[-1]] != corners[0]:
        corners.append(following[corners[-1]])
    return np.asarray(body.x[corners], float)


def inside(a: ct.SolidBody, b: ct.SolidBody) -> int:
    """How many of a thousand points along the surface of a lie inside b."""
    ring = outline(a)
    ends = np.roll(ring, -1, axis=0)
    along = np.linspace(0, 1, 60, endpoint=False)[:, None, None]
    dense = (ring + along * (ends - ring)).reshape(-1, 2)
    return int(Path(outline(b)).contains_points(dense, radius=-1e-9).sum())


@pytest.mark.parametrize(("integrator", "dt"), [("symplectic", None), ("optimization", 0.01)])
def test_they_meet_without_touching_and_momentum_stays(integrator: str, dt: float | None) -> None:
    """At dx = h/2: the error of the total below 2 % of what the two had, no penetration, no energy gained.

    Coulomb's law takes only what pushes, on each side by its own normals: momentum is kept up to that.
    """
    sim, a, b = approach(H / 2, ct.GridContact(), integrator=integrator, dt=dt)
    own, start = momentum(a)[0], energy(a) + energy(b)
    deepest, most = 0, 0.0

    def look() -> None:
        nonlocal deepest, most
        deepest = max(deepest, inside(a, b), inside(b, a))
        most = max(most, energy(a) + energy(b))

    run(sim, 0.8, look)
    total = momentum(a) + momentum(b)
    assert np.abs(total).max() < 0.02 * 2 * own
    assert momentum(a)[0] < 0.5 * own  # they have met
    assert deepest == 0
    assert most <= start * (1 + 1e-3)


def test_without_company_they_pass_through_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of the gates above: nobody meets anybody."""
    from continua.integrators import hybrid

    monkeypatch.setattr(
        hybrid._Neighbours, "company", lambda self, exchange: np.zeros(len(exchange.particles), bool)
    )
    sim, a, b = approach(H / 2, ct.GridContact())
    run(sim, 0.4)
    assert inside(a, b) > 0 and momentum(a)[0] > 0.99 * SPEED * a.mass.sum()


def test_they_meet_in_3d() -> None:
    sim, a, b = approach(H / 2, ct.GridContact(), d=3)
    own, start = momentum(a)[0], energy(a) + energy(b)
    gap = np.inf

    def look() -> None:
        nonlocal gap
        gap = min(gap, float(b.x[:, 0].min() - a.x[:, 0].max()))

    run(sim, 0.5, look)
    assert 0 < gap < 3 * H / 2 and momentum(a)[0] < 0.5 * own
    assert np.abs(momentum(a) + momentum(b)).max() < 0.02 * 2 * own
    assert energy(a) + energy(b) <= start * (1 + 1e-3)


def test_restitution_gives_more_back() -> None:
    """Impulses 1 + e times as large: less is lost in the same steps, and friction may take more."""
    left = []
    for e in (0.0, 0.5, 1.0):
        sim, a, b = approach(H, ct.GridContact(restitution=e), dt=2e-3)
        run(sim, 0.8)
        left.append(-momentum(a)[0] / (SPEED * a.mass.sum()))
    assert left[0] < left[1] < left[2]
    assert left[2] - left[0] > 0.05


def test_friction_takes_the_sliding() -> None:
    """Two blocks pressed together by a force slide past each other: with mu = 0.5 they are slower than without, by at
    most Coulomb's mu g t each."""
    speeds = {}
    for mu in (0.0, 0.5):
        sim = ct.Simulation(0.05, (0.0, 0.0), dt=2e-3)
        contact = ct.GridContact(friction=mu)
        a = block(sim, (0.0, 0.0), (0.8, 0.2), 2, contact=contact, velocity=(0.3, 0.0))
        b = block(sim, (0.0, 0.25), (0.8, 0.2), 2, contact=contact, velocity=(-0.3, 0.0))
        sim.add(ct.BodyForce(lambda body, t, a=a: np.tile((0.0, 2.0 if body is a else -2.0), (len(body), 1))))
        run(sim, 0.2)
        speeds[mu] = (momentum(a)[0] - momentum(b)[0]) / a.mass.sum()
    assert speeds[0.0] == pytest.approx(0.6, rel=0.05)  # edges meet the smoothed field as well
    assert 0 < speeds[0.5] < 0.5
    assert speeds[0.5] >= 0.6 - 2 * 0.5 * 2.0 * 0.2 - 0.02
