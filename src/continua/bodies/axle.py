"""Axles that hold a rigid body, and motors on them."""

from typing import Annotated

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from continua._model import CONFIG, Finite, NonNegative, Vector
from continua._validation import raises
from continua.bodies.rigid_motion import Hinge
from continua.errors import SetupError


@raises(SetupError)
@dataclass(config=CONFIG)
class Motor:
    """What drives an axle: towards an angular speed with at most some torque, or with a given torque.

    Motor(speed=3) keeps 3 rad/s whatever it takes, Motor(speed=3, torque=5) with 5 N m at most, and Motor(torque=5)
    pushes with 5 N m all the time. Positive is counter-clockwise about the direction of the axle.
    """

    speed: Finite | None = Field(default=None, description="angular speed to drive to [rad/s]; left out: any")
    torque: Finite | None = Field(
        default=None,
        description="torque [N m]: the largest one where a speed is given, else the one that acts",
    )

    def __post_init__(self) -> None:
        if self.speed is None and self.torque is None:
            raise ValueError("a motor needs a speed, a torque or both")
        if self.speed is not None and self.torque is not None and self.torque <= 0:
            raise ValueError("torque must be positive where a speed is given: it acts towards that speed")

    def impulse(self, rate: float, inertia: float, dt: float) -> float:
        """Angular impulse [N m s] during dt [s] on an axle that turns with `rate` [rad/s]."""
        if self.speed is None:
            assert self.torque is not None
            return self.torque * dt
        wanted = inertia * (self.speed - rate)
        most = np.inf if self.torque is None else self.torque * dt
        return float(np.clip(wanted, -most, most))


AxleDrag = Annotated[NonNegative, Field(description="torque of the bearing per angular speed [N m s]")]


@raises(SetupError)
@dataclass(config=CONFIG)
class Axle:
    """A fixed axis about which a rigid body turns, and does nothing else; it need not pass through the body.

    In 2D it is a point, in 3D a point and a direction. The bearing takes all forces but the torque about the axis.
    """

    point: Vector = Field(description="a point of the axis [m]")
    direction: Vector | None = Field(default=None, description="direction of the axis; 3D only")
    motor: Motor | None = Field(default=None, kw_only=True, description="what drives it; left out: nothing")
    drag: AxleDrag = Field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if len(self.point) == 2 and self.direction is not None:
            raise ValueError("a 2D axle is a point, leave direction out")
        if len(self.point) == 3:
            if self.direction is None or len(self.direction) != 3:
                raise ValueError("a 3D axle needs a direction of three numbers")
            if not np.linalg.norm(self.direction) > 0:
                raise ValueError("direction must not be zero")

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return len(self.point)

    def hinge(self) -> Hinge:
        """In three dimensions."""
        if self.direction is None:
            return Hinge(np.array([*self.point, 0.0]), np.array([0.0, 0.0, 1.0]))
        direction = np.array(self.direction)
        return Hinge(np.array(self.point), direction / np.linalg.norm(direction))
