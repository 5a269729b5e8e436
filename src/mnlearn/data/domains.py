"""Variables of people and their states, each of which has a binary column or several."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.cell_texts import PLAIN, is_same, number_of, values_of_two
from mnlearn.runtime.errors import InputError

# The values of a variable whose states have no names.
BINARY = ("0", "1")


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
    def is_reversed(self) -> bool:
        """Whether 0 and 1 are called yes and no, or true and false, in this order."""
        return tuple(state.lower() for state in reversed(self.states)) in PLAIN

    def find_state(self, text: str) -> int | None:
        """Return the number of a state that is given by its name; None if there is no such state.

        Names may be in other capitals, and numbers in another form, such as 1.0. The values of a
        binary column have the names 0 and 1, and also the words of data if the column has no other
        names: no and yes, false and true.
        """
        if text in self.states:
            return self.states.index(text)
        for k, state in enumerate(self.states):
            if is_same(text, state):
                return k
        if len(self.columns) > 1:
            return None
        number = number_of(text)
        if number is not None:
            # 1 would be no where the states are yes and no.
            is_value = number in (0, 1) and not self.is_reversed
            return int(number) if is_value else None
        words = values_of_two([text]) if self.states == BINARY else None
        return None if words is None else words.index(text.lower())


def domains_of(model: Any) -> dict[str, Domain]:
    """Return the variables of a model by name; V0, V1, ... if they have no names."""
    return named_domains(_labels_of(model), states_of(model))


def domains_and_columns(model: Any) -> dict[str, Domain]:
    """Return what evidence may name: variables, and the binary columns of those of several."""
    return domains_of(model) | dict(zip(_labels_of(model), columns_of(model), strict=True))


def columns_of(model: Any) -> list[Domain]:
    """Return the binary columns of a model, each as a variable of its own."""
    return [Domain((v,), own) for v, own in enumerate(states_of(model))]


def states_of(model: Any) -> tuple[tuple[str, str], ...]:
    """Return the names of the values 0 and 1 of each column; BINARY if the model has none."""
    return getattr(model, "states", None) or (BINARY,) * model.n_vars


def _labels_of(model: Any) -> tuple[str, ...]:
    return model.names or tuple(f"V{v}" for v in range(model.n_vars))


def named_domains(names: Sequence[str], states: Sequence[tuple[str, str]]) -> dict[str, Domain]:
    """Return the variables that binary columns stand for, by name.

    Columns whose names agree before the first `=` are one variable, such as `age=young` and
    `age=old`.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    states : sequence of (str, str)
        Names of the values of each column; BINARY if they have none.
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
            out.setdefault(before, Domain(tuple(columns), values))
        else:
            out[name] = Domain((v,), own)
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
