"""What face transfers keep and lose, scheme by scheme: momenta, affine fields, energy, noise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from clouds import (
    H,
    angular_error,
    both,
    by_id,
    kernels,
    noise_error,
    particle_sums,
    smooth,
    step_of,
)
from face_clouds import FaceDriver, face_cloud, face_field
from grid_driver import cross
from test_momentum import KEEP, LOSE, every, keep, lose
from test_polypic import counts, polynomial

from continua.transfers import APIC, FLIP, PIC, RPIC, PolyPIC, Transfer


def make(kernel: str, name: str, d: int, **options) -> FaceDriver:
    return face_cloud(d, kernel, (KEEP | LOSE)[kernel, name](d), **options)


# ---- mass, momentum and angular momentum ----


@every
@both
def test_mass_and_momentum_are_kept_by_all(d: int, kernel: str, name: str) -> None:
    driver = make(kernel, name, d)
    body = driver.body
    mass, old, field = face_field(driver)
    scale, total = (mass[:, None] * np.abs(field)).sum(), body.mass.sum()
    assert np.abs(mass.reshape(d, -1).sum(axis=1) - total).max() <= 1e-13 * total
    assert np.abs(mass @ old - body.mass @ body.v).max() <= 1e-13 * scale
    driver.gather(field, step_of(field), old)
    again, velocity = driver.velocities()
    assert np.abs(body.mass @ body.v - mass @ field).max() <= 1e-13 * scale
    assert np.abs(again @ velocity - mass @ field).max() <= 1e-13 * scale
    alike = (again > 0) * total / np.count_nonzero(again.reshape(d, -1), axis=1).repeat(len(again) // d)
    assert np.abs(alike @ velocity - mass @ field).max() > 1e-6 * scale  # weighing all faces alike is noticed


@keep
@both
def test_angular_momentum_is_kept_also_when_particles_move(d: int, kernel: str, name: str) -> None:
    assert angular_error(make(kernel, name, d)) <= 1e-13
    assert angular_error(make(kernel, name, d, dtype=np.float32)) <= 1e-6


@lose
@both
def test_angular_momentum_is_lost_where_it_must_be(d: int, kernel: str, name: str) -> None:
    assert angular_error(make(kernel, name, d)) > 1e-6


@pytest.mark.parametrize("scheme", [APIC(), PolyPIC()], ids=["apic", "polypic"])
@both
def test_linear_splines_with_stored_gradients_keep_it_only_at_rest(d: int, scheme: Transfer) -> None:
    assert angular_error(face_cloud(d, "linear", scheme), moving=False) <= 1e-13
    assert angular_error(face_cloud(d, "linear", scheme)) > 1e-6


@both
def test_the_skew_part_of_C_is_not_rpic_on_linear_splines(d: int) -> None:
    """Every face grid has its own spread D_a, so skewing C loses angular momentum even at rest; K^-1 L does not."""

    def skew(driver: FaceDriver, start: np.ndarray) -> None:
        C = driver.body.C
        driver.body.C = 0.5 * (C - C.transpose(0, 2, 1))

    assert angular_error(face_cloud(d, "linear", APIC()), moving=False, after=skew) > 1e-6
    assert angular_error(face_cloud(d, "linear", RPIC())) <= 1e-13
    assert angular_error(face_cloud(d, "quadratic", APIC()), after=skew) <= 1e-13


@keep
@both
def test_particles_and_faces_agree_on_angular_momentum(d: int, kernel: str, name: str) -> None:
    """J15 (5.11) with the spread of every face grid; leaving out the spin of the particles is noticed."""
    driver = make(kernel, name, d)
    mass, old, field = face_field(driver)
    driver.gather(field, step_of(field), old)
    body = driver.body
    scale = np.abs(driver.nodes).max() * (mass[:, None] * np.abs(field)).sum()
    total = np.array(particle_sums(driver)["angular"])
    assert np.abs(total - driver.angular(*driver.velocities())).max() <= 1e-13 * scale
    assert np.abs(total - body.mass @ cross(body.x, body.v)).max() > 1e-6 * scale


def drift(driver: FaceDriver, steps: int) -> tuple[float, float]:
    """Change of momentum and angular momentum that the grid did not make, over many steps. G20 (2.17)

    The grid pulls faces to the origin and kicks each of them at random.
    """
    rng, dt, d = np.random.default_rng(8), 0.02, driver.body.dimension
    sums, given, scale = [], np.zeros(3 + d), 0.0
    for _ in range(steps):
        mass, velocity = driver.velocities()
        kick = driver.own(0.01 * rng.normal(size=velocity.shape) - dt * driver.nodes) * (mass > 0)[:, None]
        before, after = (np.append(driver.angular(mass, v), mass @ v) for v in (velocity, velocity + kick))
        sums.append(before - given)
        given += after - before
        scale = max(scale, float((mass[:, None] * np.abs(velocity)).sum()))
        driver.gather(velocity + kick, dt, velocity)
    change = np.abs(np.array(sums) - sums[0]).max(axis=0) / scale
    return float(change[3:].max()), float(change[:3].max() / np.abs(driver.nodes).max())


@pytest.mark.parametrize(
    ("d", "kernel", "name", "steps"),
    [
        (2, "linear", "rpic", 1000),
        (2, "linear", "apic-B", 1000),
        (2, "quadratic", "apic", 1000),
        (2, "quadratic", "polypic-products", 1000),
        (3, "quadratic", "polypic-products", 100),
    ],
)
def test_nothing_drifts_over_many_steps(d: int, kernel: str, name: str, steps: int) -> None:
    momentum, angular = drift(make(kernel, name, d, n=60), steps)
    assert momentum <= 1e-12 and angular <= 1e-12


@pytest.mark.parametrize(("kernel", "name"), [("linear", "pic"), ("linear", "flip"), ("linear", "apic-C")])
def test_lossy_schemes_drift(kernel: str, name: str) -> None:
    momentum, angular = drift(make(kernel, name, 2, n=60), 200)
    assert momentum <= 1e-12 and angular > 1e-6


# ---- fields that survive ----


def field_error(driver: FaceDriver, gradient: np.ndarray, shift: np.ndarray) -> float:
    """Give the faces an affine field, take it to particles, translate them, bring it back."""
    d = driver.body.dimension
    constant, (_, old) = np.arange(1.0, d + 1), driver.velocities()
    driver.gather(constant + driver.nodes @ gradient.T, 0.0, old)
    driver.body.x[:] += shift
    driver.sort()
    mass, velocity = driver.velocities()
    expected = driver.own(constant + (driver.nodes - shift) @ gradient.T)
    return float(np.abs(velocity - expected)[mass > 0].max())


@pytest.mark.parametrize("moved", [0.0, 0.37])
@kernels
@both
def test_constants_rigid_motion_and_affine_fields(d: int, kernel: str, moved: float) -> None:
    gradient = np.random.default_rng(3).normal(size=(d, d)) / H
    spin, still, shift = gradient - gradient.T, 0 * gradient, np.full(d, moved * H)
    for scheme, kept, lost in (
        (PIC(), still, spin),
        (RPIC(), spin, gradient),
        (APIC(), gradient, None),
        (PolyPIC(), gradient, None),
    ):
        if kernel == "linear" and isinstance(scheme, RPIC) and moved:
            kept = still  # what is kept is angular momentum, and the inertia changes on the way
        assert field_error(face_cloud(d, kernel, scheme), kept, shift) <= 1e-12 / H
        if lost is not None:
            assert field_error(face_cloud(d, kernel, scheme), lost, shift) > 1e-2


@kernels
@both
def test_flip_keeps_a_constant_velocity(d: int, kernel: str) -> None:
    for fraction in (1.0, 0.95):
        driver = face_cloud(d, kernel, FLIP(fraction))
        driver.body.v[:] = constant = np.arange(1.0, d + 1)
        _, velocity = driver.velocities()
        driver.gather(velocity, 0.0, 0 * velocity)  # pretending the grid was at rest adds momentum
        assert np.abs(driver.body.v - constant).max() > 0.1
        driver.body.v[:] = constant
        driver.gather(velocity, 0.1 * H, velocity)
        assert np.abs(driver.body.v - constant).max() <= 1e-12


# ---- the same under another name ----


def after_a_step(d: int, kernel: str, scheme: Transfer) -> FaceDriver:
    driver = face_cloud(d, kernel, scheme)
    _, old, field = face_field(driver)
    driver.gather(field, step_of(field), old)
    return driver


def difference(a: FaceDriver, b: FaceDriver) -> float:
    """Largest difference of particle velocities and positions, and of face velocities."""
    particles = max(
        np.abs(by_id(a, p) - by_id(b, q)).max() for p, q in ((a.body.v, b.body.v), (a.body.x, b.body.x))
    )
    return float(max(particles, np.abs(a.velocities()[1] - b.velocities()[1]).max()))


@kernels
@both
def test_equal_schemes(d: int, kernel: str) -> None:
    polynomials = {count: after_a_step(d, kernel, PolyPIC(count)) for count in (1, d + 1, 2**d)}
    pic, apic = after_a_step(d, kernel, PIC()), after_a_step(d, kernel, APIC())
    assert difference(polynomials[1], pic) <= 1e-13
    assert difference(polynomials[d + 1], apic) <= 1e-13
    assert difference(polynomials[2**d], apic) > 1e-3 and difference(pic, apic) > 1e-3
    assert difference(after_a_step(d, kernel, FLIP(0.0)), pic) <= 1e-13


@smooth
@both
def test_rpic_is_apic_with_the_skew_part_of_C(d: int, kernel: str) -> None:
    rigid, affine = after_a_step(d, kernel, RPIC()), after_a_step(d, kernel, APIC())
    assert difference(rigid, affine) > 1e-3
    C = affine.body.C
    affine.body.C = 0.5 * (C - C.transpose(0, 2, 1))
    assert difference(rigid, affine) <= 1e-13


# ---- energy and noise ----


def energies(driver: FaceDriver) -> tuple[float, float, float]:
    """Face energy of a random field, of the particles that receive it, and of the faces after them."""
    mass, old, field = face_field(driver)
    driver.gather(field, 0.0, old)
    again, velocity = driver.velocities()
    kinetic = particle_sums(driver)["kinetic"]
    return 0.5 * mass @ (field**2).sum(axis=1), kinetic, 0.5 * again @ (velocity**2).sum(axis=1)


@kernels
@both
def test_energy_never_grows_at_rest_and_more_modes_keep_more(d: int, kernel: str) -> None:
    kept = []
    for count in counts(d, kernel):
        faces, particles, back = energies(face_cloud(d, kernel, polynomial(count)))
        assert faces * (1 + 1e-12) >= particles and particles * (1 + 1e-12) >= back
        kept.append(particles / faces)
    assert all(b > a for a, b in itertools.pairwise(kept))
    assert kept[-1] == pytest.approx(1, abs=1e-12) and back == pytest.approx(faces, rel=1e-12)
    assert kept[-2] < 0.99


@pytest.mark.parametrize(
    ("scheme", "left"),
    [(PIC(), 0), (RPIC(), 0), (APIC(), 0), (PolyPIC(), 0), (FLIP(), 1), (FLIP(0.95), 0.95)],
    ids=["pic", "rpic", "apic", "polypic", "flip", "flip95"],
)
def test_noise_the_faces_cannot_see_vanishes_except_in_flip(scheme: Transfer, left: float) -> None:
    assert noise_error(face_cloud(2, "linear", scheme, n=80, cells=2.0), left) <= 1e-12
