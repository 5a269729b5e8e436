"""Evidence by the names of variables and of their states."""

import csv
import difflib
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.domains import BINARY, Domain, domains_and_columns, domains_of, states_of
from mnlearn.runtime.errors import InputError


def find_literals(
    domains: Mapping[str, Domain], name: str, state: Any, where: str
) -> dict[int, int]:
    """Return the values of the columns of a variable in a state; see `Domain.find_state`.

    Raises
    ------
    InputError
        There is no such variable or state; the sentence begins with `where`.
    """
    if name not in domains:
        raise unknown_variable(domains, name, where)
    domain = domains[name]
    found = domain.find_state(state)
    if found is None:
        got = "nothing" if state == "" else repr(state)
        raise InputError(
            f"{where}, variable {name!r}: expected one of {', '.join(domain.states)}, got {got}."
        )
    return domain.literals(found)


def unknown_variable(names: Iterable[str], name: str, where: str) -> InputError:
    """Return the refusal of a name that no variable has, with the names that are like it."""
    known = list(names)
    like = difflib.get_close_matches(name, known, 3)
    listed = ", ".join(map(repr, like or known[:8]))
    kind = "the most similar" if like else "the first"
    return InputError(f"{where}: there is no variable {name!r}; {kind} names are {listed}.")


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
    domains = domains_and_columns(model)
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
    if "=" in item and item in domains:
        name, _, state = item.partition("=")
        # As in a table: with several columns for `age`, those of its other states are 0.
        is_state = name in domains and state in domains[name].states
        return (name, state) if is_state else (item, "1")
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
        p, is_open = probability[list(domain.columns)], asked[list(domain.columns)]
        if len(p) == 1:
            p, is_open = np.array([1.0 - p[0], p[0]]), is_open.repeat(2)
        # Evidence may say of some states that the variable is not in them.
        out += [
            (name, state, float(x))
            for state, x, wanted in zip(domain.states, p, is_open, strict=True)
            if wanted
        ]
    return out


def labels_of_answers(model: Any) -> tuple[str, ...] | None:
    """Return what the probabilities of the columns of a model are of: a name, or name=state.

    The state is the second one, if the states have names. None for a model without names.
    """
    if model.names is None:
        return None
    pairs = zip(model.names, states_of(model), strict=True)
    return tuple(name if own == BINARY else f"{name}={own[1]}" for name, own in pairs)


def format_states(found: Sequence[tuple[str, str, float]]) -> str:
    """Return the probabilities of states as CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variable", "state", "probability"])
    writer.writerows([name, state, f"{p:.6f}"] for name, state, p in found)
    return text.getvalue()
