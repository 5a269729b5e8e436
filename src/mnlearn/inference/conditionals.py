"""Log-odds of every variable given all others: what the pseudo-likelihood is made of."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.terms import conditions, finite, leaf_log_odds
from mnlearn.kernels.pseudo_likelihood import add_log_odds
from mnlearn.kernels.tree import tree_log_odds
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.files import Model
from mnlearn.threads import map_ranges


def conditional_log_odds(model: Model, data: Dataset, threads: int = 1) -> NDArray[np.float64]:
    """Return log P(x_v = 1 | rest) - log P(x_v = 0 | rest), float64 of (n_rows, n_vars)."""
    if isinstance(model, DependencyNetwork):
        return _dependency_log_odds(model, data, threads)
    out = np.zeros(data.rows.shape)
    f, weight = model.features, finite(model.weight)
    columns, end_bits = data.columns, data.last_word

    def add(first: int, last: int) -> None:
        add_log_odds(columns, end_bits, f.start, f.var, f.value, weight, first, last, out)

    map_ranges(add, columns.shape[1], threads)
    return out


def _dependency_log_odds(
    model: DependencyNetwork, data: Dataset, threads: int
) -> NDArray[np.float64]:
    trees = model.trees
    out = np.empty(data.rows.shape)
    odds = leaf_log_odds(trees.log_prob)

    def walk(first: int, last: int) -> None:
        tree_log_odds(
            data.rows[first:last], trees.start, trees.split_var, trees.child, odds, out[first:last]
        )

    map_ranges(walk, data.n_rows, threads)
    rest, sign = conditions(model)
    weight = sign * finite(model.weight)
    for f in range(len(rest)):
        holds = np.ones(data.n_rows, bool)
        for v, value in rest.literals(f):
            holds &= data.rows[:, v] == value
        out[holds, model.target[f]] += weight[f]
    return out
