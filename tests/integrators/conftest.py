"""Small problems run best on one thread; tests of threading choose for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from implicit_worlds import Solve

import continua as ct
from continua.integrators import implicit
from continua.optimize import Report


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = ct.threads()
    ct.set_threads(1)
    yield
    ct.set_threads(before)


@pytest.fixture
def solves(monkeypatch: pytest.MonkeyPatch) -> list[Solve]:
    """All minimisations of the test, in order."""
    record: list[Solve] = []
    minimise = implicit.minimise

    def recording(objective: Any, starts: Any, options: Any, contact: Any) -> tuple[np.ndarray, Report]:
        v, report = minimise(objective, starts, options, contact)
        at_rest = objective.value(contact.project(np.zeros_like(v)))
        record.append(Solve(at_rest, objective.value(v), report))
        return v, report

    monkeypatch.setattr(implicit, "minimise", recording)
    return record
