"""The flow benchmark's step in Taichi on its CPU backend: plain user code.

A dense MAC grid with one layer of solid cells around the tank, linear APIC. Two styles: "plain" is how examples are
written, with loops over the whole grid and `+=` for the particles, which Taichi compiles to atomics; "tuned" loops over
the box that has held all liquid so far and gives every thread a grid of its own, to add particles without atomics.
"""

import numpy as np
import taichi as ti
from numpy.typing import NDArray

from .flow_peer import FlowPeer
from .flow_scene import TOLERANCE
from .scene import GRAVITY
from .taichi_flow_pressure import AIR, LIQUID, SOLID, Pressure


@ti.data_oriented
class Peer(FlowPeer):
    """The step on Taichi's CPU backend."""

    def __init__(
        self,
        x: NDArray[np.float32],
        v: NDArray[np.float32],
        cells: int,
        dx: float,
        dt: float,
        threads: int = 1,
        style: str = "tuned",
    ) -> None:
        super().__init__()
        ti.init(
            ti.cpu, default_fp=ti.f32, cpu_max_num_threads=threads, offline_cache=True, log_level=ti.ERROR
        )
        self.cells, self.dx, self.inv_dx, self.dt = cells, dx, 1 / dx, dt
        self.tuned = style == "tuned"
        self.copies = threads if self.tuned else 1
        self.position = ti.Vector.field(3, ti.f32, len(x))
        self.velocity = ti.Vector.field(3, ti.f32, len(x))
        self.C = ti.Matrix.field(3, 3, ti.f32, len(x))  # row a: gradient of component a
        shape, offset = (cells + 2,) * 3, (-1, -1, -1)
        # Row a: sum of weighted velocities on the lower face a of a cell, and sum of the weights.
        self.sums = ti.Matrix.field(3, 2, ti.f32, (self.copies, *shape), offset=(0, *offset))
        self.u = ti.Vector.field(3, ti.f32, shape, offset=offset)
        self.layer = ti.Vector.field(3, ti.u8, shape, offset=offset)  # of a velocity, see below
        self.pressure = Pressure(cells, everywhere=not self.tuned)
        self.position.from_numpy(x)
        self.velocity.from_numpy(v)

    def x(self) -> NDArray[np.float32]:
        """Positions (N, 3) [m]."""
        return self.position.to_numpy()

    def v(self) -> NDArray[np.float32]:
        """Velocities (N, 3) [m/s]."""
        return self.velocity.to_numpy()

    def faces(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_]]:
        """Velocities and weights of lower faces (3, s, s, s), and which cells (s, s, s) are liquid, s = cells + 2."""
        weight = self.sums.to_numpy()[..., 1].sum(axis=0)
        u, weight = (np.moveaxis(field, -1, 0) for field in (self.u.to_numpy(), weight))
        return u, weight, self.pressure.kind[0].to_numpy() == LIQUID

    def to_grid(self) -> None:
        """Velocities on faces from the particles, with gravity and walls."""
        if self.tuned:
            self.find_box()
        self.clear()
        self.mark_cells()
        self.particles_to_grid()
        self.tolerance = TOLERANCE * self.update_faces()

    def project(self) -> None:
        """Make the velocities of the liquid cells free of divergence."""
        self.pressure.build()
        self.divergence()
        self.iterations.append(self.pressure.solve(self.tolerance)[0])
        self.subtract_gradient()

    def to_particles(self) -> None:
        """New velocities and positions of the particles."""
        for layer in range(1, 3):
            self.extrapolate(layer)
        self.grid_to_particles()
        ti.sync()

    @ti.kernel
    def find_box(self):
        lower = upper = self.position[0]
        for p in self.position:
            ti.atomic_min(lower, self.position[p])
            ti.atomic_max(upper, self.position[p])
        box = ti.static(self.pressure.box)
        box[0] = ti.min(box[0], ti.cast(lower * self.inv_dx, ti.i32))
        box[1] = ti.max(box[1], ti.cast(upper * self.inv_dx, ti.i32))

    @ti.kernel
    def clear(self):
        for n in range(self.pressure.volume(0, 1)):
            cell = self.pressure.cell(n, 0, 1)
            for copy in range(self.copies):
                self.sums[copy, cell] = ti.Matrix.zero(ti.f32, 3, 2)

    @ti.kernel
    def mark_cells(self):
        kind = ti.static(self.pressure.kind[0])
        for n in range(self.pressure.volume(0, 0)):
            kind[self.pressure.cell(n, 0, 0)] = ti.u8(AIR)
        for p in self.position:
            kind[ti.cast(self.position[p] * self.inv_dx, ti.i32)] = ti.u8(LIQUID)

    @ti.func
    def stencil(self, scaled, a: ti.template()):
        """First face of the eight around a particle, and the distance from it in cells."""
        corner = scaled - 0.5
        corner[a] = scaled[a]
        base = ti.floor(corner, ti.i32)
        return base, corner - base

    @ti.kernel
    def particles_to_grid(self):
        if ti.static(self.tuned):
            # A thread gets a run of up to 512 iterations at a time, so a loop over copies alone would be serial.
            for n in range(512 * self.copies):
                if n % 512 == 0:
                    copy, count = n // 512, self.position.shape[0]
                    for p in range(count * copy // self.copies, count * (copy + 1) // self.copies):
                        self.scatter(p, copy)
        else:
            for p in self.position:
                self.scatter(p, 0)

    @ti.func
    def scatter(self, p, copy):
        scaled = self.position[p] * self.inv_dx
        for a in ti.static(range(3)):
            base, f = self.stencil(scaled, a)
            c = ti.Vector([self.C[p][a, 0], self.C[p][a, 1], self.C[p][a, 2]]) * self.dx
            v = self.velocity[p][a] - c.dot(f)
            for offset in ti.static(ti.grouped(ti.ndrange(2, 2, 2))):
                w = 1.0
                for b in ti.static(range(3)):
                    w *= f[b] if offset[b] else 1 - f[b]
                face = base + offset
                added = ti.Vector([w * (v + c.dot(offset)), w])
                for i in ti.static(range(2)):
                    if ti.static(self.tuned):
                        self.sums[copy, face][a, i] = self.sums[copy, face][a, i] + added[i]
                    else:
                        self.sums[copy, face][a, i] += added[i]

    @ti.kernel
    def update_faces(self) -> ti.f32:
        """Velocities with gravity and walls; returns the largest.

        Layer 1: the face of a liquid cell; 9: not of a liquid cell but near a particle, to be extrapolated; 0: nobody
        needs it.
        """
        kind = ti.static(self.pressure.kind[0])
        fastest = 0.0
        for n in range(self.pressure.volume(0, 1)):
            cell = self.pressure.cell(n, 0, 1)
            total = self.sums[0, cell]
            for copy in range(1, self.copies):
                total += self.sums[copy, cell]
            for a in ti.static(range(3)):
                u, layer = 0.0, 0
                if total[a, 1] > 0:
                    below, above = kind[ti.max(cell - ti.Vector.unit(3, a), -1)], kind[cell]
                    layer = 1 if below == LIQUID or above == LIQUID else 9
                    if layer == 9 or (below != SOLID and above != SOLID):
                        u = total[a, 0] / total[a, 1] + self.dt * GRAVITY[a]
                ti.atomic_max(fastest, ti.abs(u))
                self.u[cell][a] = u
                self.layer[cell][a] = ti.u8(layer)
        return fastest

    @ti.kernel
    def divergence(self):
        for colour in ti.static(range(2)):
            for n in range(self.pressure.length[0, colour]):
                cell = ti.cast(self.pressure.list[0][colour][n], ti.i32)
                out = 0.0
                for a in ti.static(range(3)):
                    out += self.u[cell + ti.Vector.unit(3, a)][a] - self.u[cell][a]
                self.pressure.r[0][cell] = -out

    @ti.kernel
    def subtract_gradient(self):
        kind, phi = ti.static(self.pressure.kind[0], self.pressure.phi)
        for n in range(self.pressure.volume(0, 1)):
            cell = self.pressure.cell(n, 0, 1)
            for a in ti.static(range(3)):
                lower = cell - ti.Vector.unit(3, a)
                if self.layer[cell][a] == 1 and kind[cell] != SOLID and kind[lower] != SOLID:
                    self.u[cell][a] -= phi[cell] - phi[lower]

    @ti.kernel
    def extrapolate(self, layer: ti.template()):
        """Faces that particles read but no liquid cell owns take the mean of their neighbours of lower layers."""
        for n in range(self.pressure.volume(0, 1)):
            cell = self.pressure.cell(n, 0, 1)
            for a in ti.static(range(3)):
                if self.layer[cell][a] == 9:
                    total, count = 0.0, 0
                    for b in ti.static(range(3)):
                        for side in ti.static((-1, 1)):
                            J = ti.math.clamp(cell + side * ti.Vector.unit(3, b), -1, self.cells)
                            if 0 < self.layer[J][a] <= layer:
                                total += self.u[J][a]
                                count += 1
                    if count > 0:
                        self.u[cell][a] = total / count
                        self.layer[cell][a] = ti.u8(layer + 1)

    @ti.kernel
    def grid_to_particles(self):
        for p in self.position:
            scaled = self.position[p] * self.inv_dx
            v = ti.Vector.zero(ti.f32, 3)
            for a in ti.static(range(3)):
                base, f = self.stencil(scaled, a)
                value, slope = 0.0, ti.Vector.zero(ti.f32, 3)
                for offset in ti.static(ti.grouped(ti.ndrange(2, 2, 2))):
                    u = self.u[base + offset][a]
                    w = [f[b] if offset[b] else 1 - f[b] for b in range(3)]
                    value += w[0] * w[1] * w[2] * u
                    for b in ti.static(range(3)):
                        sign = 1 if offset[b] else -1
                        slope[b] += sign * w[(b + 1) % 3] * w[(b + 2) % 3] * u
                v[a] = value
                for b in ti.static(range(3)):
                    self.C[p][a, b] = slope[b] * self.inv_dx
            self.velocity[p] = v
            edge = 1e-4 * self.dx
            x = self.position[p] + self.dt * v
            self.position[p] = ti.math.clamp(x, edge, self.cells * self.dx - edge)
