"""The kinds of records, one file each; the list is the list of files."""

from mnlearn_studies.records.kind import Kind
from mnlearn_studies.study.kinds import load_kinds

# The order of the rows of scores; kinds that are not named here come after them.
_FIRST = ("data", "partitions", "queries", "parts", "models", "paired", "cells", "times", "curves")
_LOADED = {each.name: each() for each in load_kinds(__name__, Kind)}
KINDS = {name: _LOADED[name] for name in dict.fromkeys((*_FIRST, *_LOADED))}
# Those that studies ask for by themselves.
ASKED = tuple(name for name, kind in KINDS.items() if kind.is_asked)
# Those that studies name under the key `records`.
NAMED = tuple(name for name, kind in KINDS.items() if type(kind).asked is Kind.asked)
