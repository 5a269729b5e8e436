"""Answers to questions about a model, in numbers of states, by the way that `plan` chooses."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.evidence import Evidence
from mnlearn.inference.exact import log_value, marginals, most_probable
from mnlearn.inference.plan import (
    JOINT,
    MARGINAL_MODE,
    MODE,
    TEMPERING,
    VALUE,
    WEIGHTING,
    Plan,
    plan,
)
from mnlearn.inference.settings import ITERATIVE, SAMPLED, Inference
from mnlearn.inference.state_columns import state_probabilities, with_evidence
from mnlearn.inference.table_form import TableForm
from mnlearn.inference.tables import answers
from mnlearn.inference.tables.marginal_map import marginal_map
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.memory import most_cells
from mnlearn.variables.schema import NO_STATE, Schema

# Draws of a variable in each row of evidence at least, where an answer may take so many at most.
_LEAST_WORK = 1 << 20


class Answer(NamedTuple):
    """Probabilities, and how they were found.

    probability : float64, shape (n_rows, n_states), in the layout of `inference.state_columns`.
        States of the evidence have 0 or 1. Only those of the variables asked for are right.
    error : of the same shape, the Monte Carlo error of estimates by sampling.
    converged : bool, of the same shape, of estimates.
    """

    plan: Plan
    probability: NDArray[np.float64]
    error: NDArray[np.float64] | None = None
    converged: NDArray[np.bool_] | None = None


def answer(
    model: Model,
    evidence: Evidence,
    chosen: Plan,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
    asked: NDArray[np.bool_] | None = None,
) -> Answer:
    """Return the marginals of variables given what is known in each row.

    seed : the chains of a row depend on this 64-bit seed and on the evidence of the row only. asked
    : bool, (n_vars,). The variables that are asked for; by default all.
    """
    schema: Schema = model.schema
    asked = np.ones(len(schema), bool) if asked is None else asked
    if chosen.form is not None:
        log_values, p = marginals(chosen.form, evidence.values, asked, threads)
        _refuse_impossible(np.isneginf(log_values), evidence)
        is_done = isinstance(chosen.form, TableForm)
        return Answer(chosen, p if is_done else with_evidence(p, evidence.values, schema.arity))
    if chosen.judge is not None:
        known = schema.known_rows(evidence.values)
        _refuse_impossible(np.isneginf(log_value(chosen.judge, known)), evidence)
    if chosen.method in SAMPLED:
        from mnlearn.inference.chains import estimate
        from mnlearn.inference.tempering import WORK
        from mnlearn.inference.terms import terms_of

        form = terms_of(model) if chosen.factors is None else chosen.factors
        work = max(WORK // len(evidence.values), _LEAST_WORK)
        run: Any = {"seed": seed, "threads": threads, "work": work, "asked": asked}
        found = estimate(form, evidence.values, inference, **run)
        if found.n_tempered:
            handed_on = found.n_tempered == len(evidence.values)
            way = TEMPERING if handed_on else f"{WEIGHTING} and {TEMPERING}"
            chosen = replace(chosen, way=way)
        return Answer(chosen, found.probability, found.monte_carlo_error, found.converged)
    return _network_answer(model, evidence, chosen, inference, seed, threads)


def _network_answer(
    model: Model, evidence: Evidence, chosen: Plan, inference: Inference, seed: int, threads: int
) -> Answer:
    """Return what `answer` returns for a network, whatever the probability of the evidence."""
    from mnlearn.inference.marginals import conditional_marginals
    from mnlearn.inference.terms import terms_of

    schema: Schema = model.schema
    unknown = evidence.values == NO_STATE
    rows = schema.rows(np.where(unknown, 0, evidence.values))
    p = np.ones((len(rows), int(schema.arity.sum())))
    converged = np.ones(p.shape, bool)
    terms = terms_of(model)
    patterns, pattern_of = np.unique(unknown, axis=0, return_inverse=True)
    for k, pattern in enumerate(patterns):
        if not pattern.any():
            continue
        members, query = np.flatnonzero(pattern_of.ravel() == k), np.flatnonzero(pattern)
        found = conditional_marginals(
            terms, rows[members], query, inference, seed=seed, threads=threads
        )
        place = np.ix_(members, np.flatnonzero(np.repeat(pattern, schema.arity)))
        if found.approximation is not None:
            impossible = np.isneginf(found.approximation.log_partition)[found.row_of]
            _refuse_impossible(np.bincount(members[impossible], minlength=len(rows)) > 0, evidence)
        own = state_probabilities(found.probability, found.start, found.complement)
        p[place] = own[found.row_of]
        if found.approximation is not None:
            converged[place] = found.approximation.converged[found.row_of][:, None]
    whole = with_evidence(p, evidence.values, schema.arity)
    return Answer(chosen, whole, converged=converged if inference.method in ITERATIVE else None)


def joint(model: Model, known: NDArray[np.uint8], asked: list[int]) -> NDArray[np.float64] | None:
    """Return the joint distribution of some variables, an axis for each; None if it is impossible.

    known : uint8, shape (n_vars,), see `Evidence`; nothing of `asked` is known.
    """
    schema: Schema = model.schema
    of_asked = np.isin(np.arange(len(schema)), asked)
    chosen = plan(model, JOINT, (known == NO_STATE)[None], asked=of_asked)
    if isinstance(chosen.form, TableForm):
        possible = np.isfinite(chosen.form.log_values(known[None])[0])
        found = answers.joint(chosen.form.factors, known[None], asked, most_cells())[0]
        return found if possible else None
    sizes = schema.arity[asked].tolist()
    values = np.repeat(known[None], int(np.prod(sizes)), axis=0)
    values[:, asked] = np.indices(sizes).reshape(len(sizes), -1).T
    assert chosen.form is not None
    rows = schema.known_rows(np.concatenate([values, known[None]]))
    *log_both, log_known = log_value(chosen.form, rows)
    if np.isneginf(log_known):
        return None
    return np.asarray(np.exp(np.array(log_both) - log_known)).reshape(sizes)


def log_probabilities(
    model: Model, values: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return the log-probability of what is known in each row, up to log Z, which all rows share.

    values : uint8, shape (n_rows, n_vars), see `Evidence`.
    """
    chosen = plan(model, VALUE, values == NO_STATE)
    assert chosen.form is not None
    return log_value(chosen.form, model.schema.known_rows(values), threads)


