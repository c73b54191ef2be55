"""Drive the parts of a step by hand: particles to grid, any grid velocity, grid to particles."""

from __future__ import annotations

import numpy as np

import continua as ct
from continua.bodies.points import ParticleBody
from continua.grid.blocks import Lattice
from continua.integrators import Field, StepResult
from continua.materials import FixedCorotated
from continua.transfers import Transfer, as_transfer
from continua.transfers.exchange import Exchange

DEGREES = {"linear": 1, "quadratic": 2, "cubic": 3}


def spline(r: np.ndarray, kernel: str) -> np.ndarray:
    """B-spline N(r), r in units of the grid spacing: the textbook formulas, as a reference."""
    a = np.abs(r)
    if kernel == "linear":
        return np.maximum(1 - a, 0)
    if kernel == "quadratic":
        return np.where(a < 0.5, 0.75 - a**2, np.where(a < 1.5, (1.5 - a) ** 2 / 2, 0))
    return np.where(a < 1, a**3 / 2 - a**2 + 2 / 3, np.where(a < 2, (2 - a) ** 3 / 6, 0))


def spline_slope(r: np.ndarray, kernel: str) -> np.ndarray:
    """N'(r)."""
    a, sign = np.abs(r), np.sign(r)
    if kernel == "linear":
        return np.where(a < 1, -sign, 0)
    if kernel == "quadratic":
        return np.where(a < 0.5, -2 * r, np.where(a < 1.5, -(1.5 - a) * sign, 0))
    return sign * np.where(a < 1, 1.5 * a**2 - 2 * a, np.where(a < 2, -((2 - a) ** 2) / 2, 0))


def weights(x: np.ndarray, nodes: np.ndarray, dx: float, kernel: str) -> np.ndarray:
    """w (particles, nodes) of particles x (n, d) and nodes (m, d)."""
    return spline((x[:, None] - nodes[None]) / dx, kernel).prod(axis=2)


def weight_gradients(x: np.ndarray, nodes: np.ndarray, dx: float, kernel: str) -> np.ndarray:
    """Gradients of w with respect to x, (particles, nodes, d)."""
    r = (x[:, None] - nodes[None]) / dx
    value, slope = spline(r, kernel), spline_slope(r, kernel) / dx
    columns = []
    for axis in range(x.shape[1]):
        factors = value.copy()
        factors[..., axis] = slope[..., axis]
        columns.append(factors.prod(axis=2))
    return np.stack(columns, axis=2)


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b for rows (n, d): (n, 3), in 2D only the last entry is not zero."""
    pad = ((0, 0), (0, 3 - a.shape[1]))
    return np.cross(np.pad(a, pad), np.pad(b, pad))


def momentum_on_grid(sim: ct.Simulation, body: ct.Body) -> np.ndarray:
    """Momenta and masses (nodes, 4) that the particles of a body give to the grid, as it is after them."""
    field = sim.steppers["main"].field
    assert field.sort([body]) is None
    nodes = np.empty(field.grid.node_shape(), field.dtype)
    field.scatter(nodes, 0.0, momentum=True, stress=False)
    return nodes.reshape(-1, 4)


class GridDriver:
    """A few particles of one body and the grid under them."""

    def __init__(
        self,
        x: np.ndarray,
        dx: float,
        *,
        kernel: str = "quadratic",
        transfer: str | Transfer = "apic",
        material=None,
        mass: np.ndarray | None = None,
        volume: np.ndarray | None = None,
        origin: np.ndarray | None = None,
        mls: bool = False,
        exponential: bool = False,
        dtype: type = np.float64,
    ) -> None:
        n, d = x.shape
        lattice = Lattice(dx, np.zeros(d) if origin is None else origin, np.zeros(d, np.int32))
        scheme = as_transfer(transfer)
        self.field = Field(lattice, DEGREES[kernel], scheme, mls=mls, exponential=exponential)
        modes = len(self.field.rule.plan.high)
        self.body = ParticleBody("probe", material or FixedCorotated(), d, dtype, modes=modes)
        volume = np.full(n, dx**d) if volume is None else volume
        self.body.append(x, np.zeros_like(x), np.zeros((n, d, d)), volume)
        if mass is not None:
            self.body.mass[:] = mass
        self.sort()

    @property
    def affine(self) -> bool:
        return self.field.transfer.affine

    def sort(self) -> None:
        assert self.field.sort([self.body]) is None

    @property
    def exchange(self) -> Exchange:
        return self.field.exchanges[0][0]

    @property
    def nodes(self) -> np.ndarray:
        """Positions of all nodes (n, d)."""
        return self.field.grid.node_positions().reshape(-1, self.body.dimension)

    def scatter(
        self, dt: float = 0.0, *, momentum: bool = True, stress: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Node masses (n,) and momenta (n, d), plus the stress impulse of a time dt."""
        self.body.refresh()  # tests change the stress of their materials by hand
        array = np.empty(self.field.grid.node_shape(), self.field.dtype)
        self.field.scatter(array, dt, momentum=momentum, stress=stress)
        flat = array.reshape(-1, 4).astype(np.float64)
        return flat[:, 3].copy(), flat[:, : self.body.dimension].copy()

    def velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """Node masses (n,) and velocities (n, d), zero where there is no mass."""
        mass, momentum = self.scatter()
        return mass, np.divide(momentum, mass[:, None], out=np.zeros_like(momentum), where=mass[:, None] > 0)

    def gather(self, velocity: np.ndarray, dt: float, old: np.ndarray | None = None) -> StepResult:
        """Take node velocities (n, d) to the particles and move them; `old`: before the grid step."""
        shape = self.field.grid.node_shape()
        mass = self.scatter()[0] if self.field.rule.plan.light else 0.0

        def quads(v: np.ndarray) -> np.ndarray:
            out = np.zeros((len(v), 4), self.field.dtype)
            out[:, : v.shape[1]], out[:, 3] = v, mass
            return out.reshape(shape)

        change = None
        if self.field.transfer.flip:
            assert old is not None
            change = quads(velocity - old)
        result = StepResult()
        result.note(self.body, 0, self.exchange.advance(quads(velocity), change, dt), 0)
        self.body.end(dt)
        self.body.accept(dt, result.limits[0], np.zeros(self.body.dimension))
        self.sort()
        return result

    def angular(self, mass: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Angular momentum (3,) of the nodes."""
        return (mass[:, None] * cross(self.nodes, velocity)).sum(axis=0)
