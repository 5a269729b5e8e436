"""Query groups: variables that are asked for together, of which each may have several columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mnlearn.api.inputs import find_variable, to_count
from mnlearn.data.dataset import Dataset
from mnlearn.data.domains import domains_of
from mnlearn.inference.query_groups import random_partition
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of
from mnlearn.runtime.random_streams import stream

# Numbers of columns.
QueryGroups = list[list[int]]


def columns_by_variable(model: Any, data: Dataset) -> dict[str, list[int]]:
    """Return the columns of each variable by name: several, if all examples have one 1 in them.

    The names of the columns or the groups of the model or of the data say which may be one
    variable. A group whose names do not has the name of its first column.
    """
    found: dict[str, list[int]] = {}
    labels = labels_of(model.names, model.n_vars)
    for name, columns in _may_be_variables(model, labels, data.groups):
        # Names alone may mislead: a person may have bought `fruit=apple` and `fruit=pear`.
        if len(columns) == 1 or (data.rows[:, columns].sum(axis=1) == 1).all():
            found[name] = columns
        else:
            found |= {labels[c]: [c] for c in columns}
    return found


def _may_be_variables(
    model: Any, labels: Sequence[str], groups: Sequence[Sequence[int]]
) -> list[tuple[str, list[int]]]:
    """Return names and columns of what may be variables, in the order of their first columns.

    groups : those of the data.
    """
    named = {name: list(domain.columns) for name, domain in domains_of(model).items()}
    several = {name: columns for name, columns in named.items() if len(columns) > 1}
    taken = {c for columns in several.values() for c in columns}
    for group in (*_groups_of(model), *groups):
        if taken.isdisjoint(group):
            several[labels[min(group)]] = sorted(group)
            taken.update(group)
    alone = {name: columns for name, columns in named.items() if taken.isdisjoint(columns)}
    return sorted((several | alone).items(), key=lambda one: one[1][0])


def _groups_of(model: Any) -> Sequence[Sequence[int]]:
    """Return the columns of each variable of several values, as far as the model knows."""
    groups: Sequence[Sequence[int]] = model.schema.several
    return groups


def draw_groups(variables: Mapping[str, list[int]], folds: int, seed: int) -> QueryGroups:
    """Return random query groups of equal numbers of variables, as far as possible.

    variables : see `columns_by_variable`.
    """
    columns = list(variables.values())
    parts = random_partition(len(columns), to_count(folds, "folds"), stream(seed, "query groups"))
    return [sorted(column for k in part for column in columns[k]) for part in parts]


def find_groups(
    given: Any, model: Any, variables: Mapping[str, list[int]], where: str
) -> QueryGroups:
    """Return the query groups that a person gives.

    Parameters
    ----------
    given : sequence of sequence of str or int
        Names or numbers of variables; a variable of several columns may be given by its columns.
    model : Model
        Has the variables.
    variables : mapping of str to list of int
        See `columns_by_variable`.
    where : str
        Where the groups come from, for messages.

    Raises
    ------
    InputError
        There is no such variable; one is named twice; or its columns are in several groups.
    """
    found: QueryGroups = []
    labels = labels_of(model.names, model.n_vars)
    for names in _lists_of(given, where):
        group: list[int] = []
        for v in names:
            if isinstance(v, str) and v in variables and v not in labels:
                group += variables[v]
            else:
                group.append(find_variable(v, model.names, model.n_vars, where))
        for name, own in variables.items():
            if set(own) & set(group) not in (set(), set(own)):
                raise InputError(f"{where}: expected all columns of {name!r} in one group.")
        found.append(group)
    _refuse_repeats(found, labels, where)
    return found


def _refuse_repeats(groups: QueryGroups, labels: tuple[str, ...], where: str) -> None:
    group_of: dict[int, int] = {}
    for k, group in enumerate(groups):
        for v in group:
            if v in group_of:
                place = "twice in one group" if group_of[v] == k else "in two groups"
                raise InputError(f"{where}: the variable {labels[v]!r} is {place}.")
            group_of[v] = k


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
