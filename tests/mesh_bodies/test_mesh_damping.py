"""Damping of mesh bodies: drag and lagged Rayleigh damping (spec O13)."""

from __future__ import annotations

import numpy as np
import pytest
from mesh_worlds import Array, block, world
from scipy.linalg import eigh

import continua as ct


def mode(body: ct.SolidBody) -> tuple[float, Array]:
    """Angular frequency [1/s] and shape (N, d) of the slowest mode that deforms."""
    mass = np.diag(np.repeat(body.mass, body.dimension))
    squares, shapes = eigh(body.energy.hessian(body.rest).matrix().toarray(), mass)
    first = int(np.argmax(squares > 1e-6 * squares[-1]))
    return float(np.sqrt(squares[first])), shapes[:, first].reshape(body.x.shape)


def decay(dt: float, scheme: str = "trapezoid", **damping: float) -> tuple[float, float]:
    """Rate [1/s] at which the slowest mode decays, and its angular frequency."""
    sim = world((0.0, 0.0), dt, scheme=scheme, tolerance=1e-9)
    body = block(sim, cells=2, **damping)
    omega, shape = mode(body)
    body.v[:] = 0.1 * shape
    steps = round(2 * np.pi / omega / dt)  # one period
    for _ in range(steps):
        sim.step()
    row = sim.diagnostics()
    start = 0.5 * 1e-2 * float(body.mass @ (shape**2).sum(axis=1))
    return float(np.log(start / (row["kinetic"] + row["elastic"])) / (2 * steps * dt)), omega


@pytest.mark.parametrize("scheme", ["trapezoid", "bdf2"])
def test_o13_a_mode_decays_at_half_the_coefficient_times_omega_squared(scheme: str) -> None:
    damping = 1e-3
    rate, omega = decay(1.5e-3, scheme, damping=damping)
    assert rate == pytest.approx(damping * omega**2 / 2, rel=0.02)


def test_o13_drag_decays_all_motion_at_half_its_rate() -> None:
    rate, _ = decay(1.5e-3, drag=2.0)
    assert rate == pytest.approx(1.0, rel=0.02)


def test_o13_without_damping_only_backward_euler_decays() -> None:
    assert abs(decay(1.5e-3)[0]) < 1e-3
    rate, omega = decay(1.5e-3, "backward-euler")
    assert rate == pytest.approx(1.5e-3 * omega**2 / 2, rel=0.05)


def test_rigid_motion_is_not_damped_by_stiffness_damping() -> None:
    sim = world((0.0, 0.0))
    body = block(sim, cells=2, damping=0.1, velocity=(1.0, 2.0))
    for _ in range(5):
        sim.step()
    np.testing.assert_allclose(body.v, np.tile([1.0, 2.0], (9, 1)), rtol=1e-9)


def test_negative_damping_is_refused() -> None:
    mesh = ct.meshes.box_mesh((0, 0), (1, 1), (1, 1))
    for wrong in ({"drag": -1.0}, {"damping": float("nan")}):
        with pytest.raises(ct.ContinuaError, match="must be a finite number"):
            ct.SolidBody(mesh, ct.materials.FixedCorotated(), **wrong)
