"""A column of water collapses: the dam break of Martin and Moyce (1952).

Water of width a = 5.7 cm and height 2a stands at a wall and is let go at once. Martin and Moyce filmed how the front
advances, and their table of Z = front / a against T = t sqrt(2g / a) is what codes for free surfaces are compared
with. Water is weakly compressible (Tait's equation): sound is ten times as fast as the front, so density changes by
about one percent while the time step stays reasonable. `continua validate dam-break` compares the whole table.

The floor is slippery. The front runs with the speed that was measured, but it leads, by 6 percent at the end: in the
experiment a gate had to get out of the way first. Incompressible water, in the scene water-dam, has the same front; so
have finer grids. On a floor that holds the water (`--set collider.floor.mode=sticky`) they have not: the layer that is
held back is about a cell thick. The front is where the water is a tenth of its first width thick.

What to look at: colours show the speed. The tongue of water is fastest at its tip and hardly sheared; the water at the
wall sinks and hardly moves to the side.

8 200 particles, 2 400 steps; on two cores some 10 seconds.
"""

from continua import Simulation
from continua.contact import colliders
from continua.gallery._measure import energy, kept, volume_kept
from continua.gallery._running import SceneRun
from continua.geometry import shapes
from continua.materials import Liquid
from continua.scene import BodySettings, RenderSettings, RunSettings, Scene, SimulationSettings
from continua.validation.case import Measurement, at_least, at_most, near
from continua.validation.dam_break import EXPERIMENT, GRAVITY, SECOND, WIDTH, front_of, speed

COST = "8 200 particles, 2 400 steps, 10 s"
SMALL = ["dx=0.0047625"]
WRONG = [("water like honey", ["body.material.viscosity=10.0"], "front")]

END = float(EXPERIMENT[-1, 0] / SECOND)  # T = 3.11, the last time of the table [s]

scene = Scene(
    title="Dam break",
    simulation=SimulationSettings(dx=WIDTH / 16, gravity=(0.0, -GRAVITY)),
    body=[
        BodySettings(
            name="water",
            shape=shapes.Box((WIDTH / 2, WIDTH), (WIDTH, 2 * WIDTH)),
            material=Liquid(bulk_modulus=4e5, density=1000.0, viscosity=1e-3, tension=True),
            particles_per_cell=16,
        )
    ],
    collider=[
        colliders.Plane(normal=(0.0, 1.0), name="floor"),
        colliders.Plane(normal=(1.0, 0.0), name="wall"),
    ],
    run=RunSettings(duration=END, fps=40 / END),
    render=RenderSettings(color_by="speed", limits=(0.0, 2.0)),
)


def watch(sim: Simulation) -> dict[str, float]:
    """Front over width, volume over that at the start, energy [J/m]."""
    water = sim.world.particle_bodies[0]
    return {
        "front": front_of(water),
        "volume": volume_kept(water),
        "energy": energy(sim),
    }


def check(run: SceneRun) -> list[Measurement]:
    """Front of the water against the table, speed and last place; the water keeps its volume and energy."""
    T, front = run.seen["time"] * SECOND, run.seen["front"]
    return [
        speed((T, front)),
        near("last front over the width", float(front[-1]), float(EXPERIMENT[-1, 1]), 0.1),
        at_least("least volume over that at the start", run.least("volume"), 0.99),
        at_most("most volume over that at the start", run.most("volume"), 1.01),
        at_most("most energy over that of the start, minus 1", run.growth("energy"), kept(run.sim, 1e-9)),
    ]
