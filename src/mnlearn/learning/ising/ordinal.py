"""L1-penalised regression of an ordered item, whose states have scores, on the inputs of others."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.l1_logistic.quadratic_model import LEAST_CURVATURE
from mnlearn.learning.softmax_regression import Matrix, Point, SoftmaxTask


@dataclass(frozen=True, eq=False)
class OrdinalTask(SoftmaxTask):
    """A target whose logits are a threshold for each state plus its score times one sum of inputs.

    The first column of `theta` has the weights; its last row has the thresholds. All else is 0.
    """

    score: Matrix

    def evaluate(self, theta: Matrix) -> Point:
        """Return the loss at weights and thresholds, and its derivatives."""
        total = self.sparse_rows @ theta[:-1, 0]
        logits = self.score[:, None] * total + theta[-1][:, None]
        loss, share = self.loss(logits)
        return Point(theta, logits, loss, share, self.pull(share))

    def pull(self, share: Matrix) -> Matrix:
        """Return the gradient of the loss by weights and thresholds."""
        residual = share.copy()
        residual[self.state, self.place] -= 1.0
        residual *= self.weight
        pull = np.zeros((self.columns.shape[0] + 1, self.k))
        pull[:-1, 0] = self.columns @ (self.score @ residual)
        pull[-1] = residual.sum(axis=1)
        pull[self.own] = 0.0
        return pull

    def hessian(
        self, share: Matrix, covered: NDArray[np.bool_], ridge: float
    ) -> NDArray[np.float32]:
        """Return the Hessian of the weights that `covered` marks, and of all thresholds."""
        inputs = self.rows[:, np.flatnonzero(covered[0, :-1])].astype(np.float64)
        weighted = self.weight * share
        centred = self.score[:, None] - self.score @ share
        curvature = (weighted * centred**2).sum(axis=0)
        n = inputs.shape[1]
        total = np.empty((n + self.k, n + self.k))
        total[:n, :n] = inputs.T @ (inputs * curvature[:, None])
        total[:n, n:] = inputs.T @ (weighted * centred).T
        total[n:, :n] = total[:n, n:].T
        total[n:, n:] = np.diag(weighted.sum(axis=1)) - weighted @ share.T
        total[np.diag_indices_from(total)] *= 1.0 + ridge
        total[np.diag_indices_from(total)] += LEAST_CURVATURE
        return total.astype(np.float32)
