"""Print pip constraints for the oldest version of every package that pyproject.toml allows.

`make test-oldest` installs with them, so that a lower bound that is too low is found by a test and not by a user.
"""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# "name>=oldest,<next; marker"; the name in front keeps requires-python out
REQUIREMENT = re.compile(r'"(?P<name>[\w.-]+)>=(?P<oldest>[\d.]+)[^";]*(?P<marker>;[^"]*)?"')

for found in REQUIREMENT.finditer(PROJECT.read_text(encoding="utf-8")):
    print(f"{found['name']}=={found['oldest']}{found['marker'] or ''}")
