"""Bodies: what moves, where it starts and how fast."""
