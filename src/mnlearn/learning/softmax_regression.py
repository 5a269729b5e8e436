"""L1-penalised regression of one variable of several states on the columns of all others.

The states have a logit each: an intercept plus a weight for each column that is 1. Every weight is
penalised, so that no state is left out as the one to compare with. A search moves the weights of
some columns only: those that have a weight and those that are pulled harder than the penalty
holds. Rows that are equal in these columns are one row to it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.learning.owlqn import Progress, minimise
from mnlearn.runtime.blas import single_threaded

Matrix = NDArray[np.float64]

_MAX_ITERATIONS = 3000
# A gap takes several evaluations of the loss.
_GAP_PACE = 10
_NEWTON_STEPS = 20


@dataclass(frozen=True, eq=False)
class SoftmaxTask:
    """One target and the columns of all variables.

    rows : uint8, (n_rows, n_columns), and columns : their transpose, sparse.
    weight : float64, (n_rows,). state : int, (n_rows,), the state of the target, from 0 to `k` - 1.
    own : slice, the columns of the target, which are no inputs.
    """

    rows: NDArray[np.uint8]
    columns: sparse.csr_array
    weight: Matrix
    state: NDArray[np.intp]
    k: int
    own: slice

    def merged(self, chosen: NDArray[np.intp]) -> "MergedRows":
        """Return the rows as some of the columns tell them apart."""
        mark = np.random.default_rng(0).integers(0, 2**64, len(chosen), np.uint64)
        key = self.rows[:, chosen].astype(np.uint64) @ mark
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        n = len(first)
        count = np.bincount(self.state * n + place, self.weight, n * self.k).astype(np.float64)
        inputs = self.rows[np.ix_(first, chosen)].T.astype(np.float64)
        return MergedRows(np.ascontiguousarray(inputs), count.reshape(self.k, n), place)

    def pull(self, merged: "MergedRows", logits: Matrix) -> Matrix:
        """Return the gradient of the loss by all weights, (n_columns, k)."""
        residual = merged.share(logits).T[merged.place]
        residual[np.arange(len(self.state)), self.state] -= 1.0
        pull = np.asarray(self.columns @ (self.weight[:, None] * residual))
        pull[self.own] = 0.0
        return pull


@dataclass(frozen=True, eq=False)
class MergedRows:
    """The distinct rows of some columns.

    inputs : float64, (n_chosen, n_merged). count : float64, (k, n_merged), total weight of the
    examples with each state of the target. place : int, (n_rows,), the merged row of each row.
    """

    inputs: Matrix
    count: Matrix
    place: NDArray[np.intp]

    @cached_property
    def weight(self) -> Matrix:
        """Total weight of the examples of each merged row, (n_merged,)."""
        return np.asarray(self.count.sum(axis=0))

    def logits(self, theta: Matrix) -> Matrix:
        """Return the logits, (k, n_merged), at weights and intercepts, (n_chosen + 1, k)."""
        return np.asarray(theta[:-1].T @ self.inputs + theta[-1][:, None])

    @staticmethod
    def share(logits: Matrix) -> Matrix:
        """Return the probabilities of the states."""
        share = np.exp(logits - logits.max(axis=0))
        share /= share.sum(axis=0)
        return np.asarray(share)

    def loss(self, logits: Matrix) -> tuple[float, Matrix]:
        """Return the loss of all examples, in nats, and its derivatives by the logits."""
        shifted = logits - logits.max(axis=0)
        share = np.exp(shifted)
        total = share.sum(axis=0)
        loss = float(self.weight @ np.log(total) - np.vdot(self.count, shifted))
        share *= self.weight / total
        share -= self.count
        return loss, share

    def gradient(self, slope: Matrix) -> Matrix:
        """Return the gradient by weights and intercepts, (n_chosen + 1, k); see `loss`."""
        return np.vstack([self.inputs @ slope.T, slope.sum(axis=1)])

    def dual(self, logits: Matrix, scale: float) -> float:
        """Return the dual of the loss at the derivatives by the logits times `scale`.

        It is the entropy of the states if the probability that a state is not the observed one is
        `scale` times what the logits say.
        """
        others = scale * self.share(logits)
        entropy = np.where(others > 0, -others * np.log(np.maximum(others, 1e-300)), 0.0)
        own = 1.0 - scale + others
        own = np.where(own > 0, -own * np.log(np.maximum(own, 1e-300)), 0.0)
        return float((self.count * (entropy.sum(axis=0) - entropy + own)).sum())

    def centred(self, logits: Matrix) -> Matrix:
        """Return what to add to the intercepts to make them the best for these weights, (k,)."""
        k = len(self.count)
        moved = np.zeros(k)
        loss, slope = self.loss(logits)
        for _ in range(_NEWTON_STEPS):
            share = self.share(logits + moved[:, None])
            weighted = self.weight * share
            curvature = np.diag(weighted.sum(axis=1)) - weighted @ share.T
            # The intercepts are free but for a constant: the added term fixes it.
            step = np.linalg.solve(curvature + weighted.sum() / k**2, -slope.sum(axis=1))
            new, new_slope = self.loss(logits + (moved + step)[:, None])
            if not new < loss:
                break
            moved, loss, slope = moved + step, new, new_slope
        return moved


def softmax_path(
    task: SoftmaxTask, penalties: Matrix, factor: Matrix, tolerance: float, start: Matrix
) -> tuple[Matrix, Matrix]:
    """Minimise loss + penalty * sum(factor * |weights|) for each penalty, one after the other.

    Parameters
    ----------
    task : SoftmaxTask
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
    with single_threaded():
        for number, penalty in enumerate(penalties):
            start, gaps[number] = _search_columns(task, penalty * factor, tolerance, start)
            found[number] = start
    return found, gaps


