"""Solids that collide, and a block on a slope: what the cases of exact contact simulate, and what they count."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from continua.bodies.solid_body import SolidBody
from continua.contact.colliders import Plane
from continua.contact.exact.certificate import Certificate
from continua.contact.penalty import MeshContactSetting
from continua.geometry.meshes import BoxMesh, ShapeMesh
from continua.geometry.shapes import Sphere
from continua.geometry.simplex_mesh import SimplexMesh
from continua.integrators import Optimization
from continua.materials import FixedCorotated
from continua.simulation import Simulation

Array = NDArray[np.float64]
Kind = Literal["explicit", "implicit"]
RADIUS, SPEED, GAP, OFFSET = 0.25, 1.0, 0.02, 0.06  # of spheres [m], [m/s], between them [m], aside [m]
HALF_TURN = np.array([[-7, 4, 4], [4, -1, 8], [4, 8, -1]]) / 9  # about (1, 2, 2)
G, SLOPE = 9.81, 0.3  # [m/s^2], of floors [rad]


def jelly(density: float = 1000.0) -> FixedCorotated:
    """Of M23 table 2."""
    return FixedCorotated(E=5e4, nu=0.3, density=density)


def spheres(
    contact: MeshContactSetting,
    kind: Kind,
    *,
    dt: float | None,
    size: float = 0.14,
    dx: float = 0.12,
    ratio: float = 1.0,
    spin: float = 0.0,
) -> Simulation:
    """Two spheres that fly at each other, off centre, with 1 m/s each, on meshes that are not mirror images.

    size [m]: of edges. ratio: radius of the second over that of the first. spin [1/s]: of both, about z.
    """
    moved = Optimization(tolerance=1e-9) if kind == "implicit" else "symplectic"
    sim = Simulation(dx, (0.0, 0.0, 0.0), integrator=moved, dt=dt)
    for side, radius, turn in ((-1, RADIUS, np.eye(3)), (1, ratio * RADIUS, HALF_TURN)):
        mesh = ShapeMesh(Sphere((0.0, 0.0, 0.0), radius), size * radius / RADIUS).build()
        points = mesh.points @ turn.T
        near = -(side * points[:, 0]).min()  # how far it reaches towards the other
        points += (side * (GAP / 2 + near), side * OFFSET / 2, 0.0)
        body = SolidBody(SimplexMesh(points, mesh.cells), jelly(), contact=contact)
        sim.add(body)
        r = body.x - middle(body, body.x)
        body.v[:] = np.array([-side * SPEED, 0.0, 0.0]) + spin * np.stack(
            [-r[:, 1], r[:, 0], np.zeros(len(r))], axis=1
        )
    return sim


def solids(sim: Simulation) -> list[SolidBody]:
    """All solid bodies."""
    return [body for body in sim.bodies if isinstance(body, SolidBody)]


def middle(body: SolidBody, values: Array) -> Array:
    """Mean (d,) of values of the points, by their masses."""
    return np.asarray(body.mass @ values / body.mass.sum())


def momenta(sim: Simulation) -> tuple[Array, Array]:
    """Momentum (3,) [N s] and angular momentum (3,) [N m s], with what affine velocities hold."""
    row = sim.diagnostics()
    P = np.array([row[f"momentum_{axis}"] for axis in "xyz"])
    return P, np.array([row[f"angular_{axis}"] for axis in "xyz"])


@dataclass
class Collision:
    """What spheres that flew at each other found."""

    crossings: int  # steps after which surfaces passed through each other
    lost: float  # change of the momentum over sum m |v| at first
    turned: float  # change of the angular momentum since the first step, over the same times the offset of a radius
    together: float  # sum of both velocities [m/s]
    rebound: float  # speed of the right one, away, over that at first
    energy: float  # at the end over that at first
    most: float  # the largest on the way over that at first
    steps: int
    seconds: float  # of the steps


def collide(sim: Simulation, duration: float) -> Collision:
    """Run it [s] and look after every step."""
    bodies = solids(sim)
    ends = np.cumsum([0, *(len(body) for body in bodies)])
    facets = np.concatenate([body.surface + k for body, k in zip(bodies, ends, strict=False)])
    look = Certificate(np.concatenate([body.rest for body in bodies]), facets.astype(np.int32))
    size = sum(float(body.mass @ np.linalg.norm(body.v, axis=1)) for body in bodies)
    start, energy = momenta(sim)[0], sim.diagnostics()["total"]
    crossings, lost, turned, most, seconds, L = 0, 0.0, 0.0, 0.0, 0.0, None
    while sim.time < duration - 1e-12:
        begin = time.perf_counter()
        sim.step(duration - sim.time)
        seconds += time.perf_counter() - begin
        P, now = momenta(sim)
        L = now if L is None else L
        crossings += not look.holds(np.concatenate([body.x for body in bodies]))
        lost = max(lost, float(np.linalg.norm(P - start)) / size)
        turned = max(turned, float(np.linalg.norm(now - L)) / (size * RADIUS))
        most = max(most, sim.diagnostics()["total"] / energy)
    left, right = (middle(body, body.v) for body in bodies)
    total = sim.diagnostics()["total"] / energy
    together = float(np.abs(left + right).max())
    rebound = float(right[0]) / SPEED
    return Collision(crossings, lost, turned, together, rebound, total, most, sim.steps, seconds)


def slope_acceleration(friction: float, slope: float = SLOPE) -> float:
    """Of a rigid block [m/s^2]."""
    return max(0.0, float(G * (np.sin(slope) - friction * np.cos(slope))))


def slide(
    contact: MeshContactSetting,
    kind: Kind,
    friction: float,
    duration: float,
    d: int = 2,
    slope: float = SLOPE,
) -> float:
    """Acceleration [m/s^2] of the middle of a block on a floor of that friction that leans by `slope` [rad]."""
    gravity = G * np.array([np.sin(slope), -np.cos(slope), 0.0])[:d]
    moved = "optimization" if kind == "implicit" else "symplectic"
    sim = Simulation(0.12, tuple(gravity), integrator=moved, dt=2e-3 if kind == "implicit" else None)
    sim.add(Plane((0.0, 1.0, 0.0)[:d], friction=friction))
    low, high = np.array([0.0, 0.002, 0.0])[:d], np.array([0.6, 0.202, 0.4])[:d]
    mesh = BoxMesh(tuple(low), tuple(high), (6, 2, 4)[:d]).build()
    body = sim.add(SolidBody(mesh, jelly(), damping=3e-2, contact=contact))
    times, places = [], []
    while sim.time < duration - 1e-12:
        sim.step()
        times.append(sim.time)
        places.append(middle(body, body.x)[0])
    t, x = np.array(times), np.array(places)
    late = t > 0.5 * duration
    return float(2 * np.polyfit(t[late], x[late], 2)[0])
