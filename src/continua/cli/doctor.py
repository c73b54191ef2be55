"""`continua doctor`: is everything there, does it work."""

from __future__ import annotations

import json
import os
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import metadata, util

from continua.cli import text
from continua.cli.failures import explain

REQUIRED = ("numpy", "pydantic", "typer", "rich")
EXTRAS = {
    "render": {"matplotlib": "matplotlib", "pillow": "PIL", "imageio-ffmpeg": "imageio_ffmpeg"},
    "mesh": {"pysplashsurf": "pysplashsurf"},
    "usd": {"usd-core": "pxr"},
    "contact": {"ipctk": "ipctk"},
}


@dataclass
class Check:
    """One line of the report: `state` is ok, missing (optional part) or failed."""

    name: str
    state: str
    text: str


def doctor(*, as_json: bool) -> int:
    """Run every check and print a line for each; fails if something needed is broken."""
    checks: list[Check] = []
    for check in (python, core, memory, temporary, *[extra(name) for name in EXTRAS], smoke):
        result = attempt(check)
        checks.append(result)
        if not as_json:
            print(f"{result.state:<8}{result.name:<14}{result.text}", flush=True)
    failed = [check.name for check in checks if check.state == "failed"]
    if as_json:
        print(json.dumps({"ok": not failed, "checks": [asdict(check) for check in checks]}))
    elif failed:
        print(f"\nNot well: {', '.join(failed)}.")
    else:
        print("\nAll well.")
    return 1 if failed else 0


def attempt(check: Callable[[], Check]) -> Check:
    """Result of a check; one that raises has failed."""
    try:
        return check()
    except Exception as error:
        return Check(check.__name__, "failed", explain(error)[0])


def version() -> str:
    """Version of Continua."""
    try:
        return metadata.version("continua")
    except metadata.PackageNotFoundError:
        return "unknown (not installed)"


def python() -> Check:
    """Interpreter and required packages."""
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in REQUIRED)
    return Check("python", "ok", f"continua {version()}, Python {platform.python_version()}, {packages}")


def core() -> Check:
    """The compiled part: how it was built and how many threads it uses."""
    try:
        from continua import _core
    except ImportError as error:
        if error.name == "continua._core":  # it says what to do
            return Check("core", "failed", str(error))
        advice = 'build it with "pip install ." in the source folder'
        return Check("core", "failed", f"the compiled core cannot be loaded ({error}); {advice}")
    facts = _core.build_info()
    return Check("core", "ok", ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in facts.items()))


def memory() -> Check:
    """Cores and memory of the machine."""
    from continua.io import machine

    facts = machine()
    size = f", {text.memory(facts['memory'])} memory" if facts["memory"] else ""
    return Check(
        "machine", "ok", f"{facts['cpu']}, {text.plural(facts['cores'], 'core')}{size}, {facts['os']}"
    )


def temporary() -> Check:
    """A folder for temporary files that can be written."""
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "probe"), "wb") as file:
        file.write(b"continua")
    return Check("temporary", "ok", f"{tempfile.gettempdir()} can be written")


def extra(name: str) -> Callable[[], Check]:
    """Check for the libraries of one extra, without importing them."""

    def check() -> Check:
        parts = EXTRAS[name]
        absent = [library for library, module in parts.items() if util.find_spec(module) is None]
        if absent:
            return Check(
                name, "missing", f'{", ".join(absent)}; install with: pip install "continua[{name}]"'
            )
        return Check(name, "ok", ", ".join(f"{library} {metadata.version(library)}" for library in parts))

    return check


def smoke(limit: float = 1.0) -> Check:
    """A ball in free fall for at most a second: it must fall with gravity."""
    from continua.geometry.shapes import Sphere
    from continua.materials import FixedCorotated
    from continua.simulation import Simulation

    simulation = Simulation(0.05, (0.0, -9.81))
    ball = simulation.add(Sphere((0.0, 1.0), 0.3), FixedCorotated(E=1e4))
    start = time.perf_counter()
    while simulation.steps < 200 and time.perf_counter() - start < limit:
        simulation.step()
    speed = float(ball.v[:, 1].mean())
    expected = -9.81 * simulation.time
    steps = text.plural(simulation.steps, "step")
    if not abs(speed - expected) < 1e-3 * abs(expected):
        return Check(
            "simulation", "failed", f"after {steps} a falling ball has {speed:g} m/s, not {expected:g} m/s"
        )
    return Check(
        "simulation", "ok", f"{steps}, {text.plural(simulation.particles, 'particle')}, fell as it should"
    )
