"""Ising networks by L1-penalised logistic regressions whose penalties the EBIC chooses.

The path of penalties is that of the R package glmnet, so that the networks are those of IsingFit
(decision 0660). Items of more than two states have softmax regressions with the same path, those
that are ordered with a score for each state.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.kernels.l1_logistic.dense import DenseData, DenseGoal, DenseResult, dense_path
from mnlearn.learning.ising.items import Ordered, Scores, items_of
from mnlearn.learning.ising.network import IsingNetwork
from mnlearn.learning.ising.ordinal import OrdinalTask
from mnlearn.learning.logistic import MERGES
from mnlearn.learning.softmax_regression import SoftmaxTask, softmax_path
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.threads import map_ranges

# As in glmnet (decision 0660): so many penalties, evenly on a log scale, down to a share of the
# largest that depends on whether there are fewer examples than predictors.
N_PENALTIES = 100
SMALLEST, SMALLEST_WIDE = 1e-4, 1e-2
# The path ends once so much of the deviance is explained, or a penalty adds less than this, but not
# before so many penalties.
_EXPLAINED, _GAIN, _FEWEST_PENALTIES = 0.999, 1e-5, 5
# Penalties between which softmax regressions look whether the path ends.
_BLOCK = 10


class RegressionPath(NamedTuple):
    """The regression of one item for each penalty; loss and gap are in nats.

    beta : (n_penalties, n_own_inputs, n_inputs); for two states without the second axis, as is
    `intercept`. intercept : (n_penalties, arity), of all states.
    """

    penalties: NDArray[np.float64]
    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]
    loss: NDArray[np.float64]
    gap: NDArray[np.float64]


class Items:
    """What the regressions of all items share; the inputs are scaled to unit variance.

    Inputs above the middle of their range are stored turned: less is lost where sums of many rows
    are subtracted from each other.
    """

    def __init__(self, data: Dataset) -> None:
        self._data, self.scores = data, Scores(data.schema)
        n_vars, inputs = data.n_vars, self.scores.inputs(data)
        shares = [data.counts(v) / data.n_examples for v in range(n_vars)]
        means = [share @ self.scores.table(v) for v, share in enumerate(shares)]
        top = np.where(self.scores.scored, data.schema.arity - 1, 1)[self.scores.item_of]
        # The greatest value of the inputs that are turned; 0 for the others.
        self._turned = np.where(np.concatenate(means) > top / 2, top, 0).astype(np.uint8)
        deviation = self.scores.spread(shares)
        # What the penalty of each weight is multiplied by; the intercept comes last.
        self._factor = np.append(np.where(deviation > 0, deviation, 1.0), 0.0)
        turned = np.where(self._turned > 0, self._turned - inputs, inputs)
        self._dense = DenseData(np.ascontiguousarray(turned.T), data.weight)
        self._values = inputs if data.schema.is_binary else data.schema.values(data.rows)
        self._inputs = inputs
        if not data.schema.is_binary:
            self._rows = sparse.csr_array(inputs, dtype=np.float64)
            self._columns = sparse.csr_array(self._rows.T)

    def path(self, v: int, tolerance: float) -> RegressionPath:
        """Return the regression of an item; the tolerance is a share of the constant's loss."""
        own = self.scores.own(v)
        n_others = self.scores.n_inputs - (own.stop - own.start)
        share = SMALLEST_WIDE if self._data.n_examples < n_others else SMALLEST
        shares = np.geomspace(1.0, share, N_PENALTIES)
        if self._data.schema.arity[v] > 2:
            return self._state_path(v, shares, tolerance)
        goal = DenseGoal(shares, self._factor, tolerance, _EXPLAINED, _GAIN)
        theta = np.zeros((N_PENALTIES, len(self._factor)))
        penalties, gap, loss = (np.zeros(N_PENALTIES) for _ in range(3))
        y = np.ascontiguousarray(self._values[:, v])
        result = DenseResult(penalties, theta, gap, loss)
        n = dense_path(own.start, self._dense, y, goal, result)
        beta, intercept = theta[:n, :-1], theta[:n, -1].copy()
        intercept += beta @ self._turned
        beta[:, self._turned > 0] *= -1.0
        return RegressionPath(penalties[:n], beta, intercept, loss[:n], gap[:n])

    def _state_path(self, v: int, shares: NDArray[np.float64], tolerance: float) -> RegressionPath:
        """Return the regression of an item of more than two states."""
        count, table = self._data.counts(v), self.scores.table(v)
        occurs = np.flatnonzero(count)
        state = np.searchsorted(occurs, self._values[:, v])
        given = (self._inputs, self._rows, self._columns, self._data.weight, state, len(occurs))
        own = self.scores.own(v)
        is_scored = self.scores.scored[v]
        task = OrdinalTask(*given, own, table[occurs, 0]) if is_scored else SoftmaxTask(*given, own)
        theta = np.zeros((len(self._factor), len(occurs)))
        theta[-1] = np.log(count[occurs])
        constant = task.evaluate(theta)
        pull = np.abs(constant.pull[:-1]).max(axis=1)
        # Where the item depends on no other at all, any penalty will do.
        largest = max(1e-6 * self._data.n_examples, float((pull / self._factor[:-1]).max()))
        penalties = largest * shares
        # All weights are 0 at the first penalty, and rounding must not change this.
        penalties[0] *= 1.0 + 1e-9
        found, gap, loss = np.zeros((0, *theta.shape)), np.zeros(0), np.zeros(0)
        while (n := _length(loss / constant.loss)) is None:
            block = penalties[len(loss) : len(loss) + _BLOCK]
            thetas, gaps = softmax_path(task, block, self._factor, tolerance * constant.loss, theta)
            theta = thetas[-1]
            found = np.concatenate([found, thetas])
            gap = np.append(gap, gaps)
            loss = np.append(loss, [task.evaluate(each).loss for each in thetas])
        beta = np.zeros((n, table.shape[1], self.scores.n_inputs))
        beta[:, [0] if is_scored else occurs] = found[:n, :-1, : 1 if is_scored else None].mT
        intercept = [
            self._thresholds(weights, one[-1], table, occurs)
            for weights, one in zip(beta, found[:n], strict=True)
        ]
        return RegressionPath(penalties[:n], beta, np.array(intercept), loss[:n], gap[:n])

    def _thresholds(
        self,
        beta: NDArray[np.float64],
        known: NDArray[np.float64],
        table: NDArray[np.float64],
        occurs: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        """Return the thresholds of all states; one that never occurs gets half an example."""
        threshold = np.zeros(len(table))
        threshold[occurs] = known
        absent = np.setdiff1d(np.arange(len(table)), occurs)
        if len(absent):
            logits = self._inputs @ beta.T @ table.T + threshold
            level = logsumexp(logits[:, occurs], axis=1)[:, None]
            weight = self._data.weight[:, None]
            threshold[absent] -= logsumexp((logits - level)[:, absent], axis=0, b=weight)
            threshold[absent] += np.log(0.5)
        return threshold


def _length(loss: NDArray[np.float64]) -> int | None:
    """Return the length of a path, given losses as shares of the constant's; None if it goes on."""
    ends = (1 - loss > _EXPLAINED) | (np.append(1.0, loss)[:-1] - loss < _GAIN)
    ends[: _FEWEST_PENALTIES - 1] = False
    ends[N_PENALTIES - 1 :] = True
    return int(ends.argmax()) + 1 if ends.any() else None


GAMMA = 0.25
# Greatest duality gap, as a share of the loss of the best constant. The rule by which the path ends
# compares differences of 1e-5. Networks of resamples are only compared with each other; the smaller
# gap takes up to three times as long (decision 0660).
TOLERANCE, TOLERANCE_OF_RESAMPLES = 1e-8, 1e-7
# Variables of which a value occurs fewer times than this are left out, as in glmnet.
FEWEST = 2


def learn_ising(
    data: Dataset,
    gamma: float = GAMMA,
    merge: str = "and",
    threads: int = 1,
    ordered: Ordered = None,
) -> IsingNetwork:
    """Estimate an Ising network by L1-penalised logistic regressions (van Borkulo et al. 2014).

    Each regression gets the penalty with the least EBIC = -2 log-likelihood + k log(n) + 2 gamma k
    log(p), where k is the number of its free weights other than 0, and p that of all its free
    weights (Foygel & Drton 2010). The weight of an edge is the mean of the two regressions, with
    inputs scaled to unit variance. ordered : see `items_of`.
    """
    check_settings(gamma, merge)
    data = items_of(data, ordered)
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


def find_dropped(data: Dataset) -> NDArray[np.bool_]:
    """Return which items have not two states that occur at least `FEWEST` times."""
    frequent = [np.count_nonzero(data.counts(v) >= FEWEST) for v in range(data.n_vars)]
    return np.array(frequent) < 2


def select_items(data: Dataset, kept: NDArray[np.int64]) -> Dataset:
    """Return the examples of some variables, in the order in which they were given."""
    schema = data.schema.select(kept.tolist())
    columns = np.flatnonzero(np.isin(data.schema.variable_of, kept))
    return merge_rows(data.rows[data.row_of][:, columns], schema=schema)


class _Chosen(NamedTuple):
    """What the regressions with the least EBIC give, for all items."""

    regression: NDArray[np.float64]
    threshold: NDArray[np.float64]
    penalty: NDArray[np.float64]
    ebic: NDArray[np.float64]
    at_end: NDArray[np.bool_]
    found: NDArray[np.bool_]


def estimate(
    data: Dataset,
    gamma: float,
    merge: str,
    threads: int = 1,
    tolerance: float = TOLERANCE_OF_RESAMPLES,
) -> IsingNetwork:
    """Estimate a network; see `learn_ising`, which also checks the arguments."""
    dropped, scores, n_vars = find_dropped(data), Scores(data.schema), data.n_vars
    shares = [data.counts(v) / data.n_examples for v in range(n_vars)]
    chosen = _Chosen(
        regression=np.zeros((scores.n_inputs, scores.n_inputs)),
        threshold=np.concatenate([_constant(share, data.n_examples) for share in shares]),
        penalty=np.full(n_vars, np.nan),
        ebic=np.full(n_vars, np.nan),
        at_end=np.zeros(n_vars, bool),
        found=np.zeros((n_vars, n_vars), bool),
    )
    kept = np.flatnonzero(~dropped)
    if len(kept) > 1:
        _choose(data, kept, scores, chosen, gamma, threads, tolerance)
    edge = chosen.found & chosen.found.T if merge == "and" else chosen.found | chosen.found.T
    both = (chosen.regression + chosen.regression.T) / 2
    return IsingNetwork(
        weight=read_only(np.where(edge, scores.sizes(both), 0.0)),
        threshold=read_only(chosen.threshold),
        regression=read_only(chosen.regression),
        penalty=read_only(chosen.penalty),
        ebic=read_only(chosen.ebic),
        at_end=read_only(chosen.at_end),
        dropped=read_only(dropped),
        frequency=read_only(np.concatenate([share[1:] for share in shares])),
        schema=data.schema,
    )


def _constant(share: NDArray[np.float64], n_examples: float) -> NDArray[np.float64]:
    """Return the thresholds of an item without neighbours.

    Half an example for each value keeps those of a constant variable finite.
    """
    seen = share[1:] * n_examples
    return np.log((seen + 0.5) / (n_examples - seen.sum() + 0.5))


def _choose(
    data: Dataset,
    kept: NDArray[np.int64],
    scores: Scores,
    chosen: _Chosen,
    gamma: float,
    threads: int,
    tolerance: float,
) -> None:
    """Write the regressions of the items that are kept, each with the penalty of least EBIC."""
    if len(kept) < data.n_vars:
        columns = np.isin(data.schema.variable_of, kept)
        schema = data.schema.select(kept.tolist())
        data = merge_rows(data.rows[:, columns], data.weight, schema)
    items = Items(data)
    own = items.scores
    inputs = np.flatnonzero(np.isin(scores.item_of, kept))
    # Merged rows keep the number of examples.
    log_n = np.log(data.n_examples)

    def choose(first: int, last: int) -> None:
        for k, v in enumerate(kept[first:last].tolist(), first):
            path = items.path(k, tolerance)
            beta = path.beta.reshape(len(path.loss), -1, own.n_inputs)
            most = own.n_free * own.n_free[k]
            count = np.add.reduceat(np.count_nonzero(beta, axis=1), own.start[:-1], axis=1)
            price = log_n + 2 * gamma * np.log(most.sum() - most[k])
            values = 2 * path.loss + price * np.minimum(count, most).sum(axis=1)
            best = int(np.argmin(values))
            centred, gained = own.centre(k, beta[best])
            chosen.regression[scores.own(v), inputs] = centred
            chosen.found[v, kept] = count[best] > 0
            threshold = np.append(0.0, path.intercept[best])[-len(gained) :] + gained
            states = slice(*scores.first_threshold[v : v + 2].tolist())
            chosen.threshold[states] = threshold[1:] - threshold[0]
            chosen.penalty[v], chosen.ebic[v] = path.penalties[best], values[best]
            chosen.at_end[v] = best == N_PENALTIES - 1

    map_ranges(choose, len(kept), threads)
