"""A square of jelly is let go from 90 % of its size; the transfer decides how long it swings.

Nothing takes energy out of this square but the transfer between particles and grid: there is no gravity, no contact and
no viscosity. The square springs open and keeps breathing, and the energy that is left tells how much a scheme damps
(G20 Fig. 2.7). After 0.1 s:

    PIC, RPIC 0.00     APIC 0.23     PolyPIC with 4 modes 0.23, with 6 modes 0.53, with 9 modes 0.66
    FLIP 0.43, blended with PIC: 0.99 of FLIP 0.20, 0.95 of FLIP 0.07

Part of what FLIP keeps is noise: its particles have 0.43 of the energy, the grid sees 0.34. The numbers belong to this
time step. Every step has its transfers, so with smaller steps every scheme loses more.

The square is a neo-Hookean solid that wants to be 1/0.9 of the size in which it is sampled; a class in this file says
so. The scene itself uses PolyPIC with 6 modes.

What to look at: with PolyPIC the edges still swing at the end, with PIC the square stands still after a moment, and
with FLIP neighbouring particles go different ways.

    continua compare compressed-square --over transfer=pic,flip,apic,polypic:6,polypic:9

400 particles, 1 000 steps; on two cores less than a second.
"""

import numpy as np

from continua import Simulation
from continua.gallery._measure import energy
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import NeoHookean, PythonMaterial
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.transfers import APIC, FLIP, PIC, RPIC, PolyPIC, Transfer
from continua.validation.case import Measurement, at_most, near, reported

COST = "400 particles, 1 000 steps, 1 s"
SMALL = ["duration=0.1"]
WRONG = [("another time step, so five times as many transfers", ["dt=2e-5"], "energy left")]

SIDE, COUNT = 0.4, 20  # of the square at rest [m], and its particles along a side
SQUEEZE = 0.9  # size at the start over size at rest
JELLY = NeoHookean(E=1e3, nu=0.3, density=1.0)
DT = 1e-4  # [s]
KEPT: list[tuple[Transfer, float]] = [  # part of the energy after 0.1 s
    (PIC(), 0.0),
    (RPIC(), 0.0),
    (FLIP(0.95), 0.065),
    (FLIP(0.99), 0.201),
    (FLIP(), 0.425),
    (APIC(), 0.232),
    (PolyPIC(), 0.227),
    (PolyPIC(modes=4), 0.227),
    (PolyPIC(modes=6), 0.532),
    (PolyPIC(modes=9), 0.658),
]


class Squeezed(PythonMaterial):
    """The jelly, with its size at the start as reference: F = SQUEEZE at the start is written as F = 1."""

    density = JELLY.density / SQUEEZE**2
    E, nu = JELLY.E / SQUEEZE**2, JELLY.nu

    def energy(self, F: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
        return JELLY.energy(SQUEEZE * F) / SQUEEZE**2

    def stress(self, F: np.ndarray, state: dict[str, np.ndarray]) -> np.ndarray:
        return JELLY.stress(SQUEEZE * F) / SQUEEZE


def square() -> shapes.Points:
    """Particles in rows and columns, closer to each other than at rest."""
    spacing = SQUEEZE * SIDE / COUNT
    line = spacing * (np.arange(COUNT) - (COUNT - 1) / 2)
    points = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    return shapes.Points(points, np.full(len(points), spacing**2))


scene = Scene(
    title="Compressed square",
    simulation=SimulationSettings(dx=1 / 24, gravity=(0.0, 0.0), dt=DT, transfer=PolyPIC(modes=6)),
    body=[BodySettings(name="square", shape=square(), material=Squeezed())],
    run=RunSettings(duration=0.1, fps=500.0),
    render=RenderSettings(color_by="speed", limits=(0.0, 4.0)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Energy [J/m]."""
    return {"energy": energy(sim)}


def check(run: SceneRun) -> list[Measurement]:
    """The energy that is left belongs to the scheme; the square stays where it is and does not start to turn."""
    sim, now = run.sim, run.sim.diagnostics()
    left = now["total"] / run.start["total"]
    spin = abs(now["angular_z"]) / (np.sqrt(2 * run.start["mass"] * run.start["total"]) * SIDE)
    expected = next((part for transfer, part in KEPT if sim.world.transfer == transfer), None)
    return [
        at_most("drift [m]", float(np.hypot(now["center_x"], now["center_y"])), 1e-12),
        at_most("spin", float(spin), 1e-12),
        at_most("most energy over that of the start", 1 + run.growth("energy"), 1.01),
        reported("energy left", left) if expected is None else near("energy left", left, expected, 0.02, 1.0),
    ]
