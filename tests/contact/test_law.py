"""The law of contact at one node: exact properties on random pairs and groups (Bardenhagen et al. 2000, Nairn 2013)."""

import numpy as np
import pytest

from continua import _core

ROUNDS = 20


def unit(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    v = np.zeros((n, 3))
    v[:, :d] = rng.normal(size=(n, d))
    return v / np.linalg.norm(v, axis=1)[:, None]


def one_pair(mass, u, n, gap, mu):
    """Velocities (2, 3) after, and the impulse on the first."""
    u, J = u.copy(), np.zeros((1, 3))
    _core.resolve_meeting(
        mass, u, np.array([[0, 1]], np.int32), n[None].copy(), np.array([gap]), np.array([mu]), J
    )
    return u, J[0]


@pytest.mark.parametrize("d", [2, 3])
def test_a_pair_keeps_momentum_loses_energy_and_never_turns_round(d):
    rng = np.random.default_rng(d)
    count = 100_000
    mass = np.stack([np.ones(count), 10 ** rng.uniform(-10, 10, count)], axis=1)
    u = np.zeros((count, 2, 3))
    u[..., :d] = rng.normal(size=(count, 2, d))
    n = unit(rng, count, d)
    mu = rng.uniform(0, 1.5, count) * (rng.random(count) > 0.1)
    closing = np.where(rng.random(count) < 0.5, 0.0, rng.exponential(0.3, count))
    after, J = u.copy(), np.zeros((count, 3))
    pairs = np.arange(2 * count, dtype=np.int32).reshape(count, 2)
    many(mass, after, pairs, n, closing, mu, J)
    r, s = u[:, 0] - u[:, 1], after[:, 0] - after[:, 1]
    vn = (r * n).sum(axis=1)
    apart = vn <= closing
    assert np.array_equal(after[apart], u[apart]) and not J[apart].any() and 0.2 < apart.mean() < 0.9
    some = ~apart
    p, q = (mass[:, :, None] * u).sum(axis=1), (mass[:, :, None] * after).sum(axis=1)
    scale = (mass[:, :, None] * np.abs(u)).sum(axis=(1, 2))
    assert (np.abs(p - q).max(axis=1) / scale).max() < 1e-13
    red = mass[:, 0] / mass.sum(axis=1) * mass[:, 1]
    gain = 0.5 * red * ((s**2).sum(axis=1) - (r**2).sum(axis=1))  # the mean velocity does not change
    assert (gain / (red * (r**2).sum(axis=1))).max() < 1e-13
    lost_energy = (0.5 * mass * ((after**2).sum(axis=2) - (u**2).sum(axis=2))).sum(axis=1)
    assert (lost_energy / (mass * (u**2).sum(axis=2)).sum(axis=1)).max() < 1e-13
    # what is left along the normal is the closing speed, and what slides keeps its direction
    left = (s * n).sum(axis=1) - closing
    assert np.abs(left[some]).max() < 2e-13 * np.abs(r).max()
    t0, t1 = r - vn[:, None] * n, s - (s * n).sum(axis=1)[:, None] * n
    size = np.linalg.norm(t0, axis=1) * np.linalg.norm(r, axis=1)  # rounding is that of r
    assert ((t0 * t1).sum(axis=1)[some] / size[some]).min() > -1e-13
    push = -(J * n).sum(axis=1)
    rub = np.linalg.norm(J + push[:, None] * n, axis=1)
    assert (rub - mu * push)[some].max() <= 1e-13 * push.max()


def many(mass, u, pairs, n, closing, mu, J):
    """All pairs apart from each other: one call each would be slow, one for all would meet the limit of rounds."""
    step = ROUNDS // 4
    for k in range(0, len(pairs), step):
        rows = slice(k, min(k + step, len(pairs)))
        m, v, j = (
            mass[rows].ravel(),
            np.ascontiguousarray(u[rows].reshape(-1, 3)),
            np.zeros((len(pairs[rows]), 3)),
        )
        local = np.arange(len(m), dtype=np.int32).reshape(-1, 2)
        _core.resolve_meeting(m, v, local, n[rows].copy(), closing[rows].copy(), mu[rows].copy(), j)
        u[rows], J[rows] = v.reshape(-1, 2, 3), j


def group(rng, fields, d=3):
    """Masses (n,), velocities (n, 3), pairs, normals of a random meeting."""
    mass = 10 ** rng.uniform(-1.5, 1.5, fields)
    u = np.zeros((fields, 3))
    u[:, :d] = rng.normal(size=(fields, d))
    pairs = np.array([(a, b) for a in range(fields) for b in range(a + 1, fields)], np.int32)
    where = unit(rng, fields, d)  # around the node: normals then agree with each other, as those of bodies do
    n = where[pairs[:, 1]] - where[pairs[:, 0]]
    return mass, u, pairs, n / np.linalg.norm(n, axis=1)[:, None]


def resolved(mass, u, pairs, n, mu):
    u, J = u.copy(), np.zeros((len(pairs), 3))
    _core.resolve_meeting(mass, u, pairs, n.copy(), np.zeros(len(pairs)), mu.copy(), J)
    return u, J


def fixed_order(mass, u, pairs, n, mu):
    """The control: the same law, one pair after the other as they are listed."""
    u = u.copy()
    for _ in range(ROUNDS // len(pairs) + 1):
        for k, (a, b) in enumerate(pairs):
            both, _ = one_pair(mass[[a, b]], u[[a, b]], n[k], 0.0, mu[k])
            u[[a, b]] = both
    return u


@pytest.mark.parametrize("fields", [3, 4, 5])
def test_many_fields_keep_momentum_and_the_order_of_creation_is_of_no_consequence(fields):
    rng = np.random.default_rng(fields)
    left, changes, control = [], [], []
    for _ in range(1500):
        mass, u, pairs, n = group(rng, fields)
        mu = rng.uniform(0, 1, len(pairs))
        after, _ = resolved(mass, u, pairs, n, mu)
        scale = (mass[:, None] * np.abs(u)).sum()
        assert np.abs(mass @ (after - u)).max() < 1e-13 * scale
        e0, e1 = (0.5 * mass @ (v**2).sum(axis=1) for v in (u, after))
        assert e1 <= e0 * (1 + 1e-13)
        r = after[pairs[:, 0]] - after[pairs[:, 1]]
        left.append(max(0.0, (r * n).sum(axis=1).max()) / np.linalg.norm(u, axis=1).max())
        new = rng.permutation(fields)  # field k is now called new[k]
        shuffled = rng.permutation(len(pairs))
        turned = new[pairs[shuffled]]
        swap = turned[:, 0] > turned[:, 1]
        turned[swap] = turned[swap][:, ::-1]
        m, v = np.empty_like(mass), np.empty_like(u)
        m[new], v[new] = mass, u
        args = (
            m,
            v,
            turned.astype(np.int32),
            np.where(swap[:, None], -n[shuffled], n[shuffled]),
            mu[shuffled],
        )
        changes.append(np.abs(resolved(*args)[0][new] - after).max())
        if len(control) < 100:
            control.append(np.abs(fixed_order(*args)[new] - fixed_order(mass, u, pairs, n, mu)).max())
    assert np.quantile(left, 0.99) < 0.02
    assert max(changes) < 1e-12
    assert max(control) > 0.1  # the wrong variant


def test_own_normals_would_lose_momentum():
    """The control of the common normal: each field against the centre of mass with its own normal."""
    rng = np.random.default_rng(1)
    mass, u = np.array([1.0, 2.0]), np.array([[1.0, 0.2, 0], [-1.0, 0, 0]])
    centre = mass @ u / mass.sum()
    na, nb = unit(rng, 1, 2)[0], np.array([-1.0, 0, 0])
    na = na if (u[0] - centre) @ na > 0 else -na
    after = np.array([v - ((v - centre) @ n) * n for v, n in zip(u, (na, nb))])
    assert np.abs(mass @ (after - u)).max() > 0.01
    both, _ = one_pair(mass, u, -nb, 0.0, 0.3)
    assert np.abs(mass @ (both - u)).max() < 1e-15


def test_an_obstacle_is_a_field_of_infinite_mass():
    rng = np.random.default_rng(5)
    for _ in range(200):
        u, n = rng.normal(size=(2, 3)), unit(rng, 1, 3)[0]
        heavy, _ = one_pair(np.array([1.0, np.inf]), u, n, 0.0, 0.4)
        almost, _ = one_pair(np.array([1.0, 1e15]), u, n, 0.0, 0.4)
        assert np.array_equal(heavy[1], u[1])
        assert np.abs(heavy - almost).max() < 1e-13
