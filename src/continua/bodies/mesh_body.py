"""Bodies made of a mesh: solids of triangles or tetrahedra, and networks of springs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from continua.bodies.scripted import Indices, Scripted
from continua.bodies.start import Placed, Scattered, first_positions
from continua.bodies.variation import Regions, Variation, Vary
from continua.bodies.velocity import Affine, Rigid, evaluate
from continua.errors import SetupError
from continua.geometry.meshes import BoxMesh, Chain, Cloth, FileMesh, ShapeMesh, SimplexMesh, SpringMesh
from continua.materials.base import Material
from continua.mesh import Elements, NativeEnergy, Springs
from continua.optimize import PointState

Array = NDArray[np.float64]
VelocityLike = Rigid | Affine | ArrayLike | Callable[[Array], ArrayLike] | None
StartLike = Placed | Scattered | Callable[[Array], ArrayLike] | None


class MeshBody(ABC):
    """Points with mass, joined by elements or springs; the base of `SolidBody` and `SpringBody`.

    Keyword arguments of all mesh bodies:

    - velocity: at the start, a vector, `Rigid`, `Affine` or a function of the first positions [m/s];
    - name: unique in the simulation;
    - scripted: one `Scripted` or several; where two hold a vertex, the later one counts;
    - start: where the points are at first, `Placed`, `Scattered` or a function of the rest positions, X (N, d) ->
      x (N, d) [m]; left out: at rest. Vertices scripted at t = 0 are where their script says;
    - drag [1/s]: every velocity decays at this rate;
    - damping [s]: lagged Rayleigh damping, by which a mode of angular frequency w decays at the rate damping w^2 / 2;
    - on_grid: whether the points move with the grid, where they meet particles, or on their own; left out: on their
      own only under the optimizer, in a world without particles.

    On their own they need `integrator="optimization"`. They then meet colliders and move in the same time steps as
    particles, but do not meet particles; periodic axes and regions of fixed velocity do not act on them.
    """

    kind: ClassVar[str] = ""

    def __init__(
        self,
        points: Array,
        energy: NativeEnergy,
        mass: Array,
        *,
        velocity: VelocityLike,
        name: str | None,
        scripted: Scripted | Sequence[Scripted],
        start: StartLike,
        drag: float,
        damping: float,
        on_grid: bool | None,
    ) -> None:
        for what, value in (("drag", drag), ("damping", damping)):
            if not (np.isfinite(value) and value >= 0):
                raise SetupError(f"{what} must be a finite number that is not negative, not {value}")
        self.name = name
        self.rest = np.array(points, dtype=np.float64)  # undeformed positions (N, d) [m]
        self.rest.setflags(write=False)
        scripts = [scripted] if isinstance(scripted, Scripted) else list(scripted)
        self._scripts = [(script, script.chosen(self.rest)) for script in scripts]
        self.x = first_positions(start, self.rest)  # positions (N, d) [m]
        held, places = self.scripted_at(0.0)
        self.x[held] = places
        self.v, self.velocity_gradient = evaluate(velocity, self.x)  # (N, d) [m/s]; (N, d, d) [1/s], at first
        self.mass = mass  # (N,) [kg]
        self.energy = energy
        hessian = energy.hessian(self.rest)
        self.stiffness = float(hessian.diagonal().mean())  # of a point, before any flow [N/m]
        self.nbytes = 3 * hessian.values.nbytes  # about: elements and Newton vectors take twice as much again
        self.drag, self.damping = float(drag), float(damping)
        self.on_grid = on_grid
        self.pull = np.zeros(3)  # impulse that scripts have given so far [N s]
        self.before: PointState | None = None  # one step ago
        self.before_dt = 0.0  # length of that step [s]

    def __len__(self) -> int:
        return len(self.rest)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.rest.shape[1])

    @property
    def ids(self) -> NDArray[np.int32]:
        """Numbers of the points (N,)."""
        return np.arange(len(self), dtype=np.int32)

    @property
    @abstractmethod
    def label(self) -> str:
        """What it is made of."""

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
        """Facets (F, d) of solids, or the sheet (F, 3) of springs."""

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

    def scripted_at(self, t: float) -> tuple[Indices, Array]:
        """Numbers (n,) of the vertices scripted at time t [s] and where they must be (n, d) [m]."""
        where: dict[int, Array] = {}
        for script, chosen in self._scripts:
            if script.holds(t):
                where.update(zip(chosen.tolist(), script.positions(t, self.rest[chosen])))
        places = np.array(list(where.values()), dtype=np.float64).reshape(-1, self.dimension)
        return np.array(list(where), dtype=np.intp), places

    def accept(self, moved: PointState, dt: float) -> None:
        """Take over the end of a step of dt [s]."""
        self.before, self.before_dt = PointState(self.x, self.v), dt
        self.x, self.v = moved

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

    def restore(self, data: dict[str, NDArray]) -> None:
        """Inverse of `snapshot`."""
        if data["x"].shape != self.x.shape:
            raise SetupError(
                f'the stored mesh body "{self.name}" has {len(data["x"])} points, not {len(self)}'
            )
        self.x, self.v = np.array(data["x"]), np.array(data["v"])
        self.before_dt, self.pull = float(data["before_dt"]), np.array(data["pull"])
        has = "before_x" in data
        self.before = PointState(np.array(data["before_x"]), np.array(data["before_v"])) if has else None


class SolidBody(MeshBody):
    """Elastic or plastic solid of linear triangles (2D) or tetrahedra (3D).

    mesh: a `SimplexMesh`, or a description of one (`ct.meshes`). material: a built-in solid without Newtonian
    viscosity. vary and regions make it differ between elements, as for particle bodies: functions and shapes are
    evaluated at the middle of every element. The other arguments are those of `MeshBody`.
    """

    kind = "mesh"

    def __init__(
        self,
        mesh: SimplexMesh | BoxMesh | ShapeMesh | FileMesh,
        material: Material,
        *,
        velocity: VelocityLike = None,
        name: str | None = None,
        vary: Vary | None = None,
        regions: Regions | None = None,
        scripted: Scripted | Sequence[Scripted] = (),
        start: StartLike = None,
        drag: float = 0.0,
        damping: float = 0.0,
        on_grid: bool | None = None,
    ) -> None:
        if not isinstance(mesh, (SimplexMesh, BoxMesh, ShapeMesh, FileMesh)):
            raise SetupError("a SolidBody needs a mesh of triangles or tetrahedra, or a description of one")
        self.mesh = mesh if isinstance(mesh, SimplexMesh) else mesh.build()
        self.material = material
        parameters, density = None, None
        if vary or regions:
            middle = self.mesh.points[self.mesh.cells].mean(axis=1)
            parameters, density = Variation(material, vary, regions).at(middle)
        self.elements = Elements(self.mesh.points, self.mesh.cells, material, parameters=parameters)
        mass = self.elements.lumped_mass(density)
        super().__init__(
            self.mesh.points,
            self.elements,
            mass,
            velocity=velocity,
            name=name,
            scripted=scripted,
            start=start,
            drag=drag,
            damping=damping,
            on_grid=on_grid,
        )

    @property
    def label(self) -> str:
        return self.material.label

    @property
    def cells(self) -> NDArray[np.int32]:
        return self.mesh.cells

    @property
    def surface(self) -> NDArray[np.int32]:
        return self.mesh.surface

    @property
    def J(self) -> Array:
        """Volume ratios (M,) of the elements, negative where they are inside out."""
        return np.linalg.det(self.elements.deformation(self.x))

    def accept(self, moved: PointState, dt: float) -> None:
        super().accept(moved, dt)
        self.elements.flow(self.x, self.v, dt)  # plastic flow is explicit, after the solve

    def snapshot(self) -> dict[str, NDArray]:
        return super().snapshot() | {f"history_{k}": v for k, v in self.elements.history().items()}

    def restore(self, data: dict[str, NDArray]) -> None:
        super().restore(data)
        mark = "history_"
        self.elements.restore({k.removeprefix(mark): v for k, v in data.items() if k.startswith(mark)})


class SpringBody(MeshBody):
    """Chain or cloth of springs.

    springs: a `SpringMesh`, or a description of one (`ct.meshes`). Either mass, the total [kg] or (N,) per point, or
    density, of a sheet [kg/m^2] or, without a sheet, of the springs [kg/m]. The other arguments are those of
    `MeshBody`.
    """

    kind = "springs"

    def __init__(
        self,
        springs: SpringMesh | Chain | Cloth,
        *,
        mass: ArrayLike | None = None,
        density: float | None = None,
        velocity: VelocityLike = None,
        name: str | None = None,
        scripted: Scripted | Sequence[Scripted] = (),
        start: StartLike = None,
        drag: float = 0.0,
        damping: float = 0.0,
        on_grid: bool | None = None,
    ) -> None:
        if not isinstance(springs, (SpringMesh, Chain, Cloth)):
            raise SetupError("a SpringBody needs springs; use a SolidBody for triangles or tetrahedra")
        self.mesh = springs if isinstance(springs, SpringMesh) else springs.build()
        points, edges = self.mesh.points, self.mesh.edges
        super().__init__(
            points,
            Springs(len(points), points.shape[1], edges, self.mesh.stiffness, self.mesh.rest_lengths),
            _spring_masses(self.mesh, mass, density),
            velocity=velocity,
            name=name,
            scripted=scripted,
            start=start,
            drag=drag,
            damping=damping,
            on_grid=on_grid,
        )

    @property
    def label(self) -> str:
        return "springs"

    @property
    def cells(self) -> NDArray[np.int32]:
        return self.mesh.edges

    @property
    def surface(self) -> NDArray[np.int32]:
        return self.mesh.triangles


def _spring_masses(mesh: SpringMesh, mass: ArrayLike | None, density: float | None) -> Array:
    """Masses of the points (N,) [kg]."""
    if (mass is None) == (density is None):
        raise SetupError("a SpringBody needs either mass (total, or of every point) or density")
    measure = _measures(mesh)
    if density is not None:
        given = density * measure
    else:
        given = np.asarray(mass, dtype=np.float64)
        if given.ndim == 0:
            given = given * measure / measure.sum()
    if given.shape != measure.shape or not (np.isfinite(given) & (given > 0)).all():
        raise SetupError(
            f"every one of the {len(measure)} points of a SpringBody needs a positive finite mass"
        )
    return given


def _measures(mesh: SpringMesh) -> Array:
    """Area [m^2] of the sheet, or without a sheet length [m] of the springs, that belongs to every point (N,)."""
    if len(mesh.triangles):
        corners = mesh.points[mesh.triangles]
        sides = np.zeros((2, len(corners), 3))
        sides[..., : mesh.dimension] = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        parts, size = mesh.triangles, np.linalg.norm(np.cross(*sides), axis=1) / 2
    else:
        parts, size = mesh.edges, mesh.rest_lengths
    share = np.repeat(size / parts.shape[1], parts.shape[1])
    return np.bincount(parts.ravel(), share, minlength=len(mesh.points)).astype(np.float64)
