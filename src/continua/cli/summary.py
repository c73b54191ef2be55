"""What `continua run` says before it starts: everything with its unit."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from continua.cli import text

if TYPE_CHECKING:
    from continua.plan import RunPlan
    from continua.scene import LoadedScene
    from continua.simulation import Simulation
    from continua.summary import Summary


def describe(loaded: LoadedScene, simulation: Simulation, plan: RunPlan, output: Path) -> str:
    """A few aligned lines about the scene, its size and its cost."""
    scene, summary = loaded.scene, simulation.summary()
    settings = scene.simulation
    time = plan.duration
    lines = [
        (
            "grid",
            f"{summary.dimension}D, dx = {text.quantity(summary.dx, 'm')}, {settings.precision} precision",
        ),
    ]
    bodies = [
        [
            body.name,
            body.material,
            text.contents([asdict(body)]),
            text.quantity(body.mass, mass_unit(summary.dimension)),
            f"waves at {text.quantity(body.wave_speed, 'm/s')}" if body.wave_speed else "",
        ]
        for body in summary.bodies
    ]
    if bodies:
        table = text.columns(bodies)
        lines.append(("bodies" if len(bodies) > 1 else "body", table[0]))
        lines += [("", row) for row in table[1:]]
    if len(bodies) > 1:
        total = text.quantity(summary.mass, mass_unit(summary.dimension))
        lines.append(("together", f"{text.contents(map(asdict, summary.bodies))}, {total}"))
    lines += continuum_lines(summary)
    if scene.emitter:
        lines.append(("emitters", ", ".join(emitter.name or "" for emitter in scene.emitter)))
    if scene.drain:
        lines.append(("drains", ", ".join(drain.name or "" for drain in scene.drain)))
    dt, bound, frame = summary.expected_dt, summary.dt_bound, min(1 / plan.fps, time)
    if bound == "frame" or dt > frame:
        dt, bound = frame, "frame"
    steps = max(1, round(time / dt)) if dt > 0 else 0
    lines += [
        (
            "time step",
            f"about {text.quantity(dt, 's')}, limited by: {text.bound(bound)}",
        ),
        (
            "run",
            f"{text.quantity(time, 's')}, {text.plural(plan.frames, 'frame')} at {plan.fps:g} per second"
            f"{' (the last one shorter)' if plan.is_short(plan.frames) else ''}, "
            f"about {text.plural(steps, 'step')}",
        ),
        ("memory", f"about {text.memory(summary.memory)}"),
        ("output", str(output)),
    ]
    lines += [("warning", warning) for warning in summary.warnings]
    title = f"{loaded.name}: {scene.title}" if scene.title else loaded.name
    return f"{title}\n{text.rows(lines)}"


def continuum_lines(summary: Summary) -> list[tuple[str, str]]:
    """Continua and the friction between them, where there are several."""
    if len(summary.continua) < 2:
        return []
    table = text.columns(
        [
            [c.name, f"{c.integrator}, {c.transfer}", ", ".join(c.bodies) or "nothing yet"]
            for c in summary.continua
        ]
    )
    pairs = [f"{pair.a} and {pair.b}, friction {pair.friction:g}" for pair in summary.pairs]
    lines = [("continua" if index == 0 else "", row) for index, row in enumerate(table)]
    return lines + [("contacts" if index == 0 else "", pair) for index, pair in enumerate(pairs)]


def mass_unit(dimension: int) -> str:
    """Mass in 2D is per metre of depth."""
    return "kg" if dimension == 3 else "kg/m"
