"""Hair, ropes and wires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua._validation import shown
from continua.bodies.mesh_body import MeshBody, StartLike
from continua.bodies.scripted import Scripted
from continua.bodies.velocity import GivenVelocity
from continua.contact.motions import Fixed, Motion
from continua.contact.penalty import PenaltyContact
from continua.errors import SetupError
from continua.geometry.curves import Curves
from continua.materials.rod import Rod
from continua.mesh import Rods
from continua.optimize import PointState

MARK = "rod_"  # begins the names of what is stored of sections
HELD = "rod_held"  # edges, by their first points


@runtime_checkable
class CurveSource(Protocol):
    """A description of curves."""

    def build(self) -> Curves:
        """The curves."""


class Strands(MeshBody):
    """Thin elastic rods that stretch, bend and twist.

    curves: `Curves`, or a description of some (`ct.meshes`), at rest. material: a `ct.materials.Rod`. directors: where
    the first half axis of an elliptic section points at rest, a vector (3,) or one for the segment that begins at each
    point (N, 3); left out: any, without twist. The other arguments are those of `MeshBody`.

    A strand is clamped where two neighbouring points are scripted: the section of the segment between them then turns
    with the motion of the script, or, where its points go their own ways, along with the segment and without spin.
    """

    kind = "strands"
    stem = "strands"
    cell = "segment"
    cell_bytes = 380

    def __init__(
        self,
        curves: Curves | CurveSource,
        material: Rod,
        *,
        directors: ArrayLike | None = None,
        velocity: GivenVelocity = None,
        name: str | None = None,
        scripted: Scripted | Sequence[Scripted] = (),
        start: StartLike = None,
        drag: float = 0.0,
        damping: float = 0.0,
        on_grid: bool | None = None,
        contact: PenaltyContact | None = None,
        continuum: str | None = None,
    ) -> None:
        self.curves = _built(curves)
        if not isinstance(material, Rod):
            raise SetupError(f"Strands are made of a ct.materials.Rod, not of {shown(material)}")
        self.material = material
        self.rods = Rods(self.curves, material, directors=directors)
        # points that scripts may take, and directors at rest of the segments that begin there
        self._grips, self._grip_directors = np.arange(len(self.curves.points)), self.rods.frames()["director"]
        super().__init__(
            self.curves.points,
            self.rods,
            self.rods.lumped_mass(),
            velocity=velocity,
            name=name,
            scripted=scripted,
            start=start,
            drag=drag,
            damping=damping,
            on_grid=on_grid,
            contact=contact,
            continuum=continuum,
        )
        taken = np.unique(np.concatenate([[], *(chosen for _, chosen in self._scripts)]).astype(np.intp))
        self._grips, self._grip_directors = taken, self._grip_directors[taken]
        if np.isfinite(self.rods.value(self._x)):
            self.rods.accept(self._x)

    @property
    def label(self) -> str:
        return self.material.label

    @property
    def cells(self) -> NDArray[np.int32]:
        return self.curves.segments

    @property
    def surface(self) -> NDArray[np.int32]:
        return np.empty((0, 3), np.int32)

    def _inside_out(self) -> str:
        if np.isfinite(self.rods.value(self._x)):
            return ""
        raise SetupError(
            f'a segment of body "{self.name}" ({self.label}) has no length or folds back onto the one before it; '
            "correct where its points start"
        )

    def begin(self, t: float) -> None:
        super().begin(t)
        owner = np.full(len(self), -1)  # number of the script of every point
        for number, (script, chosen) in enumerate(self._scripts):
            if script.holds(t):
                owner[chosen] = number
        first, second = self.cells.T
        both = (owner[first] >= 0) & (owner[second] >= 0)
        first, second = first[both], second[both]
        where = np.empty_like(self.rest)
        where[self.held] = self.places
        directors = np.zeros((len(first), 3))
        for number, (script, _) in enumerate(self._scripts):
            motion = Fixed() if script.motion is None else script.motion
            if isinstance(motion, Motion):
                own = (owner[first] == number) & (owner[second] == number)
                at_rest = self._grip_directors[np.searchsorted(self._grips, first[own])]
                directors[own] = at_rest @ motion.pose(t, 3).rotation.T
        self._held_edges = first
        self.rods.hold(first, where[second] - where[first], directors)

    def move(self, moved: PointState, dt: float) -> None:
        super().move(moved, dt)
        self.rods.accept(self._x)

    def fields(self) -> dict[str, NDArray]:
        """Point data for frames: id, x, v, radius [m], strand, the number of the curve."""
        radius = np.full(len(self), self.material.mean_radius)
        return super().fields() | {"radius": radius, "strand": self.curves.curve_of.copy()}

    def snapshot(self) -> dict[str, NDArray]:
        frames = {f"{MARK}{name}": array for name, array in self.rods.frames().items()}
        return super().snapshot() | frames | {HELD: self._held_edges.copy()}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        super().restore(data)
        self.rods.restore({name.removeprefix(MARK): a for name, a in data.items() if name.startswith(MARK)})
        self._held_edges = np.array(data[HELD], np.int32)
        still = np.zeros((len(self._held_edges), 3))
        self.rods.hold(self._held_edges, self.rods.frames()["tangent"][self._held_edges], still)


def _built(curves: object) -> Curves:
    if isinstance(curves, Curves):
        return curves
    if isinstance(curves, CurveSource) and not isinstance(curves, type):
        built = curves.build()
        if isinstance(built, Curves):
            return built
    raise SetupError(f"Strands need Curves or a description of them, not {shown(curves)}")
