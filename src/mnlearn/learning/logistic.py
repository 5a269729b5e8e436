"""Learning the L1-penalised logistic regressions of all variables, for a whole path of penalties.

The solver is our own because the targets share work that a library would repeat for each: the
co-occurrence counts, and the rows of the data as lists of ones. scikit-learn's liblinear, which
solves the same problem when the intercept is penalised, was 2 to 14 times slower to within the same
distance of the minimum on seven datasets, embedded and benchmark (`mnlearn bench`; the least gain
is on Plants). It has neither paths with warm starts nor a bound on the distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.l1_logistic.loss import LogisticData
from mnlearn.kernels.l1_logistic.path import PathGoal, PathResult, l1_path
from mnlearn.kernels.trees import cooccurrence
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import concatenate, feature_set
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

# The greatest duality gap, as a share of the loss of the best constant.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class LogisticPath:
    """Logistic regressions of every variable on all others, for each penalty.

    penalties : float64, descending.
    coefficient : of each penalty a sparse matrix of shape (n_vars, n_vars), row v the weights of
        the others in the log-odds of v. intercept : float64, (n_penalties, n_vars).
    gap : float64, (n_penalties, n_vars), bounds on how far each penalised loss, in nats summed
        over examples, is above its minimum.
    constant_loss : float64, (n_vars,), loss of the best constant.
    names : names of the variables, or None.
    """

    penalties: NDArray[np.float64]
    coefficient: tuple[sparse.csr_array, ...]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]
    constant_loss: NDArray[np.float64]
    names: tuple[str, ...] | None = None

    def place(self, penalty: float) -> int:
        """Return the position of a penalty of the path."""
        found = np.flatnonzero(self.penalties == penalty)
        if not len(found):
            raise ValueError(f"the path was learned without the penalty {penalty}")
        return int(found[0])

    def network(self, penalty: float) -> DependencyNetwork:
        """Return the dependency network of one penalty: pairs X_v = 1, X_u = 1 and biases."""
        k = self.place(penalty)
        pairs = self.coefficient[k].tocoo()
        n_vars = len(self.constant_loss)
        both = np.sort(np.column_stack([pairs.row, pairs.col]), axis=1)
        features = concatenate(
            [
                feature_set(np.arange(n_vars + 1), np.arange(n_vars), np.ones(n_vars)),
                feature_set(2 * np.arange(len(both) + 1), both.ravel(), np.ones(2 * len(both))),
            ]
        )
        return DependencyNetwork(
            flat_trees(n_vars),
            features,
            read_only(np.concatenate([np.arange(n_vars), pairs.row]).astype(np.int32)),
            read_only(np.concatenate([self.intercept[k], pairs.data])),
            self.names,
        )


def learn_logistic_path(
    data: Dataset,
    penalties: Sequence[float],
    free_intercept: bool = True,
    tolerance: float = TOLERANCE,
    threads: int = 1,
    standardise: bool = False,
) -> LogisticPath:
    """Minimise log-loss + penalty * sum(|weights|) for every variable and each penalty.

    The loss is summed over examples, the inputs are 0 and 1 (Ravikumar et al. 2010; Lowd 2012,
    Section 6.2). A variable that is constant in the data has no finite log-odds; it is given
    those of its counts with one added to each.

    free_intercept : whether the intercept is left out of the penalty.
    tolerance : greatest duality gap, as a share of the loss of the best constant.
    standardise : whether each weight's penalty is multiplied by the standard deviation of its
        variable, as if the inputs were divided by it.

    Raises
    ------
    InputError
        A penalty or the tolerance is not positive.
    """
    ordered = np.unique(np.asarray(penalties, np.float64))[::-1]
    if not (len(ordered) and np.isfinite(ordered).all() and ordered[-1] > 0 and tolerance > 0):
        raise InputError("logistic regression: expected positive penalties and tolerance.")
    design, counts = _design(data, free_intercept)
    n_vars, n_penalties = data.n_vars, len(ordered)
    factor = np.ones(n_vars + 1)
    factor[n_vars] = 0.0 if free_intercept else 1.0
    if standardise:
        deviation = np.sqrt(data.frequency * (1 - data.frequency))
        factor[:n_vars] = np.where(deviation > 0, deviation, 1.0)
    ones = data.weight @ data.rows
    zeros = data.n_examples - ones
    intercept = np.empty((n_penalties, n_vars))
    gap = np.zeros((n_penalties, n_vars))
    goal = PathGoal(ordered, factor, float(tolerance))

    def learn(begin: int, end: int) -> list[list[sparse.csr_array]]:
        rows = []
        for v in range(begin, end):
            beta = np.zeros((n_penalties, n_vars))
            if ones[v] == 0 or zeros[v] == 0:
                intercept[:, v] = np.log((ones[v] + 1) / (zeros[v] + 1))
            else:
                of_v, gap_v = np.empty(n_penalties), np.empty(n_penalties)
                y = np.ascontiguousarray(data.rows[:, v])
                result = PathResult(beta, of_v, gap_v, np.zeros(4, np.int64))
                l1_path(v, design, y, counts, goal, result)
                intercept[:, v], gap[:, v] = of_v, gap_v
            rows.append([sparse.csr_array(b[None]) for b in beta])
        return rows

    rows = [row for block in map_ranges(learn, n_vars, threads) for row in block]
    share = ones / data.n_examples
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -(share * np.log(share) + (1 - share) * np.log1p(-share))
    return LogisticPath(
        read_only(ordered),
        tuple(sparse.vstack([row[k] for row in rows], "csr") for k in range(n_penalties)),
        read_only(intercept),
        read_only(gap),
        read_only(data.n_examples * np.nan_to_num(entropy)),
        data.names,
    )


def _design(data: Dataset, free_intercept: bool) -> tuple[LogisticData, NDArray]:
    """Return the data and the counts as `l1_path` takes them."""
    flipped = data.frequency > 0.5
    rows = data.rows ^ flipped.astype(np.uint8)
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
