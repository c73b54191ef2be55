"""Newton's method as in textbooks, the control of the minimiser: full steps, direct solves, no line search.

It looks for a root of the forces and may find a saddle point or nothing. Where it converges it is fast. A cube that is
stretched and then struck together shows both (J15 figure A.2): one bad step, and it never comes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from continua.bodies.mesh_body import MeshBody
from continua.bodies.scripted import Scripted
from continua.bodies.solid_body import SolidBody
from continua.contact.motions import Keyframes
from continua.errors import InstabilityError
from continua.geometry.meshes import box_mesh
from continua.geometry.shapes import Box
from continua.integrators import Optimization
from continua.materials import FixedCorotated
from continua.optimize import ImplicitStep, PointState, StepEnergy
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, at_most, near

Array = NDArray[np.float64]
FRAME = 1 / 24  # [s]
# How steps are taken; with one iteration each the minimiser never converges for a whole frame.
Method = Literal["minimiser", "plain Newton", "one iteration"]


@dataclass(frozen=True)
class Step:
    """How one implicit step ended."""

    iterations: int
    converged: bool


def plain_step(body: MeshBody, dt: float, t: float = 0.0, *, tolerance: float, most: int = 500) -> Step:
    """Move a body from t to t + dt [s] by plain Newton on backward Euler, from the guess x + dt v.

    It has converged when the norm of all forces is below tolerance [N] after at most that many iterations. If not, the
    body goes to the last iterate, as in codes that do not check.
    """
    step = ImplicitStep.of("backward-euler", dt, PointState(body.x, body.v), np.zeros_like(body.x))
    energy = StepEnergy(step, body.mass, [body.energy])
    inertia = np.diag(np.repeat(body.mass, body.dimension) * step.factor)
    held, places = body.scripted_at(t + dt)
    x, free = step.target.copy(), np.ones(body.x.shape, dtype=bool)
    x[held], free[held] = places, False
    unknown = np.flatnonzero(free)
    with np.errstate(all="ignore"):
        for iteration in range(most + 1):
            force = energy.gradient(x).ravel()[unknown]
            size = float(np.linalg.norm(force))
            if size < tolerance or not np.isfinite(size) or iteration == most:
                break
            hessian = body.energy.hessian(x).matrix().toarray() + inertia
            try:
                x.flat[unknown] -= np.linalg.solve(hessian[np.ix_(unknown, unknown)], force)
            except np.linalg.LinAlgError:  # singular
                break
    if np.isfinite(x).all():
        body.x, body.v = x, step.velocity(x)
    return Step(iteration, size < tolerance)


def minimising(
    body: MeshBody, tolerance: float, dt: float, *, most: int = 500, positive: bool | None = None
) -> Simulation:
    """A body alone in a world without gravity, whose steps end when the norm of all forces is below tolerance [N].

    They last dt [s], no less: a step that does not converge is a failure, where by default it would be halved.
    """
    scheme = Optimization(
        tolerance=1e-15, absolute_tolerance=tolerance, max_iterations=most, positive=positive
    )
    sim = Simulation(0.1, (0.0,) * body.dimension, dt=dt, integrator=scheme)
    sim.add(body)
    return sim


def minimised_step(sim: Simulation) -> Step:
    """A step of full length by the minimiser; one that it has to rescue counts as failed, like one it gives up."""
    scheme, dt = sim.world.integrator, sim.world.fixed_dt
    assert isinstance(scheme, Optimization) and dt is not None
    try:
        taken = sim.step()
    except InstabilityError:
        sim.time += dt
        return Step(scheme.max_iterations, False)
    assert taken == dt
    report = sim.diagnostics()
    iterations = int(report["newton_iterations"])
    return Step(iterations, not report["unconverged"] and iterations <= scheme.max_iterations)


# ---- a cube stretched and struck -----------------------------------------------------------------------------

TOLERANCE = 0.1  # [N], 1e-6 times Young's modulus times 1 m^2
MOST = 50  # iterations; where plain Newton converges it takes less than ten
STRIKE = 16  # frame; the cube is then three times as long, and one frame later as long as at rest
SHIFTS = {0: 0.0, STRIKE: 1.0, STRIKE + 1: 0.0, STRIKE + 2: 1.0, 24: 1.0}  # of both ends [m], at frames
FAILED = {1: 8, 3: 22, 5: 0}  # steps per frame: steps of one second that an independent prototype fails


def struck_cube() -> SolidBody:
    """Unit cube of 5^3 points whose two ends follow SHIFTS."""
    times = [frame * FRAME for frame in SHIFTS]
    ends = [
        Scripted(
            Box((0.5 + side / 2, 0.5, 0.5), (0.1, 2, 2)),
            Keyframes(times, [(side * shift, 0, 0) for shift in SHIFTS.values()]),
        )
        for side in (-1, 1)
    ]
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (4, 4, 4), "same")
    return SolidBody(mesh, FixedCorotated(E=1e5, nu=0.45, density=1000.0), scripted=ends)


def failed_steps(steps_per_frame: int, method: Method) -> int:
    """Of one second."""
    cube, dt = struck_cube(), FRAME / steps_per_frame
    most = 1 if method == "one iteration" else MOST
    sim = minimising(cube, TOLERANCE, dt, most=most)

    def step(t: float) -> Step:
        if method == "plain Newton":
            return plain_step(cube, dt, t, tolerance=TOLERANCE, most=most)
        return minimised_step(sim)

    return sum(not step(k * dt).converged for k in range(24 * steps_per_frame))


def measure(quick: bool, wrong: bool) -> list[Measurement]:
    """Where plain Newton never fails it is no control, and it is none of itself: there one iteration has to do."""
    found = []
    for count in (1,) if quick else FAILED:
        label, reference = f"steps that fail, {count} per frame", FAILED[count]
        weak: Method = "plain Newton" if reference else "one iteration"
        found.append(at_most(label, failed_steps(count, weak if wrong else "minimiser"), 0))
        plain = failed_steps(count, "one iteration" if wrong else "plain Newton")
        newton = f"{label}: plain Newton"
        found.append(near(newton, plain, reference, 0.25) if reference else at_most(newton, plain, 0))
    return found


CASE = Case(
    name="stretch-pulse",
    title="Cube stretched, then struck together: minimiser and plain Newton",
    source="independent prototype in double precision, after J15 figure A.2",
    kind="comparison",
    cost="30 s",
    control="plain Newton for the minimiser; at 5 steps per frame, and for plain Newton, one iteration per step",
    measure=measure,
)
