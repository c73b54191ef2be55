"""Coulomb friction of grid nodes on obstacles inside implicit steps, over node velocities (N, 3) [m/s].

With normal impulses that are known, friction is an energy: sum mu lambda |u| over the nodes, u how fast they slide. It
has a kink at u = 0. There the derivative is the smallest of all that the kink allows: nothing for a node that friction
can hold, and what friction leaves over for one that starts to slide. The minimiser holds the former, and stops nodes on
their way where they would turn round, so that it finds out who sticks as it finds out who touches: exactly, without
a slip speed, and with hardly more iterations than without friction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from continua.integrators.grid_contact import NodeContact
from continua.integrators.grid_energy import GridEnergy
from continua.optimize import Objective
from continua.optimize.krylov import dot, norm

Array = NDArray[np.float64]
ROUNDING = 1e-12  # of what is left over of a pull that friction balances, relative


class Rubbing:
    """Friction of the nodes that touch obstacles; a `Constraint`: that of the contact, and who sticks stays.

    limits (n,) [N s]: most friction that each of them may feel in the running solve.
    """

    def __init__(self, contact: NodeContact) -> None:
        n = len(contact.touching)
        self.contact, self.limits = contact, np.zeros(n)
        self._stuck = np.zeros(n, bool)  # in the running iteration: held by friction
        self._start = np.zeros((n, 3))  # where those go that start to slide, unit vectors or zero
        self._ahead = np.zeros((n, 3))  # where all others slide

    # ---- the law -----------------------------------------------------------------------------------------------

    def slides(self, x: Array) -> tuple[Array, Array]:
        """How fast touching nodes move along their obstacle, (n, 3) and (n,) [m/s]; exactly 0 for those at rest."""
        u = self.contact.along(x[self.contact.touching] - self.contact.speed)
        speed = np.linalg.norm(u, axis=1)
        rest = speed <= self.contact.rounding(x)
        u[rest], speed[rest] = 0.0, 0.0
        return u, speed

    def impulses(self, x: Array, gradient: Array) -> Array:
        """Friction (n, 3) [N s] at velocities x where the gradient (N, 3) of all else is known: against what slides,
        and what can be held of the rest."""
        u, speed = self.slides(x)
        pull = self.contact.along(gradient[self.contact.touching])
        against = np.where((speed > 0)[:, None], -u, pull)
        size = np.linalg.norm(against, axis=1)
        felt = np.where(speed > 0, self.limits, np.minimum(self.limits, size))
        friction: Array = _over(felt, size)[:, None] * against
        return friction

    def pressed(self, gradient: Array) -> Array:
        """What `limits` would be with the normal impulses that the gradient (N, 3) without friction asks for."""
        contact = self.contact
        push = np.einsum("ij,ij->i", gradient[contact.touching], contact.normal)
        found: Array = contact.friction * np.maximum(push, 0.0)
        return found

    def change(self, limits: Array) -> float:
        """How much the limits differ from others, relative to them."""
        return norm(limits - self.limits) / size if (size := norm(limits)) > 0 else float(self.limits.any())

    # ---- a constraint ------------------------------------------------------------------------------------------

    def project(self, x: Array) -> Array:
        return self.contact.project(x)

    def register_active(self, x: Array, gradient: Array) -> None:
        """gradient: with friction, so that it has no part along the surface where friction holds a node."""
        self.contact.register_active(x, gradient)
        self._ahead, speed = self.slides(x)
        pull = self.contact.along(gradient[self.contact.touching])
        size = np.linalg.norm(pull, axis=1)
        rest = (speed == 0) & (self.limits > 0)
        felt = self.limits + np.linalg.norm(gradient[self.contact.touching], axis=1)
        self._stuck = rest & (size <= ROUNDING * felt)
        self._start = -_over(np.where(rest & ~self._stuck, 1.0, 0.0), size)[:, None] * pull

    def reduce_gradient(self, gradient: Array) -> Array:
        return self.reduce_product(gradient.copy(), gradient)

    def reduce_product(self, product: Array, dx: Array) -> Array:
        g = self.contact.reduce(product)
        bound = self._stuck | self._start.any(axis=1)
        some, n, e = self.contact.touching[bound], self.contact.normal[bound], self._start[bound]
        g[some] = _part(g[some], n) + _part(g[some], e)
        return g

    def path(self, x: Array, dx: Array, alpha: float) -> tuple[Array, Array]:
        """That of the contact, but nodes that would turn round stop."""
        y, dy = self.contact.path(x, dx, alpha)
        u, _ = self.slides(y)
        ahead = np.einsum("ij,ij->i", u, self._ahead + self._start)
        turned = self._stuck | ((ahead < 0) & (self.limits > 0))
        some, n = self.contact.touching[turned], self.contact.normal[turned]
        y[some] -= u[turned]
        dy[some] = _part(dy[some], n)
        return y, dy


class Scaled(Objective, Protocol):
    """An objective that knows the diagonal of its Hessian, or one like it."""

    @property
    def inverse(self) -> Array:
        """1 over it, (N, 3)."""


class Rubbed:
    """An objective and the friction of nodes on obstacles; an `Objective`."""

    def __init__(self, objective: Scaled, rubbing: Rubbing) -> None:
        self._objective, self._rubbing = objective, rubbing
        self._touching, self._normal = rubbing.contact.touching, rubbing.contact.normal

    def value(self, x: Array) -> float:
        _, speed = self._rubbing.slides(x)
        return self._objective.value(x) + dot(self._rubbing.limits, speed)

    def gradient(self, x: Array) -> Array:
        """The smallest of all derivatives at a kink."""
        g = self._objective.gradient(x)
        g[self._touching] -= self._rubbing.impulses(x, g)
        return g

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        self._objective.prepare(x, positive=positive)
        u, speed = self._rubbing.slides(x)
        self._turning = _over(self._rubbing.limits, speed)
        self._aside = np.cross(self._normal, _over(np.ones_like(speed), speed)[:, None] * u)
        added = self._turning[:, None] * self._aside**2
        self._lower = np.ones_like(x)
        self._lower[self._touching] /= np.sqrt(1 + self._objective.inverse[self._touching] * added)

    def product(self, dx: Array) -> Array:
        """Friction is the same at any speed, but it turns with the way that a node slides."""
        product = self._objective.product(dx)
        product[self._touching] += self._turning[:, None] * _part(dx[self._touching], self._aside)
        return product

    def precondition(self, r: Array) -> Array:
        """As if 1 / (a + f) were in place of the 1 / a of all else, half of it on either side."""
        return self._lower * self._objective.precondition(self._lower * r)


class Expanded:
    """An energy replaced by its second-order expansion: v.A v / 2 - b.v, with A as a product; an `Objective`."""

    def __init__(self, energy: GridEnergy, product: Callable[[Array], Array], b: Array) -> None:
        self.product, self._b = product, b
        self.precondition, self.inverse = energy.precondition, energy.inverse

    def value(self, x: Array) -> float:
        return 0.5 * dot(self.product(x), x) - dot(self._b, x)

    def gradient(self, x: Array) -> Array:
        return self.product(x) - self._b

    def prepare(self, x: Array, *, positive: bool = False) -> None:
        pass


def _part(some: Array, direction: Array) -> Array:
    """Parts (n, 3) of vectors along unit vectors, or nothing along zero."""
    return np.einsum("ij,ij->i", some, direction)[:, None] * direction


def _over(a: Array, b: Array) -> Array:
    """a / b, and 0 where b is."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
