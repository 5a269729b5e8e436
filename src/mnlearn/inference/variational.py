"""Approximate marginals and log Z by loopy belief propagation and by mean field."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import Query, Terms, query_of, terms_of
from mnlearn.kernels.sampling.belief_propagation import PropagationPlan, propagate_beliefs
from mnlearn.kernels.sampling.mean_field import fit_mean_field
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

# Arguments: evidence, first and last row, and the arrays log_odds and report to fill in.
Fit = Callable[[NDArray[np.uint8], int, int, NDArray[np.float64], NDArray[np.float64]], None]


@dataclass(frozen=True, eq=False)
class Approximation:
    """Approximate marginals of query variables given some rows of evidence.

    Attributes
    ----------
    log_odds : ndarray of float64, shape (n_rows, n_columns)
        Log-odds of columns of variables of two states, and scores of other states, in nats.
    report : ndarray of float64, shape (n_rows, 3)
        Number of iterations, largest change of log-odds in the last one, and log Z.
    tolerance : float
        Largest change with which an iteration has converged.
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


def log_partition_by(
    approximate: Callable[[Query, NDArray[np.uint8], Inference], Approximation],
    network: MarkovNetwork | BayesianNetwork,
    inference: Inference,
) -> tuple[float, bool]:
    """Return the log Z of a network, in nats, by an approximation, and whether it converged."""
    asked = query_of(terms_of(network), np.arange(network.n_vars))
    found = approximate(asked, np.empty((1, 0), np.uint8), inference)
    return float(found.log_partition[0]), bool(found.converged[0])


_DEFAULT = Inference("bp")


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Approximate marginals of query variables given evidence.

    Attributes
    ----------
    query : ndarray of int64, shape (n_query,)
        Variables, ascending.
    start : ndarray of int64, shape (n_query + 1,)
        Query variable q has the columns start[q]:start[q + 1] of `log_odds`.
    log_odds : ndarray of float64, shape (n_columns,)
        Log-odds of columns of variables of two states, and scores of other states, in nats.
    converged : bool
        Whether the log-odds changed by at most the tolerance in the last iteration.
    """

    query: NDArray[np.int64]
    start: NDArray[np.int64]
    log_odds: NDArray[np.float64]
    converged: bool


def infer_beliefs(
    terms: Terms,
    row: NDArray[np.uint8],
    query: NDArray[np.int64],
    inference: Inference = _DEFAULT,
) -> Beliefs:
    """Return the beliefs of `query` given the values of all other variables in a row.

    Parameters
    ----------
    terms : Terms
        The terms of a Markov network.
    row : ndarray of uint8, shape (n_columns,)
        Values; those of query variables are not read.
    query : ndarray of int64, shape (n_query,)
        Variables.
    inference : Inference
        Damping, schedule and when to stop.

    Raises
    ------
    InputError
        The terms are those of a dependency network, which has no factors.
    """
    asked = query_of(terms, query)
    found = propagate(asked, terms.indicators.extend(row[None])[:, asked.evidence], inference)
    return Beliefs(asked.query, asked.start, found.log_odds[0], bool(found.converged[0]))


def propagate(
    asked: Query, evidence: NDArray[np.uint8], inference: Inference, *, threads: int = 1
) -> Approximation:
    """Return the beliefs of the query variables given each row of evidence.

    Parameters
    ----------
    asked : Query
        Terms of a Markov network, split into query and evidence.
    evidence : ndarray of uint8, shape (n_rows, n_evidence_indicators)
        Values of the indicators of the evidence variables.
    inference : Inference
        Damping, schedule and when to stop.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    Approximation
        Its `log_partition` is the Bethe estimate of log Z.

    Raises
    ------
    InputError
        The terms are those of a dependency network, which has no factors.

    Notes
    -----
    The algorithm makes sum-product updates of log-odds messages. An iteration costs time
    proportional to the total length of the features. The marginals and log Z are exact where the
    graph that joins each feature to its query variables has no cycle. Two features over the same
    two variables make a cycle.

    References
    ----------
    Yedidia, Freeman & Weiss, "Constructing free-energy approximations and generalized belief
    propagation algorithms", IEEE Transactions on Information Theory 51 (2005).
    """
    if asked.owned:
        raise InputError("belief propagation: expected a Markov network.")
    plan = PropagationPlan(
        inference.iterations,
        inference.tolerance,
        inference.damping,
        inference.schedule == "parallel",
    )

    def fit(rows: NDArray, first: int, last: int, log_odds: NDArray, report: NDArray) -> None:
        propagate_beliefs(asked.terms, rows, asked.blocks, plan, first, last, log_odds, report)

    return approximate_rows(fit, asked, evidence, inference.tolerance, threads)


def bethe_log_partition(
    network: MarkovNetwork | BayesianNetwork, inference: Inference
) -> tuple[float, bool]:
    """Return the Bethe estimate of log Z, in nats, and whether the propagation converged.

    Parameters
    ----------
    network : MarkovNetwork or BayesianNetwork
        Infinite weights count as `inference.terms.HARD_WEIGHT`.
    inference : Inference
        Damping, schedule and when to stop.

    Notes
    -----
    The estimate can be above or below log Z. It is exact where the graph that joins each feature
    to its variables has no cycle.
    """
    return log_partition_by(propagate, network, inference)


def fit_independent(
    asked: Query, evidence: NDArray[np.uint8], inference: Inference, *, threads: int = 1
) -> Approximation:
    """Return the mean-field marginals of the query variables given each row of evidence.

    Parameters
    ----------
    asked : Query
        Terms of a Markov or dependency network, split into query and evidence.
    evidence : ndarray of uint8, shape (n_rows, n_evidence_indicators)
        Values of the indicators of the evidence variables.
    inference : Inference
        Most iterations, and tolerance.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    Approximation
        Its `log_partition` is a lower bound of log Z; not a number for a dependency network.

    Notes
    -----
    All variables start evenly and are updated in order to q_v = sigmoid(E_q[log-odds of v]), where
    the log-odds are those of v given all others, or to the softmax of the expected scores of its
    states. For a Markov network each update raises the bound E_q[log-potential] + entropy of q, so
    the updates end at a local maximum. For a dependency network the log-odds are those of the CPD
    of v, no bound exists, and the updates may go on.

    References
    ----------
    Lowd & Shamaei, "Mean field inference in dependency networks: an empirical study", AAAI 2011.
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

    Parameters
    ----------
    network : MarkovNetwork or BayesianNetwork
        Infinite weights count as `inference.terms.HARD_WEIGHT`.
    inference : Inference
        Most iterations, and tolerance. The bound holds without convergence too.
    """
    return log_partition_by(fit_independent, network, inference)
