"""Memory follows the particles and the blocks they occupy."""

from __future__ import annotations

import continua as ct


def test_a_snow_particle_takes_at_most_260_bytes_in_single_precision() -> None:
    sim = ct.Simulation(0.02, precision="single")
    body = sim.add(ct.shapes.Box((0, 0.2, 0), (0.4, 0.4, 0.4)), ct.materials.Snow())
    sim.step()
    (exchange,) = sim.steppers["main"].field.exchanges[0]
    sorting = 2 * exchange.order.order.nbytes  # and scratch of the same size
    needed = body.set.arrays.nbytes + body.set.next_arrays.nbytes + sorting
    assert needed <= body.nbytes <= 260 * len(body)


def test_the_grid_holds_only_occupied_blocks() -> None:
    def blocks(distance: float) -> int:
        sim = ct.Simulation(0.1, gravity=(0, 0, 0))
        for x in (0.0, distance):
            sim.add(ct.shapes.Sphere((x, 0, 0), 0.4), ct.materials.NeoHookean())
        sim.step()
        return sim.steppers["main"].field.grid.blocks

    near, far = blocks(40.0), blocks(4e5 / 10)  # 400 and 400 000 cells apart
    assert far == near < 200
