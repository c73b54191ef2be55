"""A cloud of deformed particles, the kernels of an implicit step on it, and the materials they are tried with."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from grid_driver import GridDriver
from material_list import MATERIALS

from continua import _core
from continua.bodies.law import Parameters
from continua.materials import NativeMaterial

H = 0.1
DT = 0.01
SHAPES = [(2, "linear"), (2, "quadratic"), (2, "cubic"), (3, "linear"), (3, "quadratic"), (3, "cubic")]
shapes = pytest.mark.parametrize(("d", "kernel"), SHAPES)


@dataclass
class Case:
    """A material with ranges for its history; `over` [s]: with the relaxation of a step of that length."""

    name: str
    material: NativeMaterial
    state: dict[str, tuple[float, float]] = field(default_factory=dict)
    over: float | None = None


HISTORY = {"snow": {"Jp": (0.7, 1.2)}, "oldroyd-b": {"stretch_scale": (0.6, 1.6)}}
CASES = [Case(name, material, HISTORY.get(name, {})) for name, material in MATERIALS.items()]
CASES.append(Case("oldroyd-b-step", MATERIALS["oldroyd-b"], HISTORY["oldroyd-b"], over=0.2))
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
FIXED = CASES[0]


def rotations(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    Q = np.linalg.qr(rng.normal(size=(n, d, d)))[0]
    Q[:, :, 0] *= np.linalg.det(Q)[:, None]
    return Q


class ImplicitDriver:
    """Node fields are (nodes, d) here; the kernels want them in blocks of four channels."""

    def __init__(self, driver: GridDriver, parameters: Parameters | None = None, dt: float = DT) -> None:
        self.driver, self.dt = driver, dt
        self.body, self.field = driver.body, driver.field
        self.d, self.degree = self.body.dimension, self.field.degree
        self.parameters = self.body.parameters if parameters is None else parameters
        self.dtype = self.body.set.arrays.x.dtype

    # ---- arguments of the kernels ----

    @property
    def place(self) -> dict[str, object]:
        return {
            "particles": self.body.set.arrays,
            "lattice": self.field.lattice,
            "order": self.driver.exchange.order,
            "dimension": self.d,
            "degree": self.degree,
        }

    @property
    def law(self) -> dict[str, object]:
        return {"parameters": self.parameters, "material": self.body.material.model, "dt": self.dt}

    @property
    def links(self) -> _core.Links:
        return self.driver.exchange.links

    def quads(self, field: np.ndarray, last: np.ndarray | float = 0.0) -> np.ndarray:
        out = np.zeros((len(field), 4), self.dtype)
        out[:, : self.d], out[:, 3] = field, last
        return out.reshape(self.field.grid.node_shape())

    def nodes(self) -> np.ndarray:
        """For a kernel that writes to all nodes."""
        return np.full(self.field.grid.node_shape(), np.nan, self.dtype)

    def vectors(self, nodes: np.ndarray) -> np.ndarray:
        flat = nodes.reshape(-1, 4)
        assert not flat[:, self.d :].any()
        return flat[:, : self.d].astype(np.float64)

    # ---- the kernels ----

    def energy(self, v: np.ndarray) -> float:
        return _core.implicit_energy(**self.place, **self.law, links=self.links, velocity=self.quads(v))

    def forces(self, v: np.ndarray) -> np.ndarray:
        nodes = self.nodes()
        _core.implicit_forces(
            **self.place, **self.law, links=self.links, velocity=self.quads(v), add=False, nodes=nodes
        )
        return self.vectors(nodes)

    def prepare(self, v: np.ndarray, *, positive: bool = False) -> np.ndarray:
        rows = _core.tangent_rows(self.body.material.model, self.d)
        tangents = np.full((rows, self.body.set.arrays.capacity), np.nan, self.dtype)
        _core.implicit_prepare(
            **self.place,
            **self.law,
            links=self.links,
            velocity=self.quads(v),
            positive=positive,
            tangents=tangents,
        )
        return tangents

    def product(self, tangents: np.ndarray, u: np.ndarray) -> np.ndarray:
        nodes = self.nodes()
        _core.implicit_product(
            **self.place,
            links=self.links,
            direction=self.quads(u),
            tangents=tangents,
            add=False,
            nodes=nodes,
        )
        return self.vectors(nodes)

    def diagonal(self) -> np.ndarray:
        nodes = self.nodes()
        _core.implicit_diagonal(**self.place, **self.law, links=self.links, add=False, nodes=nodes)
        return self.vectors(nodes)

    def positions(self, v: np.ndarray, counts: np.ndarray | float = 1.0) -> tuple[np.ndarray, dict]:
        """New positions (n, d) in the order of the particles now, and the report."""
        out = self.body.set.next_arrays
        out.x[:] = np.nan
        report = _core.implicit_positions(
            **self.place,
            out=out,
            keys=self.field.grid.keys,
            velocity=self.quads(v, counts),
            dt=self.dt,
        )
        moved = np.empty((self.body.count, self.d))
        moved[self.driver.exchange.order.order] = out.x[:, : self.body.count].T
        return moved, report


def strained(
    case: Case,
    d: int,
    kernel: str,
    *,
    n: int = 60,
    amount: float = 0.1,
    dtype: type = np.float64,
    cells: float = 4.0,
) -> ImplicitDriver:
    """A random cloud with random rotations, strains of that size and history."""
    rng = np.random.default_rng(4)
    x = rng.uniform(-0.5 * cells * H, 0.5 * cells * H, size=(n, d))
    volume = rng.uniform(0.5, 2, n) * H**d
    driver = GridDriver(x, H, kernel=kernel, material=case.material, volume=volume, dtype=dtype)
    body = driver.body
    for name, span in case.state.items():
        body.state[name][:] = rng.uniform(*span, n)
    body.F = rotations(rng, n, d) @ (np.eye(d) + amount * rng.uniform(-1, 1, size=(n, d, d)))
    parameters = None
    if case.over is not None:
        values = case.material.parameters_over(case.over).ravel().astype(dtype)
        parameters = Parameters(values, body.parameters.rows)
    return ImplicitDriver(driver, parameters)


def smooth_velocity(at: ImplicitDriver, size: float = 0.5, seed: int = 3) -> np.ndarray:
    """Random node velocities with |dt grad v| about `size` / 10, (nodes, d)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, size=at.driver.nodes.shape) * size * 0.1 * H / at.dt
