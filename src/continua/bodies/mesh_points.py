"""Points of a mesh with mass and energy, and scripts that hold some of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua._validation import finite_number, shown
from continua.bodies.body import Body, Totals
from continua.bodies.scripted import Indices, Scripted
from continua.bodies.start import Placed, Scattered, first_positions
from continua.bodies.velocity import GivenVelocity, evaluate
from continua.contact.collision_particles import facet_normals
from continua.errors import SetupError
from continua.geometry.connected import connected_pieces
from continua.mesh import Drag, NativeEnergy, Rayleigh
from continua.mesh.vibration import fastest_decay, fastest_vibration
from continua.optimize import PointState, Term

Array = NDArray[np.float64]
StartLike = Placed | Scattered | Callable[[Array], ArrayLike] | None


class MeshPoints(Body):
    """What a mesh body is, however it moves: points with mass and energy, scripts, and how it is saved and seen."""

    cell_bytes: ClassVar[int]  # of an element or a spring, with its share of the points

    def __init__(
        self,
        points: Array,
        energy: NativeEnergy,
        mass: Array,
        *,
        velocity: GivenVelocity,
        name: str | None,
        scripted: Scripted | Sequence[Scripted],
        start: StartLike,
        drag: float,
        damping: float,
        continuum: str | None,
    ) -> None:
        for what, value in (("drag", drag), ("damping", damping)):
            if finite_number(what, value, SetupError) < 0:
                raise SetupError(f"{what} must be a finite number that is not negative, not {value}")
        self.name = name
        self.rest = np.array(points, dtype=np.float64)  # undeformed positions (N, d) [m]
        self.rest.setflags(write=False)
        scripts = [scripted] if isinstance(scripted, Scripted) else scripted
        if not isinstance(scripts, (list, tuple)) or not all(isinstance(s, Scripted) for s in scripts):
            raise SetupError(f"scripted must be one Scripted or a list of them, not {shown(scripted)}")
        self._scripts = [(script, script.chosen(self.rest)) for script in scripts]
        self._x = first_positions(start, self.rest)
        self.begin(0.0)
        self._x[self.held] = self.places
        self._v, self.velocity_gradient = evaluate(
            velocity, self._x
        )  # (N, d) [m/s]; (N, d, d) [1/s], at first
        self._mass = mass
        self.energy = energy
        hessian = energy.hessian(self.rest)
        self.stiffness = float(hessian.diagonal().mean())  # of a point, before any flow [N/m]
        self.hessian_bytes = hessian.values.nbytes
        self.drag, self.damping = float(drag), float(damping)
        self.continuum = continuum
        self.pull = np.zeros(3)  # impulse that scripts have given so far [N s]
        self.before: PointState | None = None  # one step ago
        self.before_dt = 0.0  # length of that step [s]
        self.reaction = np.zeros(
            self.dimension
        )  # impulse of scripts against forces of the mesh, in this step

    def __len__(self) -> int:
        return len(self.rest)

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """2 or 3."""
        return int(self.rest.shape[1])

    @property
    def x(self) -> Array:
        """Positions (N, d) [m]; may be assigned to."""
        return self._x

    @x.setter
    def x(self, value: Array) -> None:
        self._x = value

    @property
    def v(self) -> Array:
        """Velocities (N, d) [m/s]; may be assigned to."""
        return self._v

    @v.setter
    def v(self, value: Array) -> None:
        self._v = value

    @property
    def mass(self) -> Array:
        """Masses (N,) [kg]."""
        return self._mass

    @property
    def ids(self) -> NDArray[np.int32]:
        """Numbers of the points (N,)."""
        return np.arange(len(self), dtype=np.int32)

    @property
    @abstractmethod
    def cells(self) -> NDArray[np.int32]:
        """Points of every element (M, d + 1), or of every spring (M, 2)."""

    @property
    def cell(self) -> str:
        """What its points are joined by: "triangle", "tetrahedron" or "spring"."""
        return {2: "spring", 3: "triangle", 4: "tetrahedron"}[self.cells.shape[1]]

    @property
    @abstractmethod
    def surface(self) -> NDArray[np.int32]:
        """Facets (F, d) of solids, or the sheet (F, 3) of springs; none of strands."""

    @cached_property
    def pieces(self) -> NDArray[np.int32]:
        """Number (N,) of the piece that every point belongs to: what its elements join."""
        links = np.concatenate([self.cells[:, [k, k + 1]] for k in range(self.cells.shape[1] - 1)])
        return np.asarray(connected_pieces(links, len(self)), np.int32)

    @cached_property
    def edge_length(self) -> float:
        """Mean distance of neighbouring points at rest [m]."""
        a, b = self.cells[:, 0], self.cells[:, 1]
        return float(np.linalg.norm(self.rest[a] - self.rest[b], axis=1).mean())

    @property
    def max_speed(self) -> float:
        """Of the fastest point [m/s]."""
        return float(np.sqrt((self.v**2).sum(axis=1).max()))

    def forces(self, x: Array | None = None) -> Array:
        """Elastic forces (N, d) [N] at positions x (N, d) [m]; left out: at the present ones."""
        return -self.energy.gradient(self.x if x is None else x)

    def inner_forces(self) -> Array:
        """Elastic forces and damping (N, d) [N] at the present positions and velocities, without drag."""
        force = self.forces()
        if self.damping:
            force -= self.damping * self.energy.damping(self._x).product(self._v)
        return force

    def scripted_at(self, t: float) -> tuple[Indices, Array]:
        """Numbers (n,) of the vertices scripted at time t [s] and where they must be (n, d) [m]."""
        where: dict[int, Array] = {}
        for script, chosen in self._scripts:
            if script.holds(t):
                where.update(zip(chosen.tolist(), script.positions(t, self.rest[chosen])))
        places = np.array(list(where.values()), dtype=np.float64).reshape(-1, self.dimension)
        return np.array(list(where), dtype=np.intp), places

    def move(self, moved: PointState, dt: float) -> None:
        """Take over the end of a step of dt [s]."""
        self.before, self.before_dt = PointState(self._x, self._v), dt
        self._x, self._v = moved

    @property
    def rooted(self) -> Array:
        """1 for points (N,) that follow the body they grow on, 0 for all others."""
        return np.zeros(len(self))

    @property
    def is_solid(self) -> bool:
        """Whether it has an inside, bounded by its surface."""
        return False

    def surface_gradients(self, v: Array) -> Array:
        """Velocity gradients (F, d, d) [1/s] behind the facets of the surface, for velocities (N, d) [m/s]."""
        return np.zeros((len(self.surface), self.dimension, self.dimension))

    def reversed_facets(self) -> NDArray[np.bool_]:
        """Which facets (F,) of the surface belong to elements that are inside out."""
        return np.zeros(len(self.surface), bool)

    def _check_finite(self) -> None:
        """Refuse points that lie or move nowhere."""
        for what, rows in (("is at", self._x), ("moves with", self._v)):
            if not np.isfinite(rows).all():
                point = int(np.argmin(np.isfinite(rows).all(axis=1)))
                raise SetupError(
                    f'point {point} of body "{self.name}" ({self.label}) {what} {rows[point]}; give it finite numbers'
                )

    def check_positions(self) -> str:
        """Refuse points that lie nowhere, and elements that are inside out where the material has no energy for it, and
        so neither forces nor a largest time step; elsewhere tell which are."""
        self._check_finite()
        return self._inside_out()

    def _inside_out(self) -> str:
        return ""

    def wave_speed_on(self, dx: float) -> float:
        """The wave speed [m/s] that an explicit step on a grid of spacing dx [m] must resolve.

        The grid never vibrates faster than the mesh alone, at omega: weights only average. A wave that crosses a cell
        in 2/omega has the same limit. Damping explicit in time shortens it further: with rates of up to c, steps are
        stable while 2 c dt + omega^2 dt^2 < 4. Damping may be fastest in another motion than the elastic forces are.
        """
        omega = fastest_vibration(self.energy, self._x, self._mass)
        half = 0.5 * (fastest_decay(self.energy, self._x, self._mass, self.damping) + self.drag)
        return float(0.5 * dx * (np.hypot(omega, half) + half))

    def begin(self, t: float) -> None:
        # vertices scripted at the end of the running step, and where they must be then [m]
        self.held, self.places = self.scripted_at(t)
        self._begun = t

    def expected(self, t: float, ahead: float) -> Array:
        x = super().expected(t, ahead)
        held, places = (self.held, self.places) if t == self._begun else self.scripted_at(t)
        x[held] = places
        return x

    def let_go(self, forces: Array) -> Array:
        """Set forces (N, d) on scripted vertices to zero, since the grid does not feel them; returns their sum (d,)."""
        total: Array = forces[self.held].sum(axis=0)
        forces[self.held] = 0.0
        return total

    def own_impulse(self, dt: float) -> Array:
        """Of all forces on the vertices (N, d) during dt [s], at the present positions, with damping and drag [N s]."""
        force = dt * (self.inner_forces() - self.drag * self._mass[:, None] * self._v)
        self.reaction = -self.let_go(force)
        return force

    def terms(self, dt: float) -> list[Term]:
        """Energies of the positions at the end of a step of dt [s]."""
        terms: list[Term] = [self.energy]
        if self.damping:
            terms.append(Rayleigh(self.energy, self._x, coefficient=self.damping, dt=dt))
        if self.drag:
            terms.append(Drag(self._mass, self._x, coefficient=self.drag, dt=dt))
        return terms

    def vertex_normals(self) -> Array:
        """Outward normals of the vertices times their areas, or lengths in 2D, (N, d); zero inside."""
        area = facet_normals(self._x, self.surface)
        normals = np.zeros_like(self._x)
        for corner in self.surface.T:
            np.add.at(normals, corner, area / self.surface.shape[1])
        return normals

    def totals(self) -> Totals:
        elastic = self.energy.value(self._x)
        d, p = self.dimension, self._mass[:, None] * self._v
        arm, push = np.zeros((len(self), 3)), np.zeros((len(self), 3))
        arm[:, :d], push[:, :d] = self._x, p
        return Totals(
            float(self._mass.sum()),
            float(0.5 * (p * self._v).sum()),
            elastic,
            push.sum(axis=0),
            np.cross(arm, push).sum(axis=0),
            self._mass @ arm,
        )

    @property
    def nbytes(self) -> int:
        held = self.hessian_bytes + self.cell_bytes * len(self.cells)
        return held + sum(one.nbytes for one in self.particle_sets())

    def topology(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self.cells, self.surface

    def described(self) -> dict[str, Any]:
        return {"cells": len(self.cells), "cell": self.cell}

    def setup(self) -> dict[str, Any]:
        scripts = [script for script, _ in self._scripts]
        arrays = {"rest positions": self.rest, "masses": self._mass, "parameters": self.energy.parameters}
        arrays |= {f"vertices of script {k}": chosen for k, (_, chosen) in enumerate(self._scripts)}
        settings = {"drag": self.drag, "damping": self.damping, "scripted": scripts}
        return settings | {"arrays": arrays}

    def fields(self) -> dict[str, NDArray]:
        """Point data for frames: id, x, v."""
        return {"id": self.ids, "x": self.x.copy(), "v": self.v.copy()}

    def snapshot(self) -> dict[str, NDArray]:
        """Copies of everything needed to continue with the same bits."""
        data = {"x": self.x.copy(), "v": self.v.copy(), "before_dt": np.array(self.before_dt)}
        data["pull"] = self.pull.copy()
        if self.before is not None:
            data |= {"before_x": self.before.x.copy(), "before_v": self.before.v.copy()}
        return data

    def restore(self, data: Mapping[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
        if data["x"].shape != self.x.shape:
            raise SetupError(
                f'the stored mesh body "{self.name}" has {len(data["x"])} points, not {len(self)}'
            )
        self._x, self._v = np.array(data["x"]), np.array(data["v"])
        self.before_dt, self.pull = float(data["before_dt"]), np.array(data["pull"])
        has = "before_x" in data
        self.before = PointState(np.array(data["before_x"]), np.array(data["before_v"])) if has else None
