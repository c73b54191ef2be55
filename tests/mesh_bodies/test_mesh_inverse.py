"""The preconditioner of stiff meshes on the grid: the inverse of D + W^T K W, and what it saves."""

from __future__ import annotations

import numpy as np
import pytest

import continua as ct
from continua.integrators import Optimization, SemiImplicit
from continua.mesh import Springs
from continua.mesh.on_grid import MeshInverse, PointsOnGrid

YOGURT = ct.materials.HerschelBulkley(E=2e4, nu=0.4, density=500.0, yield_stress=250.0, consistency=80.0)
MORE = 1e-8  # what the core adds to S, times the mass of a point


# ---- the inverse -----------------------------------------------------------------------------------------------


def some_points(d: int, nodes: int, stiffness: float) -> tuple[PointsOnGrid, np.ndarray]:
    """40 points of 1 kg at random among so many nodes, the first four held; D^-1 with components that are held."""
    rng, count, reach = np.random.default_rng(d), 40, 3**d
    x = rng.uniform(0.0, 1.0, (count, d))
    ends = [(a, b) for a in range(count) for b in range(a) if rng.uniform() < 0.1]
    hessian = Springs(count, d, ends, stiffness * rng.uniform(0.1, 1, len(ends)), 0.3).hessian(
        x, positive=True
    )
    first, column = hessian.pattern()
    values = hessian.values[: len(column) * d * d].reshape(-1, d, d).copy()
    row = np.repeat(np.arange(count), np.diff(first))
    values[(row < 4) | (column < 4)] = 0.0
    at = np.argsort(rng.uniform(size=(count, nodes)), axis=1)[:, :reach]
    at = np.ascontiguousarray(at)
    at[7, 2] = -1  # a node without mass
    weight = rng.dirichlet(np.ones(reach), count)
    inverse = 1 / rng.uniform(0.5, 2.0, (nodes, 3))
    inverse[rng.uniform(size=inverse.shape) < 0.1] = 0.0
    return PointsOnGrid(x, np.ones(count), at, weight, first, column, values), inverse


def dense(points: PointsOnGrid, inverse: np.ndarray) -> np.ndarray:
    """P over the components that are not held, from its formula."""
    nodes, (count, d) = len(inverse), points.x.shape
    w = np.zeros((count, d, nodes, 3))
    k = np.zeros((count, d, count, d))
    for p in range(count):
        for i, weight in zip(points.at[p], points.weight[p], strict=True):
            if i >= 0:
                w[p, range(d), i, range(d)] += weight
        for b in range(points.first[p], points.first[p + 1]):
            k[p, :, points.column[b], :] = points.values[b].T
    w, k = w.reshape(count * d, -1), k.reshape(count * d, -1)
    free = inverse.ravel() > 0
    return np.diag(1 / inverse.ravel()[free]) + (w.T @ k @ w)[np.ix_(free, free)]


def applied(points: PointsOnGrid, inverse: np.ndarray) -> np.ndarray:
    """The matrix of P^-1, column by column."""
    product = MeshInverse(points, inverse, 10**9)
    product.consider(10**9)
    assert product.ready
    columns = []
    for unit in np.eye(inverse.size):
        columns.append(product(unit.reshape(inverse.shape)).ravel().copy())
    return np.array(columns).T


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("nodes", [36, 150])
def test_it_is_the_inverse(d: int, nodes: int) -> None:
    """Within what is added to S: at most that times the stiffness, relative. Also where points outnumber nodes."""
    points, inverse = some_points(d, nodes, 30.0)
    found, p = applied(points, inverse), dense(points, inverse)
    free = inverse.ravel() > 0
    assert np.abs(found[~free]).max() == 0
    gap = np.abs(found[np.ix_(free, free)] @ p - np.eye(len(p))).max()
    assert gap < 10 * MORE * np.linalg.eigvalsh(p).max()
    points.values[:] *= 1.01
    assert np.abs(found[np.ix_(free, free)] @ dense(points, inverse) - np.eye(len(p))).max() > 1e-4


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("stiffness", [1e-6, 1.0, 1e6])
def test_it_is_symmetric_and_positive(d: int, stiffness: float) -> None:
    """From soft to far stiffer than inertia, to rounding."""
    points, inverse = some_points(d, 36, stiffness)
    found = applied(points, inverse)
    free = inverse.ravel() > 0
    assert np.abs(found - found.T).max() < 1e-9 * np.abs(found).max()
    assert np.linalg.eigvalsh(found[np.ix_(free, free)]).min() > 0


