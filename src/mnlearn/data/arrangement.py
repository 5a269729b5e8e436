"""The columns of data in the order of the variables of a model or of other data."""

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np

from mnlearn.data.cell_texts import RawColumn, is_missing, matches, shorten, some_of
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.domains import BINARY, Domain, named_domains
from mnlearn.data.reading import Place, Reading
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of
from mnlearn.runtime.progress import say
from mnlearn.variables.schema import binary_schema

# Stands for the state where a cell is missing.
_MISSING_STATE = -1


def arrange_columns(
    columns: Sequence[RawColumn], reading: Reading, where: str, place: Place
) -> tuple[list[RawColumn], Place]:
    """Return the columns that `reading.names` asks for, in this order, and how cells are named.

    A column of names of states, `age` with `young` and `old`, becomes the binary columns
    `age=young` and `age=old`. Other columns are left out, and a line says so. Those that the
    options of the reading name stay, after the others.

    Parameters
    ----------
    columns : sequence of RawColumn
        All columns of the file.
    reading : Reading
        Has names of variables, and perhaps of their states.
    where : str
        Name of the file, for messages.
    place : callable
        Returns the name of a cell, given the row and the column in the file.

    Raises
    ------
    InputError
        A column is not there or is there twice, or a cell is not the name of a state.
    """
    names = reading.names or ()
    states = [reading.states.get(name, BINARY) for name in names]
    domains = named_domains(names, states)
    given = {column.name for column in columns}
    for name in reading.leave_out:
        if name in names or (name in domains and not _are_there(domains[name], names, given)):
            option = reading.option("leave_out")
            raise InputError(f"{where}, {option}: the column {name!r} is needed.")
    found: dict[str, tuple[RawColumn, int]] = {}
    others = []
    for v, column in enumerate(columns):
        if column.name in names:
            made = [column]
        elif column.name in domains and not _are_there(domains[column.name], names, given):
            made = _columns_of_states(column, v, domains[column.name], names, reading, place)
        else:
            others.append(v)
            continue
        for each in made:
            if each.name in found:
                raise InputError(f"{where}, line 1: two columns are called {column.name!r}.")
            found[each.name] = each, v
    for name, domain in domains.items():
        if not all(names[c] in found for c in domain.columns):
            raise InputError(f"{where}: {_no_column(name, columns)}.")
    kept = [v for v in others if columns[v].name in (*reading.leave_out, *reading.keep)]
    left_out = [repr(columns[v].name) for v in others if v not in kept and columns[v].name]
    if left_out:
        verb = "is" if len(left_out) == 1 else "are"
        say(f"{where}: left out {some_of(left_out)}, which {verb} not needed.")
    arranged = [*(found[name] for name in names), *((columns[v], v) for v in kept)]
    origin = [v for _, v in arranged]
    return [column for column, _ in arranged], lambda row, v: place(row, origin[v])


def describe_order(model: Any, names: Sequence[str] | None) -> str | None:
    """Return what to know of named columns of data for a model without names; None if nothing.

    Files of some forms, such as `.mn`, have no names of variables. Columns V0, V1, ... in this
    order are sure to be those of the model.

    Parameters
    ----------
    model : Model
        Has the variables.
    names : sequence of str, optional
        Names of the columns of the data.
    """
    counted = labels_of(None, model.n_vars)
    if model.names is not None or names is None or tuple(names) == counted:
        return None
    return (
        "the model has no names of variables, so the columns are taken in their order: "
        f"{some_of(list(names))}."
    )


def arrange_dataset(data: Dataset, names: Sequence[str] | None) -> Dataset:
    """Return the same examples with the variables in the order of `names`, if they are the same."""
    own = data.names
    if own is None or names is None or own == tuple(names) or set(own) != set(names):
        # Whoever uses the data says how the variables differ.
        return data
    order = [own.index(name) for name in names]
    made = merge_rows(data.rows[:, order], data.weight, binary_schema(len(order), names))
    made = replace(made, row_of=read_only(made.row_of[data.row_of]))
    return made.with_groups([[order.index(v) for v in group] for group in data.groups])


def _no_column(name: str, columns: Sequence[RawColumn]) -> str:
    """Return the sentence, without a full stop, on a column that a file lacks."""
    given = [column.name for column in columns]
    before, equals, _ = name.partition("=")
    is_value = equals and before in given
    advice = f"; `mnlearn convert --categories` makes it from {before!r}" if is_value else ""
    listed = some_of(list(map(repr, given)), 20)
    return f"there is no column {name!r}{advice}; the columns are {listed}"


def _are_there(domain: Domain, names: Sequence[str], given: Set[str]) -> bool:
    """Tell whether a file has a binary column of a variable."""
    return any(names[c] in given for c in domain.columns)


def _columns_of_states(
    column: RawColumn,
    v: int,
    domain: Domain,
    names: Sequence[str],
    reading: Reading,
    place: Place,
) -> list[RawColumn]:
    """Return the binary columns of a column of names of states."""
    number_of_text = []
    for k, text in enumerate(column.texts):
        state = domain.find_state(text)
        if any(matches(text, na) for na in reading.na) or (state is None and is_missing(text)):
            state = _MISSING_STATE
        if state is None:
            states = " or ".join(map(repr, domain.states))
            cell = place(column.first_row(k), v)
            raise InputError(f"{cell}: expected {states}, got {shorten(text)}.")
        number_of_text.append(state)
    of_row = np.array(number_of_text)[column.codes]
    missing = of_row == _MISSING_STATE
    return [
        # The texts of a binary column are 0, 1 and nothing.
        RawColumn(names[c], ["0", "1", ""], np.where(missing, 2, of_row == k).astype(np.int32))
        for k, c in enumerate(domain.columns)
    ]
