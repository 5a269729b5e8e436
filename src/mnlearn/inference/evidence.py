"""Evidence by the names of variables and of their states."""

import csv
import difflib
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError

_BINARY = ("0", "1")


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


def domains_of(model: Any) -> dict[str, Domain]:
    """Return the variables of a model by name.

    Columns whose names agree before the first `=` are one variable, such as `age=young` and
    `age=old`. The states of a binary column are 0 and 1 if the model has no names for them.
    """
    names = model.names or tuple(f"V{v}" for v in range(model.n_vars))
    states = getattr(model, "states", None) or (_BINARY,) * model.n_vars
    grouped: dict[str, list[int]] = {}
    for v, name in enumerate(names):
        before, equals, _ = name.partition("=")
        if equals and states[v] == _BINARY:
            grouped.setdefault(before, []).append(v)
    out: dict[str, Domain] = {}
    for v, (name, own) in enumerate(zip(names, states, strict=True)):
        before = name.partition("=")[0]
        columns = grouped.get(before, []) if "=" in name else []
        if len(columns) > 1:
            values = tuple(names[c].partition("=")[2] for c in columns)
            out.setdefault(before, Domain(tuple(columns), values))
        else:
            out[name] = Domain((v,), own)
    return out


def find_literals(
    domains: Mapping[str, Domain], name: str, state: str, where: str
) -> dict[int, int]:
    """Return the values of the columns of a variable in a state that is given by name.

    Raises
    ------
    InputError
        There is no such variable or state; the sentence begins with `where`.
    """
    if name not in domains:
        like = difflib.get_close_matches(name, domains, 3)
        listed = ", ".join(map(repr, like or list(domains)[:8]))
        kind = "the most similar" if like else "the first"
        raise InputError(f"{where}: there is no variable {name!r}; {kind} names are {listed}.")
    domain = domains[name]
    if state in domain.states:
        return domain.literals(domain.states.index(state))
    if len(domain.columns) == 1 and state in _BINARY:
        return domain.literals(int(state))
    got = repr(state) if state else "nothing"
    raise InputError(
        f"{where}, variable {name!r}: expected one of {', '.join(domain.states)}, got {got}."
    )


def parse_evidence(
    text: str, model: Any, where: str = "evidence"
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the row of evidence that a person writes, and which columns are not known.

    Parameters
    ----------
    text : str
        `variable=state`, or several with commas between them.
    model : Model
        Has the variables.
    where : str
        Beginning of messages.

    Raises
    ------
    InputError
        An item names no variable or none of its states, or a variable is named twice.
    """
    domains = domains_of(model)
    row, asked = np.zeros((1, model.n_vars), np.uint8), np.ones((1, model.n_vars), bool)
    items = _items(text, where)
    for item in items:
        name, state = _split(item.strip(), domains, where, several=len(items) > 1)
        literals = find_literals(domains, name, state, where)
        if not asked[0, list(literals)].all():
            raise InputError(f"{where}: names the variable {name!r} twice.")
        for c, value in literals.items():
            row[0, c], asked[0, c] = value, False
    return row, asked


def _items(text: str, where: str) -> list[str]:
    """Return the parts of a text between commas; quotes protect commas."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise InputError(
            f"{where}: expected one line of variable=state, got {text[:40]!r}."
        ) from None


def _split(
    item: str, domains: Mapping[str, Domain], where: str, *, several: bool
) -> tuple[str, str]:
    """Return the name and the state of an item; names may have `=` themselves."""
    parts = item.split("=")
    for k in range(len(parts) - 1, 0, -1):
        name = "=".join(parts[:k]).strip()
        if name in domains:
            return name, "=".join(parts[k:]).strip()
    if len(parts) < 2 or not parts[0].strip():
        got = repr(item[:40]) if item else "nothing"
        is_part = several and item
        advice = "; an item with a comma in it needs quotes around it" if is_part else ""
        raise InputError(f"{where}: expected variable=state, got {got}{advice}.")
    return parts[0].strip(), "=".join(parts[1:]).strip()


def state_probabilities(
    model: Any, probability: NDArray[np.float64], asked: NDArray[np.bool_]
) -> list[tuple[str, str, float]]:
    """Return the variable, state and probability of each state of what is not known.

    Parameters
    ----------
    model : Model
        Has the variables.
    probability : ndarray of float64, shape (n_vars,)
        P(column = 1 | evidence).
    asked : ndarray of bool, shape (n_vars,)
        Which columns are not known.
    """
    out = []
    for name, domain in domains_of(model).items():
        if not asked[list(domain.columns)].all():
            continue
        p = probability[list(domain.columns)]
        values = [1.0 - p[0], p[0]] if len(p) == 1 else p
        out += [(name, s, float(x)) for s, x in zip(domain.states, values, strict=True)]
    return out


def format_states(found: Sequence[tuple[str, str, float]]) -> str:
    """Return the probabilities of states as CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variable", "state", "probability"])
    writer.writerows([name, state, f"{p:.6f}"] for name, state, p in found)
    return text.getvalue()
