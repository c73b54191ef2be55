"""How long a run lasts and when its frames are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from continua._validation import positive_number, whole_number
from continua.errors import SetupError

_ROUNDING = 1e-9  # of a frame: less than this is no frame of its own


def frame_count(duration: float, fps: float) -> int:
    """Frames after the initial one in `duration` [s] at `fps` [1/s]; the last may be shorter than the others."""
    frames = duration * fps
    nearest = round(frames)
    whole = abs(frames - nearest) <= _ROUNDING * max(nearest, 1)
    return max(1, nearest if whole else math.ceil(frames))


@dataclass(frozen=True)
class RunPlan:
    """Simulated time [s], frames per simulated second [1/s], and frames between checkpoints.

    A frame ends at every multiple of 1 / fps and the last one where the duration does.
    """

    duration: float
    fps: float
    checkpoint_interval: int

    @classmethod
    def of(cls, duration: Any, frames: Any, fps: Any, interval: Any) -> RunPlan:
        """From a duration [s] or a number of frames."""
        fps = positive_number("fps", fps, SetupError)
        interval = whole_number("checkpoint_interval", interval, SetupError, least=1)
        if (frames is None) == (duration is None):
            raise SetupError("a run needs either a duration in seconds or a number of frames, and not both")
        if frames is not None:
            duration = whole_number("frames", frames, SetupError, least=1) / fps
        duration = positive_number("duration", duration, SetupError)
        if not duration * fps < 2**31:
            raise SetupError(f"a run of {duration:g} s at {fps:g} frames per second has too many frames")
        return cls(duration, fps, interval)

    @property
    def frames(self) -> int:
        """Number of frames after the initial one."""
        return frame_count(self.duration, self.fps)

    def end(self, frame: int) -> float:
        """When a frame ends, from the start of the run [s]."""
        return self.duration if frame == self.frames else frame / self.fps

    def is_short(self, frame: int) -> bool:
        """Whether a frame ends before a multiple of 1 / fps; only the last one may."""
        return frame == self.frames and self.duration * self.fps < frame * (1 - _ROUNDING)
