"""Variables of people and their states, each of which has a binary column or several."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.cell_texts import PLAIN, cell_text, is_same, number_of, values_of_two
from mnlearn.data.dataset import Dataset
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of

# The values of a variable whose states have no names.
BINARY = ("0", "1")
# Words for 0, and words for 1.
_ZEROS, _ONES = ({pair[k] for pair in PLAIN} - set(BINARY) for k in (0, 1))


class Domain(NamedTuple):
    """A variable and its states.

    columns : its binary column, or for a variable of several columns one for each state.
    states : names of its values.
    """

    columns: tuple[int, ...]
    states: tuple[str, ...]

    def literals(self, state: int) -> dict[int, int]:
        """Return the values of all columns in a state."""
        if len(self.columns) == 1:
            return {self.columns[0]: state}
        return {c: int(k == state) for k, c in enumerate(self.columns)}

    @property
    def has_values(self) -> bool:
        """Whether 0 and 1 stand for the states, because no name of a state says otherwise.

        They do not where 1 would be no, as for yes and no in this order, or where the names are
        numbers themselves.
        """
        if self.states == BINARY or len(self.columns) > 1:
            return self.states == BINARY
        zero, one = (state.lower() for state in self.states)
        is_number = any(number_of(state) is not None for state in self.states)
        return not is_number and zero not in _ONES and one not in _ZEROS

    def find_name(self, text: str) -> int | None:
        """Return the number of a state that is given by its name; None if there is no such state.

        Names may be in other capitals, and numbers in another form, such as 1.0.
        """
        if text in self.states:
            return self.states.index(text)
        return next((k for k, state in enumerate(self.states) if is_same(text, state)), None)

    def find_state(self, value: Any) -> int | None:
        """Return the number of the state that a value of data or evidence is; None if it is none.

        The text of the value is the name of a state: True is the state True, and 1.0 the state 1.
        Else 0 and 1 are the values of a binary column, unless its names say otherwise. Words for
        them are too, if the names of its states are such words: no and yes, false and true.
        """
        text = value if isinstance(value, str) else cell_text(value)
        named = self.find_name(text)
        if named is not None or not self.has_values:
            return named
        number = number_of(text)
        if number is not None:
            return int(number) if number in (0, 1) else None
        is_plain = tuple(state.lower() for state in self.states) in PLAIN
        words = values_of_two([text]) if is_plain else None
        return None if words is None else words.index(text.lower())


def domains_of(model: Any) -> dict[str, Domain]:
    """Return the variables of a model by name; V0, V1, ... if they have no names."""
    make = _maker_of(model)
    schema = model.schema
    return {v.name: make(schema.columns(k), v.texts) for k, v in enumerate(schema)}


def domains_and_columns(model: Any) -> dict[str, Domain]:
    """Return what evidence may name: variables, and the binary columns of those of several."""
    return domains_of(model) | dict(zip(_labels_of(model), columns_of(model), strict=True))


def columns_of(model: Any) -> list[Domain]:
    """Return the binary columns of a model, each as a variable of its own."""
    make = _maker_of(model)
    return [make((v,), own) for v, own in enumerate(states_of(model))]


def states_of(model: Any) -> tuple[tuple[str, str], ...]:
    """Return the names of the values 0 and 1 of each column; BINARY if the model has none."""
    return getattr(model, "states", None) or (BINARY,) * model.n_columns


def names_values(model: Any) -> bool:
    """Tell whether the values 0 and 1 of a variable have names."""
    return any(own != BINARY for own in states_of(model))


def _maker_of(model: Any) -> type[Domain]:
    """Return the kind of the variables of a model; see `mnlearn.data.coding`."""
    make: type[Domain] = getattr(model, "make_domain", Domain)
    return make


def _labels_of(model: Any) -> tuple[str, ...]:
    return labels_of(model.names, model.n_columns)


def named_domains(
    names: Sequence[str], states: Sequence[tuple[str, str]], make: type[Domain] = Domain
) -> dict[str, Domain]:
    """Return the variables that binary columns stand for, by name.

    Columns whose names agree before the first `=` are one variable, such as `age=young` and
    `age=old`.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    states : sequence of (str, str)
        Names of the values of each column; BINARY if they have none.
    make : type
        The kind of the variables.
    """
    grouped: dict[str, list[int]] = {}
    for v, name in enumerate(names):
        before, equals, _ = name.partition("=")
        # A column `age` beside `age=young` is another variable.
        if equals and states[v] == BINARY and before not in names:
            grouped.setdefault(before, []).append(v)
    out: dict[str, Domain] = {}
    for v, (name, own) in enumerate(zip(names, states, strict=True)):
        before = name.partition("=")[0]
        columns = grouped.get(before, []) if "=" in name and before not in names else []
        if len(columns) > 1:
            values = tuple(names[c].partition("=")[2] for c in columns)
            out.setdefault(before, make(tuple(columns), values))
        else:
            out[name] = make((v,), own)
    return out


def name_states(rows: NDArray[np.uint8], model: Any) -> dict[str, list[str]]:
    """Return examples as the names of the states of each variable.

    Parameters
    ----------
    rows : ndarray of uint8, shape (n_rows, n_vars)
        Values 0 and 1.
    model : Model
        Has the variables.

    Raises
    ------
    InputError
        A row has not exactly one state of a variable of several columns.
    """
    out: dict[str, list[str]] = {}
    for name, domain in domains_of(model).items():
        values = rows[:, list(domain.columns)]
        if len(domain.columns) > 1:
            wrong = np.flatnonzero(values.sum(axis=1) != 1)
            if len(wrong):
                raise InputError(
                    f"states: example {wrong[0] + 1} has {values[wrong[0]].sum()} states of "
                    f"{name!r}, because the model allows that; expected one."
                )
        state = values[:, 0] if len(domain.columns) == 1 else values.argmax(axis=1)
        out[name] = np.array(domain.states, object)[state].tolist()
    return out


def describe_overlaps(data: Dataset) -> str | None:
    """Return what to know of columns that queries take for one variable, though they are not.

    These have names that agree before an `=`, and rows in which none of them is 1, or several are.
    None if there are none.
    """
    if data.names is None:
        return None
    for name, domain in named_domains(data.names, [BINARY] * data.n_vars).items():
        wrong = data.rows[:, list(domain.columns)].sum(axis=1) != 1
        if len(domain.columns) > 1 and wrong.any():
            listed = ", ".join(data.names[c] for c in domain.columns[:3])
            n_wrong = data.weight[wrong].sum()
            return (
                f"{listed}{', ...' if len(domain.columns) > 3 else ''}: queries take these columns "
                f"for one variable {name!r} with one state, but {n_wrong:g} examples have none of "
                "them or several; other names, without `=`, keep them apart."
            )
    return None
