"""Print a constraints file: the lowest version of each requirement in pyproject.toml."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
optional = project["optional-dependencies"]
for requirement in [*project["dependencies"], *optional["study"], *optional["dev"]]:
    lowest = re.match(r"([\w.-]+)>=([\w.]+)", requirement)
    if lowest:
        print("{}=={}".format(*lowest.groups()))
