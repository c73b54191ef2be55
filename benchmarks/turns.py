"""Worlds that take turns, each in its own process and tree, so that a busy machine disturbs all of them alike.

A tree is a checkout with an interpreter of its own in .venv or .dev, or the path of an interpreter.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class Turn:
    """A process that holds one world of `worlds.py` in one tree, and waits."""

    def __init__(self, tree: Path, world: Mapping[str, Any]) -> None:
        script = Path(__file__).with_name("worlds.py")
        words = [str(interpreter(tree)), str(script), json.dumps(dict(world))]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        about = self._answer()
        self.particles = int(about["particles"])
        home = Path(about["continua"]).resolve()
        if tree.is_dir() and tree.resolve() not in home.parents:
            sys.exit(f"the interpreter of {tree} imports {home}, which is another tree")

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args} has ended")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, **wish: Any) -> dict[str, Any]:
        """Answer of the process to a wish, such as steps=10."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(wish) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass(frozen=True)
class Spread:
    """Median of some numbers and their quartiles."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Spread:
        """Of at least one number."""
        return cls(*(statistics.quantiles(numbers, n=4) if len(numbers) > 1 else [numbers[0]] * 3))

    def __str__(self) -> str:
        return f"{self.median:.3f} ({self.low:.3f}-{self.high:.3f})"


def interpreter(tree: Path) -> Path:
    """Python of a tree, or the path itself if it is one."""
    if tree.is_file():
        return tree
    for folder in (".dev", ".venv"):
        if (tree / folder / "bin/python").exists():
            return (tree / folder / "bin/python").absolute()
    sys.exit(f"{tree} has no .dev/bin/python or .venv/bin/python; give the path of an interpreter")


def alternate(pair: Sequence[Turn], rounds: int, seconds: float) -> list[list[dict[str, Any]]]:
    """Let two worlds take turns, the first one alternating: their answers, round by round.

    A turn lasts about that many seconds: worlds of one size take as many steps as the faster one does in this time, so
    that both do the same; of worlds of two sizes each takes its own number.
    """
    step = [min(turn.ask(steps=1)["wall"] for _ in range(2)) for turn in pair]
    if pair[0].particles == pair[1].particles:
        step = [min(step)] * 2
    counts = [max(1, round(seconds / s)) for s in step]
    return [in_turn(pair, number, [{"steps": count} for count in counts]) for number in range(rounds)]


def in_turn(pair: Sequence[Turn], number: int, wishes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Answers of two worlds to a wish each; who begins depends on the number of the round."""
    answers: list[dict[str, Any]] = [{}, {}]
    for which in (0, 1) if number % 2 == 0 else (1, 0):
        answers[which] = pair[which].ask(**wishes[which])
    return answers


def machine() -> dict[str, Any]:
    """Processor, cores and load, so that numbers can be read later."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    flags = next((line for line in lines if line.startswith("flags")), "")
    return {
        "processor": names[0] if names else platform.processor(),
        "widest": "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "unknown",
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }
