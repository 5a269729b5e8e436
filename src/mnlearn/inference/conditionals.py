"""Log-odds or scores of every variable given all others; the pseudo-likelihood consists of them."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import pack_columns
from mnlearn.inference.state_columns import log_state_probabilities, of_values
from mnlearn.inference.terms import Terms, finite, terms_of, terms_of_features
from mnlearn.kernels.likelihood.log_odds import LongerFeatures, add_log_odds, add_owned
from mnlearn.kernels.trees import tree_scores
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.threads import map_ranges


def conditional_log_odds(model: Model, data: Dataset, threads: int = 1) -> NDArray[np.float64]:
    """Return what each row says of each column, given all other variables.

    The shape is (n_rows, n_columns): log P(x_v = 1 | rest) - log P(x_v = 0 | rest) for a variable
    of two states, and for others scores of their states, whose softmax is P(x_v | rest).
    """
    if isinstance(model, DependencyNetwork):
        return _dependency_log_odds(model, data, threads)
    terms = terms_of(model)
    f, weight, indicators = terms.conjunctions, terms.weight, terms.indicators
    columns, end_bits = data.columns, data.last_word
    if indicators.sets:
        columns = pack_columns(indicators.extend(data.rows))
    out = np.zeros((data.n_rows, len(columns)))

    def add(first: int, last: int) -> None:
        add_log_odds(columns, end_bits, f.start, f.var, f.value, weight, first, last, out)

    map_ranges(add, columns.shape[1], threads)
    return indicators.fold(out)


def log_conditionals(model: Model, data: Dataset, threads: int = 1) -> NDArray[np.float64]:
    """Return log P(X_v = a | all others) for every row, variable and state."""
    return log_state_probabilities(conditional_log_odds(model, data, threads), model.schema.start)


def log_own_conditionals(scores: NDArray[np.float64], data: Dataset) -> NDArray[np.float64]:
    """Return log P(X_v = x_v | all others) of each row and variable, shape (n_rows, n_vars)."""
    start = data.schema.start
    by_state = log_state_probabilities(scores, start)
    return of_values(by_state, data.schema.values(data.rows), start, otherwise=-np.inf)


def _dependency_log_odds(
    model: DependencyNetwork, data: Dataset, threads: int
) -> NDArray[np.float64]:
    """Return the log-odds or scores of trees, plus those of the features of the CPDs."""
    trees, schema = model.trees, model.schema
    terms = terms_of_features(model)
    rows = terms.indicators.extend(data.rows)
    out = np.zeros(rows.shape)
    nodes = (trees.start, trees.split_var, trees.child)
    log_prob = finite(trees.log_prob)

    def walk(first: int, last: int) -> None:
        part = out[first:last, : schema.n_columns]
        tree_scores(data.rows[first:last], *nodes, log_prob, schema.start, part)

    map_ranges(walk, data.n_rows, threads)
    if not len(model.features):
        return out
    constant, effect, longer = _effects(terms, rows.shape[1])

    def add(first: int, last: int) -> None:
        add_owned(rows[first:last], constant, effect, longer, out[first:last])

    map_ranges(add, data.n_rows, threads)
    return out[:, : schema.n_columns]


def _effects(
    terms: Terms, n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], LongerFeatures]:
    """Return what owned terms add to log-odds: constants, effects of single indicators, the rest.

    n : the number of indicators.
    """
    rest, owner, weight = terms.conjunctions, terms.owner, terms.weight
    length = rest.length
    constant, effect = np.zeros(n), np.zeros((n, n))
    np.add.at(constant, owner[length == 0], weight[length == 0])
    single = length == 1
    var, value = rest.var[rest.start[:-1][single]], rest.value[rest.start[:-1][single]]
    target, w = owner[single], weight[single]
    # A feature that asks for 0 is a constant minus the effect of the value 1.
    np.add.at(constant, target, np.where(value == 0, w, 0.0))
    np.add.at(effect, (var, target), np.where(value == 1, w, -w))
    longer = rest.select(length > 1)
    conjunctions = LongerFeatures(
        longer.start, longer.var, longer.value, owner[length > 1], weight[length > 1]
    )
    return constant, effect, conjunctions
