"""Measure one contender in this process: `python measure.py '{"name": "taichi", "particles": 100000}'`.

The last line of the output is JSON. Every contender gets its own process, so that no thread pool, allocator
or compiler of one library disturbs the next; `compare.py` starts them in turn.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import statistics
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any

from peers import scene

DX = 0.01  # grid spacing [m]
WARM_UP = 3  # steps before the clock starts: compilation, first touch of memory, first sort
BATCHES = 3


@dataclass(frozen=True)
class Contender:
    """One thing to time: a library, a scene size and the settings that matter for speed."""

    name: str  # of the module `peers.<name>_mpm`; the first word is the library
    particles: int = 100_000
    material: str = "fixed-corotated"
    threads: int = 1
    precision: str = "single"  # continua only
    stress_transfer: str = "mls"  # continua only

    @property
    def label(self) -> str:
        """Name for tables: the library, and its settings where they are not the common ones."""
        extras = [
            setting for setting in (self.stress_transfer, self.precision) if setting not in ("mls", "single")
        ]
        words = self.name.replace("_", ", ")
        return f"{words} ({', '.join(extras)})" if extras else words


def installed(name: str) -> bool:
    """Whether the library behind a contender can be imported; it is the first word of the name."""
    return importlib.util.find_spec(name.split("_")[0]) is not None


def build(contender: Contender) -> Any:
    """Peer of a contender with the common scene loaded."""
    elastic = scene.Elastic(contender.material)
    x, v = scene.cube(contender.particles, DX)
    options = {}
    if contender.name == "continua":
        options = {"precision": contender.precision, "stress_transfer": contender.stress_transfer}
    module = importlib.import_module(f"peers.{contender.name}_mpm")
    dt = scene.time_step(DX, elastic)
    return module.Peer(
        x, v, DX, elastic.material, elastic.E, elastic.nu, elastic.density, dt, contender.threads, **options
    )


def times_for(peer: Any, steps: int) -> tuple[float, float]:
    """Wall time and CPU time of all threads [s] of that many steps."""
    wall, cpu = time.perf_counter(), time.process_time()
    peer.step(steps)
    return time.perf_counter() - wall, time.process_time() - cpu


def seconds_for(peer: Any, steps: int) -> float:
    """Wall time [s] of that many steps."""
    return times_for(peer, steps)[0]


def measure(contender: Contender, seconds: float) -> dict[str, Any]:
    """Million particle-steps per second, and nanoseconds of CPU time for each: medians of a few batches.

    Together the batches last about `seconds` [s].
    """
    peer = build(contender)
    peer.step(WARM_UP)
    steps = max(1, math.ceil(seconds / BATCHES / seconds_for(peer, 1)))
    particles = 8 * scene.cells_per_edge(contender.particles) ** 3
    batches = [times_for(peer, steps) for _ in range(BATCHES)]
    return {
        "contender": asdict(contender),
        "particles": particles,
        "steps": steps * BATCHES,
        "rate": statistics.median(particles * steps / wall / 1e6 for wall, _ in batches),
        "cpu_ns": statistics.median(1e9 * cpu / (particles * steps) for _, cpu in batches),
    }


if __name__ == "__main__":
    request = json.loads(sys.argv[1])
    duration = request.pop("seconds", 2.0)
    print(json.dumps(measure(Contender(**request), duration)))
