"""One material point on the bench: closed-form curves, and every joule accounted for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import continua as ct
from continua.errors import MaterialError
from continua.materials import PythonMaterial
from continua.materials.base import lame
from continua.pointtest import (
    biaxial,
    compress,
    confined,
    default_path,
    drive,
    read_path,
    relax,
    shear,
    triaxial,
    uniaxial,
)
from continua.validation.sand import friction_angle

both = pytest.mark.parametrize("d", [2, 3])


def dev_norm(tau: np.ndarray) -> np.ndarray:
    d = tau.shape[1]
    mean = np.trace(tau, axis1=1, axis2=2)[:, None, None] / d
    return np.linalg.norm(tau - mean * np.eye(d), axis=(1, 2))


# ---- elasticity ----


def test_neo_hookean_uniaxial_stress() -> None:
    """tau_i = mu (s_i^2 - 1) + lam ln J, and the sides find the stretch that frees them."""
    material = ct.materials.NeoHookean(E=1e5, nu=0.3)
    mu, lam = lame(1e5, 0.3)
    history = drive(material, uniaxial(0.5, steps=40))
    s = np.exp(0.5)
    side = brentq(lambda q: mu * (q * q - 1) + lam * np.log(s * q * q), 0.3, 1)
    exact = mu * (s * s - 1) + lam * np.log(s * side**2)
    assert history.stress[-1] == pytest.approx(exact, rel=1e-9)
    assert history.F_total[-1, 1, 1] == pytest.approx(side, rel=1e-9)
    assert np.abs(history.tau[:, [1, 2], [1, 2]]).max() < 1e-8 * material.modulus()
    wrong = mu * (s * s - 1) + lam * np.log(s)  # sides held
    assert abs(wrong / exact - 1) > 0.1


@both
def test_hencky_uniaxial_is_linear_in_logarithmic_strain(d: int) -> None:
    """E ln s and -nu ln s in 3D, their plane-strain values in 2D."""
    E, nu = 1e5, 0.3
    history = drive(ct.materials.Hencky(E=E, nu=nu), uniaxial(0.5, steps=20, dimension=d))
    modulus, ratio = (E, nu) if d == 3 else (E / (1 - nu**2), nu / (1 - nu))
    np.testing.assert_allclose(history.stress, modulus * history.strain, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(np.log(history.F_total[:, 1, 1]), -ratio * history.strain, atol=1e-10)
    assert np.abs(history.stress - 2 * lame(E, nu)[0] * history.strain).max() > 0.1 * modulus * 0.5


def test_hencky_biaxial() -> None:
    """E/(1 - nu) ln s with the third side free; in 2D both sides are prescribed."""
    E, nu = 1e5, 0.3
    history = drive(ct.materials.Hencky(E=E, nu=nu), biaxial(0.3, steps=20))
    assert history.stress[-1] == pytest.approx(E / (1 - nu) * 0.3, rel=1e-9)
    assert history.tau[-1, 2, 2] == pytest.approx(0, abs=1e-6)
    mu, lam = lame(E, nu)
    plane = drive(ct.materials.Hencky(E=E, nu=nu), biaxial(0.3, steps=20, dimension=2))
    assert plane.stress[-1] == pytest.approx((2 * mu + 2 * lam) * 0.3, rel=1e-9)


@both
@pytest.mark.parametrize("name", ["FixedCorotated", "NeoHookean", "Hencky", "QuadraticNeoHookean"])
def test_elastic_work_is_stored(name: str, d: int) -> None:
    """The area under the curve is the energy, to second order in the step."""
    material = getattr(ct.materials, name)()
    errors = []
    for steps in (40, 80):
        for path in (shear(0.8, steps=steps, dimension=d), uniaxial(0.4, steps=steps, dimension=d)):
            history = drive(material, path)
            assert history.summary().yield_strain is None
            assert history.plastic_work[-1] == 0 == history.viscous_work[-1]
            errors.append(abs(history.dissipation[-1]) / history.work[-1])
    assert max(errors[2:]) < 1e-4
    assert all(fine < 0.3 * coarse + 1e-12 for coarse, fine in zip(errors[:2], errors[2:], strict=True))


def test_compression_and_back_leaves_nothing() -> None:
    history = drive(ct.materials.FixedCorotated(), compress(0.2, steps=100))
    assert history.volume.min() == pytest.approx(np.exp(-0.2)) and history.volume[-1] == pytest.approx(1)
    assert abs(history.work[-1]) < 1e-12 * history.energy.max()
    snow = drive(ct.materials.Snow(), compress(0.2, steps=100))
    assert snow.work[-1] > 0.5 * snow.energy.max()  # plastic flow is not given back


# ---- plasticity ----


def test_von_mises_tension_stops_at_its_strength() -> None:
    """|dev tau| = sqrt(2/3) tau_x, so the plateau is sqrt(3/2) yield_stress."""
    material = ct.materials.VonMises(E=1e7, nu=0.3, yield_stress=1e5)
    history = drive(material, uniaxial(0.1, steps=200))
    plateau = np.sqrt(1.5) * 1e5
    assert history.stress[-1] == pytest.approx(plateau, rel=1e-9)
    assert history.summary().yield_strain == pytest.approx(plateau / 1e7, abs=0.1 / 200 + 1e-12)
    late = slice(100, None)  # flow keeps the volume
    assert np.ptp(history.volume[late]) < 1e-10
    assert abs(np.sqrt(2) * 1e5 / plateau - 1) > 0.1  # the plane-stress factor is something else


def test_von_mises_hardens_with_plastic_strain() -> None:
    material = ct.materials.VonMises(E=1e7, nu=0.3, yield_stress=1e5, hardening=2e5)
    history = drive(material, uniaxial(0.2, steps=200))
    limit = 1e5 + 2e5 * history.state["plastic_strain"][-1]
    assert dev_norm(history.tau[-1:])[0] == pytest.approx(limit, rel=1e-8)
    assert limit > 1.2e5


def test_von_mises_dissipation_is_stress_times_plastic_strain() -> None:
    """On the plateau all work is dissipated; the area under the curve tells how much."""
    material = ct.materials.VonMises(E=1e7, nu=0.3, yield_stress=1e5)
    history = drive(material, uniaxial(0.1, steps=400))
    plateau = np.sqrt(1.5) * 1e5
    exact = plateau * (0.1 - plateau / 1e7)
    assert history.dissipation[-1] == pytest.approx(exact, rel=1e-4)
    assert abs(plateau * 0.1 / exact - 1) > 0.1  # forgetting the elastic part is noticed


@pytest.mark.parametrize("angle", [20.0, 35.0])
def test_sand_fails_at_the_triaxial_stress_ratio(angle: float) -> None:
    """Axial over lateral stress is (1 + sin phi)/(1 - sin phi), whatever the pressure."""
    sand = ct.materials.DruckerPrager(E=1e7, nu=0.3, friction_angle=angle)
    sine = np.sin(np.radians(angle))
    for pressure in (1e4, 4e4):
        history = drive(sand, triaxial(0.05, pressure=pressure, steps=200))
        cauchy = history.cauchy[-1]
        assert -cauchy[1, 1] == pytest.approx(pressure, rel=1e-8)
        assert cauchy[0, 0] / cauchy[1, 1] == pytest.approx((1 + sine) / (1 - sine), rel=1e-8)
    assert abs((1 + np.tan(np.radians(angle))) / (1 + sine) * (1 - sine) - 1) > 0.01


def shear_over_pressure(friction_angle: float, d: int) -> float:
    """Shear over normal stress on the plane of sliding, in simple shear."""
    sand = ct.materials.DruckerPrager(E=1e8, nu=0.3, friction_angle=friction_angle)
    cauchy = drive(sand, confined(shear(1.0, steps=1000, dimension=d), 1e4)).cauchy[-1]
    return float(-cauchy[0, 1] / cauchy[1, 1])


def test_sand_shears_under_a_part_of_its_pressure() -> None:
    """Without dilation stress has the axes of the shear, and the plane of sliding carries alpha d / sqrt(2)."""
    alpha = ct.materials.DruckerPrager(friction_angle=33.0).parameters()["alpha"]
    for d in (2, 3):
        assert shear_over_pressure(33.0, d) == pytest.approx(alpha * d / np.sqrt(2), rel=1e-3)
    for friction in (0.1, 0.65, 1.0):
        assert shear_over_pressure(friction_angle(friction), 2) == pytest.approx(friction, rel=1e-3)
    slope = float(
        np.degrees(np.arctan(0.65))
    )  # the tangent of the angle is not what a plane of sliding bears
    assert shear_over_pressure(slope, 2) == pytest.approx(0.51, abs=0.01)


def test_loose_sand_needs_confinement_for_shear() -> None:
    sand = ct.materials.DruckerPrager(E=1e7, nu=0.3, friction_angle=30.0)
    free = drive(sand, shear(0.05, steps=50))
    held = drive(sand, confined(shear(0.05, steps=50), 1e4))
    assert np.abs(free.stress).max() < 1e-6
    assert held.stress[-1] > 2e3


def test_rankine_tension_stops_at_its_strength() -> None:
    history = drive(ct.materials.Rankine(E=1e7, nu=0.3, strength=1e5), uniaxial(0.05, steps=100))
    assert history.stress[-1] == pytest.approx(1e5, rel=1e-9)
    squeezed = drive(ct.materials.Rankine(E=1e7, nu=0.3, strength=1e5), uniaxial(-0.05, steps=100))
    assert squeezed.stress[-1] == pytest.approx(-0.05e7, rel=1e-8)  # no limit in compression


def test_snow_yields_at_its_critical_stretches() -> None:
    snow = ct.materials.Snow()
    pulled = drive(snow, uniaxial(0.05, steps=500)).summary()
    assert pulled.yield_strain == pytest.approx(np.log(1.0075), abs=1e-4 + 1e-9)
    pressed = drive(snow, compress(0.2, steps=2000)).summary()
    assert pressed.yield_strain == pytest.approx(-3 * np.log(0.975), abs=2e-4 + 1e-9)


# ---- flow in time ----


@both
@pytest.mark.parametrize("w", [0.5, 2.0])
def test_oldroyd_b_start_up_and_steady_shear(d: int, w: float) -> None:
    """b12 = w (1 - e^-t), b11 = 1 + 2 w^2 (1 - (1+t) e^-t) for t in relaxation times; stress mu w (1+w^2)^(-1/d)."""
    mu, Wi = 5.0, 0.5
    foam = ct.materials.OldroydB(mu=mu, lam=50.0, relaxation_time=Wi)
    errors = []
    for steps in (500, 1000):
        history = drive(foam, shear(20 * w, rate=w / Wi, steps=steps, dimension=d))
        b = history.state["stretch_scale"][:, None, None] * history.F @ history.F.transpose(0, 2, 1)
        t = history.time / Wi
        error12 = np.abs(b[:, 0, 1] - w * (1 - np.exp(-t))).max() / w
        error11 = np.abs(b[:, 0, 0] - 1 - 2 * w**2 * (1 - (1 + t) * np.exp(-t))).max() / (2 * w**2)
        steady = mu * w * (1 + w * w) ** (-1 / d)
        errors.append((error12, error11, abs(history.stress[-1] / steady - 1)))
    assert max(errors[1]) < 0.015
    assert all(0.4 < fine / coarse < 0.6 for coarse, fine in zip(*errors, strict=True))  # first order
    classic = mu * w  # without the volume-preserving scale
    assert abs(classic / steady - 1) > 0.05


@pytest.mark.parametrize("Wi", [0.1, 2.0])
def test_oldroyd_b_relaxes_exponentially(Wi: float) -> None:
    foam = ct.materials.OldroydB(mu=5.0, lam=50.0, relaxation_time=Wi)
    history = drive(foam, relax(0.3, rate=1 / Wi, steps=200))
    b = history.state["stretch_scale"][:, None, None] * history.F @ history.F.transpose(0, 2, 1)
    start = 20  # end of the quick step
    t = (history.time - history.time[start])[start:]
    np.testing.assert_allclose(b[start:, 0, 1], b[start, 0, 1] * np.exp(-t / Wi), rtol=1e-9)
    assert history.stress[-1] < 0.01 * history.stress.max()
    assert np.abs(b[start:, 0, 1] - b[start, 0, 1] * np.exp(-t / (2 * Wi))).max() > 0.05


@pytest.mark.parametrize(("n", "K"), [(1.0, 10.0), (0.5, 20.0)])
def test_herschel_bulkley_steady_shear(n: float, K: float) -> None:
    """tau = yield_stress + K rate^n."""
    for rate in (0.5, 5.0):
        foam = ct.materials.HerschelBulkley(E=1e5, nu=0.3, yield_stress=50.0, consistency=K, exponent=n)
        history = drive(foam, shear(0.5, rate=rate, steps=2000))
        law = 50.0 + K * rate**n
        assert history.stress[-1] == pytest.approx(law, rel=2e-3)
        assert abs((50.0 + K * rate ** (n + 0.3)) / law - 1) > 0.01


@both
def test_newtonian_liquid(d: int) -> None:
    """Shear stress eta gamma', and all the work is dissipated by viscosity."""
    water = ct.materials.Liquid(bulk_modulus=1e4, density=1000.0, viscosity=2.0)
    history = drive(water, shear(1.0, rate=3.0, steps=50, dimension=d))
    np.testing.assert_allclose(history.stress[1:], 2.0 * 3.0, rtol=1e-9)
    assert history.viscous_work[-1] == pytest.approx(2.0 * 3.0 * 1.0, rel=1e-9)
    assert history.dissipation[-1] == pytest.approx(history.viscous_work[-1], rel=1e-9)
    still = drive(ct.materials.Liquid(bulk_modulus=1e4, density=1000.0, viscosity=0.0), shear(dimension=d))
    assert np.abs(still.stress).max() < 1e-9


