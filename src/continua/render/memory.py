"""How much memory a picture or a film takes, and whether the machine has it; known before it is drawn."""

from __future__ import annotations

from continua.errors import OutputError
from continua.io.frames import Frame
from continua.io.machine import as_bytes, available_memory
from continua.render.splat import BAND, KEPT_BANDS
from continua.render.view import View

# Measured, in bytes: per pixel of the picture, of the band that is drawn at once, and per particle.
FLAT_PIXEL, FLAT_COLLIDER, FLAT_PARTICLE = 7.2, 9, 130
IMAGE, LEGEND, STAGE = 3, 10, 35
PIXEL, SOLID_PIXEL, PARTICLE = 440, 1100, 105
ENCODER, ENCODED_PIXEL, ENCODED_FRAMES = 62e6, 5, 43


def picture_memory(view: View, frame: Frame) -> float:
    """Largest memory [bytes] that drawing and writing a frame takes beside the frame."""
    pixels = view.size[0] * view.size[1]
    particles = sum(len(body) for body in view.shown(frame))
    if view.dimension == 2:
        each = FLAT_PIXEL + (FLAT_COLLIDER if view.colliders else 0)
        return each * pixels + FLAT_PARTICLE * particles
    band = max(min(BAND // view.size[0], view.size[1]), 1) * view.size[0]
    solid = any(collider.get("type") != "plane" for collider in view.colliders)
    solid = solid or any(body.cells is not None for body in view.shown(frame))
    kept = pixels - band if pixels <= KEPT_BANDS * band else 0
    work = (SOLID_PIXEL if solid else PIXEL) * band + STAGE * kept + PARTICLE * particles
    return IMAGE * pixels + max(work, LEGEND * pixels)


def film_memory(view: View, frame: Frame, frames: int, workers: int) -> float:
    """Largest memory [bytes] of a film of so many frames, of which several are drawn at once, with its encoder."""
    pixels = view.size[0] * view.size[1]
    encoder = ENCODER + ENCODED_PIXEL * pixels * min(frames, ENCODED_FRAMES)
    return workers * picture_memory(view, frame) + IMAGE * pixels + encoder


def check_memory(what: str, size: tuple[int, int], needed: float) -> None:
    """Refuse a picture or film that would not fit into memory."""
    free = available_memory()
    if free is not None and needed > free:
        smaller = (free / needed) ** 0.5
        fitting = f"{int(smaller * size[0])}x{int(smaller * size[1])}"
        raise OutputError(
            f"a {what} of {size[0]}x{size[1]} pixels needs about {as_bytes(needed)} of memory, but {as_bytes(free)} "
            f"are free; choose a smaller size (about {fitting} fits)"
        )