def _search_columns(
    task: SoftmaxTask, l1: Matrix, tolerance: float, theta: Matrix
) -> tuple[Matrix, float]:
    """Search among more and more columns; return weights and intercepts, and their duality gap."""
    is_chosen = theta[:-1].any(axis=1)
    theta = theta.copy()
    while True:
        place = np.append(np.flatnonzero(is_chosen), len(l1) - 1)
        search = _Search(task.merged(place[:-1]), l1[place, None], 0.5 * tolerance)
        theta[place] = search.run(theta[place])
        pull = np.abs(task.pull(search.rows, search.rows.logits(theta[place])))
        beyond = (pull > l1[:-1, None]).any(axis=1) & ~is_chosen
        excess = np.max(pull / l1[:-1, None], initial=search.excess(theta[place]))
        gap = search.bound_gap(theta[place], excess)
        if gap <= tolerance or not beyond.any():
            return theta, gap
        is_chosen |= beyond


@dataclass(eq=False)
class _Search:
    """The search among some columns; best : the weights and intercepts of the least gap so far.

    l1 : float64, (n_chosen + 1, 1), the penalty of the weights of each column, the intercepts last.
    """

    rows: MergedRows
    l1: Matrix
    tolerance: float
    gap: float = np.inf
    best: Matrix | None = None

    @cached_property
    def scale(self) -> Matrix:
        """Weights of rare columns move further, (n_chosen + 1, 1)."""
        curvature = np.append(self.rows.inputs @ self.rows.weight, self.rows.weight.sum())
        return np.asarray(np.maximum(curvature, 1.0)[:, None] ** -0.25)

    def run(self, start: Matrix) -> Matrix:
        """Return the best weights and intercepts, (n_chosen + 1, k)."""
        rows, scale, shape = self.rows, self.scale, start.shape

        def smooth(u: Matrix) -> tuple[float, Matrix]:
            loss, slope = rows.loss(rows.logits(u.reshape(shape) * scale))
            return loss, (rows.gradient(slope) * scale).ravel()

        def done(state: Progress) -> bool:
            if state.iteration % _GAP_PACE == 0:
                self._judge(state.x.reshape(shape) * scale)
            return self.gap <= self.tolerance

        l1 = np.broadcast_to(self.l1 * scale, shape).ravel()
        state, _ = minimise(
            smooth, (start / scale).ravel(), l1, done, max_iterations=_MAX_ITERATIONS
        )
        if self.gap > self.tolerance:
            self._judge(state.x.reshape(shape) * scale)
        assert self.best is not None
        return self.best

    def _judge(self, theta: Matrix) -> None:
        """Keep weights if their gap is the least so far; free intercepts are made the best."""
        theta = theta.copy()
        logits = self.rows.logits(theta)
        if self._is_free:
            theta[-1] += self.rows.centred(logits)
        gap = self.bound_gap(theta, self.excess(theta))
        if gap < self.gap:
            self.gap, self.best = gap, theta

    @property
    def _is_free(self) -> bool:
        return bool(self.l1[-1, 0] == 0.0)

    def excess(self, theta: Matrix) -> float:
        """Return the greatest pull as a multiple of what the penalty holds, at least 1."""
        pull = np.abs(self.rows.gradient(self.rows.loss(self.rows.logits(theta))[1]))
        held = len(theta) - self._is_free
        return float(np.max(pull[:held] / self.l1[:held], initial=1.0))

    def bound_gap(self, theta: Matrix, excess: float) -> float:
        """Return how far the objective is above its minimum at most.

        The derivatives are divided by `excess` to be a dual point; those by free intercepts are 0.
        """
        logits = self.rows.logits(theta)
        objective = self.rows.loss(logits)[0] + float((self.l1 * np.abs(theta)).sum())
        return objective - self.rows.dual(logits, 1.0 / excess)
