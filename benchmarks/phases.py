"""Where the time of an explicit step goes, phase by phase, with the limits of the machine beside it.

    python benchmarks/phases.py                                             # 1e6 particles, one thread and two
    python benchmarks/phases.py --particles 1e5 --threads 1 --seconds 0.5   # a quick look

Nanoseconds per particle and core: wall time times threads over particle-steps. Worlds are those of `worlds.py`, on a
floor. Beside each number stand two limits:

- bytes: what the phase must read and write at least, once, at the speed at which this machine copies arrays (measured
  here, with as many threads);
- operations: the vector operations of the formulas, counted by hand, two per cycle, with full registers. A virtual
  machine often tells a lower clock than it has under load; --ghz sets it.

The numbers are written to out/benchmarks/phases.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from turns import machine
from worlds import WARM_UP, WORLDS

import continua as ct

PHASES = ("sort", "p2g", "grid", "contact", "g2p", "push_out")
READ = {"sort": ("x",), "p2g": ("x", "v", "C", "F", "mass", "volume", "state"), "g2p": ("x", "F", "state")}
WRITTEN = {"g2p": ("x", "v", "C", "F", "state")}
NODES = {"p2g": 1, "grid": 2, "g2p": 1}  # how often the phase reads or writes every node
COPY_BYTES = 1 << 28  # of an array that is copied: far more than a cache holds

# Vector operations per particle times the lanes of a register: 3D, quadratic splines, APIC, fixed corotated.
ROW = 16  # numbers of a row of four nodes
SCATTER = {
    "mls": 17 * ROW,
    "gradient": 26 * ROW,
}  # 9 multiply-adds, 8 additions of rows; 9 rows more for gradients
GATHER = {"mls": 159, "gradient": 240}  # three components by polynomials along x and y, weights along z
STRESS = (
    3 * 49 + 60
)  # three iterations of the polar decomposition (cofactors, update, change), then tau and m C
UPDATE = 27 + 9 + 9  # F + dt grad v F, C about the particle, x and v


@dataclass(frozen=True)
class Case:
    """A world to look at."""

    world: str
    precision: str
    stress_transfer: str

    @property
    def label(self) -> str:
        """Name for tables."""
        digits = {"single": "float32", "double": "float64"}[self.precision]
        return f"{self.world}, {digits}, {self.stress_transfer}"


CASES = [
    Case(world, precision, form)
    for world in ("cube", "spray")
    for precision in ("single", "double")
    for form in ("mls", "gradient")
]


def copy_speed(threads: int, repeats: int = 7) -> float:
    """Bytes per second, read and written, when so many threads copy arrays that no cache holds."""
    pairs = [(np.ones(COPY_BYTES // 8), np.zeros(COPY_BYTES // 8)) for _ in range(threads)]
    seconds = []
    for _ in range(repeats):
        workers = [threading.Thread(target=np.copyto, args=(to, source)) for source, to in pairs]
        begin = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds.append(time.perf_counter() - begin)
    return 2 * COPY_BYTES * threads / statistics.median(seconds)


def lanes(precision: str, widest: str) -> int:
    """Numbers in a register of this machine."""
    return (64 if widest == "AVX-512" else 32) // {"single": 4, "double": 8}[precision]


def operations(case: Case, widest: str) -> dict[str, float]:
    """Vector operations per particle, where they are known."""
    scatter, gather = SCATTER[case.stress_transfer] + STRESS, GATHER[case.stress_transfer] + UPDATE
    return {"p2g": scatter / lanes(case.precision, widest), "g2p": gather / lanes(case.precision, widest)}


def least_bytes(sim: ct.Simulation) -> dict[str, float]:
    """Bytes per particle that a phase reads and writes at least, where they are known."""
    stepper = sim.steppers["main"]
    columns = stepper.field.exchanges[0][0].particles.arrays
    nodes = stepper.nodes.nbytes / sim.particles
    found = {}
    for phase in ("sort", "p2g", "grid", "g2p"):
        names = (*READ.get(phase, ()), *WRITTEN.get(phase, ()))
        found[phase] = sum(getattr(columns, name).nbytes for name in names) / sim.particles
        found[phase] += NODES.get(phase, 0) * nodes
    return found


def measure(case: Case, particles: float, threads: int, seconds: float) -> dict[str, Any]:
    """Nanoseconds per particle and core of every phase and of the whole step, and the bytes that must be moved."""
    ct.set_threads(threads)
    settings = asdict(case)
    sim = WORLDS[settings.pop("world")](particles, floor=True, **settings)
    for _ in range(WARM_UP):
        sim.step()
    spent = sim.steppers["main"].seconds
    before, steps, begin = dict(spent), 0, time.perf_counter()
    while time.perf_counter() - begin < seconds or steps < 3:
        sim.step()
        steps += 1
    total = time.perf_counter() - begin
    unit = 1e9 * threads / (steps * sim.particles)
    times = {name: (spent[name] - before[name]) * unit for name in PHASES}
    times["other"] = total * unit - sum(times.values())
    return {"particles": sim.particles, "ns": times | {"total": total * unit}, "bytes": least_bytes(sim)}


def limits(found: dict[str, Any], case: Case, speed: float, widest: str, ghz: float) -> dict[str, Any]:
    """Nanoseconds per particle and core that the bytes and the operations need; speed: of copies, per core."""
    found["bytes ns"] = {name: 1e9 * count / speed for name, count in found["bytes"].items()}
    found["operations ns"] = {name: n / (2 * ghz) for name, n in operations(case, widest).items()}
    for kind in ("bytes ns", "operations ns"):
        found[kind]["total"] = sum(found[kind].values())
    return found


def line(case: Case, threads: int, found: dict[str, Any]) -> str:
    """Line of the table: measured (bytes, operations)."""
    cells = []
    for name, ns in found["ns"].items():
        known = [found[kind].get(name) for kind in ("bytes ns", "operations ns")]
        beside = ", ".join("-" if ns is None else f"{ns:.1f}" for ns in known)
        cells.append(f"{ns:.1f}" + (f" ({beside})" if any(ns is not None for ns in known) else ""))
    return "| " + " | ".join([case.label, str(threads), *cells]) + " |"


def clock() -> float:
    """Clock of the processor as it says itself [GHz]."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((float(line.split(":")[1]) / 1e3 for line in lines if line.startswith("cpu MHz")), 3.0)


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--particles", type=float, default=1e6)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=3.0, help="per case")
    parser.add_argument("--cases", nargs="+", default=[""], help="parts of the names of cases")
    parser.add_argument("--ghz", type=float, default=clock(), help="clock of a core under load")
    parser.add_argument("--output", type=Path, default=Path("out/benchmarks/phases.json"))
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, write the JSON."""
    options = parse()
    host = machine()
    speeds = {threads: copy_speed(threads) for threads in options.threads}
    copies = ", ".join(f"{speed / 1e9:.1f} GB/s with {threads}" for threads, speed in speeds.items())
    print(f"{host['processor']}, {host['widest']}, {options.ghz:.2f} GHz, load {host['load']:.2f} before")
    print(f"copies (read and written): {copies} threads\n")
    print("Nanoseconds per particle and core: measured (bytes at copy speed, operations at two per cycle)\n")
    print("| world | threads | " + " | ".join((*PHASES, "other", "step")) + " |")
    print("|---" * (len(PHASES) + 4) + "|", flush=True)
    results = []
    for case in CASES:
        if not any(part in case.label for part in options.cases):
            continue
        for threads in options.threads:
            found = measure(case, options.particles, threads, options.seconds)
            found = limits(found, case, speeds[threads] / threads, host["widest"], options.ghz)
            results.append({"case": asdict(case), "threads": threads, **found})
            print(line(case, threads, found), flush=True)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    numbers = {"machine": host, "ghz": options.ghz, "copy": speeds, "cases": results}
    options.output.write_text(json.dumps(numbers, indent=1) + "\n")
    print(f"\nwrote {options.output}")


if __name__ == "__main__":
    main()
