"""Conditional probabilities for evidence as people give it: mappings, tables and arrays."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.api.circuits import exact_circuit, exact_model, small_circuit
from mnlearn.api.frames import column_names
from mnlearn.api.inputs import find_variable, is_frame, refuse_mask, to_numbers
from mnlearn.api.kinds import as_model
from mnlearn.api.model_data import expand_states, replace_states, warn_of_order
from mnlearn.api.settings import SETTINGS_OF_QUERIES, check_read, settings_of
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.cell_texts import cell_text
from mnlearn.data.domains import (
    BINARY,
    Domain,
    domains_and_columns,
    domains_of,
    name_states,
    names_values,
    states_of,
)
from mnlearn.data.incomplete import MISSING, merge_incomplete
from mnlearn.inference.circuits.exact import UNKNOWN
from mnlearn.inference.circuits.exact import most_probable as most_probable_states
from mnlearn.inference.evidence import find_literals, labels_of_answers
from mnlearn.inference.group_sampling import describe_barriers
from mnlearn.inference.queries import answer, choose
from mnlearn.inference.settings import AUTO, METHODS, Inference
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of
from mnlearn.scoring.any_model import marginal_ll

if TYPE_CHECKING:
    import pandas as pd

# A joint table has so many rows at most.
MAX_COMBINATIONS = 2**16
# A smaller sum of probabilities than 1 less this is no rounding error.
_LEFT_OUT = 1e-6
# How the most probable states of models that were asked before are found.
_MAXIMISED: "WeakKeyDictionary[Any, str]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Asked:
    """How a query is answered: method, settings of `Inference`, 64-bit seed, threads.

    spell : how a person writes the name of a setting, in errors.
    """

    inference: str
    settings: Mapping[str, Any]
    seed: int
    threads: int
    spell: Callable[[str], str] = str


def query(model: Any, evidence: Any, variables: Any, how: Asked) -> Any:
    """Return probabilities given evidence; see `mnlearn.api.model.Model.query`."""
    labels = labels_of(model.names, model.n_vars)
    # Beside evidence, a setting is one although a variable has its name.
    known = () if evidence is None else SETTINGS_OF_QUERIES
    named = [name for name in how.settings if name in labels and name not in known]
    if named:
        raise InputError(f"evidence: expected a mapping, as in query({{{named[0]!r}: ...}}).")
    values = values_of(model, evidence)
    if _is_mapping(evidence):
        wanted = _wanted(model, values[0], variables)
        found, method = _probabilities(model, values, how)
        return _series(model, found[0], wanted, "probability", method)
    if variables is not None:
        raise InputError("variables: expected none with rows of evidence, whose NaN are asked for.")
    found, method = _probabilities(model, values, how)
    return _like(evidence, found, list(_labels_of_answers(model)), method)


def most_probable(model: Any, evidence: Any, named: bool | None) -> Any:
    """Return the most probable values; see `mnlearn.api.model.Model.most_probable`."""
    values = values_of(model, evidence)
    known = np.where(np.isnan(values), UNKNOWN, values).astype(np.uint8)
    states, method = most_probable_rows(model, known)
    is_table = _is_mapping(evidence) or is_frame(evidence)
    if named or (named is None and is_table and names_values(model)):
        return _named_states(model, evidence, values, states, method)
    if _is_mapping(evidence):
        return _series(model, states[0], _wanted(model, values[0], None), "value", method)
    return _like(evidence, states, list(labels_of(model.names, model.n_vars)), method)


def _named_states(
    model: Any, evidence: Any, values: NDArray[np.float64], states: NDArray[Any], method: str
) -> Any:
    """Return the most probable states by their names: those that are not known, or a table."""
    import pandas as pd

    named = name_states(states, as_model(model))
    answer: Any
    if _is_mapping(evidence):
        asked = open_variables(model, values[0])
        index = pd.Index(asked, name="variable")
        answer = pd.Series([named[name][0] for name in asked], index, dtype=object, name="value")
    else:
        answer = pd.DataFrame(named, evidence.index if is_frame(evidence) else None)
    answer.attrs["inference"] = method
    return answer


def open_variables(model: Any, values: NDArray[np.float64]) -> list[str]:
    """Return the variables whose state evidence does not say; the values are NaN if not known."""
    asked = []
    for name, domain in domains_of(model).items():
        own = values[list(domain.columns)]
        # Of several columns, one that is 1 says the state, and one that is 0 does not.
        if not (own == 1).any() and np.isnan(own).any():
            asked.append(name)
    return asked


def most_probable_rows(
    model: Any, known: NDArray[np.uint8], name_row: Callable[[int], str] = "evidence, row {}".format
) -> tuple[NDArray[np.uint8], str]:
    """Return the most probable state given each row of 0, 1 and UNKNOWN, and how it was found.

    Raises
    ------
    InputError
        A row has probability 0; the sentence begins with its name. See also `exact_circuit`.
    """
    circuit = exact_circuit(model)
    if model not in _MAXIMISED:
        # Where terms of a sum overlap, the largest term takes the place of their sum.
        _MAXIMISED[model] = "exact" if circuit.is_deterministic() else "max-product"
    states, log_value = most_probable_states(circuit, known)
    impossible = np.flatnonzero(np.isneginf(log_value))
    if len(impossible):
        raise InputError(f"{name_row(int(impossible[0]))}: has probability 0.")
    return states, _MAXIMISED[model]


def probability(model: Any, event: Any, given: Any) -> float:
    """Return the probability of an event; see `mnlearn.api.model.Model.probability`."""
    for name, mapping in (("event", event), ("given", given)):
        if not _is_mapping(mapping):
            raise InputError(
                f"{name}: expected a mapping of variables to values, got {_kind(mapping)}."
            )
    both, known = values_of(model, event, "event"), values_of(model, given, "given")
    twice = np.flatnonzero(~np.isnan(both[0]) & ~np.isnan(known[0]))
    if len(twice):
        label = labels_of(model.names, model.n_vars)[twice[0]]
        raise InputError(f"event: the value of {label!r} is given.")
    both = np.where(np.isnan(both), known, both)
    return float(_conditional(model, both, known)[0])


def joint(model: Any, variables: Any, given: Any) -> "pd.Series[float]":
    """Return a table of joint probabilities; see `mnlearn.api.model.Model.joint`."""
    import pandas as pd

    if not _is_mapping(given):
        raise InputError(f"given: expected a mapping of variables to values, got {_kind(given)}.")
    known = values_of(model, given, "given")
    asked = _asked_domains(model, variables, known[0])
    sizes = [len(domain.states) for domain in asked.values()]
    if not sizes or np.prod(sizes, dtype=float) > MAX_COMBINATIONS:
        raise InputError(
            f"variables: expected from 1 to {MAX_COMBINATIONS:,} combinations of their states, got "
            f"{np.prod(sizes, dtype=float) * bool(sizes):,.0f}."
        )
    rows = np.repeat(known, int(np.prod(sizes)), axis=0)
    numbers = np.indices(sizes).reshape(len(sizes), -1)
    for number, domain in zip(numbers, asked.values(), strict=True):
        for state in range(len(domain.states)):
            for c, value in domain.literals(state).items():
                rows[number == state, c] = value
    # Names of states keep their order when the table is unstacked.
    levels = [
        (0, 1) if domain.states == BINARY else pd.Categorical(domain.states, domain.states)
        for domain in asked.values()
    ]
    index = pd.MultiIndex.from_product(levels, names=list(asked))
    found = _conditional(model, rows, known)
    if found.sum() < 1.0 - _LEFT_OUT and max(len(d.columns) for d in asked.values()) > 1:
        warn_user(
            "joint: the model was learned without groups, and gives probability "
            f"{1.0 - found.sum():.3g} to no state or several states of one of the variables."
        )
    return pd.Series(found, index, name="probability")


def _asked_domains(model: Any, variables: Any, known: NDArray[np.float64]) -> dict[str, Domain]:
    """Return the variables of a joint table by name; refuse what is given, and what is twice."""
    several = isinstance(variables, Iterable) and not isinstance(variables, str)
    domains = domains_and_columns(model)
    asked: dict[str, Domain] = {}
    taken: set[int] = set()
    for given in list(variables) if several else [variables]:
        name, domain = _find_domain(model, domains, given, "variables")
        if not np.isnan(known[list(domain.columns)]).all():
            raise InputError(f"variables: the value of {name!r} is given.")
        if taken.intersection(domain.columns):
            raise InputError(f"variables: names {name!r} twice.")
        taken.update(domain.columns)
        asked[name] = domain
    return asked


def _conditional(
    model: Any, both: NDArray[np.float64], known: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the probability of each row, given the one row of what is known; NaN: summed out."""
    rows = np.concatenate([both, known])
    data = merge_incomplete(np.where(np.isnan(rows), MISSING, rows).astype(np.uint8))
    *log_both, log_known = marginal_ll(exact_model(model), data).per_row[data.row_of]
    if np.isneginf(log_known):
        raise InputError("given: has probability 0.")
    return np.asarray(np.exp(np.array(log_both) - log_known))


