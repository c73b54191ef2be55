"""One implicit step against SciPy on an energy written down in NumPy, and the Krylov solvers against each other."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import weight_gradients, weights
from scipy.optimize import minimize, root

import continua as ct
from continua.integrators import Integrator, Optimization, SemiImplicit
from continua.materials.base import lame

H, DT = 0.1, 0.02
E, NU, RHO = 3e4, 0.3, 1000.0
GRAVITY = np.array([0.5, -9.81])
FLOOR = 0.05  # [m], sticky below


def few_particles(integrator: Integrator) -> tuple[ct.Simulation, ct.Body]:
    """Two by two strained, moving particles over a sticky floor."""
    sim = ct.Simulation(H, GRAVITY, integrator=integrator, dt=DT, force_dt=True, push_out=None)
    body = sim.add(
        ct.shapes.Box((0.17, 0.16), (H, H)),
        ct.materials.FixedCorotated(E, NU, RHO),
        velocity=lambda x: np.stack([3 * x[:, 1], -1 - 4 * x[:, 0]], axis=1),
    )
    body.F = np.eye(2)[None] + 0.15 * np.random.default_rng(4).normal(size=(len(body), 2, 2))
    sim.add(ct.colliders.Plane((0, 1), (0, FLOOR), mode="sticky"))
    return sim, body


class Reference:
    """The step of these particles on all nodes around them, in plain NumPy."""

    def __init__(self, body: ct.Body) -> None:
        self.x, self.F, self.volume = body.x.copy(), body.F.copy(), body.volume.copy()
        side = H * np.arange(-3, 8)
        nodes = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
        w = weights(self.x, nodes, H, "quadratic")
        seen = w.sum(axis=0) > 0
        self.nodes, self.w = nodes[seen], w[:, seen]
        self.dw = weight_gradients(self.x, self.nodes, H, "quadratic")
        mass = body.mass[:, None] * self.w
        self.mass = mass.sum(axis=0)
        affine = np.einsum("pij,pnj->pni", body.C, self.nodes[None] - self.x[:, None])
        momentum = np.einsum("pn,pni->ni", mass, body.v[:, None] + affine)
        self.free = self.nodes[:, 1] > FLOOR
        self.target = momentum / self.mass[:, None] + DT * GRAVITY

    def velocity(self, free: np.ndarray) -> np.ndarray:
        v = np.zeros_like(self.target)
        v[self.free] = free.reshape(-1, 2)
        return v

    def strained(self, v: np.ndarray) -> np.ndarray:
        return (np.eye(2) + DT * np.einsum("ni,pnj->pij", v, self.dw)) @ self.F

    def energy(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """E(v) and its gradient: fixed corotated (J15 section 3.1.3)."""
        v = self.velocity(free)
        mu, lam = lame(E, NU)
        F = self.strained(v)
        U, s, Vt = np.linalg.svd(F)
        s[:, 1] *= np.linalg.det(U @ Vt)
        U[:, :, 1] *= np.linalg.det(U)[:, None]
        Vt[:, 1] *= np.linalg.det(Vt)[:, None]
        J = np.linalg.det(F)
        cofactor = np.stack([F[:, 1, 1], -F[:, 1, 0], -F[:, 0, 1], F[:, 0, 0]], axis=1).reshape(-1, 2, 2)
        density = mu * ((s - 1) ** 2).sum(axis=1) + 0.5 * lam * (J - 1) ** 2
        P = 2 * mu * (F - U @ Vt) + lam * (J - 1)[:, None, None] * cofactor
        away = v - self.target
        value = 0.5 * (self.mass[:, None] * away**2).sum() + (self.volume * density).sum()
        push = np.einsum("p,pij,pkj,pnk->ni", self.volume, P, self.F, self.dw)
        return float(value), (self.mass[:, None] * away + DT * push)[self.free].ravel()

    def minimum(self) -> np.ndarray:
        start = self.target[self.free].ravel()
        scale = np.repeat(np.sqrt(self.mass[self.free]), 2)  # so that all unknowns weigh the same

        def scaled(z: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.energy(z / scale)
            return value, gradient / scale

        # Energies tell minima apart to the root of rounding only, and where a search stops there depends on the
        # processor; where the gradient vanishes near by does not.
        low = minimize(
            scaled, start * scale, jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 5000}
        )
        found = root(lambda z: scaled(z)[1], low.x, tol=1e-14)
        assert np.abs(found.x - low.x).max() < 1e-6 * np.abs(low.x).max()
        assert np.abs(found.fun).max() < 1e-8
        return self.velocity(found.x / scale)


def after(integrator: Integrator) -> tuple[np.ndarray, np.ndarray]:
    sim, body = few_particles(integrator)
    order = body.ids.copy()
    sim.step()
    assert (body.ids == order).all()
    return body.v.copy(), body.F.copy()


def test_a_step_is_the_minimum_that_scipy_finds() -> None:
    _, body = few_particles(Optimization())
    reference = Reference(body)
    v = reference.minimum()
    expected_v, expected_F = reference.w @ v, reference.strained(v)
    found_v, found_F = after(Optimization(tolerance=1e-12, positions="explicit"))
    assert found_v == pytest.approx(expected_v, abs=1e-7)
    assert found_F == pytest.approx(expected_F, abs=1e-7)
    linear_v, _ = after(SemiImplicit(tolerance=1e-12))  # one Newton step is not enough
    assert np.abs(linear_v - expected_v).max() > 1e-3
    early_v, _ = after(Optimization(tolerance=1e-1, positions="explicit"))
    assert np.abs(early_v - expected_v).max() > 1e-4


@pytest.mark.parametrize("implicitness", [0.5, 1.0])
def test_all_krylov_solvers_find_the_same_step(implicitness: float) -> None:
    steps = {
        name: after(SemiImplicit(krylov=name, tolerance=1e-10, implicitness=implicitness))[0]
        for name in ("cg", "minres", "cr")
    }
    scale = np.abs(steps["cg"]).max()
    assert np.abs(steps["minres"] - steps["cg"]).max() < 1e-5 * scale
    assert np.abs(steps["cr"] - steps["cg"]).max() < 1e-5 * scale
    rough = after(SemiImplicit(tolerance=1e-1, implicitness=implicitness))[0]
    assert np.abs(rough - steps["cg"]).max() > 1e-5 * scale


def test_conjugate_gradients_in_the_minimiser_agree_with_minres() -> None:
    cg, minres = (after(Optimization(krylov=name, tolerance=1e-11))[0] for name in ("cg", "minres"))
    assert cg == pytest.approx(minres, abs=1e-8)
