"""Two snowballs collide off-centre in free space (after J15 Fig. 2.3).

The balls meet at 16 m/s, half a radius off-centre. There is no gravity, so the sum of both momenta and angular momenta
must stay what it was, however badly the balls break: the forces between particles come from symmetric stresses,
and APIC carries the spin. Energy is not kept; compacting and tearing snow uses it up.

What to look at: colours tell the balls apart. The parts that hit each other are pressed into one hard lump, the
parts that miss shear off and fly on.

Try `--set integrator=optimization`: 6.9 ms per step instead of 0.17 in the small version, 40 times as long. Backward
Euler does not keep angular momentum but changes it with dt: by 2.2, 1.4 and 0.8 % at `cfl` 0.6, 0.3 and 0.15.

119 000 particles, 4 600 steps; on two cores about 3 minutes.
"""

from continua import Simulation
from continua.gallery._measure import energy, kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import Snow
from continua.scene import (
    BodySettings,
    CameraSettings,
    RenderSettings,
    RunSettings,
    Scene,
    SimulationSettings,
)
from continua.validation.case import Measurement, at_least, at_most

COST = "119 000 particles, 4 600 steps, 3 min"
SMALL = ["dx=0.08", "duration=0.1", "precision=double"]
WRONG = [("a transfer that forgets spin", ["transfer=pic", "duration=0.05"], "angular momentum")]

RADIUS, SPEED = 0.4, 8.0  # [m], [m/s]


def ball(name: str, side: int) -> BodySettings:
    """The ball that comes from the left (side -1) or right (side 1)."""
    return BodySettings(
        name=name,
        shape=shapes.Sphere(center=(1.2 * side * RADIUS, 0.25 * side * RADIUS, 0.0), radius=RADIUS),
        material=Snow(compression=0.02, stretch=0.004),
        velocity=(-side * SPEED, 0.0, 0.0),
        sampling="jittered",
    )


scene = Scene(
    title="Two snowballs",
    simulation=SimulationSettings(dx=0.033, gravity=(0.0, 0.0, 0.0), precision="single"),
    body=[ball("from the left", -1), ball("from the right", 1)],
    run=RunSettings(duration=0.3125, fps=48.0),
    render=RenderSettings(
        color_by="body",
        camera=CameraSettings(position=(1.9, 1.7, 6.0), target=(0.0, 0.0, 0.0)),
    ),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J]."""
    return {"energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """Momentum and angular momentum have not changed, energy has gone down and never up."""
    sim, now, start = run.sim, run.sim.diagnostics(), run.start
    momentum = max(abs(now[f"momentum_{a}"] - start[f"momentum_{a}"]) for a in "xyz") / (
        start["mass"] / 2 * SPEED
    )
    angular = max(abs(now[f"angular_{a}"] - start[f"angular_{a}"]) for a in "xyz") / abs(start["angular_z"])
    return [
        at_most("change of momentum over that of a ball", momentum, kept(sim, 1e-11)),
        at_most(
            "change of angular momentum", angular, 0.05 if sim.world.integrator.implicit else kept(sim, 1e-9)
        ),
        at_least("part of the energy that is lost", 1 - now["total"] / start["total"], 0.1),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(sim, 1e-9)),
    ]
