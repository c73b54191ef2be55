"""What the gallery scenes of exact contact measure: surfaces that pass through each other, momentum and its change.

The look at surfaces is that of the library `ipctk` (Ferguson et al. 2020), which has no part in the contact itself.
"""

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from continua import Simulation
from continua.bodies.solid_body import SolidBody
from continua.contact.exact.certificate import Certificate
from continua.gallery._mesh_measure import inverted
from continua.gallery._running import SceneRun
from continua.validation.case import Measurement, at_most
from continua.world import World

Array = NDArray[np.float64]
FIRST = 1  # moment from which angular momentum counts: the first step gives points affine velocities, which hold some
_CERTIFICATES: WeakKeyDictionary[World, Certificate] = WeakKeyDictionary()


def solids(sim: Simulation) -> list[SolidBody]:
    """All solid bodies."""
    return [body for body in sim.bodies if isinstance(body, SolidBody)]


def intersecting(sim: Simulation) -> bool:
    """Whether an edge of a surface passes through a triangle, of the same solid or another one, by `ipctk`."""
    bodies = solids(sim)
    if sim.world not in _CERTIFICATES:
        first = np.cumsum([0, *(len(body) for body in bodies)])
        facets = [body.surface + start for body, start in zip(bodies, first, strict=False)]
        rest = np.concatenate([body.rest for body in bodies])
        _CERTIFICATES[sim.world] = Certificate(rest, np.concatenate(facets).astype(np.int32))
    return not _CERTIFICATES[sim.world].holds(np.concatenate([body.x for body in bodies]))


def momenta(sim: Simulation) -> tuple[Array, Array]:
    """Momentum (3,) [N s] and angular momentum about the origin (3,) [N m s], with what affine velocities hold."""
    total, turning = np.zeros(3), np.zeros(3)
    for body in solids(sim):
        own = body.totals()
        total += own.momentum
        turning += own.angular
    return total, turning


def motion(sim: Simulation) -> float:
    """Sum of m |v| [N s], against which a momentum is small."""
    return sum(float(body.mass @ np.linalg.norm(body.v, axis=1)) for body in solids(sim))


def kinetic(sim: Simulation) -> float:
    """Kinetic energy of all solids [J]."""
    return sum(float(0.5 * body.mass @ (body.v**2).sum(axis=1)) for body in solids(sim))


def energy_of_motion(sim: Simulation) -> float:
    """Elastic energy, and kinetic energy of the way that points went in the last step [J].

    The velocities of a surface in contact say more than where it goes: by their recoil they hold the impulse with which
    it will go once nothing stops it.
    """
    total = 0.0
    for body in solids(sim):
        before = body.before
        v = body.v if before is None else (body.x - before.x) / body.before_dt
        total += float(0.5 * body.mass @ (v**2).sum(axis=1)) + body.totals().elastic
    return total


def seen(sim: Simulation) -> dict[str, float]:
    """What every scene of exact contact looks at after every step: crossing surfaces, elements inside out, momenta."""
    P, L = momenta(sim)
    elements = sum(len(body.cells) for body in solids(sim))
    found = {"intersecting": float(intersecting(sim)), "inverted": inverted(sim) / elements}
    found["motion"] = motion(sim)
    found |= {f"P{axis}": float(value) for axis, value in zip("xyz", P, strict=True)}
    return found | {f"L{axis}": float(value) for axis, value in zip("xyz", L, strict=True)}


def never_through(run: SceneRun) -> Measurement:
    """No surface passes through another or itself after any step, by the law of the method: none is allowed."""
    return at_most(
        "steps after which surfaces pass through each other", float(run.seen["intersecting"].sum()), 0
    )


def momentum_change(run: SceneRun) -> float:
    """Largest change of the momentum, over the largest sum of m |v|; for scenes in which nothing acts from outside."""
    return _change(run, "P", 0) / run.most("motion")


def angular_change(run: SceneRun, arm: float) -> float:
    """The same of the angular momentum after the first step, with an arm [m] for what is large."""
    return _change(run, "L", FIRST) / (arm * run.most("motion"))


def _change(run: SceneRun, kind: str, first: int) -> float:
    rows = np.stack([run.seen[f"{kind}{axis}"][first:] for axis in "xyz"])
    return float(np.linalg.norm(rows - rows[:, :1], axis=0).max())


def given(sim: Simulation) -> Array:
    """Momentum (3,) [N s] that came from outside: by weight, scripts and obstacles."""
    total = sim.impulses.sum(axis=0)
    for body in solids(sim):
        total = total + np.asarray(body.pull) + sim.time * body.mass.sum() * sim.gravity
    return np.asarray(total)


def unexplained(run: SceneRun) -> float:
    """Momentum at the end that neither the start, weight, scripts nor obstacles explain, over all that these gave.

    All that they gave: the sizes of the impulses of every one of them.
    """
    sim = run.sim
    start = np.array([run.start[f"momentum_{axis}"] for axis in "xyz"])
    parts = [*(np.asarray(body.pull) for body in solids(sim)), *sim.impulses]
    parts += [sim.time * body.mass.sum() * sim.gravity for body in solids(sim)]
    pushed = sum(float(np.linalg.norm(part)) for part in parts)
    return float(np.linalg.norm(momenta(sim)[0] - start - given(sim)) / pushed)
