"""What belief propagation and mean field find: marginals, log Z, and whether they converged."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Approximation:
    """Approximate marginals of query variables given some rows of evidence.

    Attributes
    ----------
    log_odds : ndarray of float64, shape (n_rows, n_query)
        Log-odds of the value 1, in nats.
    report : ndarray of float64, shape (n_rows, 3)
        Number of iterations, largest change of a marginal in the last one, and log Z.
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
