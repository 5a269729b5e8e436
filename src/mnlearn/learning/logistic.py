"""The L1-penalised logistic regressions of all variables on all others, for a path of penalties.

The logits are of indicator columns, those of a variable of k > 2 states a softmax. The solver is
our own because the targets share work that a library would repeat (decision 0004).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.l1_logistic.loss import LogisticData, Target
from mnlearn.kernels.l1_logistic.path import PathGoal, PathResult, l1_path
from mnlearn.kernels.trees import cooccurrence
from mnlearn.learning.shares import Arrays, Shares, Work
from mnlearn.learning.softmax_regression import SoftmaxTask, softmax_path
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import FeatureSet, atomic_features, concatenate, feature_set
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# The greatest duality gap, as a share of the loss of the best constant.
TOLERANCE = 1e-5


MERGES = ("and", "or")


def merge_pairs(coefficient: sparse.csr_array, merge: str) -> NDArray[np.int64]:
    """Return the pairs (u, v), u < v, int64 of shape (n_pairs, 2), in ascending order."""
    found = (coefficient != 0).astype(np.int8)
    pairs = found.multiply(found.T) if merge == "and" else found + found.T
    upper = sparse.triu(pairs, 1).tocoo()
    both = np.column_stack([upper.row, upper.col]).astype(np.int64)
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def build_pair_features(n_columns: int, pairs: NDArray[np.int64]) -> FeatureSet:
    """Return the features that a column is 1, and that both columns of a pair are."""
    both = feature_set(2 * np.arange(len(pairs) + 1), pairs.ravel(), np.ones(2 * len(pairs)))
    return concatenate([atomic_features(n_columns), both])


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticPath:
    """Logistic regressions of every variable on all others, for penalties in descending order.

    coefficient : for each penalty, row c has the weights of other columns in the logit of column c.
    intercept : (n_penalties, n_columns). gap : (n_penalties, n_vars), in nats. constant_loss :
        (n_vars,), loss of the best constant.
    """

    penalties: NDArray[np.float64]
    coefficient: tuple[sparse.csr_array, ...]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    constant_loss: NDArray[np.float64]
    schema: Schema

    def place(self, penalty: float) -> int:
        """Return the position of a penalty of the path."""
        found = np.flatnonzero(self.penalties == penalty)
        if not len(found):
            raise ValueError(f"the path was learned without the penalty {penalty}")
        return int(found[0])

    def weights(self, v: int) -> NDArray[np.float64]:
        """Return coefficients and intercepts for the least penalty, (n_columns + 1, n_logits)."""
        own = list(self.schema.columns(v))
        return np.vstack([self.coefficient[-1][own].toarray().T, self.intercept[-1, own]])

    def joined(self, path: "LogisticPath") -> "LogisticPath":
        """Return this path followed by one with lower penalties."""
        return replace(
            self,
            penalties=read_only(np.concatenate([self.penalties, path.penalties])),
            coefficient=self.coefficient + path.coefficient,
            intercept=read_only(np.vstack([self.intercept, path.intercept])),
            gap=read_only(np.vstack([self.gap, path.gap])),
        )

    def network(self, penalty: float) -> DependencyNetwork:
        """Return the dependency network of one penalty: pairs of columns that are 1, and biases."""
        k = self.place(penalty)
        pairs, schema = self.coefficient[k].tocoo(), self.schema
        both = np.sort(np.column_stack([pairs.row, pairs.col]), axis=1)
        target = schema.variable_of[np.concatenate([np.arange(schema.n_columns), pairs.row])]
        return DependencyNetwork(
            flat_trees(schema),
            build_pair_features(schema.n_columns, both),
            read_only(target),
            read_only(np.concatenate([self.intercept[k], pairs.data])),
            schema,
        )


def learn_logistic_path(
    data: Dataset,
    penalties: Sequence[float],
    free_intercept: bool = True,
    tolerance: float = TOLERANCE,
    *,
    threads: int = 1,
) -> LogisticPath:
    """Minimise log-loss + penalty * sum(|weights|) for every variable and each penalty.

    A variable that is constant is given the log-odds of its counts with one added to each (decision
    0002), a state that never occurs those of one example. The tolerance is a share of the loss of
    the best constant.
    """
    ordered = np.unique(np.asarray(penalties, np.float64))[::-1]
    if not (len(ordered) and np.isfinite(ordered).all() and ordered[-1] > 0 and tolerance > 0):
        raise InputError("logistic regression: expected positive penalties and tolerance.")
    return Regressions(data, free_intercept).all_paths(ordered, float(tolerance), threads=threads)


class OwnPath(NamedTuple):
    """The regression of one variable, beta of (n_penalties, n_columns, n_logits)."""

    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Regressions:
    """What the regressions of all variables have in common."""

    data: Dataset
    free_intercept: bool

    @cached_property
    def factor(self) -> NDArray[np.float64]:
        """Return what the penalty of each weight is multiplied by; the intercept comes last."""
        return np.append(np.ones(self.data.n_columns), 0.0 if self.free_intercept else 1.0)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Return the coordinates in the order of the kernels, (n_columns + 1,), the intercept last.

        The parts of the Hessian that change most often are then next to each other.
        """
        rarer = np.minimum(self.data.frequency, 1 - self.data.frequency)
        return np.append(np.argsort(-rarer, kind="stable"), self.data.n_columns)

    @cached_property
    def arranged(self) -> tuple[LogisticData, NDArray[np.float64]]:
        """Return the data and the counts as `l1_path` takes them."""
        return _design(self.data, self.free_intercept, self.order[:-1])

    @cached_property
    def sparse(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Return the rows and the columns of the data as lists of their ones."""
        ones = self.data.lists()
        lists = (np.ones(len(ones.column)), ones.column, ones.start)
        rows = sparse.csr_array(lists, shape=ones.shape)
        return rows, sparse.csr_array(rows.T)

    def path(
        self,
        v: int,
        penalties: NDArray[np.float64],
        tolerance: float,
        start: NDArray[np.float64] | None = None,
    ) -> OwnPath:
        """Return the regression of a variable of several states, for descending penalties."""
        count = self.data.counts(v)
        if np.count_nonzero(count) == 1:
            return self._constant(count, len(penalties))
        if len(count) > 2:
            return self._softmax_path(v, count, penalties, tolerance, start)
        n_penalties = len(penalties)
        design, counts = self.arranged
        n, order = self.data.n_columns, self.order
        beta = np.zeros((n_penalties, n))
        intercept, gap = np.zeros(n_penalties), np.zeros(n_penalties)
        column = int(self.data.schema.start[v])
        y = self.data.column(column)
        goal = PathGoal(penalties, self.factor[order], tolerance)
        result = PathResult(beta, intercept, gap)
        own = int(np.flatnonzero(order == column)[0])
        first = self._first(column) if start is None else start[:, 0]
        target = _target(y, own, design, counts)
        l1_path(own, design, target, counts, goal, first[order], result)
        place = np.argsort(order[:n])
        return OwnPath(beta[:, place, None], intercept[:, None], gap)

    def _first(self, column: int) -> NDArray[np.float64]:
        """Return the weights and the intercept of the best constant log-odds of a column."""
        first = np.zeros(self.data.n_columns + 1)
        if self.free_intercept:
            share = self.data.frequency[column]
            first[-1] = np.log(share / (1 - share))
        return first

    def _constant(self, count: NDArray[np.float64], n_penalties: int) -> OwnPath:
        """Return the regression of a variable that has one state in the data."""
        logit = np.log(count + 1) - np.log(count + 1).mean()
        if len(count) == 2:
            logit = np.log([(count[1] + 1) / (count[0] + 1)])
        beta = np.zeros((n_penalties, self.data.n_columns, len(logit)))
        return OwnPath(beta, np.tile(logit, (n_penalties, 1)), np.zeros(n_penalties))

    def _softmax_path(
        self,
        v: int,
        count: NDArray[np.float64],
        penalties: NDArray[np.float64],
        tolerance: float,
        start: NDArray[np.float64] | None,
    ) -> OwnPath:
        """Return the regression of a variable of more than two states."""
        schema, free = self.data.schema, self.free_intercept
        occurs = np.flatnonzero(count) if free else np.arange(len(count))
        own = slice(schema.start[v], schema.start[v + 1])
        state = np.searchsorted(occurs, self.data.rows[:, own].argmax(axis=1))
        task = SoftmaxTask(self.data.rows, *self.sparse, self.data.weight, state, len(occurs), own)
        if start is None:
            start = np.zeros((schema.n_columns + 1, len(count)))
            start[-1] = np.log(np.maximum(count, 1.0)) if free else 0.0
        loss = float(_entropy(count))
        theta, gap = softmax_path(task, penalties, self.factor, tolerance * loss, start[:, occurs])
        whole = np.zeros((len(penalties), schema.n_columns + 1, len(count)))
        whole[:, :, occurs] = theta
        # A free constant of all logits, which makes their mean intercept 0.
        if free:
            whole[:, -1, occurs] -= theta[:, -1].mean(axis=1, keepdims=True)
        for one in whole if len(occurs) < len(count) else ():
            logits = self.data.rows @ one[:-1, occurs] + one[-1, occurs]
            level = scipy.special.logsumexp(logits, axis=1)
            unseen = np.average(level, weights=self.data.weight) - np.log(count.sum())
            one[-1, count == 0] = unseen
        return OwnPath(whole[:, :-1], whole[:, -1], gap)

    def all_paths(
        self,
        penalties: NDArray[np.float64],
        tolerance: float,
        *,
        after: LogisticPath | None = None,
        threads: int = 1,
        shares: Shares | None = None,
    ) -> LogisticPath:
        """Return the regressions of all variables for falling penalties, after `after`."""

        def learn(first: int, end: int) -> Arrays:
            starts = [after.weights(v) if after else None for v in range(first, end)]
            return _regress(self, penalties, tolerance, first, starts)

        def begin() -> Work:
            _ = self.arranged, data.columns  # Before threads ask for them.
            _ = data.schema.is_binary or self.sparse
            return learn

        data = self.data
        before = [] if after is None else after.penalties.tolist()
        name = ("regressions", self.free_intercept, tolerance, before, penalties.tolist())
        absent = partial(_no_regressions, data.schema, len(penalties))
        found = (shares or Shares()).learn(name, data.n_vars, begin, absent, threads)
        path = _gather(penalties, found, _constant_loss(data), data.schema)
        return path if after is None else after.joined(path)


def _regress(
    regressions: Regressions,
    penalties: NDArray[np.float64],
    tolerance: float,
    first: int,
    starts: Sequence[NDArray[np.float64] | None],
) -> Arrays:
    """Learn the regressions of consecutive variables; their arrays follow one another."""
    found = [_no_regressions(regressions.data.schema, len(penalties), first, first)]
    for v, start in enumerate(starts, first):
        if not regressions.data.schema.columns(v):
            found.append(_no_regressions(regressions.data.schema, len(penalties), v, v + 1))
            continue
        own = regressions.path(v, penalties, tolerance, start=start)
        beta = own.beta.transpose(2, 0, 1)
        logit, row, column = np.nonzero(beta)
        place = logit * len(penalties) + row
        counts = np.bincount(place, minlength=beta.shape[0] * len(penalties))
        fields = (
            own.intercept.T, own.gap[None], counts.reshape(len(beta), -1), column,
            beta[logit, row, column],
        )  # fmt: skip
        found.append(dict(zip(_FIELDS, fields, strict=True)))
    return {name: np.concatenate([one[name] for one in found]) for name in _FIELDS}


_FIELDS = ("intercept", "gap", "n_coefficients", "column", "value")


def _no_regressions(schema: Schema, n_penalties: int, first: int, end: int) -> Arrays:
    """Return regressions without coefficients for each of some targets."""
    shape = int(schema.start[end] - schema.start[first]), n_penalties
    gap, none = np.zeros((end - first, n_penalties)), np.zeros(0)
    fields = (np.zeros(shape), gap, np.zeros(shape, np.int64), none.astype(int), none)
    return dict(zip(_FIELDS, fields, strict=True))


def _gather(
    penalties: NDArray[np.float64],
    found: Arrays,
    constant_loss: NDArray[np.float64],
    schema: Schema,
) -> LogisticPath:
    """Return the regressions of all variables as one path."""
    n_coefficients = found["n_coefficients"]
    n_columns, n_penalties = n_coefficients.shape
    place = np.repeat(np.arange(n_coefficients.size) % n_penalties, n_coefficients.ravel())
    coefficient = []
    for k in range(n_penalties):
        own = place == k
        start = np.concatenate([[0], np.cumsum(n_coefficients[:, k])])
        rows = (found["value"][own], found["column"][own], start)
        coefficient.append(sparse.csr_array(rows, shape=(n_columns, n_columns)))
    return LogisticPath(
        penalties=read_only(penalties),
        coefficient=tuple(coefficient),
        intercept=read_only(found["intercept"].T),
        gap=read_only(found["gap"].T),
        constant_loss=read_only(constant_loss),
        schema=schema,
    )


def _constant_loss(data: Dataset) -> NDArray[np.float64]:
    """Return the loss of the best constant of each variable, in nats."""
    share, schema = data.ones / data.n_examples, data.schema
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -(share * np.log(share) + (1 - share) * np.log1p(-share))
    of_columns = np.asarray(data.n_examples * np.nan_to_num(entropy))
    loss = np.zeros(len(schema))
    for v in range(len(schema)):
        columns = schema.columns(v)
        loss[v] = of_columns[columns[0]] if len(columns) == 1 else _entropy(data.counts(v))
    return loss


def _entropy(count: NDArray[np.float64]) -> float:
    """Return the loss of the best constant in nats, by how often each state occurs."""
    share = count[count > 0] / count.sum()
    return -float(count.sum() * (share @ np.log(share)))


def _design(
    data: Dataset, free_intercept: bool, order: NDArray[np.int64]
) -> tuple[LogisticData, NDArray]:
    """Return the data, the columns in some order, and the counts as `l1_path` takes them."""
    flipped = data.frequency[order] > 0.5
    rows, n, total = data.lists(order, flipped), data.n_columns, data.n_examples
    by_column = np.argsort(rows.column, kind="stable")
    row = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.start))[by_column]
    start = np.searchsorted(rows.column[by_column], np.arange(n + 1))
    counts = np.zeros((n + 1, n + 1))
    cooccurrence(rows.start, rows.column, data.weight, counts)
    both, ones = counts[:n, :n], counts.diagonal()[:n].copy()
    one = ones
    if not free_intercept and flipped.any():
        # The counts of the columns themselves, by inclusion and exclusion.
        f, g = flipped[:, None], flipped[None]
        u, v = one[:, None], one[None]
        of_either = np.where(f & ~g, v - both, np.where(~f & g, u - both, both))
        both[:] = np.where(f & g, total - u - v + both, of_either)
        one = np.where(flipped, total - one, one)
    counts[:n, n] = counts[n, :n] = one
    counts[n, n] = total
    lists = rows.start, rows.column, start, row
    return LogisticData(*lists, data.weight, ones, flipped, free_intercept), counts


def _target(y: NDArray[np.uint8], own: int, design: LogisticData, counts: NDArray) -> Target:
    """Return a variable as the kernel takes it; own : its place in the order of the design."""
    ones, n = counts[own, :-1], len(design.flipped)
    if design.free_intercept:
        ones = design.ones - ones if design.flipped[own] else ones
    else:
        ones = np.where(design.flipped, counts[own, n] - ones, ones)
    return Target(y, np.ascontiguousarray(ones))
