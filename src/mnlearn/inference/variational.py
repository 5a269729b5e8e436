"""Approximate marginals and log Z by loopy belief propagation and by mean field."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.settings import SCHEDULES, Inference
from mnlearn.inference.tables.factors import given_of_factors
from mnlearn.inference.tables.relaxed import relaxed_factors
from mnlearn.inference.terms import Query, Terms, given_by_feature, query_of, terms_of
from mnlearn.kernels.sampling.mean_field import fit_mean_field
from mnlearn.kernels.tables.beliefs import MessagePlan, propagate_tables
from mnlearn.kernels.tables.forests import bound_by_forests
from mnlearn.kernels.tables.graphs import Given
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import NO_STATE

# Arguments: evidence, first and last row, and the arrays log_odds and report to fill in.
Fit = Callable[[NDArray[np.uint8], int, int, NDArray[np.float64], NDArray[np.float64]], None]


@dataclass(frozen=True, eq=False)
class Approximation:
    """Approximate marginals of query variables given some rows of evidence.

    log_odds : float64, (n_rows, n_columns). Log-odds of columns of variables of two states, and
    scores of other states, in nats. report : float64, (n_rows, 3). Number of iterations, largest
    change of log-odds in the last one, and log Z. tolerance : largest change with which an
    iteration has converged.
    """

    log_odds: NDArray[np.float64]
    report: NDArray[np.float64]
    tolerance: float

    @property
    def n_iterations(self) -> NDArray[np.int64]:
        """Number of iterations made, int64 of shape (n_rows,)."""
        return self.report[:, 0].astype(np.int64)

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Whether each row converged, bool of shape (n_rows,)."""
        return self.report[:, 1] <= self.tolerance

    @property
    def log_partition(self) -> NDArray[np.float64]:
        """Estimate of log Z of the query variables given the evidence, in nats, (n_rows,)."""
        return self.report[:, 2]


def approximate_rows(
    fit: Fit, asked: Query, evidence: NDArray[np.uint8], tolerance: float, threads: int
) -> Approximation:
    """Return the marginals of the query variables given each row of evidence.

    fit : fills in the rows of a range. evidence : uint8, (n_rows, n_evidence_indicators).
    """
    evidence = np.ascontiguousarray(evidence)
    log_odds = np.empty((len(evidence), len(asked.columns)))
    report = np.empty((len(evidence), 3))

    def run(first: int, last: int) -> None:
        fit(evidence, first, last, log_odds, report)

    map_ranges(run, len(evidence), threads)
    return Approximation(log_odds, report, tolerance)


def approximate(
    terms: Terms,
    asked: Query,
    rows: NDArray[np.uint8],
    evidence: NDArray[np.uint8],
    inference: Inference,
    threads: int,
) -> Approximation:
    """Return the marginals of query variables by mean field or belief propagation.

    rows : uint8, (n_rows, n_columns), values of all variables. evidence : the same, as indicators
        of the evidence variables.
    """
    if inference.method != "bp":
        return fit_independent(asked, evidence, inference, threads=threads)
    if not terms.model.has_joint:
        raise InputError("belief propagation: expected a Markov network.")
    values = terms.model.schema.values(rows)
    return propagate(terms.given, values, asked.query, inference, threads=threads)


def propagate(
    given: Given,
    values: NDArray[np.uint8],
    query: NDArray[np.int64],
    inference: Inference,
    *,
    threads: int = 1,
) -> Approximation:
    """Return the beliefs of the query variables given the states of all others in each row.

    values : uint8, (n_rows, n_vars), numbers of states; those of query variables are not read.
    query : ascending. `log_partition` of the answer is the Bethe estimate of log Z; minus infinity
    for evidence that is seen to be impossible, whose beliefs are even.

    Messages go between each table, or feature, and its variables; `kernels.tables.beliefs` says
    how. The answers are exact where the graph that joins each factor to its query variables has no
    cycle, after one sweep from the leaves and one back.

    See Yedidia, Freeman & Weiss, "Constructing free-energy approximations and generalized belief
    propagation algorithms", IEEE Transactions on Information Theory 51 (2005). Elidan, McGraw &
    Koller, "Residual belief propagation", UAI 2006.
    """
    values = values.copy()
    values[:, query] = NO_STATE
    first = np.concatenate([[0], np.cumsum(given.arity)])
    scores, report = np.empty((len(values), first[-1])), np.empty((len(values), 3))
    plan = _message_plan(inference)

    def run(begin: int, end: int) -> None:
        propagate_tables(given, values, plan, begin, end, scores, report)

    map_ranges(run, len(values), threads)
    columns = []
    for v in query[given.arity[query] > 1].tolist():
        own = scores[:, first[v] : first[v + 1]]
        columns.append(own[:, 1:] - own[:, :1] if own.shape[1] == 2 else own)
    return Approximation(
        np.concatenate(columns, axis=1) if columns else np.empty((len(values), 0)),
        report,
        inference.tolerance,
    )


