"""Threads: a test that asks for some gets them, also where tests run side by side with one thread each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from continua import _core

STEP = """
import os
import continua as ct
ct.set_threads({threads})
sim = ct.Simulation(0.05, (0, -9.81))
sim.add(ct.shapes.Box((0, 0), (4, 4)), ct.materials.Snow())
before = len(os.listdir("/proc/self/task"))
sim.step()
print(len(os.listdir("/proc/self/task")) - before, ct.threads())
"""


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_asked_for_are_real(threads: int) -> None:
    """A step of a large body starts them, whatever the environment says."""
    done = subprocess.run(
        [sys.executable, "-c", STEP.format(threads=threads)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "CONTINUA_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(threads - 1), str(threads)]


def test_threads_must_be_sensible() -> None:
    with pytest.raises(ValueError, match="threads"):
        _core.set_threads(0)