# ---- the books ----

FLOWING = [
    ("Snow", {}, lambda n: compress(0.2, steps=n)),
    ("Snow", {}, lambda n: uniaxial(0.05, steps=n)),
    ("VonMises", {"E": 1e6, "nu": 0.3, "yield_stress": 1e4}, lambda n: shear(0.2, steps=n)),
    (
        "DruckerPrager",
        {"E": 1e6, "nu": 0.3, "friction_angle": 30.0},
        lambda n: triaxial(0.1, pressure=1e4, steps=n),
    ),
    (
        "OldroydB",
        {"mu": 5.0, "lam": 50.0, "relaxation_time": 0.5, "viscosity": 1.0},
        lambda n: shear(2.0, steps=n),
    ),
]


@pytest.mark.parametrize(("name", "parameters", "path"), FLOWING)
def test_energy_balance(name: str, parameters: dict, path) -> None:
    """Work = stored + plastic + viscous - hardening, up to the error of integration, which falls with the step."""
    material = getattr(ct.materials, name)(**parameters)
    coarse, fine = (drive(material, path(n)).summary() for n in (200, 400))
    assert fine.balance_error < 0.02
    assert fine.balance_error < 0.7 * coarse.balance_error
    assert fine.dissipation > 0.1 * fine.work > 0
    assert fine.least_dissipation > -1e-4 * fine.work
    forgotten = abs(fine.work - fine.stored) / fine.work  # without the flow the books do not close
    assert forgotten > 5 * fine.balance_error


