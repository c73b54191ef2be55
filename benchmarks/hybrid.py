"""Solids that meet sand by collision particles beside the same solids on the grid: what a simulated second costs.

    python benchmarks/hybrid.py                                   # bunnies-in-sand and jello-in-sand as they are
    python benchmarks/hybrid.py --scenes bunnies --dx 0.03        # a quick look
    python benchmarks/hybrid.py --profile                         # and the functions that take longest

Three worlds of each scene of the gallery take turns in one process, so that a busy machine disturbs all of them alike:

- hybrid: the scene, with coarse tetrahedra;
- plain: the same tetrahedra on the grid, in one continuum with the sand;
- fine: on the grid, with tetrahedra as small as its cells, which it needs to keep sand out (W20 section 4.9, 2.8 times
  slower there than the hybrid method; G20 section 4.5 has a scene where the hybrid method is 3 times slower).

Ratios are those of CPU time per simulated time. The numbers are written to out/benchmarks/hybrid.json.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
import time
from pathlib import Path
from typing import Any

from turns import machine

import continua as ct
from continua.geometry.meshes import BoxMesh, ShapeMesh
from continua.scene import Scene, load_scene

SCENES = {"bunnies": "bunnies-in-sand", "jello": "jello-in-sand"}
ON_GRID = ["solid.contact={}", "solid.on_grid=true", "solid.continuum=sand", "contact=[]"]
WORLDS = {"hybrid": [], "plain": ON_GRID, "fine": ON_GRID}
SPAN = 1 / 240  # how long a turn is [s]


def with_fine_meshes(scene: Scene) -> Scene:
    """Tetrahedra whose edges are as long as a cell, and that pack as densely as their shape allows."""
    dx = scene.simulation.dx
    for solid in scene.solid:
        if isinstance(solid.mesh, ShapeMesh):
            solid.mesh = ShapeMesh(solid.mesh.shape, dx)
        elif isinstance(solid.mesh, BoxMesh):
            counts = tuple(
                round((b - a) / dx) for a, b in zip(solid.mesh.lower, solid.mesh.upper, strict=True)
            )
            solid.mesh = BoxMesh(solid.mesh.lower, solid.mesh.upper, counts)
    return scene


def build(name: str, world: str, dx: float | None, start: float) -> ct.Simulation:
    """One of the worlds of a scene, at a time [s]."""
    scene = load_scene(SCENES[name], [*WORLDS[world], *([] if dx is None else [f"dx={dx}"])])
    sim = (with_fine_meshes(scene) if world == "fine" else scene).build()
    sim.run(start)
    return sim


def spent(sim: ct.Simulation) -> dict[str, float]:
    """Seconds per continuum and phase so far."""
    return {
        f"{name} {phase}": s
        for name, one in sim.steppers.items()
        for phase, s in one.seconds.items()
        if s > 0
    }


def measure(
    name: str, dx: float | None, start: float, rounds: int, profiler: cProfile.Profile | None
) -> dict[str, Any]:
    """CPU and wall seconds per simulated second of every world, sizes, and the phases of the hybrid one."""
    sims = {world: build(name, world, dx, start) for world in WORLDS}
    times: dict[str, list[tuple[float, float]]] = {world: [] for world in WORLDS}
    before, steps = {world: spent(sim) for world, sim in sims.items()}, {w: s.steps for w, s in sims.items()}
    for _ in range(rounds):
        for world, sim in sims.items():
            watched = profiler if world == "hybrid" else None
            if watched:
                watched.enable()
            wall, cpu = time.perf_counter(), time.process_time()
            sim.run(SPAN)
            times[world].append(((time.process_time() - cpu) / SPAN, (time.perf_counter() - wall) / SPAN))
            if watched:
                watched.disable()
    found: dict[str, Any] = {"scene": SCENES[name], "dx": sims["hybrid"].dx, "rounds": rounds}
    for world, sim in sims.items():
        phases = {phase: s - before[world].get(phase, 0.0) for phase, s in spent(sim).items()}
        found[world] = {
            "cpu": statistics.median(cpu for cpu, _ in times[world]),
            "wall": statistics.median(wall for _, wall in times[world]),
            "steps": (sim.steps - steps[world]) / (rounds * SPAN),
            "particles": sim.particles,
            "vertices": sum(len(mesh) for mesh in sim.world.mesh_bodies),
            "cells": sum(len(mesh.cells) for mesh in sim.world.mesh_bodies),
            "collision particles": sum(len(s) for b in sim.world.mesh_bodies for s in b.particle_sets()),
            "phases": {phase: s / sum(phases.values()) for phase, s in phases.items()},
        }
    return found


def show(found: dict[str, Any]) -> None:
    """Tables of one scene."""
    print(
        f"\n{found['scene']}, dx = {found['dx']} m; per simulated second, medians of {found['rounds']} turns"
    )
    print(
        f"{'world':8}{'tetrahedra':>12}{'on the grid':>12}{'steps':>8}{'CPU s':>8}{'wall s':>8}{'/ hybrid':>10}"
    )
    for world in WORLDS:
        one = found[world]
        on_grid = one["particles"] + one["collision particles"]
        ratio = one["cpu"] / found["hybrid"]["cpu"]
        print(
            f"{world:8}{one['cells']:12}{on_grid:12}{one['steps']:8.0f}{one['cpu']:8.1f}{one['wall']:8.1f}{ratio:10.2f}"
        )
    shares = sorted(found["hybrid"]["phases"].items(), key=lambda item: -item[1])
    print(
        "phases of hybrid: "
        + ", ".join(f"{phase} {100 * part:.0f} %" for phase, part in shares if part > 0.005)
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument(
        "--dx", type=float, help="grid spacing of all worlds [m]; left out: that of the scene"
    )
    parser.add_argument(
        "--start", type=float, default=0.2, help="when the clock starts [s]: sand and solids touch"
    )
    parser.add_argument("--rounds", type=int, default=9, help="turns of each world")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--profile", action="store_true", help="list the functions of the hybrid step")
    options = parser.parse_args()
    ct.set_threads(options.threads)
    every = []
    for name in options.scenes:
        profiler = cProfile.Profile() if options.profile else None
        every.append(measure(name, options.dx, options.start, options.rounds, profiler))
        show(every[-1])
        if profiler:
            pstats.Stats(profiler).sort_stats("tottime").print_stats(20)
    folder = Path("out/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hybrid.json").write_text(json.dumps({"machine": machine(), "scenes": every}, indent=2))


if __name__ == "__main__":
    main()
