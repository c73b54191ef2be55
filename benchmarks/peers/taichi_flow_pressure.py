"""Pressure on a MAC grid in Taichi: conjugate gradients with a multigrid preconditioner, as in Taichi's own examples.

Level l has (cells / 2^l)^3 cells inside one layer of solid ones. Vectors are zero outside the liquid, so a stencil
reads all six neighbours without asking what they are. Loops run over lists of the liquid cells, one list per colour;
the lists are collected from a box that holds all liquid.
"""

import taichi as ti

SOLID, AIR, LIQUID = 0, 1, 2
COARSEST = 8  # cells along an edge of the last level at most
SWEEPS = 2  # red-black sweeps before and after each coarser level
LAST_SWEEPS = 20  # symmetric sweeps on the last level


@ti.data_oriented
class Pressure:
    """Solver for sum over faces that are no wall of (phi_c - phi_neighbour) = rhs_c, with phi = 0 in air."""

    def __init__(self, cells: int, everywhere: bool = False) -> None:
        self.sizes = [cells]
        while self.sizes[-1] > COARSEST and self.sizes[-1] % 2 == 0:
            self.sizes.append(self.sizes[-1] // 2)
        self.levels = len(self.sizes)
        self.kind = [self.cell_field(ti.u8, n) for n in self.sizes]
        self.diagonal = [self.cell_field(ti.f32, n) for n in self.sizes]
        self.r = [self.cell_field(ti.f32, n) for n in self.sizes]
        self.z = [self.cell_field(ti.f32, n) for n in self.sizes]
        self.phi, self.p, self.Ap = (self.cell_field(ti.f32, cells) for _ in range(3))
        self.list = [[ti.Vector.field(3, ti.i16, n**3 // 2 + 1) for _ in range(2)] for n in self.sizes]
        self.length = ti.field(ti.i32, (self.levels, 2))
        self.box = ti.Vector.field(3, ti.i32, 2)  # first and last cell of the box
        self.box[0], self.box[1] = ([0] * 3, [cells - 1] * 3) if everywhere else ([cells] * 3, [0] * 3)
        self.empty()

    @staticmethod
    def cell_field(dtype: object, n: int) -> ti.ScalarField:
        """Field over n^3 cells and one layer around them."""
        return ti.field(dtype, (n + 2,) * 3, offset=(-1, -1, -1))

    def build(self) -> None:
        """Prepare all levels for the kinds of cells now in `kind[0]`; the old phi stays as the first guess."""
        self.length.fill(0)
        for level in range(self.levels):
            if level > 0:
                self.coarsen(level)
            self.collect(level)
            self.weigh(level)

    def solve(self, tolerance: float, max_iterations: int = 500) -> tuple[int, float]:
        """Solve until max |residual| <= tolerance; `r[0]` holds the right side on entry. Iterations and residual."""
        residual = self.first_residual()
        if residual <= tolerance:
            return 0, residual
        rz = 0.0
        for iteration in range(1, max_iterations + 1):
            self.precondition()
            rz, old = self.dot(self.r[0], self.z[0]), rz
            self.next_direction(rz / old if iteration > 1 else 0.0)
            residual = self.advance(rz / self.apply())
            if residual <= tolerance:
                break
        return iteration, residual

    def precondition(self) -> None:
        """z[0] = one V-cycle on r[0]."""
        last = self.levels - 1
        for level in range(last):
            self.descend(level)
        self.smooth_last(last)
        for level in reversed(range(last)):
            self.ascend(level)

    @ti.kernel
    def empty(self):
        for level in ti.static(range(self.levels)):
            for c in ti.grouped(ti.ndrange(*[self.sizes[level]] * 3)):
                self.kind[level][c] = ti.u8(AIR)

    @ti.func
    def boxed(self, level: ti.template(), layers: ti.template()):
        """First cell and edges, in cells of a level, of the box and some layers around it."""
        first, last = self.box[0] // 2**level - layers, self.box[1] // 2**level + layers
        return first, last - first + 1

    @ti.func
    def volume(self, level: ti.template(), layers: ti.template()):
        _, edge = self.boxed(level, layers)
        return edge[0] * edge[1] * edge[2]

    @ti.func
    def cell(self, n, level: ti.template(), layers: ti.template()):
        first, edge = self.boxed(level, layers)
        return first + ti.Vector([n // (edge[1] * edge[2]), n // edge[2] % edge[1], n % edge[2]])

    @ti.kernel
    def coarsen(self, level: ti.template()):
        fine = ti.static(self.kind[level - 1])
        for n in range(self.volume(level, 0)):
            c = self.cell(n, level, 0)
            air, liquid = False, False
            for offset in ti.static(ti.grouped(ti.ndrange(2, 2, 2))):
                kind = fine[2 * c + offset]
                air |= kind == AIR
                liquid |= kind == LIQUID
            self.kind[level][c] = ti.u8(AIR if air else (LIQUID if liquid else SOLID))

    @ti.kernel
    def collect(self, level: ti.template()):
        for n in range(self.volume(level, 0)):
            c = self.cell(n, level, 0)
            if self.kind[level][c] == LIQUID:
                for colour in ti.static(range(2)):
                    if c.sum() % 2 == colour:
                        self.list[level][colour][ti.atomic_add(self.length[level, colour], 1)] = ti.cast(
                            c, ti.i16
                        )
            else:
                self.z[level][c] = 0
                if ti.static(level == 0):
                    self.phi[c] = 0
                    self.p[c] = 0

    @ti.kernel
    def weigh(self, level: ti.template()):
        for colour in ti.static(range(2)):
            for n in range(self.length[level, colour]):
                c = ti.cast(self.list[level][colour][n], ti.i32)
                faces = 0.0
                for a in ti.static(range(3)):
                    for side in ti.static((-1, 1)):
                        faces += self.kind[level][c + side * ti.Vector.unit(3, a)] != SOLID
                self.diagonal[level][c] = faces

    @ti.func
    def neighbours(self, z: ti.template(), c):
        total = 0.0
        for a in ti.static(range(3)):
            total += z[c - ti.Vector.unit(3, a)] + z[c + ti.Vector.unit(3, a)]
        return total

    @ti.func
    def relax(self, level: ti.template(), colour: ti.template(), n):
        c = ti.cast(self.list[level][colour][n], ti.i32)
        z = ti.static(self.z[level])
        z[c] = (self.r[level][c] + self.neighbours(z, c)) / ti.max(self.diagonal[level][c], 1.0)

    @ti.kernel
    def descend(self, level: ti.template()):
        r, z, d = ti.static(self.r[level], self.z[level], self.diagonal[level])
        # The first half sweep starts from zero and needs no neighbours.
        for n in range(self.length[level, 0]):
            c = ti.cast(self.list[level][0][n], ti.i32)
            z[c] = r[c] / ti.max(d[c], 1.0)
        for half in ti.static(range(1, 2 * SWEEPS)):
            for n in range(self.length[level, half % 2]):
                self.relax(level, half % 2, n)
        # Sum of the residuals times the ratio of the scales, 1/2. Colour 1 was relaxed last: no residual there.
        for colour in ti.static(range(2)):
            for n in range(self.length[level + 1, colour]):
                coarse = ti.cast(self.list[level + 1][colour][n], ti.i32)
                total = 0.0
                for offset in ti.static(ti.grouped(ti.ndrange(2, 2, 2))):
                    if ti.static(sum(offset) % 2 == 0):
                        c = 2 * coarse + offset
                        if self.kind[level][c] == LIQUID:
                            total += r[c] - d[c] * z[c] + self.neighbours(z, c)
                self.r[level + 1][coarse] = 0.5 * total

    @ti.kernel
    def ascend(self, level: ti.template()):
        z = ti.static(self.z[level])
        for colour in ti.static(range(2)):
            for n in range(self.length[level, colour]):
                c = ti.cast(self.list[level][colour][n], ti.i32)
                z[c] += self.z[level + 1][c // 2]
        for half in ti.static(range(1, 2 * SWEEPS + 1)):
            for n in range(self.length[level, half % 2]):
                self.relax(level, half % 2, n)

    @ti.kernel
    def smooth_last(self, level: ti.template()):
        ti.loop_config(serialize=True)
        for _ in range(1):
            for colour in ti.static(range(2)):
                for n in range(self.length[level, colour]):
                    self.z[level][ti.cast(self.list[level][colour][n], ti.i32)] = 0
            for _sweep in range(LAST_SWEEPS):
                for colour in ti.static((0, 1, 1, 0)):
                    for n in range(self.length[level, colour]):
                        self.relax(level, colour, n)

    @ti.kernel
    def first_residual(self) -> ti.f32:
        largest = 0.0
        for colour in ti.static(range(2)):
            for n in range(self.length[0, colour]):
                c = ti.cast(self.list[0][colour][n], ti.i32)
                self.r[0][c] += self.neighbours(self.phi, c) - self.diagonal[0][c] * self.phi[c]
                ti.atomic_max(largest, ti.abs(self.r[0][c]))
        return largest

    @ti.kernel
    def dot(self, a: ti.template(), b: ti.template()) -> ti.f64:
        total = ti.cast(0.0, ti.f64)
        for colour in ti.static(range(2)):
            for n in range(self.length[0, colour]):
                c = ti.cast(self.list[0][colour][n], ti.i32)
                total += ti.cast(a[c] * b[c], ti.f64)
        return total

    @ti.kernel
    def next_direction(self, beta: ti.f32):
        for colour in ti.static(range(2)):
            for n in range(self.length[0, colour]):
                c = ti.cast(self.list[0][colour][n], ti.i32)
                self.p[c] = self.z[0][c] + beta * self.p[c]

    @ti.kernel
    def apply(self) -> ti.f64:
        total = ti.cast(0.0, ti.f64)
        for colour in ti.static(range(2)):
            for n in range(self.length[0, colour]):
                c = ti.cast(self.list[0][colour][n], ti.i32)
                Ap = self.diagonal[0][c] * self.p[c] - self.neighbours(self.p, c)
                self.Ap[c] = Ap
                total += ti.cast(self.p[c] * Ap, ti.f64)
        return total

    @ti.kernel
    def advance(self, alpha: ti.f32) -> ti.f32:
        largest = 0.0
        for colour in ti.static(range(2)):
            for n in range(self.length[0, colour]):
                c = ti.cast(self.list[0][colour][n], ti.i32)
                self.phi[c] += alpha * self.p[c]
                r = self.r[0][c] - alpha * self.Ap[c]
                self.r[0][c] = r
                ti.atomic_max(largest, ti.abs(r))
        return largest
