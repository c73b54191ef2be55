"""The command line as a user meets it: a process, its exit code and what it prints."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from cli_process import COMMAND, TINY, Call, environment


@pytest.fixture
def cli(tmp_path: Path) -> Call:
    """Run `continua ARGUMENTS` in an empty folder. No command may ever print a traceback."""

    def call(*arguments: object, **extra: str) -> subprocess.CompletedProcess[str]:
        words = [*COMMAND, *map(str, arguments)]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment(**extra), capture_output=True, text=True, timeout=120
        )
        if not extra.get("CONTINUA_TRACEBACK"):
            assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    return call


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A scene file that runs in a moment."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path
