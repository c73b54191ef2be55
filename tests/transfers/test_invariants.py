"""What PIC, FLIP and APIC must keep, and what they must lose."""

from __future__ import annotations

import numpy as np
import pytest
from clouds import (
    KERNELS,
    H,
    angular_error,
    both,
    cloud,
    energies,
    kernels,
    lonely,
    noise_error,
    particle_sums,
    random_field,
    schemes,
    smooth,
    stencils,
    step_of,
)
from grid_driver import GridDriver, cross, spline, spline_slope, weight_gradients, weights

from continua.materials import PythonMaterial
from continua.transfers import FLIP

# ---- kernels, seen through the transfer ----


class Push(PythonMaterial):
    """A material with a prescribed Kirchhoff stress."""

    tau: float | np.ndarray = 0.0

    def stress(self, F, state):
        return np.broadcast_to(self.tau, F.shape)


def library_weights(d: int, kernel: str):
    """Per particle: node offsets r, w and grad w as the transfer uses them."""
    driver = lonely(d, kernel, material=Push())
    w, _ = driver.scatter()
    gradient = np.zeros((len(w), d))
    for axis in range(d):
        driver.body.material.tau = np.zeros((d, d))
        driver.body.material.tau[axis, axis] = -1.0
        gradient[:, axis] = driver.scatter(1.0, momentum=False, stress=True)[1][:, axis]
    for p, nodes in zip(driver.body.x, stencils(driver), strict=True):
        yield p, driver.nodes[nodes], w[nodes], gradient[nodes]


@kernels
@both
def test_kernel_identities(d: int, kernel: str) -> None:
    worst = dict.fromkeys(("one", "centre", "flat", "slope", "spread", "formula", "gradient"), 0.0)
    wrong = 0.0
    for p, nodes, w, gradient in library_weights(d, kernel):
        r = nodes - p
        f = p / H - np.floor(p / H)
        spread = {"linear": f * (1 - f), "quadratic": 0.25 + 0 * f, "cubic": 1 / 3 + 0 * f}[kernel] * H**2
        errors = {
            "one": w.sum() - 1,
            "centre": (w[:, None] * r).sum(axis=0) / H,
            "flat": H * gradient.sum(axis=0),
            "slope": nodes.T @ gradient - np.eye(d) - p[:, None] * gradient.sum(axis=0),
            "spread": ((w[:, None, None] * r[:, :, None] * r[:, None]).sum(axis=0) - np.diag(spread)) / H**2,
            "formula": w - weights(p[None], nodes, H, kernel)[0],
            "gradient": H * (gradient - weight_gradients(p[None], nodes, H, kernel)[0]),
        }
        if kernel == "linear" and np.minimum(f, 1 - f).min() < 1e-9:
            errors.pop("gradient")  # one-sided there
        other = {"linear": 0.25, "quadratic": 1 / 3, "cubic": 0.25}[kernel]  # D of another kernel
        wrong = max(wrong, abs((w * r[:, 0] ** 2).sum() / H**2 - other))
        for name, error in errors.items():
            worst[name] = max(worst[name], float(np.abs(error).max()))
    assert max(worst.values()) <= 1e-13, worst
    assert wrong > 1e-2


@both
def test_linear_gradient_is_the_affine_weight(d: int) -> None:
    """Degree 1: w D^-1 r = grad w, away from cell faces."""
    for p, nodes, w, gradient in library_weights(d, "linear"):
        f = p / H - np.floor(p / H)
        if (f * (1 - f)).min() > 1e-3:
            np.testing.assert_allclose(
                w[:, None] * (nodes - p) / (f * (1 - f) * H**2), gradient, atol=1e-12 / H
            )


