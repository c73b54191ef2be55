"""Hair, ropes and wires."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua._validation import shown
from continua.bodies.body import MAIN, STRANDS, Body
from continua.bodies.mesh_body import Array, MeshBody, StartLike
from continua.bodies.roots import RootsLike, roots_of
from continua.bodies.scripted import Indices, Scripted
from continua.bodies.strand_contact import StrandsAmongOthers
from continua.bodies.velocity import GivenVelocity
from continua.contact.motions import Fixed, Motion
from continua.contact.penalty import PenaltyContact
from continua.contact.strand_contact import StrandContact
from continua.errors import SetupError
from continua.geometry.curves import Curves
from continua.materials.rod import Rod
from continua.mesh import Rods
from continua.optimize import PointState

MARK = "rod_"  # begins the names of what is stored of sections
HELD = "rod_held"  # edges, by their first points
ROOTED = "rooted_at"  # time [s]


@runtime_checkable
class CurveSource(Protocol):
    """A description of curves."""

    def build(self) -> Curves:
        """The curves."""


class Strands(MeshBody):
    """Thin elastic rods that stretch, bend and twist.

    curves: `Curves`, or a description of some (`ct.meshes`), at rest. material: a `ct.materials.Rod`. directors: where
    the first half axis of an elliptic section points at rest, a vector (3,) or one for the segment that begins at each
    point (N, 3); left out: any, without twist. roots: what the first two points of every strand follow: a body with a
    surface, which must be in the same world; a motion (`ct.motions`) or a function t -> (position, rotation); "held":
    nothing, they stay where they are; "free": nothing, they are as free as all others. Left out: `Fur` stays in what it
    grows on, other strands are free. Of a point that is scripted too, the script counts. The other arguments are those
    of `MeshBody`; left out, `start` is where the motion of the roots begins.

    Left to themselves strands move on their own under any integrator and meet each other and everything else by a
    `StrandContact`; friction is short for its coefficient. With on_grid=True they move with the grid, and with a
    `PenaltyContact` only the optimizer moves them.

    A strand is clamped where two neighbouring points are scripted: the section of the segment between them then turns
    with the motion of the script, or, where its points go their own ways, along with the segment and without spin.
    """

    kind = "strands"
    stem = "strands"
    cell = "segment"
    cell_bytes = 330

    def __init__(
        self,
        curves: Curves | CurveSource,
        material: Rod,
        *,
        directors: ArrayLike | None = None,
        roots: RootsLike = None,
        velocity: GivenVelocity = None,
        name: str | None = None,
        scripted: Scripted | Sequence[Scripted] = (),
        start: StartLike = None,
        drag: float = 0.0,
        damping: float = 0.0,
        on_grid: bool | None = None,
        friction: float | None = None,
        contact: PenaltyContact | StrandContact | None = None,
        continuum: str | None = None,
    ) -> None:
        self.curves = _built(curves)
        if not isinstance(material, Rod):
            raise SetupError(f"Strands are made of a ct.materials.Rod, not of {shown(material)}")
        self.material = material
        self.rods = Rods(self.curves, material, directors=directors)
        if friction is not None and (contact is not None or on_grid is not None):
            raise SetupError(
                "friction of Strands is that of a StrandContact: leave it out where contact or on_grid is given"
            )
        if contact is None and on_grid is None:
            contact = StrandContact(0.0 if friction is None else friction)
        self._rest_directors = self.rods.frames()["director"]
        self.roots = roots_of(curves, self.curves, roots)
        super().__init__(
            self.curves.points,
            self.rods,
            self.rods.lumped_mass(),
            velocity=velocity,
            name=name,
            scripted=scripted,
            start=self.roots.start if start is None and self.roots is not None else start,
            drag=drag,
            damping=damping,
            on_grid=on_grid,
            contact=contact,
            continuum=continuum,
        )
        if np.isfinite(self.rods.value(self._x)):
            self.rods.accept(self._x)

    @property
    def rooted(self) -> Array:
        found = np.zeros(len(self))
        if self.roots is not None:
            found[self.roots.numbers] = 1.0
        return found

    @property
    def label(self) -> str:
        return self.material.label

    @property
    def home(self) -> str:
        return STRANDS if self.self_moving else MAIN

    def be_free(self, dtype: type[np.floating], dx: float, *, explicit: bool) -> None:
        assert isinstance(self.contact, StrandContact)
        self.free = StrandsAmongOthers(
            self,
            self.contact,
            dtype,
            area=self.material.area,
            radius=self.material.mean_radius,
            explicit=explicit,
        )

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

    def follows(self) -> Sequence[Body]:
        return () if self.roots is None else self.roots.bodies

    def scripted_at(self, t: float) -> tuple[Indices, Array]:
        held, places = super().scripted_at(t)
        if self.roots is None:
            return held, places
        free = ~np.isin(self.roots.numbers, held)
        rooted = self.roots.numbers[free].astype(np.intp)
        return np.append(rooted, held), np.concatenate([self.roots.places(t)[free], places])

    def ready(self, wrap: Callable[[NDArray], NDArray], dx: float, steps: int) -> None:
        super().ready(wrap, dx, steps)
        if self.roots is not None and self.roots.time is None and steps == 0:
            self.roots.time = 0.0

    def begin(self, t: float) -> None:
        super().begin(t)
        self._tried = t
        owner = np.full(len(self), -1)  # number of the script of every point, of roots one more
        if self.roots is not None:
            owner[self.roots.numbers] = len(self._scripts)
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
                directors[own] = self._rest_directors[first[own]] @ motion.pose(t, 3).rotation.T
        if self.roots is not None:
            own = (owner[first] == len(self._scripts)) & (owner[second] == len(self._scripts))
            turned = self.roots.rotations(t)[self.curves.curve_of[first[own]]]
            directors[own] = np.einsum("sij,sj->si", turned, self._rest_directors[first[own]])
        self._held_edges = first
        self.rods.hold(first, where[second] - where[first], directors)

    def move(self, moved: PointState, dt: float) -> None:
        super().move(moved, dt)
        self.rods.accept(self._x)
        if self.roots is not None:
            self.roots.time = self._tried

    def fields(self) -> dict[str, NDArray]:
        """Point data for frames: id, x, v, radius [m], strand, the number of the curve."""
        radius = np.full(len(self), self.material.mean_radius)
        return super().fields() | {"radius": radius, "strand": self.curves.curve_of.copy()}

    def setup(self) -> dict[str, Any]:
        return super().setup() | ({} if self.roots is None else self.roots.described())

    def snapshot(self) -> dict[str, NDArray]:
        frames = {f"{MARK}{name}": array for name, array in self.rods.frames().items()}
        if self.roots is not None and self.roots.time is not None:
            frames[ROOTED] = np.array(self.roots.time)
        return super().snapshot() | frames | {HELD: self._held_edges.copy()}

    def restore(self, data: Mapping[str, NDArray]) -> None:
        super().restore(data)
        self.rods.restore({name.removeprefix(MARK): a for name, a in data.items() if name.startswith(MARK)})
        if self.roots is not None:
            self.roots.time = float(data[ROOTED]) if ROOTED in data else None
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
