"""The same bits from run to run, for any number of threads, and after a restart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import continua as ct
from continua.errors import SetupError
from continua.io.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from continua.transfers import PolyPIC, Transfer


@dataclass
class Case:
    d: int
    transfer: str | Transfer = "apic"
    precision: str = "double"
    kernel: str = "quadratic"
    cells: int = 4  # across a body; 4 is small, more makes the sort run in several pieces


def build(case: Case, nudge: float = 0.0) -> ct.Simulation:
    """Snow and jelly collide between a moving ball, a sticky floor, a wall and a driven region."""
    d, size = case.d, case.cells * 0.05
    cut = slice(0, d)
    sim = ct.Simulation(
        0.05, (0, -9.81, 0)[cut], transfer=case.transfer, precision=case.precision, kernel=case.kernel, seed=3
    )
    snow, jelly = ct.materials.Snow(), ct.materials.NeoHookean(1e5, 0.3, 900.0)
    sim.add(
        ct.shapes.Box((nudge, size / 2 + 0.01, 0)[cut], (size,) * d),
        snow,
        velocity=(1, -2, 0.3)[cut],
        sampling="jittered",
    )
    sim.add(ct.shapes.Box((size + 0.03, size / 2, 0)[cut], (size,) * d), jelly, velocity=(-2, -1, 0)[cut])
    sim.add(ct.shapes.Sphere((size / 2, 1.6 * size, 0)[cut], size / 3), jelly, velocity=(0, -5, 0)[cut])
    sim.add(ct.colliders.Plane((0, 1, 0)[cut], mode="sticky"))
    sim.add(ct.colliders.Plane((1, 0.1, 0)[cut], (-0.6 * size, 0, 0)[cut], friction=0.4))
    ball = ct.motions.Linear((0.5, -0.5, 0)[cut])
    sim.add(ct.colliders.Sphere((size, 1.2 * size, 0)[cut], 0.12, friction=0.2, motion=ball))
    grip = ((1.4 * size, 0, -1)[cut], (2 * size, 0.2, 1)[cut])
    sim.add(ct.boundaries.FixedVelocity(*grip, (None, 0.5, None)[cut]))
    return sim


def state_after(case: Case, steps: int, threads: int, nudge: float = 0.0) -> dict[str, np.ndarray]:
    ct.set_threads(threads)
    sim = build(case, nudge)
    for _ in range(steps):
        sim.step()
    return sim.state() | {"energy": np.array(sim.diagnostics()["total"])}


def same_bits(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


CASES = {
    "2d": Case(2),
    "2d-flip": Case(2, transfer="flip"),
    "2d-rpic-linear": Case(2, transfer="rpic", kernel="linear"),
    "2d-polypic": Case(2, transfer=PolyPIC(9)),
    "2d-polypic-cubic": Case(2, transfer=PolyPIC(16), kernel="cubic"),
    "2d-single-cubic": Case(2, precision="single", kernel="cubic"),
    "2d-large": Case(2, cells=64),
    "3d": Case(3),
    "3d-polypic": Case(3, transfer=PolyPIC(11)),
    "3d-single-polypic": Case(3, precision="single", transfer=PolyPIC(27)),
    "3d-large": Case(3, cells=13),
    "3d-single-flip": Case(3, precision="single", transfer="flip"),
}


@pytest.mark.parametrize("name", CASES)
def test_same_bits_for_any_number_of_threads_and_from_run_to_run(name: str) -> None:
    case = CASES[name]
    steps = 5 if case.cells > 4 else 40
    one = state_after(case, steps, 1)
    assert same_bits(one, state_after(case, steps, 1))
    for threads in (2, 3):
        assert same_bits(one, state_after(case, steps, threads)), f"{threads} threads"
    assert not same_bits(one, state_after(case, steps, 1, nudge=1e-9))  # a nudge of a nanometre is seen
    if case.cells > 4:
        assert one["body0/x"].shape[1] > 3 * 4096


@pytest.mark.parametrize("name", ["2d", "3d", "2d-rpic-linear", "2d-polypic", "3d-single-polypic"])
def test_continuing_from_a_stored_state_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    ct.set_threads(2)
    whole = build(case)
    for _ in range(20):
        whole.step()
    write_checkpoint(tmp_path / "c.npz", Checkpoint(20, 0, whole.time, whole.state()))
    for _ in range(20):
        whole.step()
    stored = read_checkpoint(tmp_path / "c.npz").state
    second, without = build(case), build(case)
    second.load_state(stored)
    without.load_state(stored | {"body0/modes": 0 * stored["body0/modes"]})
    assert not same_bits(whole.state(), second.state())
    for _ in range(20):
        second.step()
        without.step()
    assert same_bits(whole.state(), second.state())
    # Velocity modes are part of the state: forgetting them is seen.
    assert same_bits(whole.state(), without.state()) == (stored["body0/modes"].size == 0)


@pytest.mark.parametrize(
    ("stored", "wanted"), [(PolyPIC(9), PolyPIC(6)), ("apic", PolyPIC(4)), (PolyPIC(4), "apic")]
)
def test_a_state_with_other_modes_is_refused(stored: str | Transfer, wanted: str | Transfer) -> None:
    with pytest.raises(SetupError, match="transfer"):
        build(Case(2, transfer=wanted)).load_state(build(Case(2, transfer=stored)).state())
