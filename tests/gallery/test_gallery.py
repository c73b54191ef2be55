"""Every gallery scene documents itself, runs in its small version, and meets the numbers it promises."""

from __future__ import annotations

import math

import numpy as np
import pytest

from continua.gallery import run_scene
from continua.gallery._running import module_of
from continua.scene import catalogue
from continua.scene.overrides import split

NAMES = catalogue.names()
# what a small version may change without a word: resolution, number of particles, duration, number type
ONLY_SIZE = {"dx", "size", "counts", "resolution", "particles_per_cell", "duration", "precision"}


def test_the_gallery_is_complete() -> None:
    promised = {"bar", "incline", "jello-cubes", "sandcastle-wheel", "snowball", "snowball-wall", "snowballs"}
    granular = {
        "sand-column",
        "sand-hourglass",
        "sand-on-jello",
        "sand-on-jello-2d",
        "clay-press",
        "dam-break",
    }
    viscoelastic = {"sponge-twist", "sponge-shot", "shaving-foam", "toothpaste", "viennetta", "pie"}
    transfers = {"spinning-disc", "compressed-square", "jello-drop", "spiral-collision", "sand-slide"}
    flow = {"vortex-sheet", "ink-drop", "dust-column", "water-dam", "water-dam-3d", "water-on-sphere"}
    poured = {"river", "fountain", "wine"}
    meshes = {"cube-stretch", "cube-pulse", "cube-random", "cube-point", "ball-drop", "two-spheres"}
    contact = {"torus-ground", "torus-hole", "box-stack", "blob-between-cubes", "tori-bowl"}
    continua = {"sand-slides-on-jello", "snow-off-roof"}
    hair = {"hair-ball", "hair-tubes", "braid", "snow-on-hair", "walking-hair"}
    hybrid = {"bunnies-in-sand", "jello-in-sand", "twisted-tori", "mannequin-wall"}
    rigid = {"pinwheel", "dominoes", "rolling"}
    assert (
        promised
        | granular
        | viscoelastic
        | transfers
        | flow
        | poured
        | meshes
        | contact
        | continua
        | hybrid
        | rigid
        | hair
        <= set(NAMES)
    )


@pytest.mark.parametrize("name", NAMES)
def test_scene_documents_itself(name: str) -> None:
    """A docstring that says what to look at, a cost, a small version, wrong variants and a check."""
    module = module_of(name)
    text = module.__doc__ or ""
    assert len(text.splitlines()[0]) < 100 and text.splitlines()[0].endswith(".")
    unit = "particles" if module.scene.body or module.scene.emitter else "vertices"
    assert "What to look at" in text and unit in text and "steps" in text
    assert unit in module.COST and catalogue.cost(name) == module.COST
    assert isinstance(module.SMALL, list) and all("=" in override for override in module.SMALL)
    assert callable(module.check) and module.check.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_a_small_version_that_changes_more_than_its_size_says_so(name: str) -> None:
    """Other materials, other obstacles: the docstring has the override, word for word."""
    module = module_of(name)
    others = [override for override in module.SMALL if split(override)[0][-1] not in ONLY_SIZE]
    for override in others:
        assert "The small version" in (module.__doc__ or "")
        assert f"`{override}`" in " ".join((module.__doc__ or "").split())


@pytest.mark.parametrize("name", NAMES)
def test_small_scene_meets_its_promise(name: str) -> None:
    """The small version runs through the same loop as `continua run`, and the scene's own check passes."""
    report = run_scene(name, small=True)
    assert report.passed, report.failure or [m for m in report.measurements if not m.passed]
    assert report.run is not None
    sim = report.run.sim
    assert not sim.world.warnings
    points = (max(len(body), sum(map(len, body.particle_sets()))) for body in sim.bodies)
    assert sum(points) > 100  # emitters start empty
    assert (np.diff(report.run.seen["time"]) > 0).all() and report.run.seen["time"][0] == 0
    assert any(m.gated for m in report.measurements)
    assert all(math.isfinite(m.value) for m in report.measurements)
