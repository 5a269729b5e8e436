"""The kinds of records, one file each; the list is the list of files."""

import importlib
import pkgutil

from mnlearn_studies.records.kind import Kind

# The order of the rows of scores; kinds that are not named here come after them.
_FIRST = ("data", "partitions", "queries", "parts", "models", "paired", "cells", "times", "curves")


def _load() -> dict[str, Kind]:
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    ordered = [*_FIRST, *(name for name in sorted(names) if name not in _FIRST)]
    return {name: importlib.import_module(f"{__name__}.{name}").KIND for name in ordered}


KINDS = _load()
# Those that studies ask for by themselves.
ASKED = tuple(name for name, kind in KINDS.items() if kind.is_asked)
