"""One material point, driven through a deformation history: what a laboratory does to a specimen.

    history = drive(continua.materials.Snow(), compress(0.2))
    print(history.summary())

`continua material-test` is this module on the command line.
"""

from continua.pointtest.defaults import default_path
from continua.pointtest.driving import drive
from continua.pointtest.history import History, Summary
from continua.pointtest.paths import (
    PATHS,
    Path,
    biaxial,
    compress,
    confined,
    relax,
    shear,
    triaxial,
    uniaxial,
)
from continua.pointtest.tables import read_path

__all__ = [
    "PATHS",
    "History",
    "Path",
    "Summary",
    "biaxial",
    "compress",
    "confined",
    "default_path",
    "drive",
    "read_path",
    "relax",
    "shear",
    "triaxial",
    "uniaxial",
]
