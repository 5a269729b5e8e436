"""The reader of tables: columns of any values become variables with states.

Columns are read by what a person says, or by the schema of a model or of other data.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.data.column_checks import (
    NAMELESS,
    names_rows,
    notes_on,
    notes_on_codes,
    odd_rows,
    refuse_lists,
    refuse_long,
    refuse_sums,
)
from mnlearn.data.columns import Column, match, read_column
from mnlearn.data.dataset import Dataset
from mnlearn.data.incomplete import IncompleteData, merge_cells
from mnlearn.data.rows import Ones, Rows
from mnlearn.data.rules import ALL, OPTION, READ_DATA, Rules
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import check_names
from mnlearn.variables.frames import counts
from mnlearn.variables.matching import is_missing, match_state, number_of, shorten
from mnlearn.variables.schema import BINARY, NO_STATE, Schema, Variable

# So many columns of a table are named in an error, and so many in a line.
_LISTED, _SOME = 20, 5
# What is said of columns by their names, and what cannot be said of one column together.
_OF_COLUMNS = ("columns", "leave_out", "keep", "states", "cut", "empty", "weights")
_APART = {
    "leave_out": ("columns", "keep", "states", "cut"),
    "weights": ("columns", "keep", "states", "cut"),
    "cut": ("states",),
}
# Names a cell by its row and the number of its column, for messages.
Place = Callable[[int, int], str]


class Table(NamedTuple):
    """The variables of a table, and its cells.

    `values`, uint8 of shape (n_rows, n_vars), are numbers of states, NO_STATE if missing, or lists
    of ones. `left_out` are columns that number the rows or that nobody needs; `notes` are for the
    person.
    """

    schema: Schema
    values: Any
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    weight: NDArray[np.float64] | None = None

    @property
    def rows(self) -> Rows:
        """The indicator columns, MISSING where a cell is missing, shape (n_rows, n_columns)."""
        return self.values if isinstance(self.values, Ones) else self.schema.known_rows(self.values)

    def data(self, weight: ArrayLike | None = None) -> Dataset | IncompleteData:
        """Return the examples, each with a weight, or 1."""
        return merge_cells(self.rows, self.weight if weight is None else weight, self.schema)


def plain_schema(given: Schema, schema: Schema | None) -> Schema | None:
    """Return the variables of a table of 0 and 1; None if they are not those of a schema."""
    if schema is None:
        return given
    is_binary = len(schema) == len(given) and all(v.states == BINARY for v in schema)
    return schema if given == schema or (is_binary and not given.is_named) else None


def read_columns(
    columns: Sequence[Column],
    rules: Rules,
    where: str,
    place: Place,
    is_named: bool,
    schema: Schema | None = None,
) -> Table:
    """Return the variables of all columns of a table and its cells, by a schema if it is given."""
    if schema is not None:
        return _match_columns(columns, schema, rules, where, place, is_named)
    _check_names(columns, rules, where)
    columns, weight = _filled(columns, rules), _weights_of(columns, rules, place)
    left_out: list[int] = []
    kept: list[int] = []
    for v, column in enumerate(columns):
        if _is_other(column, rules):
            continue
        (left_out if names_rows(columns, v, rules, where) else kept).append(v)
    if not kept:
        raise InputError(f"{where}: holds no variables.")
    for v in kept:
        if not columns[v].name:
            raise InputError(NAMELESS, where=where, column=v + 1)
    own = [columns[v] for v in kept]
    refuse_sums(own, where, f"{where}, {_row_of(place(len(own[0].codes) - 1, kept[0]), where)}")
    refuse_long(own, rules, where)
    refuse_lists(own, rules, where)
    read = _read_all(columns, kept, rules, place)
    variables = tuple(variable for variable, _ in read)
    check_names([variable.name for variable in variables], where)
    schema = Schema(variables if is_named else _counted(variables), is_named)
    if not schema.n_columns:
        first = variables[0]
        said = rules.write("states", first.name, [*first.texts, "..."])
        fault = f"each variable has a single state; {said} names states that the table lacks."
        raise InputError(fault, where=where)
    names = tuple(columns[v].name for v in left_out)
    number = "numbers" if len(names) == 1 else "number"
    notes = [f"left out {', '.join(map(repr, names))}, which {number} the rows"] if names else []
    notes += _unmatched(columns, rules)
    values = np.column_stack([values for _, values in read])
    if is_named:
        notes += [*notes_on(schema, values, rules), *notes_on_codes(own, rules)]
        notes += odd_rows(values, lambda row: _row_of(place(row, kept[0]), where))
    return Table(schema, values, names, tuple(notes), weight)


def _row_of(place: str, where: str) -> str:
    """Return the row in the place of a cell."""
    return place.removeprefix(f"{where}, ").rpartition(", column")[0]


def _filled(columns: Sequence[Column], rules: Rules) -> Sequence[Column]:
    """Return columns whose missing cells have the value that a person says; see `Rules.empty`."""
    meant = [rules.empty.get(column.name, rules.empty.get(ALL)) for column in columns]
    pairs = zip(columns, meant, strict=True)
    return [column if text is None else column.filled(text, rules) for column, text in pairs]


def _is_other(column: Column, rules: Rules) -> bool:
    """Tell whether a person says that a column is no variable."""
    if rules.columns and column.name not in rules.columns:
        return True
    return column.name in rules.leave_out or column.name == rules.weights


def _weights_of(
    columns: Sequence[Column], rules: Rules, place: Place
) -> NDArray[np.float64] | None:
    """Return the weights of rows, which a column has."""
    for v, column in enumerate(columns):
        if column.name != rules.weights:
            continue
        numbers = [number_of(value) for value in column.values]
        for k, number in enumerate(numbers):
            if number is None or number <= 0:
                where = place(column.first_row(k), v)
                raise InputError(
                    f"{where}: expected a positive weight, got {shorten(column.values[k])}; delete "
                    "rows that do not count."
                )
        if (column.codes < 0).any():
            raise InputError(f"{place(int(np.argmin(column.codes)), v)}: the weight is missing.")
        return np.array(numbers, np.float64)[column.codes]
    return None


def _read_all(
    columns: Sequence[Column], kept: Sequence[int], rules: Rules, place: Place
) -> list[tuple[Variable, NDArray[np.uint8]]]:
    """Return the variables of columns; the refusal of one names all that cannot be read."""
    read, faults, names = [], [], []
    for v in kept:
        try:
            read.append(read_column(columns[v], rules, partial(_swap, place, v)))
        except InputError as error:
            faults.append(error)
            names.append(repr(columns[v].name))
    if len(faults) > 1:
        chosen = rules.form.format("columns", '["a", "b"]')
        faults[0].advice = (
            f"{len(names) - 1} more cannot be read: {some_of(names[1:], _LISTED)}; "
            f"{'--columns a,b' if rules.form == OPTION else chosen} names those that are variables"
        )
    if faults:
        raise faults[0]
    return read


def _match_columns(
    columns: Sequence[Column],
    schema: Schema,
    rules: Rules,
    where: str,
    place: Place,
    is_named: bool,
) -> Table:
    """Return the cells of columns as states of variables that are known; see `read_columns`.

    Columns are found by name if both sides have names, else by their order. What a person says of a
    column counts where a variable has the states 0 and 1.
    """
    if is_named and schema.is_named:
        chosen, others = _by_name(columns, schema, rules, where)
    else:
        chosen, others = _by_place(columns, schema, rules, where), []
    notes = _unknown_names(columns, schema, rules, where)
    columns, weight = _filled(columns, rules), _weights_of(columns, rules, place)
    values = np.empty((len(columns[0].codes), len(schema)), np.uint8)
    for v, (variable, k) in enumerate(zip(schema, chosen, strict=True)):
        own = partial(_swap, place, k)
        values[:, v] = _match_one(columns[k], variable, rules, own)
    if is_named and not schema.is_named:
        order = describe_order(schema, [columns[k].name for k in chosen])
        notes += [] if order is None else [order]
    return Table(schema, values, tuple(others), tuple(notes), weight)


def describe_order(schema: Schema, names: Sequence[str]) -> str | None:
    """Return what to know of named columns for variables without names; None if nothing.

    Columns V0, V1, ... or 0, 1, ... in this order are sure to be those of the model.
    """
    if schema.is_named or tuple(names) == schema.names or counts(names):
        return None
    return (
        "the model has no names of variables, so the columns are taken in their order: "
        f"{some_of(names)}"
    )


def match_data(
    data: Dataset | IncompleteData, schema: Schema, where: str
) -> Dataset | IncompleteData:
    """Return the same examples over the variables of a model, found by their names and states."""
    own = data.schema
    if own == schema:
        return data
    if own.is_named and schema.is_named:
        lacking = [name for name in schema.names if name not in own.names]
        if lacking:
            raise InputError(f"{where}: lacks the variable {lacking[0]!r} of the model.")
        order = [own.number(name) for name in schema.names]
    elif len(own) == len(schema):
        order = list(range(len(own)))
    else:
        raise InputError(f"{where}: expected {len(schema)} variables, got {len(own)}.")
    given = own.known_values(data.rows)
    values = np.empty((len(given), len(schema)), np.uint8)
    for v, (variable, k) in enumerate(zip(schema, order, strict=True)):
        state_of = np.full(NO_STATE + 1, NO_STATE, np.uint8)
        for state in np.unique(given[:, k][given[:, k] != NO_STATE]).tolist():
            place = f"{where}, variable {variable.name!r}"
            state_of[state] = match_state(variable, own[k].states[state], place)
        values[:, v] = state_of[given[:, k]]
    made = Table(schema, values).data(data.weight)
    return replace(made, row_of=read_only(made.row_of[data.row_of]))


def some_of(texts: Sequence[str], most: int = _SOME) -> str:
    """Return the first of some texts for a message."""
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")


def _match_one(
    column: Column, variable: Variable, rules: Rules, place: Callable[[int], str]
) -> NDArray[np.uint8]:
    # Words may stand for the numbers of a model of a file that keeps no words.
    if variable.states == BINARY and (column.name in rules.states or column.name in rules.cut):
        said, values = read_column(column, rules, place)
        if said.arity == variable.arity:
            return values
    try:
        return match(column, column.known(rules.na, variable.texts), variable, place)
    except InputError as error:
        if error.advice is None and variable.dtype is not None:
            states = rules.write("states", column.name, [*variable.texts[:_SOME], "..."])
            # Cross-validation can split a DataFrame, but not a Dataset.
            kept = ", with as_frame=True for a DataFrame," if rules.form == READ_DATA else ""
            error.advice = f"{states}{kept} names all states where the column is first read"
        raise


def _by_name(
    columns: Sequence[Column], schema: Schema, rules: Rules, where: str
) -> tuple[list[int], list[str]]:
    """Return the column of each variable, and the names of others that nobody named."""
    number: dict[str, int] = {}
    for k, column in enumerate(columns):
        if column.name in number and column.name in schema.names:
            raise InputError(f"{where}: two columns are called {column.name!r}.")
        number[column.name] = k
    for name in schema.names:
        if name in rules.leave_out:
            option = rules.option("leave_out")
            raise InputError(f"{where}, {option}: the column {name!r} is needed.")
        if name not in number:
            raise InputError(f"{where}: there is no column {name!r}; {_listed(columns)}.")
    said = {*schema.names, *rules.leave_out, rules.weights}
    others = [column.name for column in columns if column.name and column.name not in said]
    return [number[name] for name in schema.names], others


def _by_place(columns: Sequence[Column], schema: Schema, rules: Rules, where: str) -> list[int]:
    """Return the columns that are variables, as many as there are in the schema."""
    chosen = [v for v, column in enumerate(columns) if not _is_other(column, rules)]
    if len(chosen) > len(schema):
        chosen = [v for v in chosen if not names_rows(columns, v, rules, where)]
    if len(chosen) != len(schema):
        raise InputError(f"{where}: expected {len(schema)} variables, got {len(chosen)}.")
    return chosen


def _counted(variables: Sequence[Variable]) -> tuple[Variable, ...]:
    """Return variables that are called V0, V1, ..., because their columns have no names."""
    pairs = enumerate(variables)
    return tuple(Variable(f"V{k}", v.states, v.ordered, v.dtype) for k, v in pairs)


def _check_names(columns: Sequence[Column], rules: Rules, where: str) -> None:
    """Refuse what is said of columns that do not exist."""
    names = {column.name for column in columns}
    for option in _OF_COLUMNS:
        for name in _said(rules, option):
            if name and name not in names:
                raise InputError(_no_column(columns, rules, option, name, where))
    for option, others in _APART.items():
        for name in _said(rules, option):
            for other in (other for other in others if name in getattr(rules, other)):
                raise InputError(
                    f"{where}, {rules.option(option)}: the column {name!r} is named by "
                    f"{rules.option(other)} too; expected one of them."
                )


def _unknown_names(
    columns: Sequence[Column], schema: Schema, rules: Rules, where: str
) -> list[str]:
    """Return what to say of names that neither a table nor a schema has; weights are needed."""
    names = {*(column.name for column in columns), *schema.names}
    unknown = [(o, n) for o in _OF_COLUMNS for n in _said(rules, o) if n and n not in names]
    for option, name in unknown:
        if option == "weights":
            raise InputError(_no_column(columns, rules, option, name, where))
    return [f"{rules.option(o)} names {n!r}, and there is no such column" for o, n in unknown]


def _said(rules: Rules, option: str) -> list[str]:
    """Return the columns of which a person says something."""
    said = getattr(rules, option) or ()
    return [said] if isinstance(said, str) else list(said)


def _no_column(columns: Sequence[Column], rules: Rules, option: str, name: str, where: str) -> str:
    return f"{where}, {rules.option(option)}: there is no column {name!r}; {_listed(columns)}."


def _listed(columns: Sequence[Column]) -> str:
    return f"the columns are {some_of([repr(column.name) for column in columns], _LISTED)}"


def _unmatched(columns: Sequence[Column], rules: Rules) -> list[str]:
    """Return a sentence on texts of missing cells that no cell has."""
    words = [
        word
        for word in rules.na
        if not any(is_missing(value, (word,)) for column in columns for value in column.values)
    ]
    if not words:
        return []
    verb = "matches" if len(words) == 1 else "match"
    return [f"{rules.option('na')} {', '.join(map(shorten, words))} {verb} no cell"]


def _swap(place: Place, column: int, row: int) -> str:
    return place(row, column)