class Perpetual(PythonMaterial):
    """Elastic, but it swells by itself: a source of energy."""

    def energy(self, F, state):
        return self.E / 2 * ((F - np.eye(F.shape[1])) ** 2).sum(axis=(1, 2))

    def stress(self, F, state):
        return self.E * (F - np.eye(F.shape[1]))

    def project(self, F, state):
        return np.eye(F.shape[1]) + 1.05 * (F - np.eye(F.shape[1])), state


def test_a_source_of_energy_is_noticed() -> None:
    summary = drive(Perpetual(), shear(0.1, steps=20)).summary()
    assert summary.least_dissipation < -1e-3 * abs(summary.work)
    assert summary.plastic_work < 0


class PythonNeoHookean(PythonMaterial):
    """The built-in one once more."""

    def energy(self, F, state):
        mu, lam = lame(self.E, self.nu)
        J = np.log(np.linalg.det(F))
        return mu / 2 * ((F * F).sum(axis=(1, 2)) - F.shape[1]) - mu * J + lam / 2 * J * J

    def stress(self, F, state):
        mu, lam = lame(self.E, self.nu)
        G = np.linalg.inv(F).transpose(0, 2, 1)
        return mu * F + (lam * np.log(np.linalg.det(F)) - mu)[:, None, None] * G


