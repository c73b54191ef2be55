"""The run of `make demo` in two trees of Continua, in turn over equal spans of simulated time.

    python benchmarks/demo.py --before ../before --full          # all of it: the time of both demos
    python benchmarks/demo.py --before ../before                 # short spans of the impact and of the last second
    python benchmarks/demo.py --before ../before --dx 0.1        # a quick look at a coarse ball

The snowball is compacted and torn (impact), and in the last second it lies scattered, with single particles flying.
Both trees go through the same spans, each in its own process; the ratio is of their times over a span, since they may
take steps of slightly different length. The short version starts the last second from a state that it stores in
out/benchmarks, or that a full run has stored; both trees start from the same one. Beside it, the same ball left in
mid-air is what the scattered snow is compared with, by particle-steps. Numbers are written to out/benchmarks/demo.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from turns import Spread, Turn, alternate, in_turn, machine

IMPACT, LAST, END = 0.0, 1.0, 2.0  # begin of the phases and end of the run [s]
FPS = 24.0


@dataclass
class Phase:
    """A part of the run: times [s] that both trees go to in turn."""

    name: str
    begin: float
    times: list[float]

    @classmethod
    def of(cls, name: str, begin: float, end: float, spans: int) -> Phase:
        """From begin to end [s] in so many spans."""
        return cls(name, begin, [float(t) for t in np.linspace(begin, end, spans + 1)[1:]])


def phases(options: argparse.Namespace) -> list[Phase]:
    """All of the run, or parts of it."""
    if options.full:
        return [
            Phase.of("impact and after", IMPACT, LAST, round((LAST - IMPACT) * FPS)),
            Phase.of("last second", LAST, END, round((END - LAST) * FPS)),
        ]
    return [
        Phase.of("impact", IMPACT, IMPACT + options.span, options.rounds),
        Phase.of("last second", LAST, LAST + options.span, options.rounds),
    ]


def floating(options: argparse.Namespace) -> dict[str, Any]:
    """Both trees with the ball left in mid-air."""
    pair = start(options, floating=True)
    rounds = alternate(pair, options.rounds, options.seconds)
    for turn in pair:
        turn.close()
    return {"phase": "ball in mid-air", "from": 0.0, "to": rounds[-1][1]["time"], "rounds": rounds}


def start(options: argparse.Namespace, **settings: Any) -> list[Turn]:
    """Processes of both trees."""
    world = {"world": "demo", "dx": options.dx, "threads": options.threads, **settings}
    return [Turn(tree, world) for tree in (options.before, options.after)]


def run(pair: list[Turn], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Both trees through all phases."""
    state = options.output.parent / f"demo-{options.dx}-{LAST}.npz"
    for phase in phases(options):
        if phase.begin == LAST:
            at_last_second(pair, state, options.full)
        rounds = [in_turn(pair, n, [{"until": t}] * 2) for n, t in enumerate(phase.times)]
        yield {"phase": phase.name, "from": phase.begin, "to": phase.times[-1], "rounds": rounds}


def at_last_second(pair: list[Turn], state: Path, arrived: bool) -> None:
    """Bring both trees to the last second, where they have arrived by themselves or which they start from."""
    if arrived or not state.exists():
        pair[1].ask(until=LAST)
        pair[1].ask(save=str(state))
    if not arrived:
        for turn in pair:
            turn.ask(load=str(state))


def summary(part: dict[str, Any]) -> dict[str, Any]:
    """Sums over a phase for both trees, and the ratios."""
    rounds = part["rounds"]
    sums = [{key: sum(r[k][key] for r in rounds) for key in ("wall", "cpu", "steps")} for k in (0, 1)]
    work = [sum(r[k]["particle_steps"] for r in rounds) for k in (0, 1)]
    ratios = {
        clock: [before[clock] / after[clock] for before, after in rounds if after["steps"]]
        for clock in ("wall", "cpu")
    }
    names = [key for key in rounds[0][1] if key.startswith("seconds_")]
    return {
        **part,
        "phase_ns": [
            {
                name.removeprefix("seconds_"): 1e9 * sum(r[k].get(name, 0.0) for r in rounds) / work[k]
                for name in names
            }
            for k in (0, 1)
        ],
        "sums": sums,
        "million_per_second": [w / s["wall"] / 1e6 for w, s in zip(work, sums, strict=True)],
        "cpu_ns": [1e9 * s["cpu"] / w for w, s in zip(work, sums, strict=True)],
        "speedup": {clock: Spread.of(values).__dict__ for clock, values in ratios.items()},
        "speedup_of_sums": {clock: sums[0][clock] / sums[1][clock] for clock in ("wall", "cpu")},
    }