def test_factors_are_made_where_they_pay() -> None:
    """Not for soft points, unless many iterations with a diagonal have shown that they are needed."""
    points, inverse = some_points(3, 150, 1e6)
    stiff = MeshInverse(points, inverse, 1000)
    stiff.consider(0)
    assert stiff.ready
    points.values[:] *= 1e-8
    soft = MeshInverse(points, inverse, 1000)
    soft.consider(1)
    assert not soft.ready
    soft.consider(10_000)
    assert soft.ready


def test_meshes_are_joined() -> None:
    """Two meshes on the same nodes: as one mesh of two parts."""
    (a, inverse), (b, _) = some_points(3, 80, 30.0), some_points(3, 80, 5.0)
    b.weight[:] = b.weight[::-1]
    both = PointsOnGrid.joined([a, b])
    p = dense(a, inverse) + dense(b, inverse) - np.diag(1 / inverse[inverse > 0])
    assert np.abs(dense(both, inverse) - p).max() < 1e-12 * p.max()
    found, free = applied(both, inverse), inverse.ravel() > 0
    assert np.abs(found[np.ix_(free, free)] @ p - np.eye(len(p))).max() < 1e-5


# ---- steps -----------------------------------------------------------------------------------------------------


def cloth(
    integrator: object, *, particles: bool = False, floor: bool = False, precision: str = "double"
) -> tuple[ct.Simulation, ct.SpringBody]:
    """A light cloth of 12 x 12 points and 1e3 N/m hangs at its corners, free, under yogurt or on a smooth slope."""
    sim = ct.Simulation(0.05, (0.0, -9.81, 0.0), integrator=integrator, precision=precision)  # type: ignore[arg-type]
    corners = [
        ct.Scripted(ct.shapes.Box((x, 0.0, z), (0.05, 0.1, 0.05))) for x in (-0.5, 0.5) for z in (-0.5, 0.5)
    ]
    mesh = ct.meshes.Cloth((12, 12), (1.0, 1.0), (0.0, 0.0, 0.0), stiffness=1e3, bend=0.1)
    body = sim.add(ct.SpringBody(mesh, density=0.2, scripted=corners, on_grid=True))
    if particles:
        sim.add(ct.shapes.Sphere((0.0, 0.2, 0.0), 0.1), YOGURT, velocity=(0.0, -2.0, 0.0))
    if floor:
        sim.add(ct.colliders.Plane((0.1, 1.0, 0.0), (0.0, -0.03, 0.0)))
    return sim, body


def moved(*, frames: int = 3, **options: object) -> tuple[np.ndarray, float, int]:
    """Positions after some frames of 1/24 s, Krylov iterations of all, and steps."""
    sim, body = cloth(**options)  # type: ignore[arg-type]
    sim.run(frames=frames, fps=24.0)
    return body.x.copy(), sim.diagnostics()["total_krylov_iterations"], sim.steps


def without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MeshInverse, "consider", lambda self, iterations: None)


@pytest.mark.parametrize(
    "world", [{}, {"particles": True}, {"floor": True}], ids=["alone", "yogurt", "floor"]
)
def test_a_stiff_cloth_takes_a_quarter_of_the_iterations(
    world: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And moves as with the diagonal alone, within 1e-4 of a cell at a tolerance of 1e-7."""
    scheme = Optimization(tolerance=1e-7)
    with_it, few, steps = moved(integrator=scheme, **world)
    without_it(monkeypatch)
    without, many, same = moved(integrator=scheme, **world)
    assert steps == same
    assert np.abs(with_it - without).max() < 1e-4 * 0.05
    assert 4 * few < many


def test_a_stiff_cloth_needs_less_than_300_iterations_per_frame() -> None:
    """With the usual tolerance; with the diagonal alone it needs 700."""
    _, iterations, _ = moved(integrator="optimization")
    assert iterations < 3 * 300


def test_a_linear_step_of_meshes_alone_is_solved_at_once() -> None:
    """The semi-implicit matrix is P itself, so that two iterations reach 1e-6."""
    sim, _ = cloth(SemiImplicit())
    for _ in range(4):
        sim.step(1 / 24)
    assert sim.diagnostics()["total_krylov_iterations"] <= 2 * sim.steps


def test_single_precision_does_not_spoil_it() -> None:
    """Its weights are those of the particles, in double precision."""
    (a, single, _), (b, double, _) = (
        moved(integrator="optimization", particles=True, precision=precision)
        for precision in ("single", "double")
    )
    assert single < 1.5 * double and np.abs(a - b).max() < 1e-2 * 0.05


def test_same_bits_for_any_number_of_threads() -> None:
    before, found = ct.threads(), []
    try:
        for threads in (1, 2):
            ct.set_threads(threads)
            found.append(moved(integrator="optimization", particles=True, frames=2)[0])
    finally:
        ct.set_threads(before)
    assert np.array_equal(*found)
