"""What the checks of strands measure has known answers."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.gallery._running import SceneRun
from continua.gallery._strands import bundle_volume, crossed_share, gained_after, length_change
from continua.gallery.braid import BUNDLES, TURNS, crossings, middle_lines
from continua.geometry.ropes import Braid, Bundle, Strand

ROD = ct.materials.Rod(E=1e6, radius=1e-3)


def free_strands(curves: object) -> tuple[ct.Simulation, ct.Strands]:
    sim = ct.Simulation(dx=0.05, gravity=(0.0, 0.0, 0.0))
    body = ct.Strands(curves, ROD)  # type: ignore[arg-type]
    sim.add(body)
    sim.step()
    return sim, body


def test_what_the_continuum_of_strands_stores_is_in_the_totals() -> None:
    """Volume times mu |eps|^2 + lam (tr eps)^2 / 2 with logarithmic strains."""
    _, body = free_strands(Bundle((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), 0.02, 5, 6))
    before = body.totals().elastic
    assert body.free is not None
    strains = np.array([-0.02, -0.01, -0.03])
    body.free.set.F = np.tile(np.diag(np.exp(strains)), (len(body), 1, 1))
    law = body.free.law  # type: ignore[attr-defined]
    mu, lam = law.E / (2 * (1 + law.nu)), law.E * law.nu / ((1 + law.nu) * (1 - 2 * law.nu))
    volume = ROD.area * 0.3 * 5
    stored = volume * (mu * (strains**2).sum() + 0.5 * lam * strains.sum() ** 2)
    assert body.totals().elastic - before == pytest.approx(stored, rel=1e-9)
    assert stored != pytest.approx(volume * mu * (strains**2).sum(), rel=0.1)


def test_the_length_of_a_strand_is_that_of_its_segments() -> None:
    sim, body = free_strands(Strand([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], 4))
    body.x[:] = body.curves.points * [1.1, 1.0, 1.0]
    assert length_change(sim) == pytest.approx(0.1)
    body.x[:] = body.curves.points[:, [1, 0, 2]]  # turned
    assert length_change(sim) == pytest.approx(0.0, abs=1e-12)


def test_strands_that_met_nothing_did_not_cross() -> None:
    sim, _ = free_strands(Strand([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], 4))
    assert crossed_share(sim) == 0


def test_the_volume_of_a_bundle_grows_with_its_section() -> None:
    _, body = free_strands(Bundle((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), 0.02, 400, 29))
    third = bundle_volume(body)
    assert third == pytest.approx(np.pi * 0.02**2 * 0.1, rel=0.05)
    body.x[:] = body.x * [1.0, 1.2, 1.0]
    assert bundle_volume(body) == pytest.approx(1.2 * third, rel=1e-6)


def test_energy_that_rises_after_a_fall_is_found() -> None:
    seen = {"time": np.arange(6.0), "energy": np.array([0.0, 9.0, 5.0, 3.0, 3.5, 1.0])}
    run = SceneRun(None, {}, seen)  # type: ignore[arg-type]
    assert gained_after(run, 0.5) == pytest.approx(0.5 / 8)
    assert gained_after(run, 3.5) == 0


def test_a_braid_is_known_by_its_crossings() -> None:
    """Twice per pair of bundles and turn; going through each other changes which is in front."""
    braid = Braid((0.0, 0.0, 0.0), (0.6, 0.0, 0.0), 0.02, 4, 60, TURNS, across=(0.0, 1.0, 0.0))
    _, body = free_strands(braid)
    lines = middle_lines(body, body.curves.points)
    found = crossings(lines)
    assert len(found) == round(2 * BUNDLES * TURNS)
    assert crossings(lines + [0.1, 0.2, 0.3]) == found
    assert crossings(lines * [1.0, 1.0, -1.0]) == [(a, b, not front) for a, b, front in found]
    flat = lines * [1.0, 0.0, 1.0]
    assert crossings(flat) == []
