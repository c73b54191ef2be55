"""The solve for the pressure starts from the pressure of the step before: less work, the same laws, and no trace of
what does not count."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from water import WATER, box, dam, room, world

import continua as ct
from continua.flow.guess import PressureGuess
from continua.simulation import Simulation


def iterations(sim: ct.Simulation) -> int:
    return int(sim.steppers["main"].report["pressure_iterations"])


def same(one: dict[str, NDArray], other: dict[str, NDArray]) -> bool:
    return one.keys() == other.keys() and all(one[k].tobytes() == other[k].tobytes() for k in one)


def without_pressure(state: dict[str, NDArray]) -> dict[str, NDArray]:
    """As an older version would have stored it."""
    return {key: array for key, array in state.items() if not key.startswith("stepper/")}


@pytest.mark.parametrize("d", [2, 3])
def test_water_at_rest_keeps_its_pressure(d: int) -> None:
    """Its weight does not change from step to step, whatever their length: the guess is the solution."""
    sim = world(d, settings={"volume_control": 0.0})
    sim.add(room((0,) * d, (1,) * d))
    sim.add(box((0,) * d, (1, 0.6, 1)[:d]), WATER)
    found = []
    for dt in (0.01, 0.01, 0.005, 0.01):
        sim.step(dt)
        found.append(iterations(sim))
    assert found[0] >= 4 and max(found[1:]) <= 1


def test_moving_water_needs_fewer_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    def total() -> int:
        sim, _ = dam(2, dx=0.02, settings={"tolerance": 1e-3})
        count = 0
        for _ in range(12):
            sim.step()
            count += iterations(sim)
        return count

    warm = total()
    monkeypatch.setattr(PressureGuess, "start", lambda _, keys, dt, phi: phi.fill(0))
    assert warm < total()


def test_a_repeated_step_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step whose first try is refused ends as one that was half as long from the beginning."""
    plain, _ = dam(2)
    tried, _ = dam(2)
    for _ in range(5):
        plain.step()
        tried.step()
    asked: list[object] = []

    def refuse_first(self: Simulation, result: object) -> str:
        asked.append(result)
        return "strain" if len(asked) == 1 else ""

    dt = 0.5 * tried.choose_dt().dt
    monkeypatch.setattr(Simulation, "_too_long", refuse_first)
    assert tried.step(2 * dt) == dt and len(asked) == 2
    monkeypatch.undo()
    assert plain.step(dt) == dt
    assert same(plain.state(), tried.state())
    for sim in (plain, tried):
        sim.step()
    assert same(plain.state(), tried.state())


def test_a_state_without_pressure_still_loads() -> None:
    whole, _ = dam(2)
    for _ in range(5):
        whole.step()
    stored = whole.state()
    old = without_pressure(stored)
    assert old.keys() < stored.keys()
    fresh, used = dam(2)[0], dam(2)[0]
    for _ in range(3):
        used.step()  # what it knows of another run must not count
    for sim in (fresh, used):
        sim.load_state(old)
    for sim in (whole, fresh, used):
        sim.step()
    assert same(fresh.state(), used.state())
    assert not same(whole.state(), fresh.state())  # the pressure of the step before decides bits
    warm, cold = (sim.bodies[0].fields()["v"] for sim in (whole, fresh))
    assert np.abs(warm - cold).max() <= 1e-3 * np.abs(warm).max()  # and no more than the tolerance lets it


def test_blocks_are_found_again_by_their_keys() -> None:
    """In blocks that were there before the guess is the old pressure, as long as the new step; in others it is 0."""
    guess, keys, fluid = PressureGuess(2), np.array([2, 5, 7, 11], np.uint64), np.zeros((4, 16), np.uint8)
    fluid[0, 0], fluid[2], fluid[3, 5] = 1, 1, 1
    phi = np.arange(64.0).reshape(4, 16) + 1
    guess.propose(keys, fluid, 0.5, phi)
    found = np.full((5, 16), np.nan)
    guess.start(keys, 0.5, found[:4])
    assert np.all(found[:4] == 0)  # nothing counts before the step is accepted
    guess.accept()
    guess.start(np.array([1, 2, 5, 7, 12], np.uint64), 0.25, found)
    assert np.all(found == np.stack([0 * phi[0], 0.5 * phi[0], 0 * phi[0], 0.5 * phi[2], 0 * phi[0]]))
    state = guess.state()
    assert [len(array) for array in state.values()] == [3, 3]