def line(part: dict[str, Any]) -> str:
    """Line of the table."""
    before, after = part["sums"]
    cells = [part["phase"], f"{part['from']:g}-{part['to']:g}"]
    for k, one in enumerate((before, after)):
        cells += [f"{one['steps']}", f"{one['wall']:.1f}", f"{part['million_per_second'][k]:.2f}"]
    spreads = [str(Spread(**part["speedup"][clock])) for clock in ("wall", "cpu")]
    return "| " + " | ".join([*cells, f"{part['speedup_of_sums']['wall']:.2f}", *spreads]) + " |"


def phase_table(parts: list[dict[str, Any]]) -> list[str]:
    """Wall time of the phases of a step in every part of the run, nanoseconds per particle-step, before -> after."""
    names = list(parts[0]["phase_ns"][1])
    lines = ["| ns per particle-step | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for part in parts:
        before, after = part["phase_ns"]
        lines.append(
            "| " + " | ".join([part["phase"], *(f"{before[n]:.1f} -> {after[n]:.1f}" for n in names)]) + " |"
        )
    return lines


def closing(dense: dict[str, Any], parts: list[dict[str, Any]]) -> list[str]:
    """What the phases say together: the whole run, and the scattered snow beside the dense ball."""
    total = [
        {clock: sum(part["sums"][k][clock] for part in parts) for clock in ("wall", "cpu")} for k in (0, 1)
    ]
    before, after = total
    ratio = f"ratio {before['wall'] / after['wall']:.2f} (CPU {before['cpu'] / after['cpu']:.2f})"
    found = [f"all spans of the run: {before['wall']:.1f} s before, {after['wall']:.1f} s after, {ratio}"]
    for k, name in enumerate(("before", "after")):
        spray = parts[-1]
        wall = spray["million_per_second"][k] / dense["million_per_second"][k]
        cpu = dense["cpu_ns"][k] / spray["cpu_ns"][k]
        transfers = [sum(part["phase_ns"][k][phase] for phase in ("p2g", "g2p")) for part in (dense, spray)]
        alone = f"transfers alone {transfers[0] / transfers[1]:.2f}"
        found.append(
            f"last second over mid-air, particle-steps/s, {name}: {wall:.2f} (CPU {cpu:.2f}, {alone})"
        )
    return found


def parse() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="tree to compare with")
    parser.add_argument("--after", type=Path, default=Path(), help="tree to look at (default: this folder)")
    parser.add_argument("--full", action="store_true", help="all of the run")
    parser.add_argument("--dx", type=float, default=0.035, help="spacing of the grid [m]")
    parser.add_argument("--span", type=float, default=0.1, help="length of the short phases [s]")
    parser.add_argument("--rounds", type=int, default=8, help="turns of each tree in a short phase")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn in mid-air, about")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=Path, default=Path("out/benchmarks/demo.json"))
    return parser.parse_args()


def main() -> None:
    """Measure, print the table, write the JSON."""
    options = parse()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    host = machine()
    print(
        f"{host['processor']}, {host['widest']}, {options.threads} threads, load {host['load']:.2f} before\n"
    )
    print(
        "| phase | s | steps before | wall s | M/s | steps after | wall s | M/s | before / after | wall | CPU |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    dense = summary(floating(options))
    print(line(dense), flush=True)
    pair, parts = start(options, warm_up=0), []
    for part in run(pair, options):
        parts.append(summary(part))
        print(line(parts[-1]), flush=True)
    for turn in pair:
        turn.close()
    print("", *phase_table([dense, *parts]), "", *closing(dense, parts), sep="\n")
    found = {"machine": host, "particles": pair[0].particles, "mid-air": dense, "phases": parts}
    options.output.write_text(json.dumps(found, indent=1) + "\n")
    print(f"\nwrote {options.output}")


if __name__ == "__main__":
    main()
