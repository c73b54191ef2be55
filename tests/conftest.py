"""For all tests: threads sleep while they wait, so that small problems stay fast on a busy machine.

This file also puts its folder on the path, so that tests can `import grid_driver`.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
