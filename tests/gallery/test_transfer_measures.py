"""What scenes that compare transfers measure has known answers: noise, vorticity, and the runs themselves."""

from __future__ import annotations

import numpy as np
import pytest

from continua import Simulation
from continua.bodies.velocity import Rigid
from continua.gallery._paths import capsules_below
from continua.gallery._running import SceneRun
from continua.gallery._transfers import compared, noise, vorticity
from continua.geometry import shapes
from continua.materials import FixedCorotated
from continua.transfers import APIC, FLIP, PIC


def block(dimension: int, **moving: object) -> Simulation:
    sim = Simulation(0.1, (0.0,) * dimension)
    sim.add(shapes.Box((0.05,) * dimension, (1.0,) * dimension), FixedCorotated(), **moving)  # type: ignore[arg-type]
    return sim


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_rigid_rotation_has_twice_its_spin_as_vorticity(dimension: int) -> None:
    spin = 3.0 if dimension == 2 else (1.0, 2.0, 2.0)  # of size 3
    motion = Rigid(linear=(0.3,) * dimension, angular=spin, center=(0.0,) * dimension)
    assert vorticity(block(dimension, velocity=motion)) == pytest.approx(6.0, rel=0.1)  # its rim is one-sided
    assert vorticity(block(dimension, velocity=(0.3,) * dimension)) == pytest.approx(0.0, abs=1e-12)


def test_noise_is_what_neighbours_do_not_share() -> None:
    """Uniform motion has none; alternating velocities, which the grid cannot see, are nothing else."""
    sim = block(2, velocity=(1.0, 0.5))
    assert noise(sim) == pytest.approx(0.0, abs=1e-12)
    body = sim.world.particle_bodies[0]
    flips = np.where(np.arange(len(body)) % 2, 1.0, -1.0)
    body.v[:] = flips[:, None] * (1.0, 0.0)
    assert noise(sim) == pytest.approx(1.0, abs=0.3)


def test_all_transfers_run_the_same_scene() -> None:
    """In the order of the others, and the scene's own last; PIC stops the disc, FLIP and APIC do not."""

    def look(run: SceneRun) -> dict[str, float]:
        kept = run.sim.diagnostics()["angular_z"] / run.start["angular_z"]
        return {"kept": kept, "flip": run.sim.world.transfer.flip, "seen": len(run.seen["time"])}

    small = ["dx=0.04", "duration=0.1"]
    found = compared("spinning-disc", small, APIC(), look, others=(PIC(), FLIP()))
    assert [entry["flip"] for entry in found] == [0.0, 1.0, 0.0]
    assert found[0]["kept"] < 0.9 < found[1]["kept"] and found[2]["kept"] == pytest.approx(1.0, abs=1e-12)
    assert all(entry["seen"] > 10 for entry in found)


def test_capsules_touch_the_path_from_below() -> None:
    surface = np.array([(0.0, 1.0), (1.0, 1.0), (2.0, 0.5)])
    solids = capsules_below(surface, 0.1, friction=0.3)
    assert len(solids) == 2 and all(solid.friction == 0.3 for solid in solids)
    middle = np.array([(0.5, 1.0), (1.5, 0.75)])
    gaps = np.min([solid.signed_distance(middle)[0] for solid in solids], axis=0)
    assert gaps == pytest.approx(0.0, abs=0.01)
    assert all(solid.start[1] < 1.0 for solid in solids)
