"""The material point method on one screen, in plain NumPy: a soft body falls on the ground.

Quadratic B-splines, APIC, fixed corotated elasticity, symplectic Euler; 2D or 3D, as many numbers as `gravity` has.
The library does the same sums in the same letters, only faster; a test holds the two together to ten digits.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Particles:
    x: np.ndarray  # positions (N, d) [m]
    v: np.ndarray  # velocities (N, d) [m/s]
    C: np.ndarray  # affine velocities (N, d, d) [1/s]
    F: np.ndarray  # deformation gradients (N, d, d)
    mass: np.ndarray  # (N,) [kg]
    volume: np.ndarray  # undeformed (N,) [m^d]


def splines(x, dx):
    """First node (N, d) of each particle's 3^d nodes, and 1D weights and slopes (N, d, 3)."""
    first = np.floor(x / dx - 0.5).astype(int)
    z = x / dx - (first + 1)  # from the middle node, in [-1/2, 1/2)
    w = np.stack([(0.5 - z) ** 2 / 2, 0.75 - z**2, (0.5 + z) ** 2 / 2], axis=-1)
    return first, w, np.stack([z - 0.5, -2 * z, z + 0.5], axis=-1) / dx


def stencil(x, dx):
    """For each of the 3^d nodes around the particles: node numbers, weight w, gradient dw, offset r = x_i - x_p."""
    first, w1, dw1 = splines(x, dx)
    d = x.shape[1]
    nodes, w, dw, r = [], [], [], []
    for offset in np.ndindex(*[3] * d):
        one = np.stack([w1[:, a, offset[a]] for a in range(d)], axis=1)
        slope = np.stack([dw1[:, a, offset[a]] for a in range(d)], axis=1)
        others = [np.prod(np.delete(one, a, axis=1), axis=1) for a in range(d)]
        nodes.append(first + offset)
        w.append(np.prod(one, axis=1))
        dw.append(slope * np.stack(others, axis=1))
        r.append((first + offset) * dx - x)
    return np.stack(nodes), np.stack(w), np.stack(dw), np.stack(r)  # (3^d, N, ...)


def kirchhoff(F, mu, lam):
    """Stress tau = P F^T of the fixed corotated solid (N, d, d): P = 2 mu (F - R) + lam (J - 1) J F^-T."""
    U, _, Vt = np.linalg.svd(F)
    U[..., -1] *= np.sign(np.linalg.det(U @ Vt))[:, None]  # R = U V^T must be a rotation, not a reflection
    J = np.linalg.det(F)[:, None, None]
    return 2 * mu * (F - U @ Vt) @ F.transpose(0, 2, 1) + lam * (J - 1) * J * np.eye(F.shape[1])


def step(p, dx, dt, gravity, mu, lam):
    """Advance the particles by one time step dt [s]; nodes up to 0 of axis 1 are ground: they only move along it."""
    nodes, w, dw, r = stencil(p.x, dx)
    d = p.x.shape[1]
    active, index = np.unique(nodes.reshape(-1, d), axis=0, return_inverse=True)
    index = index.reshape(w.shape)

    # Particles to grid: mass, and momentum with the affine part and the push of the stress.
    m, mv = np.zeros(len(active)), np.zeros((len(active), d))
    np.add.at(m, index, w * p.mass)
    affine = p.v + np.einsum("nab,snb->sna", p.C, r)
    push = np.einsum("n,nab,snb->sna", p.volume, kirchhoff(p.F, mu, lam), dw)
    np.add.at(mv, index, w[..., None] * p.mass[:, None] * affine - dt * push)

    # On the grid: velocity, gravity, ground.
    v = np.divide(mv, m[:, None], out=np.zeros_like(mv), where=m[:, None] > 0) + dt * np.asarray(gravity)
    v[active[:, 1] <= 0, 1] = 0

    # Grid to particles: velocity, affine velocity, deformation, position.
    vi = v[index]
    p.v = np.einsum("sn,sna->na", w, vi)
    p.C = 4 / dx**2 * np.einsum("sn,sna,snb->nab", w, vi, r)
    p.F = p.F + dt * np.einsum("sna,snb->nab", vi, dw) @ p.F
    p.x = p.x + dt * p.v


def box(lower, upper, dx, density):
    """Particles at rest, 2^d per cell, in a box whose sides are multiples of dx / 2."""
    axes = [np.arange(low + dx / 4, high, dx / 2) for low, high in zip(lower, upper)]
    x = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    n, d = x.shape
    V, rest = np.full(n, (dx / 2) ** d), np.zeros((n, d, d))
    return Particles(x, np.zeros((n, d)), rest, rest + np.eye(d), density * V, V)


if __name__ == "__main__":
    E, nu, density, dx = 1e5, 0.3, 1000.0, 0.05
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    dt = 0.4 * dx / np.sqrt((lam + 2 * mu) / density)  # a wave crosses 0.4 cells
    p = box((0.0, 0.5), (0.5, 1.0), dx, density)
    for n in range(601):
        if n % 60 == 0:
            print(f"t = {n * dt:.3f} s: bottom at {p.x[:, 1].min():.3f} m, top at {p.x[:, 1].max():.3f} m")
        step(p, dx, dt, (0.0, -9.81), mu, lam)
