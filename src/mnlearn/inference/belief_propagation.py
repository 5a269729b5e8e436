"""Approximate conditional marginals by loopy belief propagation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.iterative import Approximation, approximate_rows, log_partition_by
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import Query, Terms, query_of
from mnlearn.kernels.sampling.belief_propagation import PropagationPlan, propagate_beliefs
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError

_DEFAULT = Inference("bp")


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Approximate marginals of query variables given evidence.

    Attributes
    ----------
    query : ndarray of int64, shape (n_query,)
        Variables, ascending.
    log_odds : ndarray of float64, shape (n_query,)
        Log-odds of the value 1, in nats.
    converged : bool
        Whether the log-odds changed by at most the tolerance in the last iteration.
    """

    query: NDArray[np.int64]
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
    row : ndarray of uint8, shape (n_vars,)
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
    found = propagate(asked, row[asked.evidence][None], inference)
    return Beliefs(asked.query, found.log_odds[0], bool(found.converged[0]))


def propagate(
    asked: Query, evidence: NDArray[np.uint8], inference: Inference, *, threads: int = 1
) -> Approximation:
    """Return the beliefs of the query variables given each row of evidence.

    Parameters
    ----------
    asked : Query
        Terms of a Markov network, split into query and evidence.
    evidence : ndarray of uint8, shape (n_rows, n_evidence_vars)
        Values of the evidence variables.
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
        propagate_beliefs(asked.terms, rows, plan, first, last, log_odds, report)

    return approximate_rows(fit, asked, evidence, inference.tolerance, threads)


def bethe_log_partition(
    network: MarkovNetwork | BayesianNetwork, inference: Inference
) -> tuple[float, bool]:
    """Return the Bethe estimate of log Z, in nats, and whether the propagation converged.

    Parameters
    ----------
    network : MarkovNetwork or BayesianNetwork
        Infinite weights count as `inference.hard_weight.HARD_WEIGHT`.
    inference : Inference
        Damping, schedule and when to stop.

    Notes
    -----
    The estimate can be above or below log Z. It is exact where the graph that joins each feature
    to its variables has no cycle.
    """
    return log_partition_by(propagate, network, inference)
