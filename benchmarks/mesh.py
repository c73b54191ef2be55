"""Finite elements: kernels per second, and one Newton iteration next to scikit-fem and SciPy; see README.md.

    python benchmarks/mesh.py                              # boxes of 17^3 cubes (17.5k unknowns) and 40^3
    python benchmarks/mesh.py --cubes 10 --rounds 5 --threads 1

A cube is cut into six tetrahedra. Every kernel is timed in turn, several rounds; the shortest time counts. scikit-fem
(pip install scikit-fem) is optional; it gets the same mesh, material, positions and conjugate gradients.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import NDArray
from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

import continua as ct
from continua import materials
from continua.mesh import Elements

try:
    import skfem
    import skfem.helpers
except ImportError:
    skfem = None

Array = NDArray[np.float64]
TOLERANCE = 1e-6  # relative, of the linear solves
DT = 1 / 24  # of the implicit step [s]


def box(cubes: int) -> tuple[Array, NDArray[np.int64]]:
    """Unit cube: points (N, 3), tetrahedra (M, 4)."""
    grid = np.stack(np.meshgrid(*[np.arange(cubes + 1)] * 3, indexing="ij"), -1).reshape(-1, 3)
    corners = grid[(grid < cubes).all(axis=1)]
    strides = (cubes + 1) ** np.arange(2, -1, -1)
    cells = []
    for path in permutations(range(3)):
        steps = np.vstack([np.zeros(3, int), np.cumsum(np.eye(3, dtype=int)[list(path)], axis=0)])
        if np.linalg.det(steps[1:]) < 0:
            steps[[-1, -2]] = steps[[-2, -1]]
        cells.append((corners[:, None] + steps) @ strides)
    return grid / cubes, np.stack(cells, 1).reshape(-1, 4)


def stretched(points: Array, cubes: int) -> Array:
    """The mesh stretched, sheared and shaken."""
    rng = np.random.default_rng(0)
    A = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    return np.ascontiguousarray(points @ A.T + 0.05 / cubes * rng.normal(size=points.shape))


def shortest(functions: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Shortest time [s] of every function, measured in turn."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def kernel_table(cubes: int, rounds: int, threads: int) -> Table:
    """Energy, forces, Hessian and products of fixed corotated elements."""
    points, cells = box(cubes)
    x = stretched(points, cubes)
    elements = Elements(points, cells, materials.FixedCorotated())
    hessian = elements.hessian(x)
    matrix = hessian.matrix().tocsr()
    times = shortest(
        {
            "energy": lambda: elements.value(x),
            "forces": lambda: elements.gradient(x),
            "Hessian": lambda: elements.hessian(x, into=hessian),
            "Hessian, positive": lambda: elements.hessian(x, positive=True, into=hessian),
            "product": lambda: hessian.product(x),
            "product, SciPy CSR": lambda: matrix @ x.ravel(),
        },
        rounds,
    )
    title = f"{3 * len(points):,} unknowns, {len(cells):,} tetrahedra, fixed corotated, float64, {threads} threads"
    table = Table(title=title, box=MARKDOWN)
    for column in ("kernel", "ms", "million tetrahedra/s", "time / product"):
        table.add_column(column, justify="left" if column == "kernel" else "right")
    for name, seconds in times.items():
        rate, ratio = len(cells) / seconds / 1e6, seconds / times["product"]
        table.add_row(name, f"{seconds * 1e3:.2f}", f"{rate:.1f}", f"{ratio:.1f}")
    return table


def dot(a: Array, b: Array) -> float:
    """Scalar product without the threads of BLAS, which would compete with ours."""
    return float(np.einsum("i,i->", a.ravel(), b.ravel()))


def jacobi_cg(product: Callable[[Array], Array], diagonal: Array, b: Array) -> tuple[Array, int]:
    """Conjugate gradients preconditioned by the diagonal; solution and iterations."""
    x, r = np.zeros_like(b), b.copy()
    z = r / diagonal
    p, rz = z.copy(), dot(r, z)
    for iteration in range(1, 10_000):
        q = product(p)
        alpha = rz / dot(p, q)
        x += alpha * p
        r -= alpha * q
        if dot(r, r) <= TOLERANCE**2 * dot(b, b):
            return x, iteration
        z = r / diagonal
        rz, last = dot(r, z), rz
        p *= rz / last
        p += z
    raise RuntimeError("conjugate gradients did not converge")


@dataclass
class Newton:
    """The first Newton iteration of a backward Euler step from x at rest, neo-Hookean: the change of x."""

    points: Array
    cells: NDArray[np.int64]
    x: Array
    material: materials.NeoHookean
    mass: Array  # lumped, over dt^2

    def ours(self, elements: Elements) -> Array:
        """With our elements."""
        g = elements.gradient(self.x)
        hessian = elements.hessian(self.x)
        hessian.shift(self.mass)
        return jacobi_cg(hessian.product, hessian.diagonal(), -g)[0]

    def peer(self, basis: skfem.Basis) -> Array:
        """With scikit-fem forms and a SciPy matrix."""
        p = self.material.parameters()
        mu, lam = p["mu"], p["lam"]

        def transposed_inverse(F: Array) -> tuple[Array, Array]:
            J = skfem.helpers.det(F)
            return skfem.helpers.transpose(skfem.helpers.inv(F)), np.log(J)

        @skfem.LinearForm
        def forces(v, w):
            F = w["x_"].grad
            G, log_J = transposed_inverse(F)
            return skfem.helpers.ddot(mu * (F - G) + lam * log_J * G, v.grad)

        @skfem.BilinearForm
        def stiffness(u, v, w):
            F, Z = w["x_"].grad, u.grad
            G, log_J = transposed_inverse(F)
            turned = skfem.helpers.mul(skfem.helpers.mul(G, skfem.helpers.transpose(Z)), G)
            dP = mu * Z + (mu - lam * log_J) * turned + lam * skfem.helpers.ddot(G, Z) * G
            return skfem.helpers.ddot(dP, v.grad)

        dofs = np.empty(basis.N)
        dofs[basis.nodal_dofs.T] = self.x
        field = basis.interpolate(dofs)
        g = forces.assemble(basis, x_=field)
        mass = np.empty(basis.N)
        mass[basis.nodal_dofs.T] = self.mass[:, None]
        H = stiffness.assemble(basis, x_=field).tocsr()
        H.setdiag(H.diagonal() + mass)
        solution = jacobi_cg(lambda dx: H @ dx, H.diagonal(), -g)[0]
        return solution[basis.nodal_dofs.T]


def newton_table(cubes: int, rounds: int, threads: int) -> Table:
    """One Newton iteration of an implicit step, ours and with scikit-fem."""
    points, cells = box(cubes)
    material = materials.NeoHookean(1e5, 0.3, 1000.0)
    elements = Elements(points, cells, material)
    newton = Newton(points, cells, stretched(points, cubes), material, elements.lumped_mass() / DT**2)
    functions: dict[str, Callable[[], object]] = {"Continua": lambda: newton.ours(elements)}
    if skfem is not None:
        mesh = skfem.MeshTet(np.ascontiguousarray(points.T), np.ascontiguousarray(cells.T))
        basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=0)
        functions["scikit-fem + SciPy"] = lambda: newton.peer(basis)
        ours, theirs = newton.ours(elements), newton.peer(basis)
        assert np.abs(ours - theirs).max() <= 1e-4 * np.abs(ours).max(), "both must solve the same problem"
    times = shortest(functions, rounds)
    hessian = elements.hessian(newton.x)
    hessian.shift(newton.mass)
    iterations = jacobi_cg(hessian.product, hessian.diagonal(), -elements.gradient(newton.x))[1]
    title = f"One Newton iteration, neo-Hookean, {3 * len(points):,} unknowns, {iterations} products, {threads} threads"
    table = Table(title=title, box=MARKDOWN)
    for column in ("library", "ms", "time / Continua"):
        table.add_column(column, justify="left" if column == "library" else "right")
    for name, seconds in times.items():
        table.add_row(name, f"{seconds * 1e3:.1f}", f"{seconds / times['Continua']:.1f}")
    return table


def frame_table() -> Table:
    """Seconds per frame of the stretched cube of the gallery, beside J15 table A.1 (one thread, 18.5k unknowns)."""
    ct.set_threads(1)
    scene = ct.gallery.load("cube-stretch")
    sim = scene.build()
    table = Table(
        title=f"Cube stretched, then let go, {3 * len(sim.world.mesh_bodies[0]):,} unknowns, 1 thread", box=MARKDOWN
    )
    for column in ("part", "frames", "Newton per frame", "products per frame", "s per frame", "J15 [s]"):
        table.add_column(column, justify="left" if column == "part" else "right")
    before = {"total_newton_iterations": 0.0, "total_krylov_iterations": 0.0}
    for part, frames in (("pulled and held", 24), ("let go", 24)):
        start = time.perf_counter()
        sim.run(frames=frames)
        seconds = (time.perf_counter() - start) / frames
        now = sim.diagnostics()
        newton, products = ((now[name] - before[name]) / frames for name in before)
        table.add_row(part, str(frames), f"{newton:.1f}", f"{products:.0f}", f"{seconds:.2f}", "0.51")
        before = {name: now[name] for name in before}
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cubes", type=int, nargs="+", default=[17, 40], help="cubes along an edge")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    ct.set_threads(given.threads)
    console = Console(width=110)
    for cubes in given.cubes:
        console.print(kernel_table(cubes, given.rounds, given.threads))
    console.print(newton_table(given.cubes[0], max(1, given.rounds // 4), given.threads))
    console.print(frame_table())


if __name__ == "__main__":
    main()
