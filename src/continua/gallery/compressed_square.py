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
from continua.geometry import shapes
from continua.materials import NeoHookean, PythonMaterial
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.transfers import APIC, FLIP, PIC, RPIC, PolyPIC, Transfer

COST = "400 particles, 1 000 steps, 1 s"
SMALL = ["duration=0.1"]

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


def check(sim: Simulation, start: dict[str, float]) -> dict[str, float]:
    """The energy that is left belongs to the scheme; the square stays where it is and does not start to turn."""
    now = sim.diagnostics()
    kept = now["total"] / start["total"]
    drift = float(np.hypot(now["center_x"], now["center_y"]))
    spin = abs(now["angular_z"]) / (np.sqrt(2 * start["mass"] * start["total"]) * SIDE)
    assert drift < 1e-12 and spin < 1e-12, f"the square moved by {drift:.1e} m, spin {spin:.1e}"
    assert 0 <= kept < 1.01, f"{kept:.3f} of the energy is left"
    for transfer, expected in KEPT:
        if sim.world.transfer == transfer:
            assert abs(kept - expected) < 0.02, f"{kept:.3f} of the energy is left, not {expected:.3f}"
    return {"energy_kept": kept, "drift": drift, "spin": float(spin)}
