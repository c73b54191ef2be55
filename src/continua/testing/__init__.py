"""Does a material obey the rules that the solvers rely on? `check_material` measures it.

    report = check_material(MyMaterial())
    print(report)                # one line per rule: measured value, tolerance, verdict
    report.raise_if_failed()

Works for built-in materials and for `continua.materials.PythonMaterial`. A material that yields may offer
`yield_function(F, state) -> (N,)`, not positive where a state is admissible; then the result of `project` is held
against it.
"""

from continua.testing.check import check_material
from continua.testing.report import Gate, Report

__all__ = ["Gate", "Report", "check_material"]
