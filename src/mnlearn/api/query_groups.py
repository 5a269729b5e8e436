"""Query groups: variables that are asked for together."""

from collections.abc import Iterable
from typing import Any

from mnlearn.api.inputs import to_count
from mnlearn.inference.evidence import find_variable
from mnlearn.inference.query_groups import Groups, random_partition
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from mnlearn.variables.schema import Schema


def draw_groups(n_vars: int, folds: int, seed: int) -> Groups:
    """Return random query groups of equal numbers of variables, as far as possible."""
    return random_partition(n_vars, to_count(folds, "folds"), stream(seed, "query groups"))


def find_groups(given: Any, schema: Schema, where: str) -> Groups:
    """Return the query groups that a person gives.

    given : Names or numbers of variables.
    where : Where the groups come from, for messages.
    """
    lists = _lists_of(given, where)
    groups = [[find_variable(schema, v, where) for v in names] for names in lists]
    group_of: dict[int, int] = {}
    for k, group in enumerate(groups):
        for v in group:
            if v in group_of:
                place = "twice in one group" if group_of[v] == k else "in two groups"
                raise InputError(f"{where}: the variable {schema.names[v]!r} is {place}.")
            group_of[v] = k
    return groups


def _lists_of(given: Any, where: str) -> list[list[Any]]:
    """Return query groups as lists, each of at least one variable."""
    groups = list(given) if _is_list(given) else []
    if all(map(_is_list, groups)):
        lists = [list(group) for group in groups]
        if lists and all(lists):
            return lists
    raise InputError(f"{where}: expected lists of variables, at least one in each, got {given!r}.")


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str)
