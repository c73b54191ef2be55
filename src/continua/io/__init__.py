"""Run folders: frames, checkpoints and diagnostics on disk, and exports of them."""

from __future__ import annotations

from continua.io.checkpoint import Checkpoint
from continua.io.export import export
from continua.io.folder import Recorder, RunFolder, is_run
from continua.io.frames import BodyFrame, Frame
from continua.io.machine import machine
from continua.io.surface import mesh

__all__ = ["BodyFrame", "Checkpoint", "Frame", "Recorder", "RunFolder", "export", "is_run", "machine", "mesh"]
