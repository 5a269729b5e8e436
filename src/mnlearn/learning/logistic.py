"""Learning the L1-penalised logistic regressions of all variables, for a whole path of penalties.

The solver is our own because the targets share work that a library would repeat for each of them
(decision 0004).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.l1_logistic.loss import LogisticData
from mnlearn.kernels.l1_logistic.path import PathGoal, PathResult, l1_path
from mnlearn.kernels.trees import cooccurrence
from mnlearn.learning.neighbourhoods import build_pair_features
from mnlearn.learning.shares import ALONE, Arrays, Shares, Work
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.fields import NAMELESS
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# The greatest duality gap, as a share of the loss of the best constant.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False, kw_only=True)
class LogisticPath:
    """Logistic regressions of every variable on all others, for each penalty.

    Attributes
    ----------
    penalties : float64 array of shape (n_penalties,)
        The penalties, the largest first.
    coefficient : tuple of sparse arrays of shape (n_vars, n_vars)
        One for each penalty; row v has the weights of the other variables in the log-odds of v.
    intercept : float64 array of shape (n_penalties, n_vars)
        The intercepts.
    gap : float64 array of shape (n_penalties, n_vars)
        Bounds on how far each penalised loss is above its minimum, in nats, summed over examples.
    constant_loss : float64 array of shape (n_vars,)
        Loss of the best constant, in nats, summed over examples.
    schema : Schema, optional
        Names of the variables.
    seconds_shared : float
        Seconds that other processes took for their shares of the regressions.
    """

    penalties: NDArray[np.float64]
    coefficient: tuple[sparse.csr_array, ...]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    constant_loss: NDArray[np.float64]
    schema: Schema | None = None
    seconds_shared: float = 0.0

    def place(self, penalty: float) -> int:
        """Return the position of a penalty of the path."""
        found = np.flatnonzero(self.penalties == penalty)
        if not len(found):
            raise ValueError(f"the path was learned without the penalty {penalty}")
        return int(found[0])

    def weights(self, v: int) -> NDArray[np.float64]:
        """Return the coefficients and the intercept of a variable for the least penalty.

        Returns float64 of shape (n_vars + 1,).
        """
        own = self.coefficient[-1][[v]].toarray()[0]
        return np.append(own, self.intercept[-1, v])

    def joined(self, path: "LogisticPath") -> "LogisticPath":
        """Return this path followed by one with lower penalties."""
        return replace(
            self,
            penalties=read_only(np.concatenate([self.penalties, path.penalties])),
            coefficient=self.coefficient + path.coefficient,
            intercept=read_only(np.vstack([self.intercept, path.intercept])),
            gap=read_only(np.vstack([self.gap, path.gap])),
            seconds_shared=self.seconds_shared + path.seconds_shared,
        )

    def network(self, penalty: float) -> DependencyNetwork:
        """Return the dependency network of one penalty: pairs X_v = 1, X_u = 1 and biases."""
        k = self.place(penalty)
        pairs = self.coefficient[k].tocoo()
        n_vars = len(self.constant_loss)
        both = np.sort(np.column_stack([pairs.row, pairs.col]), axis=1)
        return DependencyNetwork(
            flat_trees(n_vars),
            build_pair_features(n_vars, both),
            read_only(np.concatenate([np.arange(n_vars), pairs.row]).astype(np.int32)),
            read_only(np.concatenate([self.intercept[k], pairs.data])),
            self.schema or NAMELESS,
        )


def learn_logistic_path(
    data: Dataset,
    penalties: Sequence[float],
    free_intercept: bool = True,
    tolerance: float = TOLERANCE,
    *,
    threads: int = 1,
    standardise: bool = False,
) -> LogisticPath:
    """Minimise log-loss + penalty * sum(|weights|) for every variable and each penalty.

    Parameters
    ----------
    data : Dataset
        The training data. A variable that is constant in it has no finite log-odds, and is given
        those of its counts with one added to each (decision 0002).
    penalties : sequence of float
        Penalties, in any order. The loss is summed over examples; the inputs are 0 and 1.
    free_intercept : bool
        Whether the intercept is left out of the penalty.
    tolerance : float
        Greatest duality gap, as a share of the loss of the best constant.
    threads : int
        Number of threads; the result does not depend on it.
    standardise : bool
        Whether the penalty of each weight is multiplied by the standard deviation of its variable,
        as if the inputs were divided by it.

    Raises
    ------
    InputError
        A penalty or the tolerance is not positive.

    References
    ----------
    .. [1] Ravikumar, Wainwright and Lafferty, "High-dimensional Ising model selection using
       l1-regularized logistic regression", Annals of Statistics, 2010.
    .. [2] Lowd, "Closed-form learning of Markov networks from dependency networks", UAI 2012,
       Section 6.2.
    """
    ordered = np.unique(np.asarray(penalties, np.float64))[::-1]
    if not (len(ordered) and np.isfinite(ordered).all() and ordered[-1] > 0 and tolerance > 0):
        raise InputError("logistic regression: expected positive penalties and tolerance.")
    regressions = prepare_regressions(data, free_intercept, standardise)
    return regressions.all_paths(ordered, float(tolerance), threads=threads)


class OwnPath(NamedTuple):
    """The regression of one variable for each penalty.

    beta : float64, (n_penalties, n_vars). intercept, gap : float64, (n_penalties,), gap in nats.
    """

    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Regressions:
    """What the regressions of all variables have in common; see `prepare_regressions`.

    Attributes
    ----------
    data : Dataset
        The training data.
    factor : float64 array of shape (n_vars + 1,)
        What the penalty of each weight is multiplied by; the intercept comes last.
    free_intercept : bool
        Whether the intercept is left out of the penalty.
    """

    data: Dataset
    factor: NDArray[np.float64]
    free_intercept: bool

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Return the coordinates in the order of the kernels, (n_vars + 1,), the intercept last.

        Variables come in descending order of how often the rarer value occurs, so that the parts of
        the Hessian that change most often are next to each other.
        """
        rarer = np.minimum(self.data.frequency, 1 - self.data.frequency)
        return np.append(np.argsort(-rarer, kind="stable"), self.data.n_vars)

    @cached_property
    def arranged(self) -> tuple[LogisticData, NDArray[np.float64]]:
        """Return the data and the counts as `l1_path` takes them."""
        return _design(self.data, self.free_intercept, self.order[:-1])

    def path(
        self,
        v: int,
        penalties: NDArray[np.float64],
        tolerance: float,
        start: NDArray[np.float64] | None = None,
    ) -> OwnPath:
        """Return the regression of a variable, which has both values, for descending penalties.

        Parameters
        ----------
        v
            The variable.
        penalties
            Descending penalties.
        tolerance
            As in `learn_logistic_path`.
        start
            Weights, and then the intercept, to start at, float64, (n_vars + 1,); those of the best
            constant if None.
        """
        n_penalties = len(penalties)
        design, counts = self.arranged
        n_vars, order = self.data.n_vars, self.order
        beta = np.zeros((n_penalties, n_vars))
        intercept, gap = np.zeros(n_penalties), np.zeros(n_penalties)
        y = np.ascontiguousarray(self.data.rows[:, v])
        goal = PathGoal(penalties, self.factor[order], tolerance)
        result = PathResult(beta, intercept, gap)
        target = int(np.flatnonzero(order == v)[0])
        l1_path(target, design, y, counts, goal, self._first(v, start)[order], result)
        place = np.argsort(order[:n_vars])
        return OwnPath(beta[:, place], intercept, gap)

    def _first(self, v: int, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the weights and the intercept that the path of variable `v` starts at."""
        if start is not None:
            return start
        first = np.zeros(self.data.n_vars + 1)
        if self.free_intercept:
            share = self.data.frequency[v]
            first[-1] = np.log(share / (1 - share))
        return first

    def all_paths(
        self,
        penalties: NDArray[np.float64],
        tolerance: float,
        *,
        after: LogisticPath | None = None,
        threads: int = 1,
        shares: Shares = ALONE,
    ) -> LogisticPath:
        """Return the regressions of all variables, for descending penalties.

        Parameters
        ----------
        penalties
            Descending penalties.
        tolerance
            As in `learn_logistic_path`.
        after
            The regressions for greater penalties, to which those of `penalties` are added.
        threads
            Number of threads; the result does not depend on it.
        shares
            Whether variables are shared out to processes.
        """

        def learn(first: int, end: int) -> Arrays:
            starts = [after.weights(v) if after else None for v in range(first, end)]
            return _regress(self, penalties, tolerance, first, starts)

        def begin() -> Work:
            _ = self.arranged  # Before threads ask for it.
            return learn

        data = self.data
        before = [] if after is None else after.penalties.tolist()
        name = ("regressions", self.free_intercept, tolerance, before, penalties.tolist())
        absent = partial(_no_regressions, len(penalties))
        found, seconds = shares.learn(name, data.n_vars, begin, absent, threads)
        loss = _constant_loss(data.ones / data.n_examples, data.n_examples)
        path = replace(_gather(penalties, found, loss, data.schema), seconds_shared=seconds)
        return path if after is None else after.joined(path)


def prepare_regressions(
    data: Dataset, free_intercept: bool = True, standardise: bool = False
) -> Regressions:
    """Return what the regressions share; see `learn_logistic_path` for the arguments."""
    factor = _penalty_factors(data, free_intercept, standardise)
    return Regressions(data, factor, free_intercept)


def _regress(
    regressions: Regressions,
    penalties: NDArray[np.float64],
    tolerance: float,
    first: int,
    starts: Sequence[NDArray[np.float64] | None],
) -> Arrays:
    """Learn the regressions of consecutive variables; see `Regressions.path` for the arguments.

    Returns intercept, gap and the number of coefficients, of shape (n_targets, n_penalties); and
    the coefficients, as column and value, target by target and penalty by penalty.
    """
    n_penalties, data = len(penalties), regressions.data
    found = []
    for v, start in enumerate(starts, first):
        ones = data.ones[v]
        zeros = data.n_examples - ones
        if ones == 0 or zeros == 0:
            beta = np.zeros((n_penalties, data.n_vars))
            intercept = np.full(n_penalties, np.log((ones + 1) / (zeros + 1)))
            gap = np.zeros(n_penalties)
        else:
            beta, intercept, gap = regressions.path(v, penalties, tolerance, start=start)
        row, column = np.nonzero(beta)
        counts = np.bincount(row, minlength=n_penalties)
        found.append((intercept[None], gap[None], counts[None], column, beta[row, column]))
    fields = zip(*found, strict=True)
    return dict(zip(_FIELDS, map(np.concatenate, fields), strict=True))


_FIELDS = ("intercept", "gap", "n_coefficients", "column", "value")


def _no_regressions(n_penalties: int, first: int, end: int) -> Arrays:
    """Return regressions without coefficients for each of some targets."""
    shape = (end - first, n_penalties)
    none = np.zeros(0)
    fields = (np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64), none.astype(int), none)
    return dict(zip(_FIELDS, fields, strict=True))


def _gather(
    penalties: NDArray[np.float64],
    found: Arrays,
    constant_loss: NDArray[np.float64],
    schema: Schema | None,
) -> LogisticPath:
    """Return the regressions of all variables as one path."""
    n_coefficients = found["n_coefficients"]
    n_vars, n_penalties = n_coefficients.shape
    place = np.repeat(np.arange(n_coefficients.size) % n_penalties, n_coefficients.ravel())
    coefficient = []
    for k in range(n_penalties):
        own = place == k
        start = np.concatenate([[0], np.cumsum(n_coefficients[:, k])])
        rows = (found["value"][own], found["column"][own], start)
        coefficient.append(sparse.csr_array(rows, shape=(n_vars, n_vars)))
    return LogisticPath(
        penalties=read_only(penalties),
        coefficient=tuple(coefficient),
        intercept=read_only(found["intercept"].T),
        gap=read_only(found["gap"].T),
        constant_loss=read_only(constant_loss),
        schema=schema,
    )


def _constant_loss(share: NDArray[np.float64], n_examples: float) -> NDArray[np.float64]:
    """Return the loss of the best constant of each variable, in nats, by its share of ones."""
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -(share * np.log(share) + (1 - share) * np.log1p(-share))
    return np.asarray(n_examples * np.nan_to_num(entropy))


def _penalty_factors(data: Dataset, free_intercept: bool, standardise: bool) -> NDArray[np.float64]:
    """Return what the penalty of each weight is multiplied by; the intercept comes last."""
    factor = np.ones(data.n_vars + 1)
    factor[-1] = 0.0 if free_intercept else 1.0
    if standardise:
        deviation = np.sqrt(data.frequency * (1 - data.frequency))
        factor[:-1] = np.where(deviation > 0, deviation, 1.0)
    return factor


def _design(
    data: Dataset, free_intercept: bool, order: NDArray[np.int64]
) -> tuple[LogisticData, NDArray]:
    """Return the data, the variables in some order, and the counts as `l1_path` takes them."""
    flipped = data.frequency[order] > 0.5
    rows = data.rows[:, order] ^ flipped.astype(np.uint8)
    indptr = np.concatenate([[0], np.cumsum(rows.sum(axis=1, dtype=np.int64))])
    indices = np.nonzero(rows)[1].astype(np.int32)
    n, total = data.n_vars, data.n_examples
    counts = np.zeros((n + 1, n + 1))
    both = np.zeros((n, n))
    cooccurrence(indptr, indices, data.weight, both)
    one = both.diagonal().copy()
    if not free_intercept:
        # The counts of the variables themselves, by inclusion and exclusion.
        f, g = flipped[:, None], flipped[None]
        u, v = one[:, None], one[None]
        of_either = np.where(f & ~g, v - both, np.where(~f & g, u - both, both))
        both = np.where(f & g, total - u - v + both, of_either)
        one = np.where(flipped, total - one, one)
    counts[:n, :n] = both
    counts[:n, n] = counts[n, :n] = one
    counts[n, n] = total
    return LogisticData(indptr, indices, data.weight, flipped, free_intercept), counts
