"""Three continua in one simulation: threads, resuming and the order of adding change nothing; sums are kept."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.materials import DruckerPrager, FixedCorotated, Snow
from continua.validation.continua_scenes import H

STUFF = {
    "left": FixedCorotated(1e5, 0.3, 1000.0),
    "second": FixedCorotated(1e5, 0.3, 500.0),
    "right": Snow(),
    "top": DruckerPrager(E=1e5),
}
CENTRES = {"left": (-3.05, 0.1), "second": (-8.3, 0.3), "right": (3.1, -0.15), "top": (0.2, 6.2)}  # [cells]
SPEEDS = {"left": (0.8, 0.1), "second": (1.0, 0.0), "right": (-0.8, 0.2), "top": (0.1, -0.9)}
CONTINUA = {"left": "a", "second": "a", "right": "b", "top": "c"}
CONTACTS = [("a", "b", 0.3), ("a", "c", 0.1), ("b", "c", 0.5)]


def meeting(bodies=tuple(STUFF), contacts=tuple(CONTACTS), d=2, elastic=False, declared=(), **options):
    """Bodies that fly at each other: two of one continuum and one each of two others."""
    sim = ct.Simulation(H, (0.0,) * d, dt=2e-4, **options)
    for name in declared:
        sim.add(ct.Continuum(name))
    for name in bodies:
        centre, v = H * np.array((*CENTRES[name], 0.2)[:d]), np.array((*SPEEDS[name], 0.1)[:d])
        stuff = STUFF["left"] if elastic else STUFF[name]
        shape = ct.shapes.Box(tuple(centre), (6 * H if name != "second" else 4 * H, 6 * H, 4 * H)[:d])
        sim.add(shape, stuff, velocity=v, name=name, continuum=CONTINUA[name])
    for a, b, friction in contacts:
        sim.add(ct.Contact(a, b, friction=friction))
    return sim


def after(sim, steps):
    for _ in range(steps):
        sim.step()
    return {body.name: body.fields() for body in sim.bodies}


def same(one, other):
    return all(np.array_equal(one[n][key], other[n][key]) for n in one for key in one[n])


@pytest.mark.parametrize("d, steps", [(2, 120), (3, 110)])
def test_the_number_of_threads_changes_no_bit(d, steps):
    found, most = [], ct.threads()
    for threads in (1, 2, 3):
        ct.set_threads(threads)
        try:
            sim = meeting(d=d)
            found.append((after(sim, steps), sim.contact_impulses))
        finally:
            ct.set_threads(most)
    for fields, impulses in found[1:]:
        assert same(found[0][0], fields)
        assert all(np.array_equal(found[0][1][pair], J) for pair, J in impulses.items())
    assert all(J.any() for J in found[0][1].values())


def test_resuming_changes_no_bit():
    whole = meeting()
    complete = after(whole, 130)
    half = meeting()
    after(half, 61)
    rest = meeting()
    rest.load_state(half.state())
    assert same(after(rest, 69), complete)
    assert rest.time == whole.time
    for pair, J in whole.contact_impulses.items():
        assert np.array_equal(rest.contact_impulses[pair], J)


ORDERS = [
    ("top", "right", "second", "left"),
    ("right", "left", "top", "second"),
]


@pytest.mark.parametrize("order", ORDERS)
def test_the_order_of_adding_decides_nothing(order):
    """Only sums are rounded otherwise, and collisions let that grow: 1e-9 of the sizes after 100 steps."""
    usual = after(meeting(), 100)
    contacts = [(b, a, f) for a, b, f in CONTACTS[::-1]]
    other = after(meeting(order, contacts, declared=("c", "a", "b")), 100)
    for name in usual:
        assert np.abs(other[name]["x"] - usual[name]["x"]).max() < 1e-9 * H
        assert np.abs(other[name]["v"] - usual[name]["v"]).max() < 1e-9


def test_names_decide_nothing_but_ties(monkeypatch):
    """The same continua under names in another order."""
    usual = after(meeting(), 100)
    swap = {"a": "z", "b": "m", "c": "d"}
    monkeypatch.setitem(globals(), "CONTINUA", {k: swap[v] for k, v in CONTINUA.items()})
    renamed = after(meeting(contacts=[(swap[a], swap[b], f) for a, b, f in CONTACTS]), 100)
    assert max(np.abs(renamed[n]["x"] - usual[n]["x"]).max() for n in usual) < 1e-9 * H


@pytest.mark.parametrize("d, steps", [(2, 400), (3, 110)])
def test_momenta_are_kept_and_energy_never_rises(d, steps):
    """Elastic bodies, explicit steps: the contact itself adds nothing, the step may not either at this dt."""
    sim = meeting(d=d, elastic=True)
    first = sim.diagnostics()
    size = sum((b.mass[:, None] * np.abs(b.v)).sum() for b in sim.bodies)
    highest = 0.0
    for _ in range(steps):
        sim.step()
        highest = max(highest, sim.diagnostics()["total"] / first["total"] - 1)
    last = sim.diagnostics()
    for key in first:
        if key.startswith("momentum"):
            assert abs(last[key] - first[key]) < 1e-12 * size
        if key.startswith("angular"):
            assert abs(last[key] - first[key]) < 1e-12 * size
    assert highest < 1e-12
    assert all(J.any() for J in sim.contact_impulses.values())


def test_impulses_of_pairs_are_the_momenta_that_continua_change_by():
    sim = meeting()
    before = {b.name: b.mass @ b.v for b in sim.bodies}
    after(sim, 150)
    gained = dict.fromkeys("abc", 0.0)
    for b in sim.bodies:
        gained[CONTINUA[b.name]] = gained[CONTINUA[b.name]] + b.mass @ b.v - before[b.name]
    J = {pair: impulse[:2] for pair, impulse in sim.contact_impulses.items()}
    assert gained["a"] == pytest.approx(J["a_b"] + J["a_c"], rel=1e-12)
    assert gained["b"] == pytest.approx(J["b_c"] - J["a_b"], rel=1e-12)
    assert gained["c"] == pytest.approx(-J["a_c"] - J["b_c"], rel=1e-12)


def test_a_contact_that_is_added_during_the_run_acts():
    """Friction between two blocks, one gliding on the other, from the moment it is said."""
    jelly, sim = ct.materials.FixedCorotated(1e5, 0.3, 1000.0), ct.Simulation(0.05, (0.0, -9.81))
    sim.add(ct.shapes.Box((0.0, 0.1), (1.0, 0.2)), jelly, continuum="slab")
    upper = sim.add(ct.shapes.Box((-0.2, 0.3), (0.2, 0.2)), jelly, velocity=(1.0, 0.0), continuum="block")
    sim.add(ct.colliders.Plane((0.0, 1.0), mode="sticky"))
    while sim.time < 0.1:
        sim.step()
    free = upper.v[:, 0].mean()
    sim.add(ct.Contact("slab", "block", friction=0.5))
    while sim.time < 0.2:
        sim.step()
    assert free > 0.95 and upper.v[:, 0].mean() < free - 0.2
