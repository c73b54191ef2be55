"""Constraints plug into the minimiser: particles stay outside a body and slide along it (J15 A.3.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from spring_network import Springs, body

from continua.optimize import Gravity, ImplicitStep, Options, PointState, StepEnergy, minimise

Array = NDArray[np.float64]


class Body(ABC):
    """Particles (N, d) with phi(x) >= 0. Gives phi (N,), normals (N, d) and second derivatives B (N, d, d) of phi."""

    curved = True  # whether the Hessian knows about B

    def __init__(self) -> None:
        self.active: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    @abstractmethod
    def shape(self, x: Array) -> tuple[Array, Array, Array]: ...

    def project(self, x: Array) -> Array:
        phi, n, _ = self.shape(x)
        return x - np.minimum(phi, 0)[:, None] * n

    def register_active(self, x: Array, gradient: Array) -> None:
        phi, self.n, b = self.shape(x)
        push = (gradient * self.n).sum(axis=1)
        self.active = (np.abs(phi) < 1e-9) & (push >= 0)
        self.push = np.where(self.active, push, 0.0)
        self.bend = self.push[:, None, None] * b * self.curved

    def reduce_gradient(self, gradient: Array) -> Array:
        along = (gradient * self.n).sum(axis=1) * self.active
        return gradient - along[:, None] * self.n

    def reduce_product(self, product: Array, dx: Array) -> Array:
        return self.reduce_gradient(product - (self.bend @ dx[:, :, None])[:, :, 0])

    def path(self, x: Array, dx: Array, alpha: float) -> tuple[Array, Array]:
        z = x + alpha * dx
        phi, n, b = self.shape(z)
        moved = (self.active | (phi < 0))[:, None]
        derivative = dx - (n * dx).sum(axis=1)[:, None] * n - phi[:, None] * (b @ dx[:, :, None])[:, :, 0]
        return z - moved * phi[:, None] * n, np.where(moved, derivative, dx)


class Sphere(Body):
    def __init__(self, center: list[float], radius: float) -> None:
        super().__init__()
        self.center, self.radius = np.array(center), radius

    def shape(self, x: Array) -> tuple[Array, Array, Array]:
        r = x - self.center
        distance = np.sqrt((r * r).sum(axis=1))
        n = r / distance[:, None]
        b = (np.eye(x.shape[1]) - n[:, :, None] * n[:, None, :]) / distance[:, None, None]
        return distance - self.radius, n, b


class Floor(Body):
    def shape(self, x: Array) -> tuple[Array, Array, Array]:
        n = np.zeros_like(x)
        n[:, -1] = 1
        return x[:, -1].copy(), n, np.zeros((*x.shape, x.shape[1]))


class Rope:
    """Pulls every particle to an anchor inside the body: c/2 |x - a|^2."""

    def __init__(self, anchor: list[float], stiffness: float) -> None:
        self.anchor, self.stiffness = np.array(anchor), stiffness

    def value(self, x: Array) -> float:
        return float(0.5 * self.stiffness * ((x - self.anchor) ** 2).sum())

    def gradient(self, x: Array) -> Array:
        return self.stiffness * (x - self.anchor)

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        pass

    def product(self, dx: Array) -> Array:
        return self.stiffness * dx

    def precondition(self, r: Array) -> Array:
        return r


def test_bead_slides_to_the_nearest_point_of_a_sphere() -> None:
    sphere = Sphere([0.5, 0.0, 0.0], 2.0)
    rope = Rope([0.5, 0.3, 0.4], 7.0)
    start = sphere.project(np.array([[1.9, 0.4, -0.9], [0.5, -3.0, 1.0], [0.6, 0.1, 0.1]]))
    exact = sphere.center + 2.0 * np.array([0.0, 0.6, 0.8])
    x, report = minimise(rope, [start], Options(tolerance=1e-9, krylov_tolerance=1e-12), sphere)
    assert report.status == "tol" and np.abs(x - exact).max() < 1e-9
    assert sphere.push == pytest.approx(np.full(3, 7.0 * (2 - 0.5)), rel=1e-9), "normal force of the rope"
    energies = np.array([energy for _, energy in report.history])
    assert (np.diff(energies) <= 1e-13 * energies[1:]).all()
    sphere.curved = False
    _, flat = minimise(rope, [start], Options(tolerance=1e-9, krylov_tolerance=1e-12), sphere)
    assert flat.iterations > 2 * report.iterations, (
        "without the curvature of the body it is not Newton's method"
    )


def test_reduced_hessian_is_the_derivative_of_the_reduced_gradient() -> None:
    """Along curved paths, second differences of E'(P(x + alpha dx)) for tangent dx."""
    sphere, rope = Sphere([0.5, 0.0, 0.0], 2.0), Rope([0.1, 0.3, 0.4], 7.0)
    rng = np.random.default_rng(0)
    r = rng.standard_normal((5, 3))
    x = sphere.center + 2 * r / np.sqrt((r * r).sum(axis=1))[:, None]
    sphere.register_active(x, rope.gradient(x))
    assert sphere.active.all()
    dx = sphere.reduce_gradient(rng.standard_normal(x.shape))
    value = [rope.value(sphere.path(x, dx, alpha)[0]) for alpha in (-1e-3, 0.0, 1e-3)]
    rope.prepare(x)
    curvature = (dx * sphere.reduce_product(rope.product(dx), dx)).sum()
    assert curvature == pytest.approx((value[0] - 2 * value[1] + value[2]) / 1e-6, rel=1e-5)
    sphere.curved = False
    sphere.register_active(x, rope.gradient(x))
    assert (dx * sphere.reduce_product(rope.product(dx), dx)).sum() != pytest.approx(curvature, rel=0.1)


