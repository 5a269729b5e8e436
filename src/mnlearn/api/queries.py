"""Conditional probabilities for evidence as people give it: mappings, tables and arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from mnlearn.api.inputs import column_names, find_variable, is_frame, labels_of, to_numbers
from mnlearn.api.kinds import core
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.queries import answer
from mnlearn.inference.settings import METHODS, inference_of
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.runtime.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# "auto" enumerates the states of at most this many variables that are not known.
_ENUMERATED = 12
# And compiles networks of up to so many literals, if the circuit has up to so many edges. Both
# take about a second.
_LITERALS = 50_000
_EDGES = 200_000
# The circuits of networks that were asked before; None if one would be too large.
_COMPILED: "WeakKeyDictionary[Any, ArithmeticCircuit | None]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Asked:
    """How a query is answered: method, settings of `Inference`, 64-bit seed, threads."""

    inference: str
    settings: Mapping[str, Any]
    seed: int
    threads: int


def query(model: Any, evidence: Any, variables: Any, how: Asked) -> Any:
    """Return probabilities given evidence; see `mnlearn.api.models.Model.query`."""
    if evidence is None or (hasattr(evidence, "items") and not is_frame(evidence)):
        return _query_mapping(model, {} if evidence is None else evidence, variables, how)
    if variables is not None:
        raise InputError("variables: expected none with rows of evidence, whose NaN are asked for.")
    values = _rows_of(evidence, model.names, model.n_vars)
    found = _probabilities(model, values, how)[0]
    if not is_frame(evidence):
        return found
    import pandas as pd

    return pd.DataFrame(found, evidence.index, labels_of(model.names, model.n_vars))


def _query_mapping(
    model: Any, evidence: Mapping[Any, Any], variables: Any, how: Asked
) -> "pd.Series[float]":
    import pandas as pd

    labels = labels_of(model.names, model.n_vars)
    values = np.full((1, model.n_vars), np.nan)
    for given, value in evidence.items():
        v = find_variable(given, model.names, model.n_vars, "evidence")
        values[0, v] = _value_of(value, f"evidence, variable {labels[v]!r}")
    wanted = np.flatnonzero(np.isnan(values[0])).tolist()
    if variables is not None:
        listed = [variables] if isinstance(variables, str | int) else list(variables)
        asked = [find_variable(v, model.names, model.n_vars, "variables") for v in listed]
        for v in asked:
            if v not in wanted:
                raise InputError(f"variables: the value of {labels[v]!r} is in the evidence.")
        wanted = asked
    found, method = _probabilities(model, values, how)
    index = pd.Index([labels[v] for v in wanted], name="variable")
    series = pd.Series(found[0, wanted], index, name="probability")
    series.attrs["inference"] = method
    return series


def _value_of(value: Any, where: str) -> float:
    """Return a value of evidence as a number, NaN if it is not known."""
    number = to_numbers(np.array([[value]], object), None, where)[0, 0]
    if not (np.isnan(number) or number in (0, 1)):
        raise InputError(f"{where}: expected 0, 1 or NaN, got {value!r}.")
    return float(number)


def _rows_of(evidence: Any, names: tuple[str, ...] | None, n_vars: int) -> NDArray[np.float64]:
    """Return rows of evidence with a column for each variable; NaN where nothing is known."""
    given = column_names(evidence) if names is not None else None
    matrix = np.asarray(evidence)
    if matrix.ndim != 2:
        raise InputError(
            f"evidence: expected a mapping or rows of values, got {matrix.ndim} axes; one row is "
            "x.reshape(1, -1)."
        )
    if matrix.dtype.kind not in "biuf":
        matrix = to_numbers(matrix, given, "evidence")
    if given is None and matrix.shape[1] != n_vars:
        raise InputError(
            f"evidence: expected {n_vars} columns, one for each variable, got {matrix.shape[1]}."
        )
    values = np.full((len(matrix), n_vars), np.nan)
    columns = list(range(n_vars))
    if given is not None:
        columns = [find_variable(name, names, n_vars, "evidence") for name in given]
    values[:, columns] = matrix
    wrong = np.argwhere(~(np.isnan(values) | (values == 0) | (values == 1)))
    if len(wrong):
        row, v = wrong[0].tolist()
        label = labels_of(names, n_vars)[v]
        raise InputError(
            f"evidence, row {row}, variable {label!r}: expected 0, 1 or NaN, got {values[row, v]}."
        )
    return values


def _probabilities(
    model: Any, values: NDArray[np.float64], how: Asked
) -> tuple[NDArray[np.float64], str]:
    """Return the values with probabilities in the place of NaN, and how they were computed."""
    own = core(model)
    unknown = np.isnan(values)
    rows = np.where(unknown, 0, values).astype(np.uint8)
    method = how.inference
    if method != "auto" and method not in METHODS:
        raise InputError(f"inference: expected one of auto, {', '.join(METHODS)}, got {method!r}.")
    if isinstance(own, ArithmeticCircuit | FeatureTree):
        method = "exact"
    elif method == "auto":
        most = int(unknown.sum(axis=1).max(initial=0))
        method = "exact" if most <= _ENUMERATED else "gibbs"
        circuit = None if most <= _ENUMERATED else _circuit_of(model)
        if circuit is not None:
            own, method = circuit, "exact"
    inference = settings_of(method, how.settings)
    found = answer(own, rows, unknown, inference, seed=how.seed, threads=how.threads)
    return found, method


def settings_of(method: str, settings: Mapping[str, Any]) -> Any:
    """Return settings of inference; an InputError names one that does not exist."""
    try:
        return inference_of(method, **settings)
    except TypeError as error:
        raise InputError(
            "inference: expected settings among burn_in, samples, iterations, tolerance, damping "
            f"and schedule, got {', '.join(settings)}."
        ) from error


def _circuit_of(model: Any) -> ArithmeticCircuit | None:
    """Return the circuit of a network, made once; None if it would be too large."""
    if model not in _COMPILED:
        _COMPILED[model] = _compile_small(core(model))
    return _COMPILED[model]


def _compile_small(model: Any) -> ArithmeticCircuit | None:
    if isinstance(model, DependencyNetwork):
        return None
    network = model.to_markov_network() if isinstance(model, BayesianNetwork) else model
    if len(network.features.var) > _LITERALS:
        return None
    try:
        return compile_network(network, _EDGES)
    except (InputError, RecursionError):
        return None
