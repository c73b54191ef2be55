"""The hybrid step of solids: the same bits with more threads and after a resume, periodic axes, single precision."""

from __future__ import annotations

import numpy as np
import pytest
from solid_worlds import bits, block, center, jelly, momentum

import continua as ct

G = 9.81
both = pytest.mark.parametrize("d", [2, 3])


def pile(d: int, nudge: float = 0.0, **options: str) -> ct.Simulation:
    """Two blocks, the upper one flying onto the lower one, and sand between a floor and all of them."""
    sim = ct.Simulation(0.04, (0.0, -G, 0.0)[:d], **options)  # type: ignore[arg-type]
    sim.add(ct.colliders.Plane(tuple(np.eye(d)[1]), (0.0,) * d, friction=0.3))
    contact = ct.GridContact(friction=0.3)
    soft = jelly(3e4)
    block(sim, (0.0, 0.02, 0.0)[:d], 0.25, 4, material=soft, contact=contact)
    block(
        sim, (0.07 + nudge, 0.31, 0.03)[:d], 0.25, 4, material=soft, contact=contact,
        velocity=ct.velocities.Rigid((0.2, -1.0, 0.1)[:d], 1.5 if d == 2 else (0.3, 0.2, 1.5)),
    )  # fmt: skip
    grains = ct.materials.DruckerPrager(E=1e5, nu=0.3)
    sim.add(ct.shapes.Box((0.4, 0.08, 0.1)[:d], (0.2, 0.12, 0.2)[:d]), grains, continuum="sand")
    return sim


def after(steps: int, threads: int, d: int, integrator: str, nudge: float = 0.0) -> dict[str, bytes]:
    before = ct.threads()
    ct.set_threads(threads)
    try:
        sim = pile(d, nudge, integrator=integrator)
        for _ in range(steps):
            sim.step()
        return bits(sim)
    finally:
        ct.set_threads(before)


@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
@both
def test_the_same_bits_for_one_and_two_threads(d: int, integrator: str) -> None:
    steps = {"symplectic": 60, "optimization": 4}[integrator]
    one, two = after(steps, 1, d, integrator), after(steps, 2, d, integrator)
    assert one == two
    assert one != after(steps, 1, d, integrator, nudge=1e-14)  # so bits are compared


@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
@both
def test_a_resumed_run_continues_with_the_same_bits(d: int, integrator: str) -> None:
    """From a step that is no multiple of anything."""
    first, second = {"symplectic": (43, 40), "optimization": (3, 3)}[integrator]
    whole, half, other = (pile(d, integrator=integrator) for _ in range(3))
    for _ in range(first):
        whole.step(), half.step()
    other.load_state(half.state())
    for _ in range(second):
        whole.step(), other.step()
    assert bits(whole) == bits(other) and bits(whole) != bits(half)


def test_the_step_is_the_same_after_a_resume() -> None:
    """The fastest vibration of a mesh is looked up now and then; a resumed run must not do it at other times."""

    def stretching() -> ct.Simulation:
        sim = ct.Simulation(0.05, (0.0, 0.0))
        apart = ct.velocities.Affine((0.0, 0.0), ((3.0, 0.0), (0.0, -2.0)))
        block(sim, (0.0, 0.0), 0.4, 4, material=ct.materials.NeoHookean(E=1e5, nu=0.3), velocity=apart)
        return sim

    whole, half, other = (stretching() for _ in range(3))
    for _ in range(43):
        whole.step(), half.step()
    other.load_state(half.state())
    late = stretching()
    late.load_state({key: value for key, value in half.state().items() if "own_wave" not in key})
    steps = [sim.step() for sim in (whole, other, late)]
    assert steps[0] == steps[1] != steps[2]
    assert bits(whole) == bits(other)


@both
def test_a_run_stored_and_resumed_gives_the_same_frames(d: int, tmp_path) -> None:
    whole, part, again = (pile(d) for _ in range(3))
    whole.run(frames=3, fps=50, output=tmp_path / "whole")
    part.run(frames=1, fps=50, output=tmp_path / "part")
    again.run(frames=3, fps=50, output=tmp_path / "part", resume=True)
    assert bits(whole) == bits(again) and bits(whole) != bits(part)