def modes(
    model: Model, evidence: Evidence, asked: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.uint8], Plan]:
    """Return the numbers of the most probable states given each row, and how they were found.

    asked : bool, shape (n_vars,), the variables that are maximised; all others that are not known
        are summed out, and have NO_STATE. Default: all.
    """
    if asked is not None:
        return _marginal_modes(model, evidence, asked)
    chosen = plan(model, MODE, evidence.values == NO_STATE)
    assert isinstance(chosen.form, ArithmeticCircuit | TableForm)
    rows, log_values = most_probable(chosen.form, model.schema.known_rows(evidence.values))
    _refuse_impossible(np.isneginf(log_values), evidence)
    schema: Schema = model.schema
    return schema.values(rows), chosen


def _marginal_modes(
    model: Model, evidence: Evidence, asked: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], Plan]:
    """Return what `modes` returns for some of the variables."""
    schema: Schema = model.schema
    query = np.flatnonzero(asked).tolist()
    chosen = plan(model, MARGINAL_MODE, evidence.values == NO_STATE, asked=asked)
    assert chosen.form is not None
    out = evidence.values.copy()
    states = np.zeros((0, len(query)), np.uint8)
    if not isinstance(chosen.form, TableForm):
        states = np.indices(schema.arity[query].tolist()).reshape(len(query), -1).T
    for k, values in enumerate(evidence.values):
        if isinstance(chosen.form, TableForm):
            try:
                found, _ = marginal_map(chosen.form.factors, values, query, most_cells())
            except InputError as error:
                error.where = evidence.name_row(k)
                raise
            out[k, query] = [found[v] for v in query]
            continue
        every = np.repeat(values[None], len(states), axis=0)
        every[:, query] = states
        log_values = log_value(chosen.form, schema.known_rows(every))
        if np.isneginf(log_values.max()):
            raise InputError("has probability 0.", where=evidence.name_row(k))
        out[k, query] = states[log_values.argmax()]
    return out, chosen


def _refuse_impossible(impossible: NDArray[np.bool_], evidence: Evidence) -> None:
    if impossible.any():
        where = evidence.name_row(int(np.argmax(impossible)))
        raise InputError("has probability 0.", where=where)