@both
def test_python_materials_are_driven_alike(d: int) -> None:
    path = uniaxial(0.4, steps=20, dimension=d)
    mine, theirs = drive(PythonNeoHookean(), path), drive(ct.materials.NeoHookean(E=1e5, nu=0.3), path)
    np.testing.assert_allclose(mine.tau, theirs.tau, atol=1e-6)
    np.testing.assert_allclose(mine.energy, theirs.energy, atol=1e-6)


class Fluffy(PythonMaterial):
    """Wrong shape of the stress."""

    def energy(self, F, state):
        return np.zeros(len(F))

    def stress(self, F, state):
        return np.zeros(len(F))


def test_mistakes_have_sentences() -> None:
    snow = ct.materials.Snow()
    for wrong, words in [
        (lambda: shear(0.0), "other than zero"),
        (lambda: shear(1.0, rate=-1.0), "rate"),
        (lambda: shear(1.0, dimension=4), "2 or 3"),
        (lambda: triaxial(0.1, pressure=0.0), "pressure"),
        (lambda: uniaxial(1e4), "too large"),
        (lambda: drive(snow, triaxial(0.1, pressure=1e12)), "lower pressure"),
        (lambda: drive(Fluffy(), shear()), "must return an array"),
    ]:
        with pytest.raises(MaterialError, match=words):
            wrong()


