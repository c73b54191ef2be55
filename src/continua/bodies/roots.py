"""Where strands are rooted: in a body whose surface they follow, in something that moves as told, or in the air."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from continua._validation import shown
from continua.bodies.body import Body
from continua.contact.colliders import Collider
from continua.contact.motions import Motion, MotionFunction, as_motion
from continua.errors import GeometryError, SetupError
from continua.geometry.base import Array, Shape
from continua.geometry.curves import Curves
from continua.geometry.hair import Fur
from continua.geometry.skin import nearest_facets, skin_of

RootsLike = Body | Motion | MotionFunction | Literal["held", "free"] | None


class Roots:
    """The first two vertices of every strand: where they must be, and how they have turned since they were at rest.

    follow: a body with a surface, on which every root keeps its place in the nearest facet and its angle to it; or a
    motion, which moves all of them as one, `Fixed()` for not at all. Two vertices, so that a strand is clamped and
    turns with what it grows on.
    """

    def __init__(self, curves: Curves, follow: Body | Motion) -> None:
        self.follow = follow
        first = curves.offsets[:-1]
        self.numbers: NDArray[np.int32] = np.stack([first, first + 1], axis=1).ravel().astype(np.int32)
        """Vertex numbers (2 S,), the first two of every strand."""
        self.rest: Array = curves.points[self.numbers].reshape(-1, 2, 3)
        self.time: float | None = (
            None  # at which the body is as it is [s]; None as long as nobody has said so
        )
        if isinstance(follow, Body):
            self._fasten(follow)

    def _fasten(self, body: Body) -> None:
        """Remember where the roots are on the body."""
        skin = skin_of(body)
        facet, self._weights, off = nearest_facets(self.rest[:, 0], skin.vertices, skin.faces)
        far = off - np.linalg.norm(self.rest[:, 1] - self.rest[:, 0], axis=1)
        if (far > 0).any():
            strand = int(far.argmax())
            raise GeometryError(
                f"strand {strand} is rooted {off[strand]:.3g} m from the surface of {_called(body)}, further than its "
                "first segment is long; move the strands or the body"
            )
        self._corners = skin.faces[facet]
        feet, self._frames = self._facets(np.asarray(body.x, dtype=np.float64))
        # along the axes of the facet, from the foot
        self._local = np.einsum("sji,skj->ski", self._frames, self.rest - feet[:, None])

    def _facets(self, x: Array) -> tuple[Array, Array]:
        """Feet (S, 3) [m] of the roots and axes (S, 3, 3), columns, of their facets, with the body's points at x."""
        corners = x[self._corners]
        along, other = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        normal = np.cross(along, other)
        along, normal = (
            u / np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-300) for u in (along, normal)
        )
        feet = np.einsum("sk,skc->sc", self._weights, corners)
        return feet, np.stack([along, np.cross(normal, along), normal], axis=2)

    def places(self, t: float) -> Array:
        """Where the vertices (2 S, 3) [m] must be at time t [s]: on a body, where its surface is expected then."""
        return self._at(t)[0]

    def rotations(self, t: float) -> Array:
        """How much every root has turned since it was at rest (S, 3, 3), at time t [s]."""
        return self._at(t)[1]

    def _at(self, t: float) -> tuple[Array, Array]:
        if isinstance(self.follow, Motion):
            pose = self.follow.pose(t, 3)
            turned = np.broadcast_to(pose.rotation, (len(self.rest), 3, 3))
            return pose.position + self.rest.reshape(-1, 3) @ pose.rotation.T, turned
        ahead = 0.0 if self.time is None else t - self.time
        feet, frames = self._facets(self.follow.expected(t, ahead))
        places = feet[:, None] + np.einsum("sij,skj->ski", frames, self._local)
        return places.reshape(-1, 3), np.einsum("sij,skj->sik", frames, self._frames)

    def start(self, rest: Array) -> Array:
        """Where the points of all strands (N, 3) [m] are at first: what moves as told may not start at rest."""
        if not isinstance(self.follow, Motion):
            return rest
        pose = self.follow.pose(0.0, 3)
        return np.asarray(pose.position + rest @ pose.rotation.T)

    @property
    def bodies(self) -> Sequence[Body]:
        """What must be in the same world."""
        return [self.follow] if isinstance(self.follow, Body) else []

    def described(self) -> dict[str, Any]:
        """What decides where they go: the name of a body, or a motion."""
        return {"roots": self.follow.name if isinstance(self.follow, Body) else self.follow}


def roots_of(source: object, curves: Curves, roots: RootsLike) -> Roots | None:
    """What `Strands` make of their argument `roots`, with curves built from `source`; None for free strands."""
    follow: Any = roots
    if roots is None and isinstance(source, Fur):
        on: Any = source.on
        follow = "held" if isinstance(on, Shape) else on.movement if isinstance(on, Collider) else on
    if follow is None or (isinstance(follow, str) and follow == "free"):
        return None
    if isinstance(follow, str) and follow == "held":
        follow = None
    elif not isinstance(follow, (Body, Motion)) and not callable(follow):
        raise SetupError(f'roots must be a body, a motion, "held" or "free", not {shown(follow)}')
    return Roots(curves, follow if isinstance(follow, Body) else as_motion(follow))


def _called(body: Body) -> str:
    return f'the {body.stem} "{body.name}"' if body.name else f"its {body.stem}"
