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
    "implicit_forces": {**AT.place, **AT.law, "links": AT.links, "velocity": V, "tiles": AT.tiles()},
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
        "tiles": AT.tiles(),
    },
    "implicit_diagonal": {**AT.place, **AT.law, "tiles": AT.tiles()},
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
    "tiles": AT.tiles()[:, :-1].copy(),
    "tangents": np.zeros((12, AT.body.set.arrays.capacity)),
    "out": AT.body.set.arrays,
    "keys": AT.field.grid.keys[::-1].copy(),
    "order": FEWER,
    "parameters": SimpleNamespace(values=np.zeros(1), rows=np.zeros(1, np.int32)),
    "lattice": SimpleNamespace(dx=0.0, origin=np.zeros(2), period=np.zeros(2, np.int32)),
}
PAIRS = [(call, name) for call, given in CALLS.items() for name in WRONG if name in given]


@pytest.mark.parametrize("call", CALLS)
def test_right_arguments_pass(call: str) -> None:
    getattr(_core, call)(**CALLS[call])
    written = [CALLS[call][name] for name in ("tiles", "tangents") if name in CALLS[call]]
    assert all(np.isfinite(array).all() for array in written)


@pytest.mark.parametrize(("call", "name"), PAIRS)
def test_a_wrong_argument_is_named(call: str, name: str) -> None:
    with pytest.raises((ValueError, TypeError), match=name):
        getattr(_core, call)(**(CALLS[call] | {name: WRONG[name]}))


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