def _kind(value: Any) -> str:
    return type(value).__name__


def _is_mapping(evidence: Any) -> bool:
    return evidence is None or (hasattr(evidence, "items") and not is_frame(evidence))


def values_of(model: Any, evidence: Any, argument: str = "evidence") -> NDArray[np.float64]:
    """Return evidence as rows with a column for each variable, NaN where nothing is known."""
    if not _is_mapping(evidence):
        return _rows_of(model, evidence, argument)
    values = np.full((1, model.n_vars), np.nan)
    known = domains_and_columns(model)
    for given, value in ({} if evidence is None else evidence).items():
        name, domain = _find_domain(model, known, given, argument)
        is_missing = not isinstance(value, str) and cell_text(value) == ""
        literals = {} if is_missing else find_literals(known, name, value, argument)
        if not np.isnan(values[0, list(domain.columns)]).all():
            raise InputError(f"{argument}: names the variable {name!r} twice.")
        for c, x in literals.items():
            values[0, c] = x
    return values


def _find_domain(
    model: Any, known: Mapping[str, Domain], given: Any, argument: str
) -> tuple[str, Domain]:
    """Return a variable that is given by its name or number, and its name."""
    if isinstance(given, str) and given in known:
        return given, known[given]
    v = find_variable(given, model.names, model.n_vars, argument)
    name = labels_of(model.names, model.n_vars)[v]
    return name, known[name]