def _message_plan(inference: Inference) -> MessagePlan:
    schedule = SCHEDULES.index(inference.schedule)
    return MessagePlan(inference.iterations, inference.tolerance, inference.damping, schedule)


def bethe_log_partition(
    network: MarkovNetwork | BayesianNetwork, inference: Inference, *, by_feature: bool = False
) -> tuple[float, bool]:
    """Return the Bethe estimate of log Z, in nats, and whether the propagation converged.

    by_feature : each feature is a factor of its own, as in the LEM paper. Else the features over
        some variables are one table, unless that would be too large.

    The estimate can be above or below log Z. It is exact where the graph that joins each factor to
    its variables has no cycle. Without tables, infinite weights count as `terms.HARD_WEIGHT`.
    """
    given = given_by_feature(network) if by_feature else terms_of(network).given
    nothing = np.full((1, network.n_vars), NO_STATE, np.uint8)
    found = propagate(given, nothing, np.arange(network.n_vars), inference)
    return float(found.log_partition[0]), bool(found.converged[0])


def bound_log_partition_above(
    network: MarkovNetwork | BayesianNetwork, inference: Inference
) -> tuple[float, bool]:
    """Return an upper bound of log Z, in nats, and whether the messages converged.

    The bound holds without convergence too. `kernels.tables.forests` says how; features that are
    too long for a table are replaced by greater ones.

    See Wainwright, Jaakkola & Willsky, "A new class of upper bounds on the log partition function",
    IEEE Transactions on Information Theory 51 (2005).
    """
    given = given_of_factors(relaxed_factors(network))
    unknown = np.full(network.n_vars, NO_STATE, np.uint8)
    value, _, change = bound_by_forests(given, unknown, _message_plan(inference))
    return value, bool(change <= inference.tolerance)


def fit_independent(
    asked: Query, evidence: NDArray[np.uint8], inference: Inference, *, threads: int = 1
) -> Approximation:
    """Return the mean-field marginals of the query variables given each row of evidence.

    evidence : uint8, (n_rows, n_evidence_indicators). `log_partition` of the answer is a lower
    bound of log Z; not a number for a dependency network.

    All variables start evenly and are updated in order to q_v = sigmoid(E_q[log-odds of v]), where
    the log-odds are those of v given all others, or to the softmax of the expected scores of its
    states. For a Markov network each update raises the bound E_q[log-potential] + entropy of q, so
    the updates end at a local maximum. For a dependency network the log-odds are those of the CPD
    of v, no bound exists, and the updates may go on.

    See Lowd & Shamaei, "Mean field inference in dependency networks: an empirical study", AAAI
    2011.
    """

    def fit(rows: NDArray, first: int, last: int, log_odds: NDArray, report: NDArray) -> None:
        fit_mean_field(
            asked.terms, rows, asked.blocks, inference.iterations, inference.tolerance,
            first, last, log_odds, report,
        )  # fmt: skip

    found = approximate_rows(fit, asked, evidence, inference.tolerance, threads)
    if asked.owned:
        found.report[:, 2] = np.nan
    return found


def bound_log_partition(
    network: MarkovNetwork | BayesianNetwork, inference: Inference
) -> tuple[float, bool]:
    """Return a lower bound of log Z, in nats, and whether the updates converged.

    The bound holds without convergence too.
    """
    asked = query_of(terms_of(network), np.arange(network.n_vars))
    found = fit_independent(asked, np.empty((1, 0), np.uint8), inference)
    return float(found.log_partition[0]), bool(found.converged[0])