def test_slope_along_the_path_is_its_derivative() -> None:
    sphere = Sphere([0.5, 0.0, 0.0], 2.0)
    rng = np.random.default_rng(1)
    x = sphere.project(2.2 * rng.standard_normal((20, 3)))
    dx = rng.standard_normal(x.shape)
    sphere.register_active(x, rng.standard_normal(x.shape))
    (before, _), (_, slope), (after, _) = (
        sphere.path(x, dx, alpha) for alpha in (0.5 - 1e-6, 0.5, 0.5 + 1e-6)
    )
    assert sphere.active.any() and not sphere.active.all()
    assert slope == pytest.approx((after - before) / 2e-6, abs=1e-8)


@pytest.mark.parametrize("make", [Floor, lambda: Sphere([1.0, 1.0, -5.0], 5.0)])
def test_cube_of_springs_lands(make: Any) -> None:
    """Every step feasible, contact forces only push, energy bounded; at rest they carry the weight."""
    obstacle = make()
    x, springs = body(3, 3, 5e3)
    mass = np.ones(len(x))
    gravity = Gravity(mass, [0.0, 0.0, -9.8])
    now = PointState(x + [0, 0, 0.3], np.tile([0.0, 0.0, -8.0], (len(x), 1)))
    options = Options.scaled(5e3, tolerance=1e-5)
    for _ in range(60):
        a = -(springs.gradient(now.x) + gravity.gradient(now.x)) / mass[:, None]
        step = ImplicitStep.of("backward-euler", 1 / 24, now, a, drag=2.0)
        energy = StepEnergy(step, mass, [springs, gravity])
        end, report = minimise(energy, step.starts(a), options, obstacle)
        assert report.converged and report.iterations < 60
        assert obstacle.shape(end)[0].min() > -1e-12
        assert (obstacle.push >= 0).all() and not obstacle.push[obstacle.shape(end)[0] > 1e-6].any()
        energies = np.array([e for _, e in report.history])
        assert (np.diff(energies) <= 1e-12 * np.abs(energies).max()).all()
        now = PointState(end, step.velocity(end))
    lift = (obstacle.push[:, None] * obstacle.n).sum(axis=0)
    if isinstance(obstacle, Floor):
        assert lift[2] == pytest.approx(9.8 * mass.sum(), rel=0.01)


def test_projecting_after_the_solve_is_not_a_minimum() -> None:
    """Negative control: what an unconstrained step and a projection give still has a gradient along the surface."""
    sphere = Sphere([0.0, 0.0], 1.0)
    chain = Springs(np.array([[0, 1]]), 100.0, np.array([0.5]))
    x = np.array([[0.6, 0.9], [1.1, 0.9]])
    step = ImplicitStep.of("backward-euler", 0.1, PointState(x, np.array([[-4.0, -4.0], [0.0, 0.0]])), 0 * x)
    energy = StepEnergy(step, np.ones(2), [chain])

    def size(y: Array) -> float:
        sphere.register_active(y, energy.gradient(y))
        return float(np.abs(sphere.reduce_gradient(energy.gradient(y))).max())

    inside, _ = minimise(energy, [x], Options(tolerance=1e-8))
    assert sphere.shape(inside)[0].min() < -0.01
    right, report = minimise(energy, [x], Options(tolerance=1e-8), sphere)
    assert report.converged and size(right) < 1e-8 and size(sphere.project(inside)) > 1.0
    assert energy.value(right) < energy.value(sphere.project(inside))
