"""Two continua that touch: blocks and discs on a slab whose bottom is held, and discs that fly at each other.

Lengths are in cells unless said otherwise. Everything may be turned against the grid and moved by a part of a cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from continua.bodies.body import Body
from continua.bodies.points import ParticleBody
from continua.bodies.velocity import GivenVelocity
from continua.contact.colliders import Plane
from continua.continuum import Contact
from continua.geometry.base import Shape
from continua.geometry.points import Points
from continua.geometry.sampling import sample
from continua.geometry.shapes import Box, Rotated, Sphere
from continua.materials import FixedCorotated
from continua.materials.base import Material
from continua.simulation import Simulation

Array = NDArray[np.float64]

H, G = 0.05, 9.81  # cell [m], gravity [m/s^2]
JELLY = FixedCorotated(1e6, 0.3, 1000.0)
OFFSETS = ((0.0, 0.0, 0.0), (0.25, 0.4, 0.1), (0.5, 0.7, 0.3), (0.77, 0.93, 0.6))


@dataclass(frozen=True)
class Slab:
    """A slab of 4 cells with something on it, which is continuum "b"; the slab is "a".

    Gravity leans by `slope` [degrees] along the slab; slab and gravity are turned by `turn` [degrees].
    """

    length: float = 20.0
    behind: float = 6.0  # of the length: at negative x
    depth: float = 6.0  # in 3D
    slope: float = 0.0
    turn: float = 0.0
    friction: float = 0.0
    slack: float = 0.25
    offset: tuple[float, ...] = (0.0, 0.0, 0.0)
    d: int = 2
    gravity: float = G
    precision: str = "double"
    separate: bool = True  # False: one continuum for both, the wrong variant
    held: bool = True
    dt: float | None = None

    @property
    def along(self) -> Array:
        """Direction of the slab (d,)."""
        t = np.radians(self.turn)
        return np.array([np.cos(t), np.sin(t), 0.0])[: self.d]

    @property
    def up(self) -> Array:
        """Out of the slab (d,)."""
        t = np.radians(self.turn)
        return np.array([-np.sin(t), np.cos(t), 0.0])[: self.d]

    @property
    def origin(self) -> Array:
        """A point of its surface (d,) [m]."""
        return H * np.array(self.offset[: self.d])

    def box(self, lower: tuple[float, ...], upper: tuple[float, ...]) -> Shape:
        """A box between two corners [cells] in the frame of the slab."""
        low, high = np.array(lower[: self.d]), np.array(upper[: self.d])
        box = Box(tuple(self.origin + H * (low + high) / 2), tuple(H * (high - low)))
        if not self.turn:
            return box
        axis = None if self.d == 2 else (0.0, 0.0, 1.0)
        return Rotated(box, self.turn, axis, tuple(self.origin))

    def ball(self, radius: float, height: float = 0.0, *, shared: bool = False) -> Shape:
        """A disc or ball [cells] whose lowest point is `height` above the origin.

        Its particles fill their lattice exactly; `shared` makes them share out the volume of the ball instead.
        """
        ball = Sphere(tuple(self.origin + H * (radius + height) * self.up), H * radius)
        if shared:
            return ball
        points, _ = sample(ball, H / 2)
        return Points(points, np.full(len(points), (H / 2) ** self.d))

    def simulation(self) -> Simulation:
        """With the slab."""
        t = np.radians(self.slope)
        down = np.sin(t) * self.along - np.cos(t) * self.up
        sim = Simulation(H, list(self.gravity * down), precision=self.precision, push_out=None, dt=self.dt)
        z = self.depth / 2
        low, high = (-self.behind, -4.0, -z), (self.length - self.behind, 0.0, z)
        sim.add(self.box(low, high), JELLY, name="slab", continuum="a" if self.separate else None)
        if self.held:
            point = self.origin - 2.5 * H * self.up
            sim.add(Plane(tuple(self.up), tuple(point), mode="sticky", name="ground"))
        return sim

    def add(
        self, sim: Simulation, shape: Shape, material: Material = JELLY, velocity: GivenVelocity = None
    ) -> ParticleBody:
        """Something on the slab."""
        body = sim.add(
            shape, material, name="top", continuum="b" if self.separate else None, velocity=velocity
        )
        if self.separate:
            sim.add(Contact("a", "b", friction=self.friction, slack=self.slack))
        return body


def mean_velocity(body: Body) -> Array:
    """Of the centre of mass (d,) [m/s]."""
    return np.asarray(body.mass.astype(np.float64) @ body.v / body.mass.sum(dtype=np.float64))


def watch(sim: Simulation, duration: float, look: Callable[[], float]) -> tuple[Array, Array]:
    """Times [s] and what was seen after each step."""
    times, seen, end = [], [], sim.time + duration
    while sim.time < end - 1e-12:
        sim.step(end - sim.time)
        times.append(sim.time)
        seen.append(look())
    return np.array(times), np.array(seen)


def acceleration(sim: Simulation, body: ParticleBody, along: Array, duration: float) -> float:
    """Of the centre of mass [m/s^2], fitted after the first fifth."""
    t, v = watch(sim, duration, lambda: float(mean_velocity(body) @ along))
    late = t > 0.2 * duration
    return float(np.polyfit(t[late], v[late], 1)[0])


def slide_error(slab: Slab, duration: float = 0.4) -> float:
    """Acceleration of a block minus that of a rigid one, g (sin - f cos), over g."""
    sim = slab.simulation()
    size = (8.0, 4.0, 4.0) if slab.d == 2 else (6.0, 3.0, 4.0)
    body = slab.add(sim, slab.box((0.0, 0.0, -size[2] / 2), (size[0], size[1], size[2] / 2)))
    t = np.radians(slab.slope)
    rigid = np.sin(t) - slab.friction * np.cos(t)
    return float(acceleration(sim, body, slab.along, duration) / slab.gravity - rigid)


def roll_ratio(slab: Slab, radius: float, duration: float = 0.5, *, shared: bool = False) -> float:
    """Acceleration of a disc or ball on a slope over that of a rigid one, g sin/(1 + I/(m R^2))."""
    sim = slab.simulation()
    body = slab.add(sim, slab.ball(radius, shared=shared))
    rigid = slab.gravity * np.sin(np.radians(slab.slope)) / (1.5 if slab.d == 2 else 1.4)
    return float(acceleration(sim, body, slab.along, duration) / rigid)


@dataclass
class Meeting:
    """What two discs that flew at each other found."""

    early: float  # approach left when 0.1 % of the momentum was exchanged [cells]
    rise: float  # largest energy over the first, minus 1
    lost: float  # momentum at the end over that of one disc at first
    speed: float  # at the end over that at first


def discs(
    h: float,
    material: Material,
    other: Material | None = None,
    *,
    start: float = 1.3,
    separate: bool = True,
    precision: str = "double",
    offset: tuple[float, ...] = (0.0, 0.0),
    friction: float = 0.0,
    transfer: str = "apic",
    dt: float | None = None,
) -> Simulation:
    """Discs of radius 0.2 m that start at (0.2, 0.2) and (0.8, 0.8) with 0.1 m/s along both axes, after `start` [s].

    A given dt [s] is taken even beyond the bound of stability.
    """
    sim = Simulation(h, (0.0, 0.0), precision=precision, transfer=transfer, dt=dt, force_dt=dt is not None)
    for name, sign, stuff in (("a", 1, material), ("b", -1, other or material)):
        at = 0.5 - sign * (0.3 - 0.1 * start)
        centre = tuple(at + h * np.array(offset))
        sim.add(
            Sphere(centre, 0.2),
            stuff,
            velocity=(0.1 * sign, 0.1 * sign),
            name=name,
            continuum=name if separate else None,
        )
    if separate:
        sim.add(Contact("a", "b", friction=friction))
    return sim


TOUCH = (np.sqrt(2) * 0.6 - 0.4) / (np.sqrt(2) * 0.2)  # [s], when the discs touch


def meet(sim: Simulation, start: float = 1.3, duration: float = 1.3) -> Meeting:
    """Let the discs meet and part; the momentum that one has lost tells when they touched."""
    first = sim.bodies[0]
    mass = float(first.mass.sum(dtype=np.float64))
    p0, energy = mass * 0.1 * np.sqrt(2), sim.diagnostics()["total"]
    touched, rise, given = np.nan, 0.0, 0.0
    while sim.time < duration:
        sim.step(duration - sim.time)
        last, given = given, p0 - mass * float(mean_velocity(first).sum()) / np.sqrt(2)
        if np.isnan(touched) and given > 1e-3 * p0:
            touched = start + sim.time - sim.dt * (given - 1e-3 * p0) / (given - last)
        rise = max(rise, sim.diagnostics()["total"] / energy - 1)
    row = sim.diagnostics()
    lost = float(np.hypot(row["momentum_x"], row["momentum_y"])) / p0
    speed = float(np.linalg.norm(mean_velocity(first))) / (0.1 * np.sqrt(2))
    return Meeting((TOUCH - touched) * 0.2 * np.sqrt(2) / sim.dx, rise, lost, speed)