# ---- defaults and tables ----


def test_default_paths_pass_yield() -> None:
    """Well beyond the first flow, yet not absurdly far."""
    metal = ct.materials.VonMises(E=2e9, nu=0.3, yield_stress=2e6)
    for material in (ct.materials.Snow(), metal):
        for name in ("shear", "uniaxial", "biaxial", "triaxial"):
            path = default_path(name, [material])
            first = drive(material, path).summary().yield_strain
            assert first is not None and 2 < path.strain[-1] / first < 30, name
    assert default_path("shear", [ct.materials.NeoHookean()]).strain[-1] == 1.0


def write(folder: Path, text: str) -> Path:
    file = folder / "path.csv"
    file.write_text(text)
    return file


def test_tables_of_F_and_of_L_agree_with_the_named_path(tmp_path: Path) -> None:
    snow = ct.materials.Snow()
    named = drive(snow, shear(0.1, rate=0.2, steps=50, dimension=2))
    header, rows = "F11,F10,F01,F00,t\n", "1,0,0,1,0\n# half way\n1,0,0.05,1,0.25\n\n1,0,0.1,1,0.5\n"
    by_F = drive(snow, read_path(write(tmp_path, header + rows), steps=50))
    by_L = drive(snow, read_path(write(tmp_path, "t,L00,L01,L10,L11\n0,0,.2,0,0\n.5,0,.2,0,0\n"), steps=50))
    np.testing.assert_allclose(by_F.tau, named.tau, atol=1e-9)
    np.testing.assert_allclose(by_L.tau, named.tau, atol=1e-9)


def test_a_table_of_L_turns_exactly(tmp_path: Path) -> None:
    """A constant spin is a rotation: no stress, whatever the step."""
    text = "t,L00,L01,L10,L11\n0,0,-1,1,0\n1.5,0,-1,1,0\n"
    history = drive(ct.materials.NeoHookean(), read_path(write(tmp_path, text), steps=4))
    assert np.abs(history.tau).max() < 1e-9
    assert history.F_total[-1, 1, 0] == pytest.approx(np.sin(1.5))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("t,F00,F01,F10\n0,1,0,0\n", "columns are"),
        ("time,F00,F01,F10,F11\n0,1,0,0,1\n", "must be t and"),
        ("t,F00,F01,F10,F11\n0,1,0,0,1\n", "two rows"),
        ("t,F00,F01,F10,F11\n0,1,0,0,1\n0,1,0,0,1\n", "grow"),
        ("t,F00,F01,F10,F11\n0,1,0,0,1\n1,1,x,0,1\n", 'line 3: F01 is "x"'),
        ("t,F00,F01,F10,F11\n0,1,0,0,1\n1,1,0,0\n", "4 values for 5 columns"),
        ("t,F00,F01,F10,F11\n0,1,0,0,1\n1,inf,0,0,1\n", "finite"),
        ("t,F00,F01,F10,F11\n0,2,0,0,1\n1,1,0,0,1\n", "undeformed"),
        ("t,F00,F01,F10,F11\n0,1,0,0,1\n1,-1,0,0,1\n", "det F"),
    ],
)
def test_wrong_tables(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(MaterialError, match=words):
        read_path(write(tmp_path, text))
