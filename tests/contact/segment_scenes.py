"""Segments for tests, and distances found in a plain way."""

from __future__ import annotations

import numpy as np


def loose(rng, length, side=2.0):
    """Vertices and segments of given lengths (M,), anywhere in a box and in any direction."""
    count = len(length)
    way = rng.normal(size=(count, 3))
    way *= (length / np.linalg.norm(way, axis=1))[:, None]
    start = rng.uniform(0, side, (count, 3))
    return np.concatenate([start, start + way]), np.stack(
        [np.arange(count), count + np.arange(count)], axis=1
    )


def chains(rng, strands, segments, length, side):
    """Vertices and segments of smooth random strands in a box."""
    turn = 0.3 * rng.normal(size=(strands, segments, 3))
    way = rng.normal(size=(strands, 1, 3)) + np.cumsum(turn, axis=1)
    way *= length / np.linalg.norm(way, axis=2, keepdims=True)
    start = rng.uniform(0, side, (strands, 1, 3))
    x = np.concatenate([start, start + np.cumsum(way, axis=1)], axis=1).reshape(-1, 3)
    first = np.arange(len(x)).reshape(strands, -1)[:, :-1].ravel()
    return x, np.stack([first, first + 1], axis=1)


def distances(x, segments, pairs):
    """Of pairs (P, 2) of segments: the least over the sides of the square of parameters and its inside."""
    p, q = x[segments[pairs[:, 0]]], x[segments[pairs[:, 1]]]
    u, w, r = p[:, 1] - p[:, 0], q[:, 1] - q[:, 0], q[:, 0] - p[:, 0]
    uu, uw, ww, ur, wr = (np.einsum("pa,pa->p", *two) for two in ((u, u), (u, w), (w, w), (u, r), (w, r)))
    zero, one = np.zeros(len(pairs)), np.ones(len(pairs))
    with np.errstate(invalid="ignore", divide="ignore"):
        places = [(ur / uu, zero), ((ur + uw) / uu, one), (zero, -wr / ww), (one, (uw - wr) / ww)]
        a = (ur * ww - uw * wr) / (uu * ww - uw**2)
        b = (a * uw - wr) / ww
    inside = (a > 0) & (a < 1) & (b > 0) & (b < 1)
    places.append((np.where(inside, a, 0), np.where(inside, b, 0)))
    least = np.full(len(pairs), np.inf)
    for s, t in places:
        s, t = (np.clip(np.nan_to_num(k), 0, 1)[:, None] for k in (s, t))
        least = np.minimum(least, np.linalg.norm(r + t * w - s * u, axis=1))
    return least


def all_pairs(segments):
    """Of segments without a common vertex, ascending."""
    pairs = np.stack(np.triu_indices(len(segments), 1), axis=1)
    common = (segments[pairs[:, 0], :, None] == segments[pairs[:, 1], None, :]).any(axis=(1, 2))
    return pairs[~common]


def close_pairs(x, segments, distance):
    """All pairs closer than a distance, ascending, and how close all pairs are to that limit."""
    pairs = all_pairs(segments)
    found = distances(x, segments, pairs)
    return pairs[found < distance], np.abs(found - distance).min()
