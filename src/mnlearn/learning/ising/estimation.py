"""Ising networks by L1-penalised logistic regressions whose penalties the EBIC chooses.

The path of penalties is that of the R package glmnet, so that the networks are those of IsingFit
(decision 0660).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.kernels.l1_logistic.dense import DenseData, DenseGoal, DenseResult, dense_path
from mnlearn.learning.ising.network import IsingNetwork
from mnlearn.learning.logistic import MERGES
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.threads import map_ranges

# As in glmnet (decision 0660): so many penalties, evenly on a log scale, down to a share of the
# largest that depends on whether there are fewer examples than predictors.
N_PENALTIES = 100
SMALLEST, SMALLEST_WIDE = 1e-4, 1e-2
# The path ends once so much of the deviance is explained, or a penalty adds less than this.
_EXPLAINED, _GAIN = 0.999, 1e-5


class RegressionPath(NamedTuple):
    """The regression of one variable for each penalty; loss and gap are in nats."""

    penalties: NDArray[np.float64]
    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]
    loss: NDArray[np.float64]
    gap: NDArray[np.float64]


class Items:
    """What the regressions of all variables share; the inputs are scaled to unit variance.

    Columns with more ones than zeros are stored negated: less is lost where sums of many rows are
    subtracted from each other.
    """

    def __init__(self, data: Dataset) -> None:
        share = data.frequency
        self._data, self._flipped = data, share > 0.5
        deviation = np.sqrt(share * (1 - share))
        # What the penalty of each weight is multiplied by; the intercept comes last.
        self._factor = np.append(np.where(deviation > 0, deviation, 1.0), 0.0)
        columns = np.ascontiguousarray((data.rows ^ self._flipped.astype(np.uint8)).T)
        self._dense = DenseData(columns, data.weight)

    def path(self, v: int, tolerance: float) -> RegressionPath:
        """Return the regression of a variable; the tolerance is a share of the constant's loss."""
        n_vars = self._data.n_vars
        share = SMALLEST_WIDE if self._data.n_examples < n_vars - 1 else SMALLEST
        goal = DenseGoal(
            np.geomspace(1.0, share, N_PENALTIES), self._factor, tolerance, _EXPLAINED, _GAIN
        )
        theta = np.zeros((N_PENALTIES, n_vars + 1))
        penalties, gap, loss = (np.zeros(N_PENALTIES) for _ in range(3))
        y = np.ascontiguousarray(self._data.rows[:, v])
        n = dense_path(v, self._dense, y, goal, DenseResult(penalties, theta, gap, loss))
        beta, intercept = theta[:n, :-1], theta[:n, -1].copy()
        intercept += beta @ self._flipped
        beta[:, self._flipped] *= -1.0
        return RegressionPath(penalties[:n], beta, intercept, loss[:n], gap[:n])


GAMMA = 0.25
# Greatest duality gap, as a share of the loss of the best constant. The rule by which the path ends
# compares differences of 1e-5. Networks of resamples are only compared with each other; the smaller
# gap takes up to three times as long (decision 0660).
TOLERANCE, TOLERANCE_OF_RESAMPLES = 1e-8, 1e-7
# Variables of which a value occurs fewer times than this are left out, as in glmnet.
FEWEST = 2


def learn_ising(
    data: Dataset, gamma: float = GAMMA, merge: str = "and", threads: int = 1
) -> IsingNetwork:
    """Estimate an Ising network by L1-penalised logistic regressions (van Borkulo et al. 2014).

    Each regression gets the penalty with the least EBIC = -2 log-likelihood + k log(n) + 2 gamma k
    log(n_vars - 1), where k is its number of neighbours (Foygel & Drton 2010). The weight of an
    edge is the mean of the two regressions, with inputs scaled to unit variance.
    """
    check_settings(gamma, merge)
    data = items_of(data)
    if data.n_vars < 2:
        raise InputError("expected at least two variables.", where=DATA)
    if data.n_examples < 2:
        raise InputError(f"expected at least two rows, got {data.n_examples:g}.", where=DATA)
    return estimate(data, gamma, merge, threads, TOLERANCE)


def check_settings(gamma: float, merge: str) -> None:
    """Refuse a gamma or a merge that `learn_ising` does not know."""
    if not isinstance(gamma, int | float | np.number) or not 0 <= gamma < np.inf:
        raise InputError(f"gamma: expected a number of at least 0, got {gamma!r}.")
    if merge not in MERGES:
        raise InputError(f"merge: expected one of {', '.join(MERGES)}, got {merge!r}.")


def items_of(data: Dataset) -> Dataset:
    """Return the examples of the variables of two states; those of one have no edges."""
    schema = data.schema
    several = [variable for variable in schema if variable.arity > 2]
    if several:
        first = several[0]
        listed = ", ".join(first.texts[:6]) + (", ..." if first.arity > 6 else "")
        raise InputError(
            f"variable {first.name} has {first.arity} states ({listed}); an Ising network is of "
            "variables with two. Join its states to two, leave it out, or learn a network of all "
            "states with the learner l1.",
            where=DATA,
        )
    return replace(data, schema=schema.select(np.flatnonzero(schema.arity == 2).tolist()))


def find_dropped(data: Dataset) -> NDArray[np.bool_]:
    """Return which variables have a value that occurs fewer than `FEWEST` times."""
    ones = data.ones
    return np.asarray(np.minimum(ones, data.n_examples - ones) < FEWEST)


def estimate(
    data: Dataset,
    gamma: float,
    merge: str,
    threads: int = 1,
    tolerance: float = TOLERANCE_OF_RESAMPLES,
) -> IsingNetwork:
    """Estimate a network; see `learn_ising`, which also checks the arguments."""
    dropped = find_dropped(data)
    n_vars, ones = data.n_vars, data.frequency * data.n_examples
    regression = np.zeros((n_vars, n_vars))
    # Half an example for each value keeps the threshold of a constant variable finite.
    threshold = np.log((ones + 0.5) / (data.n_examples - ones + 0.5))
    penalty, ebic = np.full(n_vars, np.nan), np.full(n_vars, np.nan)
    at_end = np.zeros(n_vars, bool)
    kept = np.flatnonzero(~dropped)
    if len(kept) > 1:
        examples = merge_rows(data.rows[:, kept], data.weight) if dropped.any() else data
        items = Items(examples)
        price = np.log(examples.n_examples) + 2 * gamma * np.log(examples.n_vars - 1)

        def choose(first: int, last: int) -> None:
            for k, v in enumerate(kept[first:last].tolist(), first):
                path = items.path(k, tolerance)
                values = 2 * path.loss + price * np.count_nonzero(path.beta, axis=1)
                best = int(np.argmin(values))
                regression[v, kept], threshold[v] = path.beta[best], path.intercept[best]
                penalty[v], ebic[v] = path.penalties[best], values[best]
                at_end[v] = best == N_PENALTIES - 1

        map_ranges(choose, len(kept), threads)
    found = regression != 0
    edge = found & found.T if merge == "and" else found | found.T
    return IsingNetwork(
        weight=read_only(np.where(edge, (regression + regression.T) / 2, 0.0)),
        threshold=read_only(threshold),
        regression=read_only(regression),
        penalty=read_only(penalty),
        ebic=read_only(ebic),
        at_end=read_only(at_end),
        dropped=read_only(dropped),
        frequency=read_only(data.frequency),
        schema=data.schema,
    )
