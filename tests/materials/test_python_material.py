"""Materials written in Python run through the same pipeline as the built-in ones."""

from __future__ import annotations

import numpy as np
import pytest
from test_check_material import NeoHookean

import continua as ct
from continua.errors import MaterialError
from continua.materials.base import lame


class Snow(ct.materials.PythonMaterial):
    """The built-in snow once more, in NumPy."""

    E, nu, density = 1.4e5, 0.2, 400.0
    states = {"Jp": 1.0}

    def moduli(self, state):
        factor = np.exp(10 * (1 - state["Jp"]))[:, None, None]
        mu, lam = lame(self.E, self.nu)
        return mu * factor, lam * factor

    def energy(self, F, state):
        mu, lam = self.moduli(state)
        s = np.linalg.svd(F, compute_uv=False)
        return mu.ravel() * ((s - 1) ** 2).sum(axis=1) + lam.ravel() / 2 * (s.prod(axis=1) - 1) ** 2

    def stress(self, F, state):
        mu, lam = self.moduli(state)
        U, s, Vt = np.linalg.svd(F)
        J = np.linalg.det(F)[:, None, None]
        return 2 * mu * (F - U @ Vt) + lam * (J - 1) * J * np.linalg.inv(F).transpose(0, 2, 1)

    def project(self, F, state):
        U, s, Vt = np.linalg.svd(F)
        kept = s.clip(1 - 2.5e-2, 1 + 7.5e-3)
        inside = (kept == s).all(axis=1)
        F = np.where(inside[:, None, None], F, (U * kept[:, None]) @ Vt)
        return F, {"Jp": state["Jp"] * (s / kept).prod(axis=1)}


def run(
    material, d: int, transfer: str, precision: str = "double", steps: int = 20, dt: float = 1e-3
) -> dict[str, np.ndarray]:
    """A block with random velocities that falls onto a frictional plane."""
    gravity = (0, -9.81) if d == 2 else (0, -9.81, 0)
    sim = ct.Simulation(0.1, gravity, transfer=transfer, precision=precision, dt=dt)
    rng = np.random.default_rng(0)
    centre, size = (0.05, 0.32, 0.02)[:d], (0.6, 0.5, 0.4)[:d]
    body = sim.add(
        ct.shapes.Box(centre, size), material, velocity=lambda x: rng.uniform(-2, 2, x.shape) - [0, 3, 0][:d]
    )
    sim.add(ct.colliders.Plane((0.2, 1, 0)[:d], friction=0.3))
    for _ in range(steps):
        sim.step()
    return body.fields() | {"F": body.F[np.argsort(body.ids)], "energy": np.array(sim.diagnostics()["total"])}


def difference(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> float:
    return max(float(np.abs(a[k] - b[k]).max() / np.abs(b[k]).max()) for k in ("x", "v", "F", "J", "energy"))


@pytest.mark.parametrize("transfer", ["apic", "flip"])
@pytest.mark.parametrize("d", [2, 3])
def test_python_neo_hookean_moves_like_the_built_in_one(d: int, transfer: str) -> None:
    native = run(ct.materials.NeoHookean(1e5, 0.3, 1000.0), d, transfer)
    assert np.abs(native["F"] - np.eye(d)).max() > 0.05  # something happened
    assert difference(run(NeoHookean(), d, transfer), native) <= 1e-12
    other = NeoHookean()
    other.nu = 0.301
    assert difference(run(other, d, transfer), native) > 1e-9  # a slightly different material is noticed


@pytest.mark.parametrize("d", [2, 3])
def test_python_snow_flows_like_the_built_in_one(d: int) -> None:
    native, python = (run(m, d, "apic", dt=3e-4, steps=80) for m in (ct.materials.Snow(), Snow()))
    assert native["Jp"].min() < 0.99 and native["Jp"].max() > 1.005  # it did flow
    assert difference(python, native) <= 1e-12
    np.testing.assert_allclose(python["Jp"], native["Jp"], rtol=1e-12)


def test_python_material_in_single_precision() -> None:
    native = run(ct.materials.NeoHookean(1e5, 0.3, 1000.0), 2, "apic", "single")
    python = run(NeoHookean(), 2, "apic", "single")
    assert python["x"].dtype == np.float32
    assert difference(python, native) <= 1e-4


def test_a_formula_of_the_wrong_shape_is_reported() -> None:
    class Scalar(NeoHookean):
        def stress(self, F, state):
            return np.zeros(len(F))

    with pytest.raises(MaterialError, match="Scalar.stress must return an array of shape"):
        run(Scalar(), 2, "apic", steps=1)


def test_a_material_without_stress_is_reported() -> None:
    class Empty(ct.materials.PythonMaterial):
        pass

    with pytest.raises(MaterialError, match="Empty must define stress"):
        run(Empty(), 2, "apic", steps=1)
