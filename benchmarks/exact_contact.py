"""Surfaces that never pass through each other: what the contact of `ct.ExactContact` costs, next to `ipctk` and alone.

    python benchmarks/exact_contact.py spheres --nodes 1000 5000 19000   # beside IPC, M23 table 2
    python benchmarks/exact_contact.py augury --boundary 5000            # grid and impulses against impulses alone
    python benchmarks/exact_contact.py growth --nodes 1000 6000 20000 48000   # of contact
    python benchmarks/exact_contact.py frame --boundary 5000             # operators of a frame of twisted bars
    python benchmarks/exact_contact.py ipc --nodes 1000                  # IPC alone

Every section is small unless told otherwise. `--profile` adds the functions of our steps that take longest. What is
compared takes turns in one process, step by step, so that a busy machine disturbs all of it alike; ratios are those of
wall time within a run. Numbers go to out/benchmarks/exact_contact_<section>.json.

- spheres: two elastic spheres collide (`exact_worlds.py`); both sides start from the same meshes and take backward
  Euler steps of the same length. Steps of both are done when forces are left over of 1e-5 of those that act, body by
  body; "velocity" is the looser rule of the IPC publication, a Newton step over dt below 1e-2 of the diagonal per
  second. Frames are steps; the spheres touch in the fifth, and those before --first are not timed. IPC / ours is
  published as 0.52, 1.03 and 1.36.
- augury: M23 tells run times 26 % shorter with the grid than without (twisted bars) and 12 % (pushed blocks).
- growth: two blocks pressed together, of which finer meshes have the same contact; the grid gets finer with the mesh.
  Slope of seconds over nodes in a log-log plot: of grid, impulses and certificate (goal: at most 1.2), and of the
  elastic solves.
- frame: 1/24 s of twisted bars (goal: at most 60 s with 5,000 nodes on the boundary).
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import exact_worlds as worlds
import ipctk
import numpy as np
from exact_runs import CONTACT, COUNTS, ELASTIC, OPERATORS, Intersections, Run, momentum_scale
from peers import ipc
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table
from turns import machine

import continua as ct

PUBLISHED = {1000: 0.52, 5000: 1.03, 19_000: 1.36}  # IPC / the method of M23, table 2
SHORTER = {
    "bars": -26.4,
    "blocks": -12.0,
}  # run time with the grid over that without, minus 1 [%], M23 section 10
FPS = 24.0


def peer_of(sim: ct.Simulation, damping: float, ending: ipc.Ending) -> ipc.Peer:
    """IPC from the same start as a simulation of spheres."""
    bodies = [
        ipc.Body(body.rest, body.cells, body.surface, body.x.copy(), body.v.copy())
        for body in sim.world.mesh_bodies
    ]
    return ipc.Peer(bodies, worlds.SPHERE, worlds.SPHERE_DT, damping=damping, ending=ending)


# ---- sections ------------------------------------------------------------------------------------------------


def collide(nodes: int, given: argparse.Namespace, *, ours: bool = True) -> dict[str, Any]:
    """Ours and IPC, frame by frame in turn."""
    sims = {"ours": worlds.spheres(nodes, ct.ExactContact(), given.damping)}
    if given.alone:
        sims["impulses alone"] = worlds.spheres(nodes, ct.ExactContact(augury="off"), given.damping)
    start = sims["ours"]
    peers = {f"IPC, {rule}": peer_of(start, given.damping, rule) for rule in given.rules}
    runs = {name: Run(sim, given.profiler) for name, sim in sims.items()} if ours else {}
    spent: dict[str, list[float]] = {name: [] for name in peers}
    crossing, touching = dict.fromkeys([*runs, *peers], 0), dict.fromkeys(peers, 0)
    look, momentum = Intersections(start), {name: peer.momentum() for name, peer in peers.items()}
    moving, energy = momentum_scale(start), next(iter(peers.values())).energy()
    for frame in range(given.first - 1 + given.frames):
        timed = frame >= given.first - 1
        for name, run in runs.items():
            run.step(timed=timed)
            crossing[name] += not run.stopped and look.at(run.places())
        for name, peer in peers.items():
            if frame == given.first - 1:
                peer.counts = ipc.Counts()
            begin = time.perf_counter()
            peer.step()
            if timed:
                spent[name].append(time.perf_counter() - begin)
                touching[name] += peer.meets()
            crossing[name] += look.at(peer.x)
    found: dict[str, Any] = {"nodes": worlds.nodes(start), "boundary": worlds.boundary_nodes(start)}
    found["ours"] = {
        name: {
            "seconds": run.mean("wall"),
            "operators": {op: run.mean(op) for op in (*OPERATORS, "other")},
            "hits": run.total("hits"),
            "drift": run.drift,
            "crossing": crossing[name],
            "energy": run.energy_left,
            "stopped": run.stopped,
        }
        for name, run in runs.items()
    }
    found["peers"] = {
        name: {
            "seconds": statistics.fmean(spent[name]),
            "newton": peer.counts.newton,
            "products": peer.counts.products,
            "operators": {part: s / given.frames for part, s in peer.counts.seconds.items()},
            "touching": touching[name],
            "unfinished": peer.counts.unfinished,
            "drift": float(np.abs(peer.momentum() - momentum[name]).max()) / moving,
            "crossing": crossing[name],
            "energy": peer.energy() / energy,
        }
        for name, peer in peers.items()
    }
    return found


def spheres(given: argparse.Namespace, console: Console, *, ours: bool = True) -> list[dict[str, Any]]:
    """Tables of colliding spheres."""
    last = given.first + given.frames - 1
    table = table_of(
        f"Colliding spheres, frames {given.first} to {last}, damping {given.damping:g} s, {given.threads} threads",
        ("method", "nodes", "s per frame", "/ ours", "published", "momentum", "crossing", "energy left"),
    )
    every = []
    for nodes in given.nodes:
        found = collide(nodes, given, ours=ours)
        every.append(found)
        base = found["ours"]["ours"]["seconds"] if ours else None
        near = [ratio for size, ratio in PUBLISHED.items() if abs(found["nodes"] / size - 1) < 0.2]
        for name, one in (found["ours"] | found["peers"]).items():
            table.add_row(
                name,
                f"{found['nodes']:,} ({found['boundary']:,})",
                f"{one['seconds']:.4f}",
                f"{one['seconds'] / base:.2f}" if base else "-",
                f"{near[0]:.2f}" if near and name in found["peers"] else "-",
                f"{one['drift']:.0e}",
                f"{one['crossing']}",
                f"{one['energy']:.3f}",
            )
            parts = ", ".join(f"{part} {s:.3g}" for part, s in one["operators"].items())
            more = ""
            if name in found["peers"]:
                more = (
                    f"; in all {one['newton']} Newton, {one['products']} products, {one['unfinished']} steps not at "
                    f"the tolerance, barriers in {one['touching']} frames"
                )
            more += f"; STOPPED, {one['stopped']}" if one.get("stopped") else ""
            text = f"{found['nodes']:,} nodes, {name}, per frame: {parts} s{more}"
            console.print(text, highlight=False, soft_wrap=True)
    console.print(table)
    return every


def alone(given: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """IPC without us."""
    return spheres(given, console, ours=False)


def augury(given: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """Grid and impulses against impulses alone, from the same state, in turn."""
    every = []
    for name in given.world:
        settings = {"grid + impulses": ct.ExactContact(augury=5), "impulses": ct.ExactContact()}
        fine = worlds.fine_for(name, boundary=given.boundary)
        runs = {label: Run(worlds.in_contact(name, fine, one)) for label, one in settings.items()}
        look = Intersections(next(iter(runs.values())).sim)
        crossing = dict.fromkeys(runs, 0)
        for step in range(given.settle + given.steps):
            for label, run in runs.items():
                run.step(timed=step >= given.settle)
                crossing[label] += look.at(run.places())
        sim = runs["impulses"].sim
        table = table_of(
            f"{worlds.WORLDS[name].name}, {worlds.nodes(sim):,} nodes, {worlds.boundary_nodes(sim):,} on the "
            f"boundary, {given.steps} steps, {given.threads} threads",
            ("contact", *COUNTS, *(f"{op} [s]" for op in (*OPERATORS, "other", "step")), "crossing"),
        )
        rows: dict[str, dict[str, Any]] = {}
        for label, run in runs.items():
            counts = {count: run.total(count) for count in COUNTS}
            seconds = {op: run.mean(op) for op in (*OPERATORS, "other", "wall")}
            rows[label] = {"counts": counts, "seconds": seconds, "crossing": crossing[label]}
            cells = [*(f"{n:.0f}" for n in counts.values()), *(f"{s:.3f}" for s in seconds.values())]
            table.add_row(label, *cells, f"{crossing[label]}")
        console.print(table)
        tell_stops(runs.values(), console)
        more = 100 * (rows["grid + impulses"]["seconds"]["wall"] / rows["impulses"]["seconds"]["wall"] - 1)
        console.print(f"run time with the grid: {more:+.1f} % (published: {SHORTER[name]:+.1f} %)\n")
        every.append({"world": name, "boundary": worlds.boundary_nodes(sim), "rows": rows, "percent": more})
    return every


def growth(given: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """Seconds per step of contact and of elastic solves against the number of nodes, sizes in turn."""
    fine = sorted({worlds.fine_for("blocks", nodes=n) for n in given.nodes})
    runs = [Run(worlds.in_contact("blocks", n, ct.ExactContact(augury=5))) for n in fine]
    for step in range(given.settle + given.steps):
        for run in runs:
            run.step(timed=step >= given.settle)
    title = f"Pressed blocks, medians of {given.steps} steps, {given.threads} threads"
    names = ("nodes", "boundary", "hits", *(f"{op} [s]" for op in (*OPERATORS, "contact", "elastic")))
    table, rows = table_of(title, names), list[dict[str, Any]]()
    groups = {"contact": CONTACT, "elastic": ELASTIC}
    for run in runs:
        seconds = {op: run.middle([op]) for op in OPERATORS}
        seconds |= {group: run.middle(parts) for group, parts in groups.items()}
        nodes, boundary = worlds.nodes(run.sim), worlds.boundary_nodes(run.sim)
        rows.append({"nodes": nodes, "boundary": boundary, "hits": run.mean("hits"), "seconds": seconds})
        cells = [f"{nodes:,}", f"{boundary:,}", f"{run.mean('hits'):.0f}"]
        table.add_row(*cells, *(f"{s:.4f}" for s in seconds.values()))
    console.print(table)
    tell_stops(runs, console)
    slopes = []
    for against in ("nodes", "boundary") if len(rows) > 1 else ():
        size = np.log([row[against] for row in rows])
        found = {
            name: float(np.polyfit(size, np.log([row["seconds"][name] for row in rows]), 1)[0])
            for name in (*CONTACT, *groups)
        }
        text = ", ".join(f"{name} {slope:.2f}" for name, slope in found.items())
        console.print(f"log-log slope over {against}: {text}", highlight=False)
        slopes.append({"slopes over": against, **found})
    return rows + slopes


def frame(given: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """What 1/24 s of twisted bars takes, operator by operator."""
    fine = worlds.fine_for("bars", boundary=given.boundary)
    contact = ct.ExactContact(augury=5) if given.grid else ct.ExactContact()
    run = Run(worlds.in_contact("bars", fine, contact), given.profiler)
    for step in range(given.settle + given.steps):
        run.step(timed=step >= given.settle)
    per_frame = 1 / (FPS * run.sim.dt)
    nodes, boundary = worlds.nodes(run.sim), worlds.boundary_nodes(run.sim)
    table = table_of(
        f"Twisted bars, {nodes:,} nodes, {boundary:,} on the boundary, {given.steps} steps of {run.sim.dt:g} s, "
        f"{given.threads} threads",
        ("operator", "s per step", "s per frame", "part [%]"),
    )
    seconds = {op: run.mean(op) for op in (*OPERATORS, "other", "wall")}
    for op, s in seconds.items():
        table.add_row(op, f"{s:.4f}", f"{per_frame * s:.2f}", f"{100 * s / seconds['wall']:.1f}")
    console.print(table)
    tell_stops([run], console)
    counts = {count: run.mean(count) for count in COUNTS}
    console.print(", ".join(f"{n:.1f} {count}" for count, n in counts.items()) + " per step", highlight=False)
    return [{"nodes": nodes, "boundary": boundary, "seconds": seconds, "counts": counts, "frame": per_frame}]


def tell_stops(runs: Iterable[Run], console: Console) -> None:
    """Which runs could not go on: their numbers are those of the steps before."""
    for run in runs:
        if run.stopped:
            console.print(f"{worlds.nodes(run.sim):,} nodes: STOPPED, {run.stopped}", highlight=False)


def table_of(title: str, columns: Sequence[str]) -> Table:
    """Names on the left, numbers on the right."""
    table = Table(title=title, box=MARKDOWN)
    for k, column in enumerate(columns):
        table.add_column(column, justify="right" if k else "left")
    return table


Section = Callable[[argparse.Namespace, Console], list[dict[str, Any]]]
SECTIONS: dict[str, Section] = {
    "spheres": spheres,
    "ipc": alone,
    "augury": augury,
    "growth": growth,
    "frame": frame,
}


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = parser.add_subparsers(dest="section", required=True)
    for name in SECTIONS:
        one = every.add_parser(name)
        one.add_argument("--threads", type=int, default=1)
        if name in ("spheres", "ipc"):
            one.add_argument("--nodes", type=int, nargs="+", default=[400], help="of both spheres together")
            one.add_argument("--frames", type=int, default=10, help="how many are timed; all are 60")
            one.add_argument("--first", type=int, default=6, help="first frame that is timed; 1 for all")
            one.add_argument("--damping", type=float, default=0.1, help="of both methods [s], M23 has 0.1")
            one.add_argument(
                "--rules", nargs="+", choices=["forces", "velocity"], default=["forces", "velocity"]
            )
            one.add_argument("--alone", action="store_true", help="also impulses without the grid")
        else:
            if name == "growth":
                one.add_argument("--nodes", type=int, nargs="+", default=[1000, 6000], help="at least")
            else:
                one.add_argument("--boundary", type=int, default=900, help="nodes on surfaces, at least")
            one.add_argument("--steps", type=int, default=10, help="how many are timed")
            one.add_argument("--settle", type=int, default=5, help="steps before, on the refined mesh")
        if name == "augury":
            one.add_argument("--world", nargs="+", choices=worlds.WORLDS, default=list(worlds.WORLDS))
        if name == "frame":
            one.add_argument("--grid", action=argparse.BooleanOptionalAction, default=True)
        if name in ("spheres", "frame"):
            one.add_argument("--profile", action="store_true", help="list the functions that take longest")
    return parser.parse_args()


def main() -> None:
    """Measure, print, write."""
    given = parse()
    ct.set_threads(given.threads)
    ipctk.set_num_threads(given.threads)
    ipctk.set_logger_level(ipctk.LoggerLevel.error)
    given.profiler = cProfile.Profile() if getattr(given, "profile", False) else None
    about = machine()
    found = SECTIONS[given.section](given, Console(width=190))
    if given.profiler:
        pstats.Stats(given.profiler).sort_stats("tottime").print_stats(25)
    folder = Path("out/benchmarks")
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"machine": about, "threads": given.threads, "found": found}
    (folder / f"exact_contact_{given.section}.json").write_text(json.dumps(kept, indent=2))


if __name__ == "__main__":
    main()
