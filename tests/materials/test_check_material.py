"""`check_material` passes what obeys the rules and names the rule that is broken."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.errors import MaterialError
from continua.materials.base import CATALOGUE, lame
from continua.testing import check_material


class NeoHookean(ct.materials.PythonMaterial):
    """Psi = mu/2 (F:F - d) - mu ln J + lam/2 (ln J)^2"""

    def energy(self, F, state):
        mu, lam = lame(self.E, self.nu)
        J = np.linalg.det(F)
        log = np.log(np.where(J > 0, J, 1.0))
        psi = mu / 2 * ((F * F).sum(axis=(1, 2)) - F.shape[1]) - mu * log + lam / 2 * log**2
        return np.where(J > 0, psi, np.inf)

    def stress(self, F, state):
        mu, lam = lame(self.E, self.nu)
        inverse = np.linalg.inv(F).transpose(0, 2, 1)
        return mu * F + (lam * np.log(np.linalg.det(F)) - mu)[:, None, None] * inverse


class WrongFactor(NeoHookean):
    def stress(self, F, state):
        return 1.001 * super().stress(F, state)


class NotObjective(NeoHookean):
    """F_ij F_ji instead of F_ij F_ij, with the stress that belongs to it."""

    def energy(self, F, state):
        mu, _ = lame(self.E, self.nu)
        right = super().energy(F, state)
        return right + mu / 2 * ((F * F.transpose(0, 2, 1)).sum(axis=(1, 2)) - (F * F).sum(axis=(1, 2)))

    def stress(self, F, state):
        mu, _ = lame(self.E, self.nu)
        return super().stress(F, state) + mu * (F.transpose(0, 2, 1) - F)


class StressedAtRest(NeoHookean):
    def energy(self, F, state):
        return super().energy(F, state) + self.E * np.linalg.det(F)

    def stress(self, F, state):
        J = np.linalg.det(F)[:, None, None]
        return super().stress(F, state) + self.E * J * np.linalg.inv(F).transpose(0, 2, 1)


class NanWhenInverted(NeoHookean):
    def energy(self, F, state):
        mu, lam = lame(self.E, self.nu)
        log = np.log(np.linalg.det(F))
        return mu / 2 * ((F * F).sum(axis=(1, 2)) - F.shape[1]) - mu * log + lam / 2 * log**2


class SoftModulus(NeoHookean):
    """Tells the time step half of its stiffness."""

    def modulus(self):
        return super().modulus() / 2


class Fibre(NeoHookean):
    """Stiff along x: right, but not isotropic."""

    def energy(self, F, state):
        return super().energy(F, state) + self.E * ((F[:, :, 0] ** 2).sum(axis=1) - 1) ** 2

    def stress(self, F, state):
        P = super().stress(F, state)
        P[:, :, 0] += 4 * self.E * ((F[:, :, 0] ** 2).sum(axis=1) - 1)[:, None] * F[:, :, 0]
        return P

    def modulus(self):
        return super().modulus() + 8 * self.E


class Clamped(NeoHookean):
    """Logarithmic strain of at most 0.05, what is cut off counted in `flow`."""

    states = {"flow": 0.0}
    limit = 0.05

    def project(self, F, state):
        U, s, Vt = np.linalg.svd(F)
        size = np.linalg.norm(np.log(s), axis=1)
        outside = size > self.limit * (1 + 1e-14)
        kept = s ** np.where(outside, self.limit / np.maximum(size, self.limit), 1.0)[:, None]
        F = np.where(outside[:, None, None], (U * kept[:, None]) @ Vt, F)
        return F, {"flow": state["flow"] + (size - self.limit).clip(0)}


class NeverEnough(Clamped):
    """Flows a little more each time it is asked."""

    def project(self, F, state):
        return 0.999 * F, state


class Raising(Clamped):
    """Cuts tension off without looking at the energy."""

    def project(self, F, state):
        U, s, Vt = np.linalg.svd(F)
        return (U * s.clip(max=1.0)[:, None]) @ Vt, state


class TurnedFlow(Clamped):
    """Flows in the direction of the coordinate axes."""

    def project(self, F, state):
        return F.clip(-1.05, 1.05), state


class WithYield(Clamped):
    """Tells what it admits."""

    def yield_function(self, F, state):
        return self.E * (np.linalg.norm(np.log(np.linalg.svd(F)[1]), axis=1) - self.limit)


class Strict(WithYield):
    """Promises half of what its projection admits."""

    def yield_function(self, F, state):
        return super().yield_function(F, state) + self.E * self.limit / 2


class Hasty(WithYield):
    """Flows before it yields."""

    def project(self, F, state):
        U, s, Vt = np.linalg.svd(F)
        return super().project((U * (s**0.999)[:, None]) @ Vt, state)


class Overshooting(Clamped):
    """Flows through the state of rest to the other side: loses energy, but gains work while it flows."""

    def project(self, F, state):
        new, history = super().project(F, state)
        U, s, Vt = np.linalg.svd(new)
        flowed = np.abs(new - F).max(axis=(1, 2)) > 1e-12
        return np.where(flowed[:, None, None], (U / s[:, None]) @ Vt, new), history


class Forgetting(Fibre):
    """Turns its fibre into some direction when it flows."""

    states = {"flow": 0.0}

    def project(self, F, state):
        U, s, Vt = np.linalg.svd(F)
        return (U * s[:, None]) @ U.transpose(0, 2, 1), state


class WrongShape(NeoHookean):
    def stress(self, F, state):
        return super().stress(F, state)[0]


def broken(material: ct.materials.PythonMaterial, **options) -> set[str]:
    report = check_material(material, **options)
    assert report.ok == (not report.failures)
    return {gate.name for gate in report.failures}


def built_in() -> dict[str, ct.materials.NativeMaterial]:
    """Every built-in material with its default parameters, and every preset."""
    found = {}
    for name in ct.materials.__all__:
        cls = getattr(ct.materials, name)
        if not getattr(cls, "model", ""):
            continue
        presets = [k for k, v in vars(cls).items() if isinstance(v, classmethod) and "from_table" not in k]
        found[name] = cls()
        found |= {f"{name}.{k}": getattr(cls, k)() for k in presets if not k.startswith("_")}
    return found


BUILT_IN = built_in()


def test_all_models_of_the_core_are_among_the_built_in() -> None:
    assert {material.model for material in BUILT_IN.values()} == set(CATALOGUE)
    assert {"Snow.dry_sand", "VonMises.metal", "OldroydB.pie_crust", "Liquid.water"} <= set(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_materials_pass(name: str) -> None:
    report = check_material(BUILT_IN[name], isotropic=True)
    assert report.ok, str(report)


@pytest.mark.parametrize("material", [NeoHookean(), Fibre(), Clamped(), WithYield()], ids=lambda m: m.label)
def test_right_materials_pass(material) -> None:
    report = check_material(material)
    assert report.ok, str(report)
    report.raise_if_failed()


@pytest.mark.parametrize(
    ("material", "rule"),
    [
        (WrongFactor, "stress is the slope of the energy"),
        (WrongFactor, "linear limit"),
        (NotObjective, "objective"),
        (NotObjective, "symmetric Kirchhoff stress"),
        (StressedAtRest, "zero at rest"),
        (NanWhenInverted, "no NaN when inverted"),
        (SoftModulus, "modulus bounds the stiffness"),
        (NeverEnough, "projection idempotent"),
        (NeverEnough, "projection leaves elastic states"),
        (Raising, "projection does not raise energy"),
        (TurnedFlow, "projection objective"),
        (Strict, "projection admissible"),
        (Hasty, "projection leaves elastic states"),
        (Overshooting, "projection dissipates"),
        (Forgetting, "projection objective"),
        (WrongShape, "stress is the slope of the energy"),
    ],
)
def test_wrong_materials_are_caught(material, rule: str) -> None:
    assert rule in broken(material())


def test_a_consistent_but_not_objective_energy_breaks_only_what_it_should() -> None:
    assert broken(NotObjective()) >= {"objective", "symmetric Kirchhoff stress"}
    assert "stress is the slope of the energy" not in broken(NotObjective())


def test_each_flow_gate_sees_what_the_others_do_not() -> None:
    assert broken(Strict()) == {"projection admissible"}
    assert "projection does not raise energy" not in broken(Overshooting())
    assert broken(WithYield()) == set()


def test_flow_that_takes_time_is_not_asked_to_end_at_once() -> None:
    fluid = check_material(ct.materials.HerschelBulkley(), dimension=2)
    assert "takes time" in fluid["projection idempotent", 2].note
    assert "takes time" in fluid["projection admissible", 2].note
    assert fluid["projection leaves elastic states", 2].passed and fluid["projection dissipates", 2].passed
    polymer = check_material(ct.materials.OldroydB(), dimension=2)
    assert "everything flows" in polymer["projection leaves elastic states", 2].note
    sponge = check_material(ct.materials.OldroydB(relaxation_time=np.inf), dimension=2)
    assert sponge["projection idempotent", 2].passed  # never relaxes: nothing takes time


def test_keeping_the_volume_is_a_property() -> None:
    notes = {}
    for name in ("VonMises", "HerschelBulkley", "OldroydB", "Liquid", "Rankine", "DruckerPrager", "Snow"):
        gate = check_material(BUILT_IN[name], dimension=3)["projection keeps the volume", 3]
        assert gate.passed is None
        notes[name] = gate.note
    assert [k for k, v in notes.items() if v == "yes"] == [
        "VonMises",
        "HerschelBulkley",
        "OldroydB",
        "Liquid",
    ]
    assert [k for k, v in notes.items() if v == "no"] == ["Rankine", "DruckerPrager", "Snow"]


def test_known_exceptions_are_reported_with_their_reason() -> None:
    """Snow clamps stretches, which may raise the energy, the more the less compressible it is."""
    report = check_material(ct.materials.Snow(nu=0.49))
    assert report.ok
    for rule in ("projection does not raise energy", "projection dissipates"):
        gate = report[rule, 3]
        assert gate.passed is None and gate.value > 1e-4 and "clamp" in gate.note
    # Volume-preserving snow ends outside its range, and flows on from there.
    assert broken(ct.materials.Snow(preserve_volume=True)) == {
        "projection idempotent",
        "projection admissible",
    }


@pytest.mark.parametrize(
    "material",
    [
        ct.materials.VonMises(hardening=5e5),
        ct.materials.Rankine(strength=0.0),
        ct.materials.DruckerPrager(cohesion=1e4),
        ct.materials.DruckerPrager(volume_correction=False),
        ct.materials.HerschelBulkley(exponent=2.0),
        ct.materials.HerschelBulkley(consistency=0.0, exponent=1.0),
        ct.materials.OldroydB(viscosity=1.0),
        ct.materials.Liquid(tension=True, exponent=1),
    ],
    ids=repr,
)
def test_other_parameters_pass(material) -> None:
    report = check_material(material, seed=1)
    assert report.ok, str(report)


def test_isotropy_is_a_property_unless_asked_for() -> None:
    report = check_material(Fibre(), dimension=3)
    assert report["isotropic", 3].passed is None and report["isotropic", 3].note == "no"
    assert check_material(NeoHookean(), dimension=3)["isotropic", 3].note == "yes"
    assert broken(Fibre(), isotropic=True) == {"isotropic"}
    assert broken(NeoHookean(), isotropic=True) == set()


def test_gates_that_do_not_apply_say_why() -> None:
    report = check_material(Fibre(), dimension=2)
    assert report["linear limit", 2].passed is None and "modulus()" in report["linear limit", 2].note
    assert "elastic" in report["projection idempotent", 2].note
    report = check_material(WrongFactor(), dimension=2, skip=["linear limit"])
    assert report["linear limit", 2].note == "skipped on request"


def test_report_reads_well_and_raises_only_when_asked() -> None:
    report = check_material(WrongFactor(), dimension=(2,), seed=3)
    text = str(report)
    assert text.splitlines()[0] == "WrongFactor: 3 gates FAILED"
    assert "stress is the slope of the energy" in text and "1e-08" in text
    gate = report["stress is the slope of the energy", 2]
    assert gate.passed is False and 5e-4 < gate.value < 2e-3 and gate.tolerance == 1e-8
    with pytest.raises(MaterialError, match="slope of the energy in 2D"):
        report.raise_if_failed()
    with pytest.raises(KeyError, match="no gate"):
        report["beauty", 2]
    assert "must return an array of shape" in check_material(WrongShape(), dimension=2).failures[0].note


def test_the_same_seed_measures_the_same() -> None:
    first, second = (check_material(NeoHookean(), seed=7) for _ in range(2))
    assert str(first) == str(second)
