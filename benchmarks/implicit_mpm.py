"""Steps and time of implicit MPM on snowballs.

    python benchmarks/implicit_mpm.py                # table 2.1 of J15 at small scale: 2D, 2000 particles per ball
    python benchmarks/implicit_mpm.py --particles 1e4 --scenes drop --schemes explicit optimization
    python benchmarks/implicit_mpm.py --frames 4     # the 3D snowball of the gallery, 3e5 particles
    python benchmarks/implicit_mpm.py --frames 2 --particles 2e4

In the table every scheme takes the longest steps with which it is stable; `continua.validation.snowball_steps` says
what that means and holds the schemes. In 3D the minimiser at CFL 0.6 stands beside our explicit steps, over the frames
in which the ball hits a sticky floor at 10 m/s. J15 needed 59 s per frame of 1/24 s for 2.8e5 particles, on 12 threads.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua.gallery.snowball import RADIUS
from continua.scene import load_scene
from continua.validation.snowball_steps import EXPLICIT, SCENES, SCHEMES, Impact, longest_steps, reference

PUBLISHED = 59.0  # J15 table 2.1, drop [s/frame]
FPS = 24.0
SETTINGS = ["run.fps=24", "collider.mode=sticky", "cfl=0.6"]


def small_table(scenes: list[str], schemes: list[str], particles: float) -> Table:
    """Longest stable steps of every scheme."""
    names = ("scene", "scheme", "CFL", "mean dt [s]", "min dt [s]", "Newton", "Krylov", "fastest", "deepest")
    table = Table(*names, "height", "s", box=MARKDOWN)
    for scene in scenes:
        duration = 0.06 if scene == "two balls" else 0.2  # the balls fly on
        explicit = reference(scene, particles, duration)
        for scheme in schemes:
            same = scheme == EXPLICIT
            run = explicit if same else longest_steps(scheme, scene, particles, duration)
            table.add_row(scene, scheme, *_numbers(run, run.agrees(explicit)))
    return table


def _numbers(run: Impact, stable: bool) -> list[str]:
    steps = max(len(run.steps), 1)
    work = [f"{run.newton / steps:.1f}", f"{run.krylov / steps:.1f}"]
    limits = [f"{run.fastest:.1f}", f"{run.deepest:.2f}", f"{run.height:.3f}"]
    cfl = f"{run.cfl:g}" + ("" if stable else " (unstable)")
    return [cfl, f"{run.mean_dt:.2e}", f"{run.min_dt:.2e}", *work, *limits, f"{run.seconds:.2f}"]


def frame_table(particles: float, frames: int) -> Table:
    """Seconds per frame of the 3D ball, with explicit steps and with the minimiser."""
    dx = RADIUS * (8 * 4 / 3 * np.pi / particles) ** (1 / 3)
    names = ("integrator", "particles", "steps/frame", "mean dt [s]", "s/step", "s/frame", "Newton", "Krylov")
    table = Table(*names, f"{PUBLISHED:g} s over it", box=MARKDOWN)
    for integrator in ("symplectic", "optimization"):
        sim = load_scene("snowball", [*SETTINGS, f"dx={dx}", f"integrator={integrator}"]).build()
        begin = time.perf_counter()
        sim.run(frames=frames, fps=FPS)
        seconds = (time.perf_counter() - begin) / frames
        report, per_frame = sim.steppers["main"].report, sim.steps / frames
        work = [report.get(f"total_{name}_iterations", 0.0) / sim.steps for name in ("newton", "krylov")]
        table.add_row(
            integrator,
            f"{sim.particles:.2e}",
            f"{per_frame:.1f}",
            f"{sim.time / sim.steps:.2e}",
            f"{seconds / per_frame:.3g}",
            f"{seconds:.3g}",
            *(f"{count:.1f}" for count in work),
            f"{PUBLISHED / seconds:.2f}",
        )
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--particles", type=float, help="per ball; left out: 2e3 in 2D, 3e5 in 3D")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--schemes", nargs="+", choices=SCHEMES, default=list(SCHEMES))
    parser.add_argument("--frames", type=int, help="so many frames of the 3D ball instead of the table")
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    if options.threads:
        ct.set_threads(options.threads)
    if options.frames:
        table = frame_table(options.particles or 3e5, options.frames)
    else:
        table = small_table(options.scenes, options.schemes, options.particles or 2e3)
    console = Console(width=180)
    console.print(f"{ct.threads()} threads, load {os.getloadavg()[0]:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
