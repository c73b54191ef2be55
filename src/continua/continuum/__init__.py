"""Continua and contacts: which bodies share a velocity field, and what happens where fields meet."""

from continua.continuum.settings import MAIN, Contact, Continuum

__all__ = ["MAIN", "Contact", "Continuum"]
