"""Approximate conditional marginals by mean field, and a lower bound of log Z."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.iterative import Approximation, approximate_rows, log_partition_by
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import Query
from mnlearn.kernels.sampling.mean_field import fit_mean_field
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.markov_network import MarkovNetwork


def fit_independent(
    asked: Query, evidence: NDArray[np.uint8], inference: Inference, *, threads: int = 1
) -> Approximation:
    """Return the mean-field marginals of the query variables given each row of evidence.

    Parameters
    ----------
    asked : Query
        Terms of a Markov or dependency network, split into query and evidence.
    evidence : ndarray of uint8, shape (n_rows, n_evidence_vars)
        Values of the evidence variables.
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
    All variables start at 1/2 and are updated in order to q_v = sigmoid(E_q[log-odds of v]), where
    the log-odds are those of v given all others. For a Markov network each update raises the bound
    E_q[log-potential] + entropy of q, so the updates end at a local maximum. For a dependency
    network the log-odds are those of the CPD of v, no bound exists, and the updates may go on.

    References
    ----------
    Lowd & Shamaei, "Mean field inference in dependency networks: an empirical study", AAAI 2011.
    """

    def fit(rows: NDArray, first: int, last: int, log_odds: NDArray, report: NDArray) -> None:
        fit_mean_field(
            asked.terms, rows, inference.iterations, inference.tolerance, first, last,
            log_odds, report,
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
        Infinite weights count as `inference.hard_weight.HARD_WEIGHT`.
    inference : Inference
        Most iterations, and tolerance. The bound holds without convergence too.
    """
    return log_partition_by(fit_independent, network, inference)
