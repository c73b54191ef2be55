"""Continua that overlap at the start, which contact cannot undo."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from continua.continuum.meeting import Pair
from continua.integrators import NodeStepper, Stepper

TOO_FULL = 1.5  # of a node: two bodies that touch fill it once


def warn_of_overlaps(steppers: Mapping[str, Stepper], pairs: Sequence[Pair], known: list[str]) -> None:
    """Say which pairs fill nodes together by more than there is room for; what was said is added to `known`.

    The fields of the steppers must be sorted.
    """
    nodes = {name: one for name, one in steppers.items() if isinstance(one, NodeStepper)}
    fills = {name: _fill(stepper) for name, stepper in nodes.items()} if len(nodes) > 1 else {}
    for pair in pairs:
        if pair.a not in fills or pair.b not in fills:
            continue
        a, b = (nodes[name].field.grid.keys for name in (pair.a, pair.b))
        shared, in_a, in_b = np.intersect1d(a, b, assume_unique=True, return_indices=True)
        of_a, of_b = fills[pair.a][in_a], fills[pair.b][in_b]
        together = np.where((of_a > 0) & (of_b > 0), of_a + of_b, 0.0)
        if not len(shared) or together.max() <= TOO_FULL:
            continue
        block, node = np.unravel_index(together.argmax(), together.shape)
        place = nodes[pair.a].field.grid.node_positions()[in_a[block], node]
        where = ", ".join(f"{x:.4g}" for x in place)
        text = (
            f'the continua "{pair.a}" and "{pair.b}" overlap at the start, near ({where}) m: contact stops them from '
            "approaching but never pushes them apart; move a body, or put both into one continuum"
        )
        known.append(text)
        warnings.warn(text, stacklevel=5)


def _fill(stepper: NodeStepper) -> NDArray:
    """Part of the space at every node (blocks, nodes) that the bodies of a continuum take; sheets and meshes none."""
    field, nodes = stepper.field, np.zeros(stepper.field.grid.node_shape(), stepper.field.dtype)
    for body, exchanges in zip(field.bodies, field.exchanges, strict=True):
        for exchange, surface in zip(exchanges, body.contact_surfaces(), strict=True):
            particles = exchange.particles
            if surface.thin or not len(particles):
                continue
            values = np.zeros((particles.ids.max() + 1, field.dimension))  # some may be gone
            values[particles.ids, 0] = particles.volume
            exchange.scatter_values(values, nodes, add=True)
    filled: NDArray = nodes[..., 0] / field.lattice.dx**field.dimension
    return filled
