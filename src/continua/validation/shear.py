"""Flows between plates: start-up of a viscoelastic fluid, and the decay of a shear wave by viscosity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import trapezoid

from continua.bodies.velocity import Affine
from continua.contact.boundaries import FixedVelocity, Periodic
from continua.geometry.shapes import Box
from continua.materials import Liquid, OldroydB
from continua.simulation import Simulation
from continua.validation.case import Case, Measurement, near, reported

# ---- Couette flow of an Oldroyd-B fluid -------------------------------------------------------------------------

FOAM = OldroydB(mu=5.0, lam=50.0, density=0.2, relaxation_time=0.5)
CELLS, DX = 8, 0.1  # across the gap, [m]


def startup(w: float) -> float:
    """Exact shear stress [Pa], mean over 4 to 5 relaxation times after the start; w = shear rate times that time."""
    t = np.linspace(4, 5, 1001)
    b12 = w * (1 - np.exp(-t))
    b11 = 1 + 2 * w**2 * (1 - (1 + t) * np.exp(-t))
    stress = FOAM.mu * b12 / np.sqrt(b11 - b12**2)  # d = 2: J = 1, b scaled to determinant 1
    return float(trapezoid(stress, t))


def couette(w: float, relaxation_time: float) -> float:
    """The same from a simulation, in the middle of the gap.

    Particles reach 1.5 cells into both plates, and nodes inside the plates continue the linear profile, so that the
    splines see the plates' surfaces where they are.
    """
    gap, rate = CELLS * DX, w / FOAM.relaxation_time
    sim = Simulation(DX, (0, 0))
    sim.add(Periodic(0, 0.0, 4 * DX))
    for row in (-2, -1, 0, CELLS, CELLS + 1, CELLS + 2):
        y = row * DX
        sim.add(FixedVelocity((-1, y - DX / 2), (1, y + DX / 2), (rate * y, 0)))
    fluid = Box((2 * DX, gap / 2), (4 * DX, gap + 3 * DX))
    foam = OldroydB(FOAM.mu, FOAM.lam, FOAM.density, relaxation_time)
    body = sim.add(fluid, foam, velocity=Affine((0, 0), ((0, rate), (0, 0)), (0, 0)))
    stresses, end = [], 5 * FOAM.relaxation_time
    while sim.time < end - 1e-9:
        sim.step(end - sim.time)
        if sim.time >= 0.8 * end:
            middle = np.abs(body.x[:, 1] - gap / 2) < DX
            state = {name: value[middle] for name, value in body.state.items()}
            stresses.append(float(foam.kirchhoff(body.F[middle], state)[:, 0, 1].mean()))
    return float(np.mean(stresses))


def measure_couette(quick: bool, wrong: bool) -> list[Measurement]:
    time = FOAM.relaxation_time * (1.1 if wrong else 1.0)
    return [
        near(f"shear stress at w = {w:g} [Pa]", couette(w, time), startup(w), 0.005)
        for w in ((2.0,) if quick else (0.5, 2.0))
    ]


COUETTE = Case(
    name="couette",
    title="Couette flow of a viscoelastic fluid, start-up",
    source="Oldroyd-B equations with b scaled to constant volume, closed form",
    kind="closed form",
    cost="10 s",
    control="relaxation time 10 % longer",
    measure=measure_couette,
)

# ---- decay of a shear wave --------------------------------------------------------------------------------------

SYRUP = Liquid(bulk_modulus=1e4, density=1000.0, viscosity=500.0)
WAVE_NUMBER = 2 * np.pi  # [1/m]
RATE = SYRUP.viscosity * WAVE_NUMBER**2 / SYRUP.density  # exact [1/s]


def wave(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocities (N, 2) [m/s] at the points x (N, 2)."""
    return np.stack([1e-3 * np.sin(WAVE_NUMBER * x[:, 1]), 0 * x[:, 1]], axis=1)


def decay(cells: int, diffusion: float, viscosity: float, transfer: str = "apic") -> float:
    """Rate at which a shear wave fades [1/s].

    `cells` per wavelength; `diffusion` is the time step over dx^2 density / viscosity.
    """
    h, kinematic = 1 / cells, SYRUP.viscosity / SYRUP.density
    sim = Simulation(h, (0, 0), transfer=transfer, dt=diffusion * h**2 / kinematic, force_dt=True)
    sim.add(Periodic(0, 0.0, 4 * h))
    sim.add(Periodic(1, 0.0, 1.0))
    liquid = Liquid(SYRUP.bulk_modulus, SYRUP.density, viscosity)
    body = sim.add(Box((2 * h, 0.5), (4 * h, 1.0)), liquid, velocity=wave)
    shape = wave(body.x)[:, 0]
    times, logs = [], []
    while sim.time < 1.2 / RATE:
        sim.step()
        times.append(sim.time)
        logs.append(np.log(body.v[:, 0] @ shape[body.ids]))
    late = np.array(times) > 0.3 / RATE  # APIC needs a moment to find its affine velocities
    return float(-np.polyfit(np.array(times)[late], np.array(logs)[late], 1)[0])


def measure_wave(quick: bool, wrong: bool) -> list[Measurement]:
    """The wrong variant is a viscosity inversely proportional to dt, as the potential printed in J15 (4.9) gives."""
    viscosity = SYRUP.viscosity * (1.1 if wrong else 1.0)
    coarse, fine = decay(16, 0.2, viscosity), decay(32, 0.2, viscosity)
    half = decay(32, 0.1, viscosity * (2 if wrong else 1))
    found = [
        near("decay rate, 16 cells per wavelength [1/s]", coarse, RATE, 0.03),
        near("decay rate, 32 cells per wavelength [1/s]", fine, RATE, 0.01),
        near("the same with half the time step, relative", half / fine, 1.0, 0.01),
    ]
    if not (quick or wrong):
        found.append(reported("decay rate with FLIP, 16 cells [1/s]", decay(16, 0.2, viscosity, "flip")))
    return found


SHEAR_WAVE = Case(
    name="shear-wave",
    title="Decay of a shear wave by viscosity",
    source="Navier-Stokes, closed form: viscosity k^2 / density",
    kind="closed form",
    cost="3 s",
    control="10 % more viscosity, and inversely proportional to dt",
    measure=measure_wave,
)
