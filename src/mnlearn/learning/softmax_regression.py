"""L1-penalised regression of one variable of several states on the columns of all others.

The states have a logit each: an intercept plus a weight for each column that is 1. Every weight is
penalised, so that no state is left out as the one to compare with.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.learning.owlqn import Progress, minimise

Matrix = NDArray[np.float64]

_MAX_ITERATIONS = 3000
# The gap takes some passes over the data.
_GAP_PACE = 10
_NEWTON_STEPS = 20


@dataclass(frozen=True, eq=False)
class SoftmaxData:
    """The inputs that all regressions share, and the target of one.

    rows, columns : sparse, the indicator columns of the data, and their transpose.
    weight : float64, (n_rows,). state : int, (n_rows,), the state of the target, of 0 to `k` - 1.
    own : slice, the columns of the target, which are no inputs.
    """

    rows: sparse.csr_array
    columns: sparse.csr_array
    weight: Matrix
    state: NDArray[np.intp]
    k: int
    own: slice

    def logits(self, theta: Matrix) -> Matrix:
        """Return the logits, (n_rows, k), at weights and intercepts, (n_columns + 1, k)."""
        return np.asarray(self.rows @ theta[:-1]) + theta[-1]

    def loss(self, logits: Matrix) -> tuple[float, Matrix]:
        """Return the loss in nats, and what the model says of each state beyond what is observed.

        The second is P(state) less 1 for the observed state, (n_rows, k).
        """
        every = np.arange(len(self.state))
        shifted = logits - logits.max(axis=1, keepdims=True)
        share = np.exp(shifted)
        total = share.sum(axis=1)
        loss = float(self.weight @ (np.log(total) - shifted[every, self.state]))
        share /= total[:, None]
        share[every, self.state] -= 1.0
        return loss, share

    def gradient(self, residual: Matrix) -> Matrix:
        """Return the gradient by weights and intercepts, (n_columns + 1, k); see `loss`."""
        weighted = self.weight[:, None] * residual
        gradient = np.asarray(self.columns @ weighted)
        gradient[self.own] = 0.0
        return np.vstack([gradient, weighted.sum(axis=0)])

    def centred(self, logits: Matrix) -> Matrix:
        """Return what to add to the intercepts to make them the best for these weights, (k,)."""
        moved = np.zeros(self.k)
        loss, residual = self.loss(logits)
        for _ in range(_NEWTON_STEPS):
            slope = self.weight @ residual
            share = residual.copy()
            share[np.arange(len(self.state)), self.state] += 1.0
            weighted = self.weight[:, None] * share
            curvature = np.diag(weighted.sum(axis=0)) - share.T @ weighted
            # The intercepts are free but for a constant: the added term fixes it.
            step = np.linalg.solve(curvature + weighted.sum() / self.k**2, -slope)
            new, new_residual = self.loss(logits + moved + step)
            if not new < loss:
                break
            moved, loss, residual = moved + step, new, new_residual
        return moved


def softmax_path(
    data: SoftmaxData, penalties: Matrix, factor: Matrix, tolerance: float, start: Matrix
) -> tuple[Matrix, Matrix]:
    """Minimise loss + penalty * sum(factor * |weights|) for each penalty, one after the other.

    Parameters
    ----------
    data : SoftmaxData
        All states of the target occur, unless the intercepts are penalised.
    penalties : float64 array of shape (n_penalties,)
        Descending.
    factor : float64 array of shape (n_columns + 1,)
        What the penalty of each weight is multiplied by; that of the intercepts comes last.
    tolerance : float
        Greatest duality gap, in nats.
    start : float64 array of shape (n_columns + 1, k)
        Weights and intercepts to start at.

    Returns
    -------
    theta : float64 array of shape (n_penalties, n_columns + 1, k)
        Weights and intercepts for each penalty.
    gap : float64 array of shape (n_penalties,)
        Bounds on how far the penalised loss is above its minimum, in nats.
    """
    found, gaps = np.empty((len(penalties), *start.shape)), np.empty(len(penalties))
    # Weights of rare columns move further.
    curvature = np.append(np.asarray(data.columns @ data.weight), data.weight.sum())
    scale = np.repeat(np.maximum(curvature, 1.0)[:, None] ** -0.25, data.k, axis=1)
    for number, penalty in enumerate(penalties):
        search = _Search(data, penalty * factor[:, None], tolerance, scale)
        start, gaps[number] = search.run(start)
        found[number] = start
    return found, gaps


@dataclass(eq=False)
class _Search:
    """The search for one penalty; best : the weights and intercepts of the least gap so far."""

    data: SoftmaxData
    l1: Matrix
    tolerance: float
    scale: Matrix
    gap: float = np.inf
    best: Matrix | None = None

    def run(self, start: Matrix) -> tuple[Matrix, float]:
        """Return the weights and intercepts, and their duality gap."""
        shape = start.shape

        def smooth(u: Matrix) -> tuple[float, Matrix]:
            loss, residual = self.data.loss(self.data.logits(u.reshape(shape) * self.scale))
            return loss, (self.data.gradient(residual) * self.scale).ravel()

        l1 = np.broadcast_to(self.l1, shape) * self.scale
        begin = (start / self.scale).ravel()
        state, _ = minimise(smooth, begin, l1.ravel(), self._done, max_iterations=_MAX_ITERATIONS)
        if self.gap > self.tolerance:
            self._judge(state.x.reshape(shape) * self.scale)
        assert self.best is not None
        return self.best, self.gap

    def _done(self, state: Progress) -> bool:
        if state.iteration % _GAP_PACE == 0:
            self._judge(state.x.reshape(self.scale.shape) * self.scale)
        return self.gap <= self.tolerance

    def _judge(self, theta: Matrix) -> None:
        """Bound how far the objective of weights is above its minimum.

        The residuals are a dual point if they pull no weight harder than its penalty. They are
        scaled down until they do not; those of free intercepts are 0 where these are the best.
        """
        data, logits = self.data, self.data.logits(theta)
        free = self.l1[-1, 0] == 0.0
        if free:
            moved = data.centred(logits)
            theta = np.vstack([theta[:-1], theta[-1] + moved])
            logits = logits + moved
        loss, residual = data.loss(logits)
        pull = np.abs(data.gradient(residual))[: -1 if free else None]
        held = self.l1[: -1 if free else None]
        ratio = np.min(held / np.maximum(pull, 1e-300), initial=1.0)
        objective = loss + float((self.l1 * np.abs(theta)).sum())
        scaled = ratio * residual
        scaled[np.arange(len(data.state)), data.state] += 1.0
        terms = np.where(scaled > 0, scaled * np.log(np.maximum(scaled, 1e-300)), 0.0)
        gap = objective + float(data.weight @ terms.sum(axis=1))
        if gap < self.gap:
            self.gap, self.best = gap, theta
