"""Colliders, boundaries and how they move."""
