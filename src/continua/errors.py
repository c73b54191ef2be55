"""Errors a user can cause. Each message is one sentence that says what is wrong and what to change."""

from __future__ import annotations


class ContinuaError(Exception):
    """Base of every error Continua raises on purpose; the command line prints it without a traceback."""


class SceneError(ContinuaError):
    """A scene file, a gallery name or an override does not describe a scene."""


class GeometryError(ContinuaError):
    """A shape, mesh or sampling request cannot be turned into particles or distances."""


class MaterialError(ContinuaError):
    """Material parameters are outside their physical range, or a Python material misbehaves."""


class SetupError(ContinuaError):
    """The parts of a simulation do not fit together."""


class TimeStepError(ContinuaError):
    """A requested time step breaks a stability bound."""


class InstabilityError(ContinuaError):
    """Particles became non-finite or ran away; the state before the failing step is kept."""


class OutputError(ContinuaError):
    """An output folder cannot be written or read."""


class MissingExtraError(ContinuaError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f'{library} is needed for this; install it with: pip install "continua[{extra}]"')
        self.library = library
        self.extra = extra
