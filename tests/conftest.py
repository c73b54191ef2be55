"""For all tests: threads sleep while they wait, so that small problems stay fast on a busy machine.

Tests that run side by side (`make test`) take one thread each; those about threads ask for more with `ct.set_threads`.
This file also puts its folder on the path, so that tests can `import grid_driver`.
"""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if "PYTEST_XDIST_WORKER" in os.environ:  # read when the core is loaded, which is later
    os.environ.setdefault("OMP_NUM_THREADS", "1")
