"""Worlds to be timed, and the process that runs one of them and waits; `turns.py` starts it, in any tree of Continua.

    python benchmarks/worlds.py '{"world": "cube", "particles": 1e5}'

It answers every line of JSON on its standard input with one of its own: {"steps": 10} and {"until": 0.5} with what
those steps took, {"load": file} and {"save": file} with nothing. Its first answer tells who it is. Of Continua, only
what older trees surely have is used.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import continua as ct

WARM_UP = 3  # steps before the clock starts
DX = 0.01  # spacing of the worlds below that do not bring their own [m]
GRAVITY = (0.0, -9.81, 0.0)
MATERIALS = {
    "fixed-corotated": lambda: ct.materials.FixedCorotated(1e5, 0.3, 1000.0),
    "neo-hookean": lambda: ct.materials.NeoHookean(1e5, 0.3, 1000.0),
    "snow": ct.materials.Snow,
}


def cube(
    particles: float,
    precision: str = "single",
    *,
    material: str = "fixed-corotated",
    stress_transfer: str = "gradient",
    modes: int = 0,
    floor: bool = False,
    implicit: bool = False,
) -> ct.Simulation:
    """A cube of one material, 8 particles per cell, with a smooth velocity; PolyPIC if modes are given, else APIC."""
    side = DX * max(2, round((particles / 8) ** (1 / 3)))
    stuff = MATERIALS[material]()
    dt = 2e-3 if implicit else 0.3 * DX / stuff.wave_speed()
    sim = ct.Simulation(
        DX,
        GRAVITY,
        precision=precision,
        stress_transfer=stress_transfer,
        transfer=ct.transfers.PolyPIC(modes=modes) if modes else "apic",
        dt=dt,
        force_dt=True,
        **({"integrator": "semi-implicit"} if implicit else {}),
    )
    box = ct.shapes.Box((0.0, side / 2, 0.0), (side,) * 3)
    sim.add(box, stuff, velocity=lambda x: 0.05 * np.sin(9.0 * x[:, [1, 2, 0]] / side), sampling="jittered")
    if floor:
        sim.add(ct.colliders.Plane((0, 1, 0), friction=0.3))
    return sim


def spray(
    particles: float,
    precision: str = "single",
    *,
    material: str = "fixed-corotated",
    stress_transfer: str = "gradient",
    per_cell: float = 1.0,
    floor: bool = False,
) -> ct.Simulation:
    """Particles at random places, that many per cell on average, with a smooth velocity."""
    count, side = int(particles), DX * (particles / per_cell) ** (1 / 3)
    x = np.random.default_rng(0).uniform(0.0, side, (count, 3))
    stuff = MATERIALS[material]()
    dt = 0.3 * DX / stuff.wave_speed()
    sim = ct.Simulation(
        DX, GRAVITY, precision=precision, stress_transfer=stress_transfer, dt=dt, force_dt=True
    )
    points = ct.shapes.Points(x, np.full(count, DX**3 / 8))
    sim.add(points, stuff, velocity=lambda x: 0.05 * np.sin(9.0 * x[:, [1, 2, 0]] / side))
    if floor:
        sim.add(ct.colliders.Plane((0, 1, 0), friction=0.3))
    return sim


def demo(dx: float = 0.035, *, floating: bool = False) -> ct.Simulation:
    """The snowball of `make demo`: its scene in single precision, on a grid of this spacing [m]; or left in mid-air."""
    from continua.scene import load_scene
    from continua.scene.build import build

    still = ["gravity=[0, 0, 0]", "body.velocity=[0, 0, 0]"] if floating else []
    return build(load_scene("snowball", [f"dx={dx}", "precision=single", *still]))


WORLDS: dict[str, Callable[..., ct.Simulation]] = {"cube": cube, "spray": spray, "demo": demo}


def advance(sim: ct.Simulation, *, steps: int = 0, until: float = 0.0) -> dict[str, float]:
    """Take some steps or go on to a time [s]: wall, CPU and phase times [s], steps, particle-steps, Krylov products."""
    first, before, wall, cpu = sim.steps, sim.diagnostics(), time.perf_counter(), time.process_time()
    for _ in range(steps):
        sim.step()
    while sim.time < until:
        remaining = until - sim.time
        if sim.step(remaining) >= remaining:
            sim.time = until  # exactly, as a run with frames does
    wall, cpu, after = time.perf_counter() - wall, time.process_time() - cpu, sim.diagnostics()
    taken = sim.steps - first
    found = {"wall": wall, "cpu": cpu, "steps": taken, "particle_steps": taken * sim.particles}
    for key in after:
        if key.startswith("seconds_"):
            found[key] = after[key] - before.get(key, 0.0)
    if "total_krylov_iterations" in after:
        found["products"] = after["total_krylov_iterations"] - before["total_krylov_iterations"]
    # Kilobytes on Linux, bytes on a Mac.
    unit = 1 if sys.platform == "darwin" else 1024
    return found | {"peak_bytes": unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "time": sim.time}


def answer(sim: ct.Simulation, wish: dict[str, Any]) -> dict[str, Any]:
    """What a line on the standard input asks for."""
    if "load" in wish:
        with np.load(wish["load"]) as stored:
            sim.load_state(dict(stored))
        return {}
    if "save" in wish:
        np.savez(wish["save"], **sim.state())
        return {}
    return advance(sim, **wish)


def main() -> None:
    """Build the world, then answer."""
    settings = json.loads(sys.argv[1])
    ct.set_threads(settings.pop("threads", 1))
    warm_up = settings.pop("warm_up", WARM_UP)
    sim = WORLDS[settings.pop("world")](**settings)
    for _ in range(warm_up):
        sim.step()
    print(json.dumps({"continua": os.path.abspath(ct.__file__), "particles": sim.particles}), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(sim, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
