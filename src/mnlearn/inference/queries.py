"""Answers to questions about a model, in numbers of states, by the way that `plan` chooses."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.circuits.exact import UNKNOWN
from mnlearn.inference.circuits.exact import most_probable as most_probable_columns
from mnlearn.inference.evidence import Evidence
from mnlearn.inference.exact import log_value, marginals
from mnlearn.inference.forms import small_circuit
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.plan import MODE, VALUE, Plan, excludes_states, plan
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE, Schema


def known_values(schema: Schema, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the numbers of the states of rows of columns, NO_STATE where a row has UNKNOWN."""
    values = schema.values(rows)
    wide = np.flatnonzero(schema.arity > 1)
    unknown = rows[:, schema.start[:-1][wide]] == UNKNOWN
    values[:, wide] = np.where(unknown, NO_STATE, values[:, wide])
    return values


class Answer(NamedTuple):
    """Probabilities, and how they were found.

    probability : float64, shape (n_rows, n_columns), P(column = 1 | evidence). Columns of the
        evidence keep their 0 or 1.
    """

    probability: NDArray[np.float64]
    plan: Plan


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


def answer(
    model: Model,
    evidence: Evidence,
    chosen: Plan,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Answer:
    """Return the marginals of all columns given what is known in each row.

    Parameters
    ----------
    model : Model
        Any kind of model.
    evidence : Evidence
        What is known in each row.
    chosen : Plan
        How it is answered.
    inference : Inference
        The method and its settings, if a plan has no form of its own.
    seed : int
        See `inference.marginals.conditional_marginals`.
    threads : int
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        The evidence of a row has probability 0. Sampling does not see that in a wide network.
    """
    rows, asked = columns_of(model.schema, evidence.values)
    known = np.where(asked, UNKNOWN, rows).astype(np.uint8)
    if chosen.form is not None:
        found = marginals(chosen.form, known, threads)
        _refuse_impossible(np.isnan(found.sum(axis=1)), evidence)
        return Answer(np.where(asked, found, rows), chosen)
    circuit = small_circuit(model) if excludes_states(model) else None
    if circuit is not None:
        _refuse_impossible(np.isneginf(log_value(circuit, known)), evidence)
    return Answer(_network_marginals(model, rows, asked, inference, seed, threads), chosen)


def log_probabilities(
    model: Model, values: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return the log-probability of what is known in each row, up to log Z, which all rows share.

    values : uint8, shape (n_rows, n_vars), see `Evidence`.
    """
    chosen = plan(model, VALUE, values == NO_STATE)
    assert chosen.form is not None
    return log_value(chosen.form, known_columns(model.schema, values), threads)


def modes(model: Model, evidence: Evidence) -> tuple[NDArray[np.uint8], Plan]:
    """Return the numbers of the most probable states given each row, and how they were found.

    Raises
    ------
    InputError
        A row has probability 0; the sentence begins with its name.
    """
    chosen = plan(model, MODE, evidence.values == NO_STATE)
    known = known_columns(model.schema, evidence.values)
    assert isinstance(chosen.form, ArithmeticCircuit)
    rows, log_values = most_probable_columns(chosen.form, known)
    impossible = np.flatnonzero(np.isneginf(log_values))
    if len(impossible):
        raise InputError(f"{evidence.name_row(int(impossible[0]))}: has probability 0.")
    schema: Schema = model.schema
    return schema.values(rows), chosen


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


def _refuse_impossible(impossible: NDArray[np.bool_], evidence: Evidence) -> None:
    if impossible.any():
        where = evidence.name_row(int(np.argmax(impossible)))
        raise InputError("has probability 0.", where=where)
