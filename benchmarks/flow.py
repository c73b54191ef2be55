"""Time one whole step of incompressible flow, a MAC grid with linear APIC, in Continua, Taichi and Warp; see README.md.

    python benchmarks/flow.py                                       # 1e6 particles in 128^3 cells, three rounds
    python benchmarks/flow.py --particles 1e5 --cells 64 --rounds 1 # a quick look
    python benchmarks/flow.py --check                               # everybody computes the same motion

Everybody runs the same dam in the same tank with the same time step, and solves for the pressure to the same largest
divergence. Contenders run in turn, each in its own process; ratios are taken within a round. The row `warp-example` is
the fluid example that Warp ships, in its own scene. CPU ms, the time of all threads in a step, is what to read when the
machine is not quiet.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from compare import count, machine
from measure import installed, seconds_for
from numpy.typing import NDArray
from peers import flow_scene, scene
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

BATCHES = 3
AGREEMENT = 1e-4  # of the largest velocity, and in cells: Taichi and Warp run the reference's algorithm
KINSHIP = (
    0.5 / 8
)  # the same for Continua inside the liquid: its surface is half a cell lower than theirs, of eight

HEADINGS = ("program", "threads", "M/s", "ms", "CPU ms", "ms by phase", "iterations", "continua over it")


@dataclass(frozen=True)
class Contender:
    """One thing to time."""

    name: str  # of the library; the rest says which of its programs
    threads: int
    style: str = ""  # see the libraries' modules
    example: bool = False  # warp only: the program that the library ships

    @property
    def label(self) -> str:
        """Name for tables."""
        return "warp-example" if self.example else f"{self.name} ({self.style})" if self.style else self.name


def main() -> None:
    """Read the command line, measure, print the table, write the JSON."""
    options = parse()
    if options.measure:
        print(json.dumps(measure(Contender(**json.loads(options.measure)), options)))
    elif options.check:
        sys.exit(check(options))
    else:
        compare(options)


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(
        description="Speed of a step of incompressible flow next to other libraries."
    )
    parser.add_argument("--particles", type=count, default=1_000_000)
    parser.add_argument("--cells", type=int, default=128, help="along an edge of the tank")
    parser.add_argument(
        "--example-particles", type=count, help="of Warp's example; default: as many; 0: leave it out"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=3, help="steps before the clock starts")
    parser.add_argument(
        "--steps", type=int, default=4, help=f"in each of {BATCHES} batches; the median counts"
    )
    parser.add_argument("--peers", nargs="*", choices=("taichi", "warp"), help="default: those installed")
    parser.add_argument("--without-continua", action="store_true", help="measure the peers alone")
    parser.add_argument("--check", action="store_true", help="compare motions instead of times")
    parser.add_argument("--output", type=Path, default=Path("out/benchmarks/flow.json"))
    parser.add_argument("--measure", help=argparse.SUPPRESS)  # one contender, in this process
    options = parser.parse_args()
    if options.example_particles is None:
        options.example_particles = options.particles
    return options


def contenders(options: argparse.Namespace) -> list[Contender]:
    """What to time, Continua first."""
    peers = options.peers if options.peers is not None else [n for n in ("taichi", "warp") if installed(n)]
    found = []
    if not options.without_continua:
        found += [Contender("continua", n) for n in dict.fromkeys((options.threads, 1))]
        found += [Contender("continua", options.threads, "volume control")]
    if "taichi" in peers:
        found += [Contender("taichi", options.threads, style) for style in ("tuned", "plain")]
    if "warp" in peers:
        found += [Contender("warp", 1)]  # Warp runs CPU kernels on one thread
        found += [Contender("warp", 1, example=True)] if options.example_particles else []
    return found


def compare(options: argparse.Namespace) -> None:
    """Measure all contenders in turn, print the table, write the JSON."""
    host, results = machine(), {c: [] for c in contenders(options)}
    for turn in range(options.rounds):
        for contender, answers in results.items():
            answers.append(run_worker(contender, options))
            rate = answers[-1]["rate"]
            print(
                f"round {turn + 1}/{options.rounds}  {contender.label:<20s} {rate:8.3f} M/s", file=sys.stderr
            )
    Console(width=160).print(table(results, options))
    measurements = [{**asdict(c), "label": c.label, "rounds": answers} for c, answers in results.items()]
    report = {"unit": "million particle-steps per second", "machine": host, "measurements": measurements}
    report["ratios"] = {f"{c.label} x{c.threads}": ratio(results, c, options.threads) for c in results}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    print(f"wrote {options.output}")


def run_worker(contender: Contender, options: argparse.Namespace) -> dict[str, Any]:
    """Answer of `measure` in a process of its own."""
    command = [sys.executable, __file__, "--measure", json.dumps(asdict(contender))]
    for name in ("particles", "cells", "example_particles", "warm_up", "steps"):
        command += [f"--{name.replace('_', '-')}", str(getattr(options, name))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{contender} failed:\n{done.stderr.strip()[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def measure(contender: Contender, options: argparse.Namespace) -> dict[str, Any]:
    """Rate [million particle-steps/s], milliseconds per step: in all, of all threads, by phase; iterations per step."""
    if contender.example:
        peer = importlib.import_module("peers.warp_flow_example").Peer(options.example_particles)
        particles, warm_up, steps = peer.particles, 1, 1
    else:
        x, v = flow_scene.dam(options.particles, options.cells)
        dt = flow_scene.time_step(options.particles, options.cells)
        peer = build(contender, x, v, options.cells, dt)
        particles, warm_up, steps = len(x), options.warm_up, options.steps
    peer.step(warm_up)
    before, first, busy = dict(peer.seconds), len(peer.iterations), time.process_time()
    seconds = statistics.median(seconds_for(peer, steps) for _ in range(BATCHES)) / steps
    return {
        "particles": particles,
        "rate": particles / seconds / 1e6,
        "step": 1e3 * seconds,
        "cpu": 1e3 * (time.process_time() - busy) / (BATCHES * steps),
        "phases": {k: 1e3 * (t - before.get(k, 0)) / (BATCHES * steps) for k, t in peer.seconds.items()},
        "iterations": statistics.mean(peer.iterations[first:] or [0]),
    }


def build(contender: Contender, x: NDArray[Any], v: NDArray[Any], cells: int, dt: float) -> Any:
    """Peer of a contender with particles x, v (N, 3) in a tank of cells^3."""
    module = importlib.import_module(f"peers.{contender.name}_flow")
    extra = {"style": contender.style} if contender.style else {}
    return module.Peer(x, v, cells, flow_scene.TANK / cells, dt, contender.threads, **extra)


def ratio(results: dict[Contender, list[dict[str, Any]]], slow: Contender, threads: int) -> float | None:
    """How many times faster Continua is: median over the rounds of the ratio within a round."""
    answers = results.get(Contender("continua", threads))
    if not answers:
        return None
    return statistics.median(a["rate"] / b["rate"] for a, b in zip(answers, results[slow], strict=True))


def table(results: dict[Contender, list[dict[str, Any]]], options: argparse.Namespace) -> Table:
    """Medians over the rounds."""
    drawn = Table(
        title=f"One MAC APIC step of {options.particles:.0e} particles in {options.cells}^3 cells, float32",
        box=MARKDOWN,
    )
    for heading in HEADINGS:
        drawn.add_column(heading, justify="left" if heading in ("program", "ms by phase") else "right")
    for contender, answers in results.items():
        middle = {k: statistics.median(a[k] for a in answers) for k in ("rate", "step", "cpu", "iterations")}
        names = answers[0]["phases"]
        phases = [f"{n} {statistics.median(a['phases'].get(n, 0) for a in answers):.0f}" for n in names]
        faster = ratio(results, contender, options.threads)
        drawn.add_row(
            contender.label,
            str(contender.threads),
            f"{middle['rate']:.2f}",
            f"{middle['step']:.0f}",
            f"{middle['cpu']:.0f}",
            ", ".join(phases),
            f"{middle['iterations']:.1f}",
            f"{faster:.2f}" if faster else "",
        )
    return drawn


# ---- agreement -------------------------------------------------------------------------------------------------


def check(options: argparse.Namespace) -> int:
    """Compare everybody with the NumPy reference and with laws; 1 if somebody differs."""
    failed = False
    for contender in [Contender("numpy", 1), *contenders(options)]:
        if contender.example or contender.style == "volume control":  # another scene, another algorithm
            continue
        limit = KINSHIP if contender.name == "continua" else AGREEMENT
        found = {"agreement": agreement(contender) / limit, "free fall": free_fall(contender) / 1e-4}
        if contender.name != "continua":  # its grid has no such arrays; its own tests check these
            found |= grid_laws(contender)
        passed = max(found.values()) < 1
        failed |= not passed
        numbers = "  ".join(f"{name} {value:.1e}" for name, value in found.items())
        print(f"{contender.label:<20s} {numbers}  {'passes' if passed else 'FAILS'} (all below 1)")
    return int(failed)


def small_scene() -> tuple[NDArray[np.float32], NDArray[np.float32], int, float]:
    """4096 particles with a smooth velocity of 1 m/s in 16^3 cells: x, v, cells, dt [s]."""
    cells, particles = 16, 4096
    x, _ = flow_scene.dam(particles, cells)
    s = x.astype(np.float64) / x.max()
    v = scene.smooth_velocity(s, np.random.default_rng(1), speed=1.0)
    return x, v.astype(np.float32), cells, flow_scene.time_step(particles, cells)


def agreement(contender: Contender, steps: int = 5) -> float:
    """Largest difference from the NumPy reference after a few steps: of the largest velocity, or in cells."""
    x, v, cells, dt = small_scene()
    peer, reference = build(contender, x, v, cells, dt), build(Contender("numpy", 1), x, v, cells, dt)
    for run in (peer, reference):
        run.step(steps)
    compared = np.full(len(x), True)
    if contender.name == "continua":  # two cells or more from the surface and the walls
        depth = x * cells / flow_scene.TANK
        compared = (np.minimum(depth, np.ceil(depth.max()) - depth) > 2).all(axis=1)
    dv = (peer.v() - reference.v())[compared] / np.abs(reference.v()).max()
    dx = (peer.x() - reference.x())[compared] * cells / flow_scene.TANK
    return float(max(np.abs(dv).max(), np.abs(dx).max()))


def free_fall(contender: Contender, steps: int = 5) -> float:
    """Largest relative error of the velocities of a cube of water that flies freely."""
    x, v, cells, dt = small_scene()
    thrown = np.array((0.1, 0.0, -0.1), np.float32)
    peer = build(contender, x + np.float32(flow_scene.TANK / 4), np.zeros_like(v) + thrown, cells, dt)
    peer.step(steps)
    expected = thrown + steps * dt * np.array(scene.GRAVITY)
    return float(np.abs(peer.v() - expected).max() / np.abs(expected).max())


def grid_laws(contender: Contender) -> dict[str, float]:
    """Errors, in units of what is allowed, of momentum brought to the grid and of divergence after a step."""
    x, v, cells, dt = small_scene()
    peer = build(contender, x + np.float32(flow_scene.TANK / 4), v, cells, dt)  # away from walls
    peer.to_grid()
    u, weight, _ = (field.astype(np.float64) for field in peer.faces())
    fall = dt * np.array(scene.GRAVITY)[:, None, None, None]
    gained = (weight * (u - fall * (weight > 0))).sum(axis=(1, 2, 3)) - v.sum(axis=0, dtype=np.float64)
    mass = np.abs(weight.sum(axis=(1, 2, 3)) / len(x) - 1).max()
    peer.step(2)
    u, _, liquid = peer.faces()
    divergence = sum(np.roll(u[a], -1, a) - u[a] for a in range(3))[liquid]
    return {
        "mass": float(mass / 1e-5),
        "momentum": float(np.abs(gained).max() / (1e-5 * np.abs(v).sum())),
        "divergence": float(np.abs(divergence).max() / peer.tolerance),
    }


if __name__ == "__main__":
    main()
