"""Log-odds of every variable given all others; the pseudo-likelihood consists of them."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.terms import conditions, finite, leaf_log_odds
from mnlearn.kernels.likelihood.stored_columns import add_log_odds
from mnlearn.kernels.sampling.effects import LongerFeatures, add_owned
from mnlearn.kernels.trees import tree_log_odds
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.threads import map_ranges


def conditional_log_odds(model: Model, data: Dataset, threads: int = 1) -> NDArray[np.float64]:
    """Return log P(x_v = 1 | rest) - log P(x_v = 0 | rest) for every row and variable.

    Parameters
    ----------
    model : Model
        Infinite weights count as `inference.terms.HARD_WEIGHT`.
    data : Dataset
        Its distinct rows are evaluated.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_vars)
        In nats.
    """
    if isinstance(model, DependencyNetwork):
        return _dependency_log_odds(model, data, threads)
    network: MarkovNetwork = model.to_markov_network()
    out = np.zeros(data.rows.shape)
    f, weight = network.features, finite(network.weight)
    columns, end_bits = data.columns, data.last_word

    def add(first: int, last: int) -> None:
        add_log_odds(columns, end_bits, f.start, f.var, f.value, weight, first, last, out)

    map_ranges(add, columns.shape[1], threads)
    return out


def _dependency_log_odds(
    model: DependencyNetwork, data: Dataset, threads: int
) -> NDArray[np.float64]:
    """Return the log-odds of trees, plus those of the features of the CPDs."""
    trees = model.trees
    out = np.empty(data.rows.shape)
    odds = leaf_log_odds(trees.log_prob)

    def walk(first: int, last: int) -> None:
        tree_log_odds(
            data.rows[first:last], trees.start, trees.split_var, trees.child, odds, out[first:last]
        )

    map_ranges(walk, data.n_rows, threads)
    if len(model.features):
        rest, sign = conditions(model)
        constant, effect, longer = _effects(model, rest, sign * finite(model.weight))

        def add(first: int, last: int) -> None:
            add_owned(data.rows[first:last], constant, effect, longer, out[first:last])

        map_ranges(add, data.n_rows, threads)
    return out


def _effects(
    model: DependencyNetwork, rest: FeatureSet, weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], LongerFeatures]:
    """Return what CPD features add to log-odds: constants, effects of single variables, the rest.

    rest, weight : the features without the literal of their target, and what they add to its
    log-odds.
    """
    n_vars, length = model.n_vars, rest.length
    constant, effect = np.zeros(n_vars), np.zeros((n_vars, n_vars))
    np.add.at(constant, model.target[length == 0], weight[length == 0])
    single = length == 1
    var, value = rest.var[rest.start[:-1][single]], rest.value[rest.start[:-1][single]]
    target, w = model.target[single], weight[single]
    # A feature that asks for 0 is a constant minus the effect of the value 1.
    np.add.at(constant, target, np.where(value == 0, w, 0.0))
    np.add.at(effect, (var, target), np.where(value == 1, w, -w))
    longer = rest.select(length > 1)
    owner, own_weight = model.target[length > 1].astype(np.int64), weight[length > 1]
    conjunctions = LongerFeatures(longer.start, longer.var, longer.value, owner, own_weight)
    return constant, effect, conjunctions
