"""Check that every contender computes the same motion as the NumPy reference; see README.md.

    python benchmarks/check_peers.py                  # all contenders that are installed
    python benchmarks/check_peers.py taichi warp      # these, which must be installed

After 5 steps of 4096 particles, the largest difference from float64 NumPy must be below 1e-4 of the largest
velocity, and below 1e-4 grid cells in position.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np
from measure import DX, Contender, build, installed
from numpy.typing import NDArray
from peers import scene

NAMES = ("taichi", "warp", "numba", "numba_tuned", "continua")
MATERIALS = ("fixed-corotated", "neo-hookean")
PARTICLES, STEPS = 4096, 5
TOLERANCE = 1e-4


def largest(a: NDArray[np.floating]) -> float:
    """Largest magnitude in an array; not a number if any entry is none."""
    return float(np.abs(a.astype(np.float64)).max())


def check(name: str, material: str, threads: int) -> tuple[float, float]:
    """Differences from the reference after a few steps: velocity (relative), position (in cells)."""
    contender = Contender(name, PARTICLES, material, threads)
    peer, reference = build(contender), build(replace(contender, name="numpy"))
    start_v = scene.cube(PARTICLES, DX)[1]
    for run in (peer, reference):
        run.step(STEPS)
    scale = largest(reference.v())
    # A wrong force must not hide behind the initial motion: much of the velocity has to come from forces.
    assert largest(reference.v() - start_v) > 0.3 * scale
    return largest(peer.v() - reference.v()) / scale, largest(peer.x() - reference.x()) / DX


def main() -> None:
    """Check the contenders named on the command line, or all that are installed."""
    parser = argparse.ArgumentParser(description="Agreement of all contenders with the NumPy reference.")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="default: those installed")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    failed = False
    for name in options.names or NAMES:
        if not installed(name):
            print(f"{name:<11s} not installed")
            failed |= bool(options.names)
            continue
        for material in MATERIALS:
            v, x = check(name, material, options.threads)
            agrees = max(v, x) < TOLERANCE
            failed |= not agrees
            print(f"{name:<11s} {material:<16s} v {v:.1e}  x {x:.1e}  {'agrees' if agrees else 'DIFFERS'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
