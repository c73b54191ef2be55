"""How much memory a picture or a film takes, and whether the machine has it; known before it is drawn."""

from __future__ import annotations

import numpy as np

from continua.errors import OutputError
from continua.io.export import in_space
from continua.io.frames import Frame
from continua.io.machine import as_bytes, available_memory
from continua.render.splat import BAND, KEPT_BANDS
from continua.render.view import View

# Measured, in bytes: per pixel of the picture, of the band that is drawn at once, per particle, and per strand point.
FLAT_PIXEL, FLAT_COLLIDER, FLAT_PARTICLE = 7.2, 9, 130
IMAGE, LEGEND, STAGE = 3, 10, 35
PIXEL, COLLIDER_PIXEL, SKIN_PIXEL, PARTICLE, STRAND_POINT = 420, 1100, 800, 105, 200
ENCODER, ENCODED_PIXEL, ENCODED_FRAMES = 62e6, 5, 43


def picture_memory(view: View, frame: Frame) -> float:
    """Largest memory [bytes] that drawing and writing a frame takes beside the frame."""
    pixels = view.size[0] * view.size[1]
    particles = sum(len(body) for body in view.shown(frame))
    if view.dimension == 2:
        each = FLAT_PIXEL + (FLAT_COLLIDER if view.colliders else 0)
        return each * pixels + FLAT_PARTICLE * particles
    rows = max(min(BAND // view.size[0], view.size[1]), 1)
    band = rows * view.size[0]
    kept = pixels - band if pixels <= KEPT_BANDS * band else 0
    hair = sum(len(body) for body in view.shown(frame) if body.strands() is not None)
    points = PARTICLE * (particles - hair) + STRAND_POINT * hair
    work = _band_memory(view, frame, rows) + STAGE * kept + points
    return IMAGE * pixels + max(work, LEGEND * pixels)


def _band_memory(view: View, frame: Frame, rows: int) -> float:
    """Of a band of so many rows [bytes]: pixels that may show a collider or that show a mesh body take more."""
    width, height = view.size
    if any(collider.get("type") != "plane" for collider in view.colliders):
        return COLLIDER_PIXEL * rows * width
    total = 0.0
    for body in view.shown(frame):
        if (skin := body.skin()) is not None:
            seen, triangles = skin
            at, depth = view.camera.project(in_space(body.x[seen]), view.size)
            if not (depth > 0).all():
                return SKIN_PIXEL * rows * width
            a, b, c = np.moveaxis(np.clip(at, 0, (width, height))[triangles], 1, 0)
            shown = 0.25 * np.abs(_cross(b - a, c - a)).sum()  # half of their area: the back is hidden
            total += shown * min(rows / max(float(np.ptp(at[:, 1])), 1.0), 1.0)
    return PIXEL * rows * width + (SKIN_PIXEL - PIXEL) * min(total, rows * width)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products (N,) of vectors (N, 2)."""
    found: np.ndarray = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return found


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