@pytest.mark.parametrize("integrator", ["symplectic", "optimization"])
@both
def test_single_precision_runs_and_agrees(d: int, integrator: str) -> None:
    """Meshes stay double; what they meet is rounded. Positions within 1e-3 of a cell after the first contact."""
    ends = []
    for precision in ("double", "single"):
        sim = pile(d, integrator=integrator, precision=precision)
        sim.run(0.06, fps=50)
        ends.append([np.asarray(body.x, float) for body in sim.bodies[:2]])
        assert np.isfinite(sim.diagnostics()["total"])
    for a, b in zip(*ends):
        assert 0 < np.abs(a - b).max() < 1e-3 * 0.04


@both
def test_a_periodic_axis_is_no_place_for_contact_to_end(d: int) -> None:
    """Two blocks that meet across the boundary do as two that meet inside: shifted by half the period."""
    moved = []
    for shift in (0.0, 0.64):
        sim = ct.Simulation(0.04, (0.0,) * d)
        sim.add(ct.boundaries.Periodic(0, 0.0, 1.28))
        for left, v in ((0.02, 1.0), (0.34, -1.0)):
            corner = np.array([left + shift, 0.013, 0.02])[:d]
            block(sim, corner, 0.24, 3, material=jelly(3e4), velocity=(v, 0.0, 0.0)[:d])
        # the one on the right of the shifted pair begins beyond the end of the period, or reaches over it
        for _ in range(120):
            sim.step()
        moved.append([body.x - (np.eye(d)[0] * shift) for body in sim.bodies])
        assert momentum(sim.bodies[0])[0] < 0.5 * sim.bodies[0].mass.sum()  # they have met
    for a, b in zip(*moved):
        assert np.abs(a - b).max() < 1e-9
    open_sim = ct.Simulation(0.04, (0.0,) * d)  # without the period a block that leaves meets nobody
    a = block(open_sim, np.array([1.10, 0.013, 0.02])[:d], 0.24, 3, velocity=(1.0, 0.0, 0.0)[:d])
    block(open_sim, np.array([0.14, 0.013, 0.02])[:d], 0.24, 3)
    wrapped = ct.Simulation(0.04, (0.0,) * d)
    wrapped.add(ct.boundaries.Periodic(0, 0.0, 1.28))
    b = block(wrapped, np.array([1.10, 0.013, 0.02])[:d], 0.24, 3, velocity=(1.0, 0.0, 0.0)[:d])
    block(wrapped, np.array([0.14, 0.013, 0.02])[:d], 0.24, 3)
    for sim in (open_sim, wrapped):
        sim.run(0.2, fps=10)
    assert momentum(a)[0] == pytest.approx(a.mass.sum(), rel=1e-10)
    assert momentum(b)[0] < 0.9 * b.mass.sum()
    assert center(b)[0] > 1.28  # positions are not wrapped


@both
def test_explicit_and_implicit_steps_agree_in_the_limit(d: int) -> None:
    """A block thrown on a floor: the distance of the two goes to zero in first order with dt."""
    gaps = []
    for dt in (1.6e-3, 8e-4, 4e-4):
        ends = []
        for integrator in ("symplectic", "optimization"):
            sim = ct.Simulation(0.05, (0.0, -G, 0.0)[:d], integrator=integrator, dt=dt)
            sim.add(ct.colliders.Plane(tuple(np.eye(d)[1]), (0.0,) * d))
            body = block(
                sim, (0.0, 0.06, 0.0)[:d], 0.2, 1, material=jelly(3e4), velocity=(0.0, -1.0, 0.0)[:d]
            )
            sim.run(0.08, fps=25)
            ends.append(body.x.copy())
        gaps.append(float(np.abs(ends[0] - ends[1]).max()))
    assert gaps[0] < 0.1 * 0.05
    assert gaps[1] / gaps[0] < 0.7 and gaps[2] / gaps[1] < 0.7
