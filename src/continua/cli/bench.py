"""`continua bench`."""

from __future__ import annotations

import json

from continua.cli import text
from continua.cli.run import set_threads


def bench(*, particles: int, precision: str, threads: int | None, as_json: bool) -> int:
    """Measure and print rows of numbers."""
    set_threads(threads)
    from continua import benchmark

    rows = [dict(row) for row in benchmark.run(particles=particles, precision=precision)]
    if as_json:
        print(json.dumps(rows))
        return 0
    if not rows:
        print("nothing was measured")
        return 0
    names = list(rows[0])
    cells = [[cell(row.get(name)) for name in names] for row in rows]
    for line in text.columns([names, *cells]):
        print(line)
    return 0


def cell(value: object) -> str:
    """Text of one number or word."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return text.count(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)
