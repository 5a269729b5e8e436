"""Probabilities that models give to the values of query variables, for conditional scores."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.evaluation import UNKNOWN
from mnlearn.inference.exact import ExactForm, conditionals
from mnlearn.inference.group_sampling import groups_sampled, marginals_of_groups
from mnlearn.inference.marginals import Marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.model import Model


def without(rows: NDArray[np.uint8], group: Any) -> NDArray[np.uint8]:
    """Return the rows with the values of a group of variables unknown."""
    evidence = rows.copy()
    evidence[:, group] = UNKNOWN
    return evidence


class Answer(NamedTuple):
    """Probabilities of the values of query variables in each row.

    query : the variables. log_own : float64, shape (n_rows, n_query), log P(x_v | evidence).
    converged : of each row, for belief propagation and mean field. sampled : with a chain only.
    """

    query: NDArray[np.int64]
    log_own: NDArray[np.float64]
    converged: NDArray[np.bool_] | None = None
    sampled: Marginals | None = None


# The columns of each variable.
Columns = Sequence[Sequence[int]]
# Answers one query of all rows, given the variables that are not asked for.
Answerer = Callable[[NDArray[np.uint8], NDArray[np.int64]], Answer]


def answer_exactly(form: ExactForm, threads: int) -> Answerer:
    """Return what answers for a circuit or a tree of hidden variables."""

    def answer(rows: NDArray[np.uint8], query: NDArray[np.int64]) -> Answer:
        evidence, p = conditionals(form, without(rows, query), threads)
        with np.errstate(divide="ignore"):
            log_own = np.log(np.where(rows[:, query], p[:, query, 1], p[:, query, 0]))
        log_own[np.isneginf(evidence)] = -np.inf
        return Answer(query, log_own)

    return answer


def answer_for_network(
    model: Model, inference: Inference, in_groups: bool, seed: int, threads: int
) -> Answerer:
    """Return what answers for a network.

    in_groups : whether the columns of a variable of several states are drawn together.
    """
    terms = terms_of(model)
    groups = groups_sampled(model, inference) if in_groups else ()

    def answer(rows: NDArray[np.uint8], query: NDArray[np.int64]) -> Answer:
        found = marginals_of_groups(
            terms, rows, np.sort(query), groups, inference, seed=seed, threads=threads
        )
        values, row_of = rows[:, found.query], found.row_of
        if found.approximation is not None:
            odds = found.approximation.log_odds[row_of]
            # From the log-odds: 1 minus a probability could be 0.
            log_own = -np.logaddexp(0.0, np.where(values, -odds, odds))
            return Answer(found.query, log_own, found.approximation.converged[row_of])
        with np.errstate(divide="ignore"):
            log_own = np.log(np.where(values, found.probability[row_of], found.complement[row_of]))
        return Answer(found.query, log_own, sampled=None if found.batches is None else found)

    return answer


def add_terms(
    found: Answer, rows: NDArray[np.uint8], variables: Columns, per_row: NDArray[np.float64]
) -> None:
    """Add the term of each query variable to the scores of the rows; it may have several columns.

    variables : the columns of each variable.
    """
    own = rows[:, found.query] == 1
    place = {v: k for k, v in enumerate(found.query.tolist())}
    for columns in variables:
        if columns[0] in place:
            k = [place[v] for v in columns]
            per_row += _term(own[:, k], found.log_own[:, k])


def _term(own: NDArray[np.bool_], log_own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-probability of the value of a variable for each row.

    own : which of its columns are 1. log_own : log-probability of the value of each column.
    """
    if own.shape[1] == 1:
        return log_own[:, 0]
    of_state = np.where(own, log_own, 0.0).sum(axis=1)
    return np.where(own.sum(axis=1) == 1, of_state, -np.inf)


def sampling_variance(marginals: Marginals, data: Dataset) -> float:
    """Return the variance of the summed score due to sampling, by batch means.

    To first order the score is linear in the estimates. Examples with equal evidence share a chain,
    so their errors are added up before they are squared.
    """
    assert marginals.batches is not None
    n_batches = marginals.batches.shape[1]
    if n_batches < 2:
        return 0.0
    values = data.rows[:, marginals.query]
    p_own = np.where(
        values, marginals.probability[marginals.row_of], marginals.complement[marginals.row_of]
    )
    slope = np.where(values, 1.0, -1.0) / p_own * data.weight[:, None]
    total = np.zeros(marginals.probability.shape)
    np.add.at(total, marginals.row_of, slope)
    per_batch = np.einsum("ebq,eq->eb", marginals.batches, total)
    return float(per_batch.var(axis=1, ddof=1).sum() / n_batches)
