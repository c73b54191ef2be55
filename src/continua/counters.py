"""Work that steppers have counted so far: iterations and seconds, which go on where a run is resumed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from continua.simulation import Simulation

PREFIX = "counter/"
TOTAL = "total_"


def counters(sim: Simulation) -> dict[str, NDArray]:
    """Every count by name, for a checkpoint."""
    found = {
        f"{PREFIX}{owner}/{name}": np.array(table[name])
        for owner, table in _tables(sim)
        for name in table
        if owner.endswith("/seconds") or name.startswith(TOTAL)
    }
    if sim.world.free_meshes:
        found[f"{PREFIX}meshes"] = np.array(sim.mesh_stepper.seconds)
    return found


def restore_counters(sim: Simulation, state: Mapping[str, NDArray]) -> None:
    """Inverse of `counters`; counts that are not in the state begin at zero."""
    tables = dict(_tables(sim))
    for key, value in state.items():
        owner, _, name = key.removeprefix(PREFIX).rpartition("/")
        if key.startswith(PREFIX) and owner in tables:
            tables[owner][name] = float(value)
    if sim.world.free_meshes:
        sim.mesh_stepper.seconds = float(state.get(f"{PREFIX}meshes", 0.0))


def _tables(sim: Simulation) -> Iterator[tuple[str, MutableMapping[str, float]]]:
    for name, stepper in sim.steppers.items():
        yield f"continuum {name}/report", stepper.report
        yield f"continuum {name}/seconds", stepper.seconds
    if sim.world.free_meshes:
        yield "meshes/report", sim.mesh_stepper.report