def _wanted(model: Any, values: NDArray[np.float64], variables: Any) -> list[int]:
    """Return the variables to answer for: the given ones, or all that are not known."""
    unknown: list[int] = np.flatnonzero(np.isnan(values)).tolist()
    if variables is None:
        return unknown
    several = isinstance(variables, Iterable) and not isinstance(variables, str)
    listed = list(variables) if several else [variables]
    domains = domains_of(model)
    asked: list[int] = []
    for given in listed:
        domain = domains.get(given) if isinstance(given, str) else None
        if domain is not None and len(domain.columns) > 1:
            asked += domain.columns
        else:
            asked.append(find_variable(given, model.names, model.n_vars, "variables"))
    labels, open_ = labels_of(model.names, model.n_vars), set(unknown)
    for v in asked:
        if np.isnan(values[v]) and v not in open_:
            raise InputError(f"variables: names {labels[v]!r} twice.")
        if v not in open_:
            raise InputError(f"variables: the value of {labels[v]!r} is in the evidence.")
        open_.remove(v)
    return asked


def _series(
    model: Any, values: NDArray[Any], wanted: Sequence[int], name: str, method: str
) -> "pd.Series[Any]":
    """Return answers for some variables by their names, with how they were computed."""
    import pandas as pd

    labels = labels_of(model.names, model.n_vars)
    if name == "probability":
        labels = _labels_of_answers(model)
    index = pd.Index([labels[v] for v in wanted], name="variable")
    series = pd.Series(values[list(wanted)], index, name=name)
    series.attrs["inference"] = method
    return series


