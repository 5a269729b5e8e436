"""Queries of a person, answered by conditional probabilities of states."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.circuits.exact import UNKNOWN, log_value
from mnlearn.inference.evidence import Evidence
from mnlearn.inference.exact import exact_form, marginals
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.elimination import min_fill_order
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE, Schema

# The states of at most so many binary variables that are not known are enumerated, and at most so
# many states for all rows together.
_ENUMERATED = 12
_STATES = 2**22
# Networks of up to so many literals are compiled, if the circuit has up to so many edges. Both take
# about a second.
_LITERALS = 50_000
# Nor is a network compiled whose tables would have more entries than this in variable elimination.
_LOG2_ENTRIES = 20
_EDGES = 200_000


def columns_of(
    schema: Schema, values: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return evidence as indicator columns, and which columns are not known.

    values : see `Evidence`. Columns that are not known are 0.
    """
    unknown = (values == NO_STATE)[:, schema.variable_of]
    return np.where(unknown, 0, schema.rows(values)).astype(np.uint8), unknown


def known_columns(schema: Schema, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return evidence as indicator columns, UNKNOWN where nothing is known."""
    rows, unknown = columns_of(schema, values)
    return np.where(unknown, UNKNOWN, rows).astype(np.uint8)


def choose(
    model: Model, unknown: NDArray[np.bool_], compiled: Callable[[], ArithmeticCircuit | None]
) -> tuple[Model, str]:
    """Return the model that answers a query, and the method of inference: "exact" or "gibbs".

    Parameters
    ----------
    model : Model
        The model that is asked.
    unknown : ndarray of bool, shape (n_rows, n_vars)
        The variables that each row asks for.
    compiled : callable
        Returns the circuit of the model, or None; see `compile_small`.
    """
    if model.is_exact:
        return model, "exact"
    schema: Schema = model.schema
    most = float((unknown @ np.log2(schema.arity)).max(initial=0))
    few = most <= _ENUMERATED and len(unknown) * 2**most <= _STATES
    # Enumeration answers evidence of probability 0 too; a circuit refuses it.
    if few and not excludes_states(model):
        return model, "exact"
    circuit = compiled()
    if circuit is None:
        return model, "exact" if few else "gibbs"
    return circuit, "exact"


def excludes_states(model: Model) -> bool:
    """Tell whether a network may give states probability 0, by infinite weights."""
    if model.is_exact or not model.has_joint:
        return False
    return not bool(np.isfinite(model.to_markov_network().weight).all())


def _log2_entries(network: MarkovNetwork) -> float:
    """Return the logarithm of the number of entries of tables, beyond the limit a lower bound."""
    features, schema = network.features, network.schema
    scopes = [
        {int(schema.variable_of[c]) for c, _ in features.literals(f)} for f in range(len(features))
    ]
    arity = schema.arity.tolist()
    return min_fill_order(len(schema), map(sorted, scopes), _LOG2_ENTRIES, arity)[1]


def compile_small(model: Model) -> ArithmeticCircuit | None:
    """Return the circuit of a network; None if there is none, or it would be too large."""
    if not model.has_joint:
        return None
    network: MarkovNetwork = model.to_markov_network()
    if len(network.features.var) > _LITERALS or _log2_entries(network) > _LOG2_ENTRIES:
        return None
    try:
        return compile_network(network, _EDGES)
    except (InputError, RecursionError):
        return None


def answer(
    model: Model,
    evidence: Evidence,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
    compiled: Callable[[], ArithmeticCircuit | None] | None = None,
) -> NDArray[np.float64]:
    """Return P(column = 1 | evidence) of each indicator column, shape (n_rows, n_columns).

    Rows that ask for the same variables are answered together. The answers of circuits and trees
    are exact. Columns of the evidence keep their 0 or 1.

    Parameters
    ----------
    model : Model
        Any kind of model.
    evidence : Evidence
        What is known in each row.
    inference : Inference
        Used for models that are neither circuits nor trees.
    seed : int
        See `inference.marginals.conditional_marginals`.
    threads : int
        Number of threads; the result does not depend on it.
    compiled : callable, optional
        Returns the circuit of a network if that is small; default: `compile_small`.

    Raises
    ------
    InputError
        The evidence of a row has probability 0. That is seen in circuits, trees, and networks with
        a small circuit.
    """
    rows, asked = columns_of(model.schema, evidence.values)
    known = np.where(asked, UNKNOWN, rows).astype(np.uint8)
    if model.is_exact:
        found = marginals(exact_form(model), known, threads)
        _refuse_impossible(np.isnan(found.sum(axis=1)), evidence)
        return np.where(asked, found, rows)
    circuit = _circuit_of_possible(model, compiled)
    if circuit is not None:
        _refuse_impossible(np.isneginf(log_value(circuit, known)), evidence)
    return _network_marginals(model, rows, asked, inference, seed, threads)


def _network_marginals(
    model: Model,
    rows: NDArray[np.uint8],
    asked: NDArray[np.bool_],
    inference: Inference,
    seed: int,
    threads: int,
) -> NDArray[np.float64]:
    """Return what `answer` returns for a network, whatever the probability of the evidence."""
    out = rows.astype(np.float64)
    terms = terms_of(model)
    patterns, pattern_of = np.unique(asked, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        members = np.flatnonzero(pattern_of.ravel() == k)
        query = np.unique(model.schema.variable_of[pattern])
        found = conditional_marginals(
            terms, rows[members], query, inference, seed=seed, threads=threads
        )
        out[np.ix_(members, found.columns)] = found.probability[found.row_of]
    return out


def _circuit_of_possible(
    model: Model, compiled: Callable[[], ArithmeticCircuit | None] | None
) -> ArithmeticCircuit | None:
    """Return a circuit that tells which evidence is possible, if some is not and it is small."""
    if not excludes_states(model):
        return None
    return compile_small(model) if compiled is None else compiled()


def _refuse_impossible(impossible: NDArray[np.bool_], evidence: Evidence) -> None:
    if impossible.any():
        where = evidence.name_row(int(np.argmax(impossible)))
        raise InputError("has probability 0.", where=where)
