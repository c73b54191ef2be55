"""Particles over a MAC grid, driven like particles over nodes, and the face transfers written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from clouds import H, apart, cloud_over, random_field
from grid_driver import DEGREES, GridDriver, cross, weight_gradients, weights

from continua.bodies.points import ParticleBody
from continua.grid.blocks import Lattice
from continua.integrators import Field, StepResult
from continua.integrators.incompressible import NO_WAVES
from continua.materials import IncompressibleFluid
from continua.transfers import Transfer, as_transfer


class FaceDriver(GridDriver):
    """Every face counts as a node that holds one component of the velocity.

    With n cells, rows a n to (a + 1) n of all node arrays are the lower faces of the cells along axis a; the other
    components in these rows are zero in what comes back, and ignored in what is given.
    """

    def __init__(
        self,
        x: np.ndarray,
        dx: float,
        *,
        kernel: str = "linear",
        transfer: str | Transfer = "apic",
        mass: np.ndarray | None = None,
        origin: np.ndarray | None = None,
        period: tuple[int, ...] | None = None,
        dtype: type = np.float64,
    ) -> None:
        n, d = x.shape
        lattice = Lattice(
            dx, np.zeros(d) if origin is None else origin, np.array(period or (0,) * d, np.int32)
        )
        self.field = Field(lattice, DEGREES[kernel], as_transfer(transfer), staggered=True)
        modes = len(self.field.rule.plan.high)
        self.body = ParticleBody("probe", IncompressibleFluid(1.0), d, dtype, modes=modes)
        self.body.append(x, np.zeros_like(x), np.zeros((n, d, d)), np.ones(n))
        if mass is not None:
            self.body.mass[:] = mass
        self.sort()

    @property
    def cells(self) -> np.ndarray:
        """Centres of all cells (n, d)."""
        return super().nodes + 0.5 * self.field.lattice.dx

    @property
    def nodes(self) -> np.ndarray:
        """Centres of all faces (d n, d)."""
        half = 0.5 * self.field.lattice.dx * np.eye(self.body.dimension)
        return np.concatenate([self.cells - half[a] for a in range(self.body.dimension)])

    @property
    def axis(self) -> np.ndarray:
        """Axis of every face (d n,)."""
        return np.repeat(np.arange(self.body.dimension), len(self.cells))

    def own(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors on faces (d n, d), reduced to the components that live there."""
        return np.where(self.axis[:, None] == np.arange(self.body.dimension), vectors, 0)

    def quads(self, vectors: np.ndarray) -> np.ndarray:
        """Those components in the layout of the core, (blocks, cells, 4)."""
        d = self.body.dimension
        out = np.zeros((len(self.cells), 4), self.field.dtype)
        out[:, :d] = vectors[np.arange(len(vectors)), self.axis].reshape(d, -1).T
        return out.reshape(self.field.grid.node_shape())

    def channels(self) -> tuple[np.ndarray, np.ndarray]:
        """Momenta on faces with the mass of cells (n, 4), masses on faces with the number in cells (n, 4)."""
        momentum, mass = faces_of(self.field)
        return momentum.reshape(-1, 4).astype(np.float64), mass.reshape(-1, 4).astype(np.float64)

    def scatter(
        self, dt: float = 0.0, *, momentum: bool = True, stress: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Face masses (d n,) and momenta (d n, d)."""
        nodes, mass = self.channels()
        d = self.body.dimension
        return mass[:, :d].T.ravel(), self.own(np.tile(nodes[:, :d], (d, 1)))

    def gather(self, velocity: np.ndarray, dt: float, old: np.ndarray | None = None) -> StepResult:
        """Take face velocities (d n, d) to the particles and move them; `old`: before the grid step."""
        change = None
        if self.field.transfer.flip:
            assert old is not None
            change = self.quads(velocity - old)
        result = self.advance(self.quads(velocity), change, None, dt)
        self.sort()
        return result

    def advance(
        self, velocity: np.ndarray, change: np.ndarray | None, shift: np.ndarray | None, dt: float
    ) -> StepResult:
        """Faces to particles, arrays as the core wants them; particles keep their places in the order."""
        report = self.exchange.advance_on_faces(velocity, change, shift, dt, crowded=0.0, seed=0)
        result = StepResult()
        result.note(self.body, 0, report | NO_WAVES, 0)
        self.body.accept(dt, result.limits[0], np.zeros(self.body.dimension))
        return result

    def angular(self, mass: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        return (mass[:, None] * cross(self.nodes, self.own(velocity))).sum(axis=0)


def faces_of(field: Field) -> tuple[np.ndarray, np.ndarray]:
    """Momenta and masses of all bodies on the faces, (blocks, cells, 4)."""
    momentum, mass = (np.empty(field.grid.node_shape(), field.dtype) for _ in range(2))
    for number, (exchange,) in enumerate(field.exchanges):
        exchange.scatter_faces(momentum, mass, add=number > 0)
    return momentum, mass


def face_cloud(d: int, kernel: str, scheme: str | Transfer, **options: Any) -> FaceDriver:
    """`cloud_over` faces."""
    return cloud_over(FaceDriver, d, kernel, scheme, **options)


def lonely_faces(d: int, kernel: str, transfer: str | Transfer) -> FaceDriver:
    """Unit masses whose stencils do not overlap."""
    x = apart(d, {2: 6, 3: 3}[d])
    return FaceDriver(x, H, kernel=kernel, transfer=transfer, mass=np.ones(len(x)))


def face_field(driver: FaceDriver, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Face masses, velocities after P2G, and a random velocity on every face that has mass."""
    mass, old, field = random_field(driver, seed)
    return mass, old, driver.own(field)


# ---- the transfers written out: sums over all faces ----


def reference_p2g(driver: FaceDriver, kernel: str) -> tuple[np.ndarray, np.ndarray]:
    """Masses and momenta of all faces, for particles with v and C. J15 section 5.4"""
    body, dx = driver.body, driver.field.lattice.dx
    x, v, m, nodes = (np.asarray(q, np.float64) for q in (body.x, body.v, body.mass, driver.nodes))
    w = m[:, None] * weights(x, nodes, dx, kernel)
    velocity = v[:, None] + np.einsum("pab,pib->pia", body.C, nodes[None] - x[:, None])
    return w.sum(axis=0), driver.own((w[..., None] * velocity).sum(axis=0))


def reference_g2p(
    driver: FaceDriver, kernel: str, field: np.ndarray, old: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities (N, d) and C (N, d, d) that particles take from the faces; with `old` pure FLIP."""
    body, dx, d = driver.body, driver.field.lattice.dx, driver.body.dimension
    w, field = weights(body.x, driver.nodes, dx, kernel), driver.own(field)
    if kernel == "linear":
        slopes = weight_gradients(body.x, driver.nodes, dx, kernel)
    else:
        spread = {"quadratic": 1 / 4, "cubic": 1 / 3}[kernel] * dx**2
        slopes = w[..., None] * (driver.nodes[None] - body.x[:, None]) / spread
    C = np.einsum("pib,ia->pab", slopes, field)
    v = w @ field if old is None else body.v + w @ (field - driver.own(old))
    assert v.shape == (len(body), d)
    return v, C