def _labels_of_answers(model: Any) -> tuple[str, ...]:
    """Return what probabilities are of: a variable, or its second state if that has a name."""
    return labels_of_answers(model) or labels_of(None, model.n_vars)


def _like(evidence: Any, values: NDArray[Any], labels: list[str], method: str) -> Any:
    """Return answers to rows of evidence as a table, with how they were computed, if it is one."""
    if not is_frame(evidence):
        return values
    import pandas as pd

    table = pd.DataFrame(values, evidence.index, labels)
    table.attrs["inference"] = method
    return table


def _rows_of(model: Any, evidence: Any, argument: str) -> NDArray[np.float64]:
    """Return rows of evidence with a column for each variable; NaN where nothing is known."""
    refuse_mask(evidence, argument)
    names, n_vars = model.names, model.n_vars
    evidence = expand_states(evidence, model, argument)
    warn_of_order(model, evidence, argument)
    given = column_names(evidence, names) if names is not None else None
    columns = list(range(n_vars))
    if given is not None:
        columns = [find_variable(name, names, n_vars, argument) for name in given]
        for k, v in enumerate(columns):
            if v in columns[:k]:
                raise InputError(f"{argument}: has two columns {given[k]!r}.")
    if sparse.issparse(evidence):
        evidence = evidence.toarray()
    states = states_of(model)
    evidence = replace_states(evidence, tuple(states[v] for v in columns), argument)
    try:
        matrix = np.asarray(evidence)
    except ValueError:
        raise InputError(f"{argument}: expected rows of equal length.") from None
    if matrix.ndim != 2:
        raise InputError(
            f"{argument}: expected a mapping of variables to values, or rows of values, got "
            f"{type(evidence).__name__} of {matrix.ndim} axes."
        )
    if matrix.dtype.kind not in "biuf":
        matrix = to_numbers(matrix, given, argument)
    if given is None and matrix.shape[1] != n_vars:
        raise InputError(
            f"{argument}: expected {n_vars} columns, one for each variable, got {matrix.shape[1]}."
        )
    values = np.full((len(matrix), n_vars), np.nan)
    values[:, columns] = matrix
    wrong = np.argwhere(~(np.isnan(values) | (values == 0) | (values == 1)))
    if len(wrong):
        row, v = wrong[0].tolist()
        label = labels_of(names, n_vars)[v]
        raise InputError(
            f"{argument}, row {row}, variable {label!r}: expected 0, 1 or NaN, got "
            f"{values[row, v]}."
        )
    return values


def choose_inference(model: Any, unknown: NDArray[np.bool_], how: Asked) -> tuple[Any, Inference]:
    """Return the model that answers a query for what is not known, and by which inference."""
    own = as_model(model)
    method = how.inference
    if method not in (AUTO, *METHODS):
        known = ", ".join((AUTO, *METHODS))
        raise InputError(f"inference: expected one of {known}, got {method!r}.")
    given = [name for name, value in how.settings.items() if value is not None]
    check_read(method, [name for name in given if name in SETTINGS_OF_QUERIES], how.spell)
    if method == AUTO or own.is_exact:
        own, method = choose(own, unknown, lambda: small_circuit(model))
    return own, settings_of(method, how.settings)


def _probabilities(
    model: Any, values: NDArray[np.float64], how: Asked
) -> tuple[NDArray[np.float64], str]:
    """Return the values with probabilities in the place of NaN, and how they were computed."""
    unknown = np.isnan(values)
    rows = np.where(unknown, 0, values).astype(np.uint8)
    own, inference = choose_inference(model, unknown, how)
    barriers = describe_barriers(own, inference.method)
    if barriers is not None:
        warn_user(barriers)
    found = answer(
        own, rows, unknown, inference,
        seed=how.seed, threads=how.threads, compiled=lambda: small_circuit(model),
    )  # fmt: skip
    return found, inference.method
