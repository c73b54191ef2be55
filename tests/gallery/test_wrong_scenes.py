"""The checks of the gallery can tell right from wrong: with one wrong setting a scene fails its own check."""

from __future__ import annotations

import re

import pytest

from continua.gallery import names, run_scene
from continua.gallery._running import module_of

WRONG = [(name, *variant) for name in names() for variant in module_of(name).WRONG]


def test_every_scene_has_a_wrong_variant() -> None:
    assert {name for name, *_ in WRONG} == set(names())


@pytest.mark.parametrize(
    ("name", "what", "changes", "quantity"), WRONG, ids=[f"{w[0]}: {w[1]}" for w in WRONG]
)
def test_a_wrong_variant_fails_the_check(name: str, what: str, changes: list[str], quantity: str) -> None:
    """By the number that the scene names, and not because the run breaks down."""
    report = run_scene(name, small=True, overrides=changes)
    assert not report.failure
    assert any(re.search(quantity, failed) for failed in report.failed), report.measurements
