"""What a user of the Python API can cause is a `ContinuaError` with one sentence, whatever is passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import continua as ct
from continua.errors import ContinuaError
from continua.io import RunFolder

NONSENSE: list[Any] = ["a", float("nan"), -1, [], (1,), {}, np.zeros((2, 2)), 1e400, object()]
SETTINGS = [
    "precision",
    "transfer",
    "integrator",
    "kernel",
    "stress_transfer",
    "deformation",
    "dt",
    "force_dt",
    "cfl",
    "elastic_cfl",
    "seed",
]
BODY = ["velocity", "particles_per_cell", "sampling", "vary", "regions", "continuum"]
RUN = ["duration", "fps", "checkpoint_interval", "progress", "description"]
MESH = ["scripted", "drag", "damping", "contact", "vary", "regions"]


def world() -> tuple[ct.Simulation, ct.ParticleBody]:
    sim = ct.Simulation(0.1, (0, -9.81))
    return sim, sim.add(ct.shapes.Box((0, 0.5), (0.4, 0.4)), ct.materials.NeoHookean())


def set_(name: str) -> Callable[[Any], None]:
    return lambda value: setattr(world()[1], name, value)


def run(name: str) -> Callable[[Any], None]:
    return lambda value: world()[0].run(**({"duration": 1e-4} | {name: value}))


def add(name: str) -> Callable[[Any], Any]:
    box, material = ct.shapes.Box((0, 0.5), (0.4, 0.4)), ct.materials.NeoHookean()
    return lambda value: ct.Simulation(0.1, (0, -1)).add(box, material, **{name: value})


def mesh_body(name: str) -> Callable[[Any], Any]:
    mesh, material = ct.meshes.BoxMesh((0, 0), (1, 1), (2, 2)), ct.materials.NeoHookean()
    return lambda value: ct.SolidBody(mesh, material, **{name: value})


CALLS: dict[str, Callable[[Any], Any]] = {
    "dx": lambda value: ct.Simulation(value),
    "gravity": lambda value: ct.Simulation(0.1, value),
    **{name: lambda value, name=name: ct.Simulation(0.1, **{name: value}) for name in SETTINGS},
    **{f"add {name}": add(name) for name in BODY},
    **{f"run {name}": run(name) for name in RUN},
    **{f"solid {name}": mesh_body(name) for name in MESH},
    **{f"assign {name}": set_(name) for name in ("F", "C", "x", "v")},
    "set_threads": lambda value: ct.set_threads(value),
    "load_state": lambda value: world()[0].load_state(value),
    "remove": lambda value: world()[1].remove(value),
    "add": lambda value: world()[0].add(value),
    "output": lambda value: None if isinstance(value, str) else world()[0].run(1e-4, output=value),
    "force": lambda value: ct.BodyForce(value),
    "what a force gives": lambda value: _pushed(value),
    "E": lambda value: ct.materials.NeoHookean(E=value),
    "sphere": lambda value: ct.shapes.Sphere(value, value),
    "contact": lambda value: ct.Contact(value, value),
}


def _pushed(value: Any) -> None:
    sim, _ = world()
    sim.add(ct.BodyForce(lambda body, t: value))
    sim.step()


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_nonsense_is_a_sentence_or_accepted(call: str) -> None:
    for value in NONSENSE:
        try:
            CALLS[call](value)
        except ContinuaError as error:
            assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ct.Simulation("a"), "dx must be a finite number, not 'a'"),  # type: ignore[arg-type]
        (lambda: ct.Simulation(10**400), "dx must be a finite number"),
        (lambda: ct.Simulation(1e300), r"dx must lie between 1e-90 and 1e\+90 m, not 1e\+300"),
        (lambda: ct.Simulation(0.1, kernal="cubic"), "no argument called kernal; did you mean kernel?"),  # type: ignore[call-arg]
        (lambda: add("foo")(1), r"add\(\) of a body has no argument called foo; leave it out"),
        (lambda: run("frame")(1), r"run\(\) has no argument called frame; did you mean frames?"),
        (lambda: run("after_step")(3), "after_step must be a function, not 3"),
        (lambda: run("overwrite")("a"), "overwrite must be True or False, not 'a'"),
        (
            lambda: ct.SolidBody(ct.meshes.BoxMesh((0, 0), (1, 1), (2, 2)), None),
            "expected one of continua.mat",
        ),  # type: ignore[arg-type]
        (lambda: world()[0].load_state({"clock": np.zeros(2)}), "this is not a state of a simulation"),
        (lambda: world()[0].choose_dt("a"), "must be a finite number, not 'a'"),  # type: ignore[arg-type]
        (lambda: world()[0].choose_dt(-1), "must be a positive number, not -1"),
        (lambda: RunFolder(None), "not from None"),  # type: ignore[arg-type]
        (lambda: ct.Simulation(0.1, (True, False)), "gravity must be two or three numbers"),
        (lambda: ct.Simulation(0.1, ("0", "-9.81")), "gravity must be two or three numbers"),  # type: ignore[arg-type]
        (lambda: add("velocity")((True, False)), "a velocity must give numbers"),
        (lambda: set_("F")(None), "must be an array of numbers"),
        (lambda: set_("F")(1j * np.eye(2)), "must be an array of numbers"),
        (lambda: ct.Simulation(True), "dx must be a finite number, not True"),
        (lambda: ct.set_threads(0), "the number of threads must be a whole number of at least 1, not 0"),
        (lambda: ct.set_threads(10**6), "at most 1024"),
        (
            lambda: set_("F")(np.eye(3)),
            r"F of body \"body1\" must have the shape \(\d+, 2, 2\), not \(3, 3\)",
        ),
        (
            lambda: set_("x")(np.zeros((3, 2))),
            r"x of body \"body1\" must have the shape \(\d+, 2\), not \(3, 2\)",
        ),
    ],
)
def test_the_sentence_says_what_to_change(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(ContinuaError, match=said):
        call()


def test_arrays_can_be_assigned() -> None:
    _, body = world()
    body.x = body.x + 1
    body.v = (1.0, 2.0)
    body.F = np.eye(2)
    assert body.x.min() > 0.5 and (body.v == (1, 2)).all()
