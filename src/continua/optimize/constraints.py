"""What the minimiser needs to know about constraints on its unknowns, and the absence of them."""

from __future__ import annotations

from typing import Protocol

from continua.optimize.krylov import Array


class Constraint(Protocol):
    """A feasible set with a projection P onto it (J15 A.3.2). The objective is E'(P(x)); x is always feasible between
    iterations, and the steps of one iteration run along alpha -> P(x + alpha dx).

    All arrays have the shape of x. Methods give new arrays or their unchanged argument, but `reduce_product` may change
    the product.
    """

    def project(self, x: Array) -> Array:
        """The feasible point P(x), for the starts."""

    def register_active(self, x: Array, gradient: Array) -> None:
        """Choose what holds during the coming iteration, at a feasible x with the unconstrained gradient of E'."""

    def reduce_gradient(self, gradient: Array) -> Array:
        """Q g: the part in the tangent space of what is active. Q is an orthogonal projection."""

    def reduce_product(self, product: Array, dx: Array) -> Array:
        """Q (H' dx) and the curvature of the active constraints, given product = H' dx and dx in the tangent space."""

    def path(self, x: Array, dx: Array, alpha: float) -> tuple[Array, Array]:
        """y = P(x + alpha dx), with P applied to what is active or violated, and its derivative dy / dalpha."""


class Unconstrained:
    """No constraint: straight paths."""

    def project(self, x: Array) -> Array:
        return x

    def register_active(self, x: Array, gradient: Array) -> None:
        pass

    def reduce_gradient(self, gradient: Array) -> Array:
        return gradient

    def reduce_product(self, product: Array, dx: Array) -> Array:
        return product

    def path(self, x: Array, dx: Array, alpha: float) -> tuple[Array, Array]:
        return x + alpha * dx, dx
