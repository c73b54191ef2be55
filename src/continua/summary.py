"""What a simulation will cost and do, before it runs."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class BodySummary:
    """One body: particles, mass [kg], wave speed [m/s]."""

    name: str
    material: str
    particles: int
    mass: float
    wave_speed: float


@dataclass(frozen=True)
class Summary:
    """A simulation at a glance. SI units; memory in bytes."""

    dimension: int
    dx: float
    bodies: list[BodySummary]
    particles: int
    mass: float
    wave_speed: float
    expected_dt: float
    dt_bound: str
    memory: int
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Progress:
    """Where a run is. Times in seconds; `eta` is the expected time left."""

    frame: int
    frames: int
    time: float
    duration: float
    dt: float
    bound: str
    steps: int
    steps_per_second: float
    particle_steps_per_second: float
    eta: float
    seconds: float
