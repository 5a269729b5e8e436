"""Probabilities that models give to the states of query variables, for conditional scores."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.evaluation import UNKNOWN
from mnlearn.inference.exact import ExactForm, conditionals
from mnlearn.inference.marginals import Marginals, conditional_marginals
from mnlearn.inference.plan import MARGINALS, plan
from mnlearn.inference.settings import AUTO, Inference
from mnlearn.inference.state_columns import of_values, state_probabilities
from mnlearn.inference.terms import Terms, terms_of
from mnlearn.models.model import Model
from mnlearn.variables.schema import Schema


def without(rows: NDArray[np.uint8], group: NDArray[np.int64], schema: Schema) -> NDArray[np.uint8]:
    """Return the rows with the values of a group of variables unknown."""
    evidence = rows.copy()
    evidence[:, np.isin(schema.variable_of, group)] = UNKNOWN
    return evidence


class Answer(NamedTuple):
    """Probabilities of the states of query variables in each row.

    query : the variables. log_own : float64, shape (n_rows, n_query), log P(x_v | evidence).
    converged : of each row, for belief propagation and mean field. sampled : with a chain only.
    """

    query: NDArray[np.int64]
    log_own: NDArray[np.float64]
    converged: NDArray[np.bool_] | None = None
    sampled: Marginals | None = None


# Answers one query of all rows of some data, given the variables that are not asked for.
Answerer = Callable[[Dataset, NDArray[np.int64]], Answer]


def answerer(model: Model, inference: Inference, seed: int, threads: int) -> Answerer:
    """Return what answers for a model, by the way that is planned for each query."""
    terms: list[Terms] = []

    def answer(data: Dataset, query: NDArray[np.int64]) -> Answer:
        unknown = np.isin(np.arange(data.n_vars), query)
        every = np.broadcast_to(unknown, (data.n_rows, data.n_vars))
        chosen = plan(model, MARGINALS, every, inference.method)
        if chosen.form is not None:
            return _answer_exactly(chosen.form, data, query, threads)
        how = replace(inference, method=chosen.method) if inference.method == AUTO else inference
        query = np.sort(query)
        if not terms:
            terms.append(terms_of(model))
        found = conditional_marginals(terms[0], data.rows, query, how, seed=seed, threads=threads)
        log_own = found.log_own(data.schema.values(data.rows)[:, query])
        if found.approximation is not None:
            return Answer(query, log_own, found.approximation.converged[found.row_of])
        return Answer(query, log_own, sampled=None if found.batches is None else found)

    return answer


def _answer_exactly(
    form: ExactForm, data: Dataset, query: NDArray[np.int64], threads: int
) -> Answer:
    schema = data.schema
    evidence, p = conditionals(form, without(data.rows, query, schema), threads)
    columns = np.array([c for v in query.tolist() for c in schema.columns(v)], np.int64)
    start = np.concatenate([[0], np.cumsum(np.diff(schema.start)[query])])
    by_state = state_probabilities(p[:, columns, 1], start, p[:, columns, 0])
    own = of_values(by_state, schema.values(data.rows)[:, query], start, otherwise=0.0)
    with np.errstate(divide="ignore"):
        log_own = np.log(own)
    log_own[np.isneginf(evidence)] = -np.inf
    return Answer(query, log_own)


def sampling_variance(marginals: Marginals, data: Dataset) -> float:
    """Return the variance of the summed score due to sampling, by batch means.

    To first order the score is linear in the estimates. Examples with equal evidence share a chain,
    so their errors are added up before they are squared.
    """
    assert marginals.batches is not None
    n_batches = marginals.batches.shape[1]
    if n_batches < 2:
        return 0.0
    values = data.rows[:, marginals.columns]
    p_own = np.where(
        values, marginals.probability[marginals.row_of], marginals.complement[marginals.row_of]
    )
    # The term of a variable of several states has the probability of its own state only.
    width = np.diff(marginals.start)
    of_zero = np.where(np.repeat(width, width) == 1, -1.0, 0.0)
    slope = np.where(values, 1.0, of_zero) / p_own * data.weight[:, None]
    total = np.zeros(marginals.probability.shape)
    np.add.at(total, marginals.row_of, slope)
    per_batch = np.einsum("ebq,eq->eb", marginals.batches, total)
    return float(per_batch.var(axis=1, ddof=1).sum() / n_batches)
