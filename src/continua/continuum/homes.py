"""Bodies stay in the continuum they started in."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from continua.bodies.body import Body
from continua.errors import SetupError


class Homes:
    """The continuum of every body, as it was when the body was first seen."""

    def __init__(self) -> None:
        self._known: dict[Body, str] = {}

    def check(self, bodies: Iterable[Body], continua: Collection[str]) -> None:
        """Every body is in a continuum that exists, and in the same one as before."""
        for body in bodies:
            now = body.continuum or body.home
            home = self._known.setdefault(body, now)
            if now not in continua:
                raise SetupError(
                    f'the body "{body.name}" names the continuum "{now}", but there is none (there are: '
                    f"{', '.join(continua)}); give add() the continuum of a new body, or correct the name"
                )
            if now != home:
                raise SetupError(
                    f'the body "{body.name}" cannot change from the continuum "{home}" to "{now}" during a run; put it '
                    "there before the first step, or add another body"
                )
