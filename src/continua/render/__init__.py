"""Pictures, films and plots of run folders."""

from __future__ import annotations

from continua.render.camera import Camera
from continua.render.film import Film, film
from continua.render.plots import plots
from continua.render.still import Picture, still, still_of_run

__all__ = ["Camera", "Film", "Picture", "film", "plots", "still", "still_of_run"]
