"""Wrong arguments never reach the kernels of an implicit step: they raise and name the argument."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from implicit_driver import FIXED, strained

from continua import _core

AT = strained(FIXED, 2, "quadratic")
V = AT.quads(np.zeros_like(AT.driver.nodes))
FEWER = _core.Order()
FEWER.sort(AT.body.set.arrays.x, AT.body.count - 1, AT.field.lattice, 2, 2)
CALLS = {
    "implicit_energy": {**AT.place, **AT.law, "links": AT.links, "velocity": V},
    "implicit_forces": {
        **AT.place,
        **AT.law,
        "links": AT.links,
        "velocity": V,
        "add": False,
        "nodes": AT.nodes(),
    },
    "implicit_prepare": {
        **AT.place,
        **AT.law,
        "links": AT.links,
        "velocity": V,
        "positive": True,
        "tangents": np.zeros((13, AT.body.set.arrays.capacity)),
    },
    "implicit_product": {
        **AT.place,
        "links": AT.links,
        "direction": V,
        "tangents": np.zeros((13, AT.body.set.arrays.capacity)),
        "add": False,
        "nodes": AT.nodes(),
    },
    "implicit_diagonal": {**AT.place, **AT.law, "links": AT.links, "add": False, "nodes": AT.nodes()},
    "implicit_positions": {
        **AT.place,
        "dt": 0.01,
        "out": AT.body.set.next_arrays,
        "keys": AT.field.grid.keys,
        "velocity": V,
    },
}
WRONG = {
    "degree": 4,
    "dimension": 4,
    "dt": -1.0,
    "material": "chocolate",
    "links": _core.link_blocks(AT.place["order"], AT.field.grid.keys[:-1], AT.field.lattice, 2),
    "velocity": V.astype(np.float32),
    "direction": V[:, :-1].copy(),
    "nodes": AT.nodes()[:, :-1].copy(),
    "tangents": np.zeros((12, AT.body.set.arrays.capacity)),
    "out": AT.body.set.arrays,
    "keys": AT.field.grid.keys[::-1].copy(),
    "order": FEWER,
    "parameters": SimpleNamespace(values=np.zeros(1), rows=np.zeros(1, np.int32)),
    "lattice": SimpleNamespace(dx=0.0, origin=np.zeros(2), period=np.zeros(2, np.int32)),
}
PAIRS = [(call, name) for call, given in CALLS.items() for name in WRONG if name in given]
WRITERS = [call for call, given in CALLS.items() if "nodes" in given]


@pytest.mark.parametrize("call", CALLS)
def test_right_arguments_pass(call: str) -> None:
    getattr(_core, call)(**CALLS[call])
    written = [CALLS[call][name] for name in ("nodes", "tangents") if name in CALLS[call]]
    assert all(np.isfinite(array).all() for array in written)


@pytest.mark.parametrize(("call", "name"), PAIRS)
def test_a_wrong_argument_is_named(call: str, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        getattr(_core, call)(**(CALLS[call] | {name: WRONG[name]}))


@pytest.mark.parametrize("call", WRITERS)
def test_nodes_are_those_of_the_grid(call: str) -> None:
    """Of its number type, all of its blocks, in one piece; links that are arrays are none."""
    right = AT.nodes()
    for nodes in (
        right.astype(np.float32),
        right[:-1],
        np.asfortranarray(right),
        right[..., :3].copy(),
        None,
    ):
        with pytest.raises((ValueError, TypeError), match="nodes"):
            getattr(_core, call)(**(CALLS[call] | {"nodes": nodes}))
    with pytest.raises(TypeError, match="links"):
        getattr(_core, call)(**(CALLS[call] | {"links": AT.links.reach}))


def test_a_product_is_not_written_over_its_direction() -> None:
    with pytest.raises(ValueError, match="nodes"):
        _core.implicit_product(**(CALLS["implicit_product"] | {"nodes": V}))


@pytest.mark.parametrize("call", WRITERS)
def test_sums_are_added_to_what_is_there_on_request(call: str) -> None:
    rng = np.random.default_rng(0)
    field = rng.normal(size=V.shape)
    given = CALLS[call] | {name: field for name in ("velocity", "direction") if name in CALLS[call]}
    if "tangents" in given:
        given["tangents"] = rng.normal(size=given["tangents"].shape)
    there = rng.normal(size=V.shape)
    alone, both = AT.nodes(), there.copy()
    getattr(_core, call)(**(given | {"nodes": alone}))
    getattr(_core, call)(**(given | {"nodes": both, "add": True}))
    assert np.abs(alone).max() > 0
    np.testing.assert_allclose(both, there + alone, rtol=0, atol=1e-14 * (1 + np.abs(alone).max()))


@pytest.mark.parametrize("dt", [0.0, np.nan, np.inf])
def test_time_steps_must_be_positive(dt: float) -> None:
    with pytest.raises(ValueError, match="dt"):
        _core.implicit_energy(**(CALLS["implicit_energy"] | {"dt": dt}))


def test_materials_without_a_model_are_refused() -> None:
    with pytest.raises(ValueError, match="material"):
        _core.implicit_energy(**(CALLS["implicit_energy"] | {"material": ""}))
    with pytest.raises(ValueError, match="material"):
        _core.tangent_rows("chocolate", 2)


def test_linear_splines_have_no_implicit_positions() -> None:
    with pytest.raises(ValueError, match="degree"):
        _core.implicit_positions(**(CALLS["implicit_positions"] | {"degree": 1}))
