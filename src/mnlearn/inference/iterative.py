"""What belief propagation and mean field find: marginals, log Z, and whether they converged."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import Query, query_of, terms_of
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.threads import map_ranges

# Arguments: evidence, first and last row, and the arrays log_odds and report to fill in.
Fit = Callable[[NDArray[np.uint8], int, int, NDArray[np.float64], NDArray[np.float64]], None]


@dataclass(frozen=True, eq=False)
class Approximation:
    """Approximate marginals of query variables given some rows of evidence.

    Attributes
    ----------
    log_odds : ndarray of float64, shape (n_rows, n_query)
        Log-odds of the value 1, in nats.
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

    fit : fills in the rows of a range. evidence : uint8, (n_rows, n_evidence_vars).
    """
    evidence = np.ascontiguousarray(evidence)
    log_odds = np.empty((len(evidence), len(asked.query)))
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