@kernels
def test_reference_slopes_are_derivatives(kernel: str) -> None:
    r = np.linspace(-2.2, 2.2, 301)
    numeric = (spline(r + 1e-6, kernel) - spline(r - 1e-6, kernel)) / 2e-6
    smooth_part = np.abs(np.abs(r) - np.round(np.abs(r))) > 1e-3 if kernel == "linear" else slice(None)
    assert np.abs(numeric - spline_slope(r, kernel))[smooth_part].max() <= 1e-6
    if kernel == "cubic":
        assert np.abs(numeric - spline_slope(r, kernel)).max() <= 1e-8
    assert np.abs(numeric - spline_slope(r, "quadratic" if kernel == "cubic" else "cubic")).max() > 0.1


@pytest.mark.parametrize(
    ("kernel", "always", "never"), [("linear", 1, 2), ("quadratic", 2, 3), ("cubic", 3, 4)]
)
def test_coupling_range(kernel: str, always: float, never: float) -> None:
    """Two particles share a node if closer than degree cells, and never if farther than degree + 1."""
    rng = np.random.default_rng(6)
    shared = {"near": [], "far": []}
    for _ in range(100):
        x = rng.uniform(0, 1, size=(1, 2)) * H
        for name, gap in (("near", always - 1e-6), ("far", never + 1e-6)):
            alone, other = (GridDriver(p, H, kernel=kernel) for p in (x, x + [gap * H, 0]))
            touched = [
                {tuple(np.round(n / H).astype(int)) for n in g.nodes[g.scatter()[0] > 0]}
                for g in (alone, other)
            ]
            shared[name].append(bool(touched[0] & touched[1]))
    assert all(shared["near"]) and not any(shared["far"])


# ---- conservation ----


@schemes
@kernels
@both
def test_mass_and_momentum_survive_both_transfers_and_motion(d: int, kernel: str, scheme: str) -> None:
    driver = cloud(d, kernel, scheme)
    body = driver.body
    mass, old, field = random_field(driver)
    scale = (mass[:, None] * np.abs(field)).sum()
    assert abs(mass.sum() - body.mass.sum()) <= 1e-13 * body.mass.sum()
    before = body.mass @ body.v
    assert np.abs(mass @ old - before).max() <= 1e-13 * scale  # particles to grid
    driver.gather(field, step_of(field), old)
    # FLIP hands over the change of momentum, the others the momentum itself: both add up to the grid's.
    assert np.abs(body.mass @ body.v - mass @ field).max() <= 1e-13 * scale
    mass, velocity = driver.velocities()
    assert abs(mass.sum() - body.mass.sum()) <= 1e-13 * body.mass.sum()
    assert np.abs(mass @ velocity - body.mass @ body.v).max() <= 1e-13 * scale
    # weighing all nodes alike is noticed
    equal_weights = np.full(len(mass), body.mass.sum() / np.count_nonzero(mass)) * (mass > 0)
    assert np.abs(equal_weights @ velocity - body.mass @ body.v).max() > 1e-6 * scale


@smooth
@both
def test_apic_keeps_angular_momentum_also_when_particles_move(d: int, kernel: str) -> None:
    assert angular_error(cloud(d, kernel, "apic")) <= 1e-13


@pytest.mark.parametrize(
    ("kernel", "scheme"),
    [(k, s) for k in KERNELS for s in ("pic", "flip", "flip95")] + [("linear", "apic")],
)
@both
def test_the_others_lose_angular_momentum(d: int, kernel: str, scheme: str) -> None:
    """PIC and FLIP always; APIC with linear hats because C, not B, is carried along."""
    assert angular_error(cloud(d, kernel, scheme)) > 1e-6


@smooth
@both
def test_angular_momentum_of_apic_particles(d: int, kernel: str) -> None:
    """sum m (x x v + axial B) is what the grid gets (J15 5.11)."""
    driver = cloud(d, kernel, "apic")
    grid = driver.angular(*driver.velocities())
    body = driver.body
    scale = (body.mass * np.linalg.norm(body.v, axis=1)).sum()
    assert np.abs(np.array(particle_sums(driver)["angular"]) - grid).max() <= 1e-12 * scale
    without_spin = (body.mass[:, None] * cross(body.x, body.v)).sum(axis=0)
    assert np.abs(without_spin - grid).max() > 1e-6 * scale


