"""Continua and contacts: which bodies share a velocity field, and what happens where fields meet."""

from continua.bodies.body import MAIN
from continua.continuum.settings import Contact, Continuum

__all__ = ["MAIN", "Contact", "Continuum"]
