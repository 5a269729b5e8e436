"""L1-penalised regression of one variable of several states on the columns of all others.

All states have a logit each. Each step is a proximal Newton step: it minimises a quadratic model
of the loss plus the penalty over the coordinates that have a weight or are pulled harder than the
penalty holds.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.kernels.l1_logistic.quadratic_model import LEAST_CURVATURE, minimise_model
from mnlearn.runtime.threads import single_threaded

Matrix = NDArray[np.float64]

_MAX_STEPS = 300
_CENTRING_STEPS = 20
_MAX_HALVINGS = 30
_ARMIJO = 1e-3
# A sum of the losses of the rows is exact to about this share.
_ROUNDING = 1e-14
# The model is minimised until a sweep lowers it by less than this share of the first.
_SWEEP_TOLERANCE = 1e-3
# A step that promises more than this share of what the last one promised calls for a new Hessian.
_SLOW = 0.3
# The Hessian covers coordinates whose gradient reaches this share of their penalty, and at most so
# many of those that are 0: those that are pulled hardest.
_NEAR = 0.9
_MOST_NEW = 1000
# Greater than the rounding error of single precision; see `SoftmaxTask.hessian`.
_RIDGE = 1e-5
# Cells of a factor of the Hessian that are made at a time.
_BLOCK_CELLS = 2**18


@dataclass(frozen=True, eq=False)
class SoftmaxTask:
    """One target of `k` states and all columns; its own ones are no inputs."""

    rows: NDArray[np.uint8]
    sparse_rows: sparse.csr_array
    columns: sparse.csr_array
    weight: Matrix
    state: NDArray[np.intp]
    k: int
    own: slice

    @cached_property
    def place(self) -> NDArray[np.intp]:
        """Return the numbers of the rows, (n_rows,)."""
        return np.arange(len(self.rows))

    def evaluate(self, theta: Matrix) -> "Point":
        """Return the loss at weights and intercepts, (n_columns + 1, k), and its derivatives."""
        logits = np.ascontiguousarray((self.sparse_rows @ theta[:-1] + theta[-1]).T)
        loss, share = self.loss(logits)
        return Point(theta, logits, loss, share, self.pull(share))

    def loss(self, logits: Matrix) -> tuple[float, Matrix]:
        """Return the loss of all examples, in nats, and the probabilities of the states."""
        share = logits - logits.max(axis=0)
        observed = share[self.state, self.place]
        np.exp(share, out=share)
        total = share.sum(axis=0)
        share /= total
        return float(self.weight @ (np.log(total) - observed)), share

    def pull(self, share: Matrix) -> Matrix:
        """Return the gradient of the loss by weights and intercepts."""
        residual = share.copy()
        residual[self.state, self.place] -= 1.0
        residual *= self.weight
        pull = np.vstack([self.columns @ np.ascontiguousarray(residual.T), residual.sum(axis=1)])
        pull[self.own] = 0.0
        return pull

    def dual(self, share: Matrix, scale: float) -> float:
        """Return the dual of the loss at its derivatives by the logits times `scale`."""
        scaled = scale * share
        scaled[self.state, self.place] += 1.0 - scale
        return -float((scaled * np.log(np.maximum(scaled, 1e-300))).sum(axis=0) @ self.weight)

    def centred(self, point: "Point") -> "Point":
        """Return a point of the same weights and the best intercepts."""
        count = np.bincount(self.state, self.weight, self.k)
        moved, loss, share = np.zeros((self.k, 1)), point.loss, point.share
        for _ in range(_CENTRING_STEPS):
            weighted = self.weight * share
            mean = weighted.sum(axis=1)
            curvature = np.diag(mean) - weighted @ share.T
            # The intercepts are free but for a constant: the added term fixes it.
            step = np.linalg.solve(curvature + mean.sum() / self.k**2, count - mean)[:, None]
            new, new_share = self.loss(point.logits + (moved + step))
            if not new < loss:
                break
            moved, loss, share = moved + step, new, new_share
        theta = point.theta.copy()
        theta[-1] += moved[:, 0]
        return Point(theta, point.logits + moved, loss, share, self.pull(share))

    def hessian(
        self, share: Matrix, covered: NDArray[np.bool_], ridge: float
    ) -> NDArray[np.float32]:
        """Return the Hessian of the coordinates that `covered`, (k, n_columns + 1), marks.

        A share `ridge` of the diagonal is added, so that rounding does not make it indefinite.
        """
        columns = [np.flatnonzero(marked[:-1]) for marked in covered]
        end = np.cumsum(covered.sum(axis=1))
        begin = end - covered.sum(axis=1)
        total = np.zeros((end[-1], end[-1]), np.float32)
        root, share = np.sqrt(self.weight).astype(np.float32), share.astype(np.float32)
        size = max(256, _BLOCK_CELLS // max(1, int(end[-1])))
        for block in (slice(first, first + size) for first in range(0, len(self.rows), size)):
            rows = self.rows[block]
            # All are multiplied by the root of the weight, and `bent` by the share of the state.
            bent = np.empty((len(rows), end[-1]), np.float32)
            for s in range(self.k):
                held = np.ones((len(rows), end[s] - begin[s]), np.float32)
                held[:, : len(columns[s])] = rows[:, columns[s]]
                held *= root[block, None]
                own = slice(begin[s], end[s])
                np.multiply(held, share[s, block, None], out=bent[:, own])
                product = held.T @ bent[:, own]
                product[np.diag_indices_from(product)] *= 1.0 + ridge
                total[own, own] += product
            total -= bent.T @ bent
        total[np.diag_indices_from(total)] += LEAST_CURVATURE
        return total


@dataclass(frozen=True, eq=False)
class Point:
    """Weights and intercepts, (n_columns + 1, k), with the gradient `pull`."""

    theta: Matrix
    logits: Matrix
    loss: float
    share: Matrix
    pull: Matrix


@dataclass(frozen=True, eq=False)
class _Model:
    """The Hessian of the coordinates `active`, which `covered`, (n_columns + 1, k), marks."""

    covered: NDArray[np.bool_]
    active: NDArray[np.int64]
    hessian: NDArray[np.float32]


def softmax_path(
    task: SoftmaxTask, penalties: Matrix, factor: Matrix, tolerance: float, start: Matrix
) -> tuple[Matrix, Matrix]:
    """Minimise loss + penalty * sum(factor * |weights|) for descending penalties, to a gap in nats.

    All states of the target occur, unless the intercepts are penalised. Returns the weights and
    intercepts, (n_penalties, n_columns + 1, k), and the gaps.
    """
    found, gaps = np.empty((len(penalties), *start.shape)), np.empty(len(penalties))
    with single_threaded():
        point, model = task.evaluate(start), None
        for number, penalty in enumerate(penalties):
            l1 = np.ascontiguousarray(np.broadcast_to(penalty * factor[:, None], start.shape))
            point, model, gaps[number] = _minimise(task, l1, tolerance, point, model)
            found[number] = point.theta
    return found, gaps


def _minimise(
    task: SoftmaxTask, l1: Matrix, tolerance: float, point: Point, model: _Model | None
) -> tuple[Point, _Model | None, float]:
    """Take steps until the gap is at most `tolerance`; return the last point, model and gap."""
    gap, last, ridge = np.inf, np.inf, _RIDGE
    for _ in range(_MAX_STEPS):
        needed = (point.theta != 0.0) | (np.abs(point.pull) > l1)
        is_fresh = model is None or bool((needed & ~model.covered).any())
        if model is None or is_fresh:
            model = _renew(task, l1, point, ridge)
        delta, lower = _step(l1, point, model)
        if lower < 0.0 or not (is_fresh or lower <= _SLOW * last):
            ridge *= 10.0 if is_fresh else 1.0
            model, last = None, np.inf
            continue
        last = lower
        if lower <= 2.0 * tolerance:
            point, gap = _judge(task, l1, point)
            if gap <= tolerance:
                break
        new = _search_line(task, l1, point, delta, lower)
        if new is not None:
            point = new
        elif is_fresh:
            break  # rounding leaves no step that lowers the objective
        else:
            model = None
    if gap > tolerance:
        point, gap = _judge(task, l1, point)
    return point, model, gap


def _renew(task: SoftmaxTask, l1: Matrix, point: Point, ridge: float) -> _Model:
    """Return the model at a point, of the coordinates that the penalty may need."""
    is_zero = (point.theta == 0.0) & (l1 > 0.0)
    share = np.where(is_zero, np.abs(point.pull) / np.maximum(l1, 1e-300), np.inf)
    share[task.own] = 0.0
    n_most = min(int(np.count_nonzero(~is_zero)) + _MOST_NEW, l1.size)
    covered = share >= max(_NEAR, np.partition(share, -n_most, axis=None)[-n_most])
    hessian = task.hessian(point.share, covered.T, ridge)
    active = np.flatnonzero(covered.T)
    if l1[-1, 0] == 0.0:
        # Free intercepts are so but for a constant: the added term fixes it.
        last = np.flatnonzero(active % len(l1) == len(l1) - 1)
        hessian[np.ix_(last, last)] += np.float32(task.weight.sum() / task.k**2)
    return _Model(covered, active, hessian)


def _step(l1: Matrix, point: Point, model: _Model) -> tuple[Matrix, float]:
    """Return the step to the minimum of the model, and by how much that is lower."""
    delta, slope = np.empty((2, len(model.active)))
    theta, pull, held = (x.T.ravel() for x in (point.theta, point.pull, l1))
    lower = minimise_model(
        theta, pull, held, model.hessian, model.active, delta, slope, _SWEEP_TOLERANCE
    )
    step = np.zeros(l1.size)
    step[model.active] = delta
    return step.reshape(l1.shape[::-1]).T, lower


def _search_line(
    task: SoftmaxTask, l1: Matrix, point: Point, delta: Matrix, lower: float
) -> Point | None:
    """Halve the step until it lowers the objective enough; None if it never does."""
    objective, length = point.loss + float((l1 * np.abs(point.theta)).sum()), 1.0
    for _ in range(_MAX_HALVINGS):
        new = task.evaluate(point.theta + length * delta)
        reached = new.loss + float((l1 * np.abs(new.theta)).sum())
        if reached <= objective - _ARMIJO * length * lower + _ROUNDING * objective:
            return new
        length *= 0.5
    return None


def _judge(task: SoftmaxTask, l1: Matrix, point: Point) -> tuple[Point, float]:
    """Return the point with the best free intercepts, and its duality gap."""
    held = l1[:, 0] > 0.0
    if not held[-1]:
        point = task.centred(point)
    excess = float(np.max(np.abs(point.pull[held]) / l1[held], initial=1.0))
    objective = point.loss + float((l1 * np.abs(point.theta)).sum())
    return point, objective - task.dual(point.share, 1.0 / excess)