# ---- reproduction of fields ----


def field_error(d: int, kernel: str, scheme: str, gradient: np.ndarray, shift: np.ndarray) -> float:
    """Give the grid an affine field, take it to particles, translate them, bring it back."""
    driver = cloud(d, kernel, scheme)
    mass, old = driver.velocities()
    constant = np.arange(1.0, d + 1)
    driver.gather(constant + driver.nodes @ gradient.T, 0.0, old)
    driver.body.x[:] += shift
    driver.sort()
    mass, velocity = driver.velocities()
    expected = constant + (driver.nodes - shift) @ gradient.T
    return float(np.abs(velocity - expected)[mass > 0].max())


@kernels
@both
@pytest.mark.parametrize("moved", [False, True])
def test_apic_reproduces_affine_fields(d: int, kernel: str, moved: bool) -> None:
    gradient = np.random.default_rng(3).normal(size=(d, d)) / H
    shift = 0.37 * H * np.ones(d) * moved
    assert field_error(d, kernel, "apic", gradient, shift) <= 1e-12 / H
    assert field_error(d, kernel, "pic", gradient, shift) > 1e-2  # PIC blurs them


@kernels
@both
def test_pic_and_apic_reproduce_constants(d: int, kernel: str) -> None:
    still = np.zeros((d, d))
    assert field_error(d, kernel, "pic", still, 0.3 * H * np.ones(d)) <= 1e-12
    assert field_error(d, kernel, "apic", still, 0.3 * H * np.ones(d)) <= 1e-12


@kernels
@both
def test_flip_keeps_a_constant_velocity(d: int, kernel: str) -> None:
    for fraction in (1.0, 0.95):
        x = np.random.default_rng(4).uniform(0, 4 * H, size=(100, d))
        driver = GridDriver(x, H, kernel=kernel, transfer=FLIP(fraction))
        driver.body.v[:] = np.arange(1.0, d + 1)
        _, velocity = driver.velocities()
        driver.gather(velocity, 0.0, 0 * velocity)  # pretending the grid was at rest adds momentum
        assert np.abs(driver.body.v - np.arange(1.0, d + 1)).max() > 0.1
        driver.body.v[:] = np.arange(1.0, d + 1)
        driver.gather(velocity, 0.1 * H, velocity)
        assert np.abs(driver.body.v - np.arange(1.0, d + 1)).max() <= 1e-12


# ---- energy and noise ----


@pytest.mark.parametrize("scheme", ["pic", "apic"])
@kernels
@both
def test_transfers_at_fixed_positions_never_add_energy(d: int, kernel: str, scheme: str) -> None:
    grid, particles, back = energies(cloud(d, kernel, scheme))
    assert grid * (1 + 1e-12) >= particles and particles * (1 + 1e-12) >= back
    if scheme == "apic":  # the affine part retains more
        assert particles > energies(cloud(d, kernel, "pic"))[1]


@both
def test_flip_does_add_energy(d: int) -> None:
    driver = cloud(d, "quadratic", "flip")
    driver.body.v[:] *= 10  # mostly noise that only the particles see
    grid, particles, _ = energies(driver)
    assert particles > 1.01 * grid


@schemes
@kernels
@both
def test_noise_the_grid_cannot_see_vanishes_except_in_flip(d: int, kernel: str, scheme: str) -> None:
    driver = cloud(d, kernel, scheme, n=300, cells=2.0 if d == 3 else 4.0)
    kept = {"pic": 0.0, "apic": 0.0, "flip": 1.0, "flip95": 0.95}[scheme]
    assert noise_error(driver, kept) <= 1e-12
