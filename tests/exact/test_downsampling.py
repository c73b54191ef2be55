"""From nodes of a grid back to a surface, element by element as rigid bodies (M23 section 6.2): what each one keeps."""

from __future__ import annotations

import numpy as np
import pytest
from boundary_samples import Sample

from continua.contact.exact.angular import cross, turned
from continua.contact.exact.augury import Augury

Array = np.ndarray
dimensions = pytest.mark.parametrize("d", [2, 3])


def nodal(augury: Augury, v: Array) -> Array:
    """Momenta (E, Ng, d) of every element at every node: its own mass there times the node's velocity."""
    return augury.element_nodes.toarray()[:, :, None] * v


@dimensions
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_elements_keep_momentum(d: int, share: float) -> None:
    """DS1, DS2: P and L of every element before and after, and the pairing with every rigid field."""
    s = Sample(d, share=share)
    augury, nodes = s.augury, s.augury.nodes
    vh = np.random.default_rng(1).standard_normal(nodes.shape)
    p = nodal(augury, vh)
    pe, le = augury.rigid_parts(vh)
    scale = np.abs(p).sum()
    assert np.abs(p.sum(axis=1) - pe).max() < 1e-14 * scale
    r = nodes - augury.center[:, None]
    assert np.abs(cross(r, p).sum(axis=1) - le).max() < 1e-14 * scale
    fields = np.random.default_rng(2).standard_normal((4, d + le.shape[1]))
    for e in range(len(pe)):
        single = np.arange(len(pe)) == e
        after = augury.from_elements(pe * single[:, None], le * single[:, None])
        assert np.abs(after.sum(axis=0) - pe[e]).max() < 1e-14 * scale
        assert np.abs(cross(r[e], after).sum(axis=0) - le[e]).max() < 1e-14 * scale
        for field in fields:
            t = field[:d] + turned(field[d:], nodes)
            assert abs((t * after).sum() - (t * p[e]).sum()) < 1e-14 * scale
    whole = augury.from_elements(pe, le)
    assert (
        np.abs(cross(nodes, whole).sum(axis=0) - cross(nodes, p.sum(axis=0)).sum(axis=0)).max()
        < 1e-14 * scale
    )
    strain = nodes * np.arange(1.0, d + 1)  # what is not rigid need not pair, and does not
    assert abs((strain * whole).sum() - (strain * p.sum(axis=0)).sum()) > 1e-6 * scale


@dimensions
def test_masses_at_nodes(d: int) -> None:
    """DS3: elements' masses at a node sum to the node's resampled mass; without the corners some is missing."""
    s = Sample(d)
    augury = s.augury
    y = np.concatenate([augury._x, augury.points])
    m = np.concatenate([augury._kept, s.plan.mass[s.plan.extra]])
    near = np.maximum(0, 1.5 - np.abs(y[:, None] - augury.nodes) / s.dx)
    inner = np.abs(y[:, None] - augury.nodes) / s.dx
    weight = np.where(inner < 0.5, 0.75 - inner**2, near**2 / 2).prod(axis=2)  # the definition, node by node
    mass = np.asarray(augury.element_nodes.sum(axis=0)).ravel()
    assert np.abs(mass - m @ weight).max() < 1e-13 * mass.max()
    without = m[len(augury._x) :] @ weight[len(augury._x) :]
    assert np.abs(without - m @ weight).max() > 1e-2 * mass.max()
    assert abs(mass.sum() - s.boundary.mass.sum()) < 1e-13 * mass.sum()


@dimensions
def test_inertia_of_elements(d: int) -> None:
    """DS4: that of the corners plus m dx^2/4 per axis is the sum over nodes."""
    s = Sample(d)
    augury = s.augury
    mass = (augury._element_corners @ augury._near).toarray()
    r = augury.nodes - augury.center[:, None]
    moment = np.einsum("en,ena,enb->eab", mass, r, r)
    trace = np.einsum("eaa->e", moment)
    inertia = trace[:, None, None] if d == 2 else trace[:, None, None] * np.eye(3) - moment
    unit = np.eye(len(inertia[0]))
    assert np.abs(inertia @ augury._inverse_inertia - unit).max() < 1e-13
    less = (
        inertia - s.dx**2 / 4 * augury.element_mass[:, None, None] * unit
    )  # half of the grid's part forgotten
    assert np.abs(less @ augury._inverse_inertia - unit).max() > 1e-3


@dimensions
def test_rigid_fields_of_nodes(d: int) -> None:
    """DS5: a constant field comes back as m_i times it; a spin too if there are no extra points."""
    rng = np.random.default_rng(3)
    t, w = rng.standard_normal(d), rng.standard_normal(1 if d == 2 else 3)
    for share in (0.3, 1.0):
        augury = Sample(d, share=share).augury
        mass = augury.node_mass[:, None]
        constant = np.broadcast_to(t, augury.nodes.shape)
        assert np.abs(augury.from_elements(*augury.rigid_parts(constant)) - mass * t).max() < 1e-13
        rigid = t + turned(w, augury.nodes)
        off = np.abs(augury.from_elements(*augury.rigid_parts(rigid)) - mass * rigid).max()
        assert off < 1e-12 if share == 1 else off > 1e-6
