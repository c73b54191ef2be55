"""How much energy transfers leave in an elastic square that was compressed and let go, and in a periodic wave."""

from __future__ import annotations

import numpy as np
import pytest
from grid_driver import momentum_on_grid

import continua as ct
from continua.errors import InstabilityError
from continua.transfers import FLIP, PolyPIC

RUBBER = ct.materials.NeoHookean(1e3, 0.3, 1.0)
H = 1 / 24


def lattice(side: int, spacing: float) -> np.ndarray:
    g = (np.arange(side) + 0.5) * spacing
    return np.stack(np.meshgrid(g, g, indexing="ij"), axis=-1).reshape(-1, 2)


def energy(sim: ct.Simulation, body: ct.Body) -> float:
    """Strain energy of the particles and kinetic energy of the grid after P2G."""
    nodes = momentum_on_grid(sim, body)
    nodes = nodes[nodes[:, 3] > 0]
    kinetic = 0.5 * ((nodes[:, :2] ** 2).sum(axis=1) / nodes[:, 3]).sum()
    return float(kinetic + body.energy_density() @ body.volume)


def compressed(transfer, dt: float) -> tuple[ct.Simulation, ct.Body]:
    """Side 0.4, 20 x 20 particles, scaled to 0.9."""
    sim = ct.Simulation(H, (0, 0), transfer=transfer, dt=dt, force_dt=True)
    points = 0.5 + 0.9 * (lattice(20, 0.02) - 0.2)
    body = sim.add(ct.shapes.Points(points, volumes=np.full(400, 4e-4)), RUBBER)
    body.F = 0.9 * np.eye(2)
    return sim, body


def square(transfer, dt: float = 1e-4, steps: int = 1000) -> list[float]:
    """E / E0 of a compressed square at four times up to steps * dt."""
    sim, body = compressed(transfer, dt)
    start, kept = energy(sim, body), []
    for _ in range(4):
        for _ in range(steps // 4):
            sim.step()
        kept.append(energy(sim, body) / start)
    return kept


EXPECTED = {
    "pic": (0.001, 0.0, 0.0, 0.0),
    "rpic": (0.001, 0.0, 0.0, 0.0),
    "flip95": (0.42, 0.22, 0.12, 0.06),
    "flip99": (0.61, 0.42, 0.27, 0.19),
    "flip": (0.72, 0.58, 0.43, 0.34),
    "apic": (0.57, 0.42, 0.32, 0.23),
    "polypic4": (0.58, 0.41, 0.31, 0.23),
    "polypic6": (0.80, 0.62, 0.55, 0.53),
    "polypic9": (0.89, 0.74, 0.68, 0.66),
}
SCHEMES = {
    "flip95": FLIP(0.95),
    "flip99": FLIP(0.99),
    "polypic4": PolyPIC(4),
    "polypic6": PolyPIC(6),
    "polypic9": PolyPIC(9),
}
ALIKE = [{"pic", "rpic"}, {"apic", "polypic4"}]  # a square does not spin, and hardly twists


@pytest.mark.parametrize("scheme", EXPECTED)
def test_energy_of_a_compressed_square(scheme: str) -> None:
    kept = square(SCHEMES.get(scheme, scheme))
    assert kept == pytest.approx(EXPECTED[scheme], abs=0.02)
    for other, values in EXPECTED.items():  # the gate tells schemes apart
        same = other == scheme or {other, scheme} in ALIKE
        assert same or kept != pytest.approx(values, abs=0.02)


def peak(transfer, steps: int, every: int = 10) -> float:
    """Largest E / E0 of the square."""
    sim, body = compressed(transfer, 1e-4)
    start, most = energy(sim, body), 1.0
    for step in range(steps):
        sim.step()
        if step % every == 0:
            most = max(most, energy(sim, body) / start)
    return most


@pytest.mark.parametrize("modes", [6, 9])
def test_guarded_squares_never_gain_energy(modes: int) -> None:
    assert peak(PolyPIC(modes), 1000) <= 1.01


def test_without_the_guard_light_nodes_blow_up() -> None:
    """Six modes overshoot, nine diverge: differences read nodes of hardly any mass, which fly off under force."""
    assert peak(PolyPIC(6, light_node=0), 600) > 1.1
    with pytest.raises(InstabilityError, match="no longer finite|the grid reaches"):
        square(PolyPIC(9, light_node=0))


@pytest.mark.parametrize("scheme", ["pic", "apic", "polypic4", "polypic6", "polypic9"])
def test_large_steps_stay_stable(scheme: str) -> None:
    """dt = 8e-4 is 0.7 h / c: twice the default bound, still below the limit."""
    assert max(square(SCHEMES.get(scheme, scheme), 8e-4, 120)) <= 1.13


def test_the_limit_of_the_step_is_lower_with_many_modes() -> None:
    """At dt = 1e-3, 0.88 h / c, APIC and four modes survive; six and nine do not."""
    for scheme in ("apic", PolyPIC(4)):
        assert max(square(scheme, 1e-3, 100)) <= 1.13
    for modes in (6, 9):
        with pytest.raises(InstabilityError):
            square(PolyPIC(modes), 1e-3, 100)


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("pic", 0.0),
        ("flip99", 0.709),
        ("apic", 0.780),
        ("polypic4", 0.780),
        ("polypic6", 0.996),
        ("polypic9", 0.996),
        ("flip", 1.002),
    ],
)
def test_energy_of_a_periodic_wave(scheme: str, expected: float) -> None:
    """A body that fills a periodic box, v = (sin 2 pi x, sin 2 pi y), 0.2 s."""
    sim = ct.Simulation(H, (0, 0), transfer=SCHEMES.get(scheme, scheme), dt=1e-4)
    for axis in (0, 1):
        sim.add(ct.boundaries.Periodic(axis, 0.0, 1.0))
    points = ct.shapes.Points(lattice(48, 1 / 48), volumes=np.full(48**2, 1 / 48**2))
    body = sim.add(points, RUBBER, velocity=lambda x: np.sin(2 * np.pi * x))
    start = energy(sim, body)
    for _ in range(2000):
        sim.step()
    assert energy(sim, body) / start == pytest.approx(expected, abs=0.005)
