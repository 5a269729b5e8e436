"""Log-odds of the variables of rows given all others, and what they say of the rows themselves."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.arithmetic.logistic import log_sigmoid
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.conditioning import add_effects

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def add_log_odds(columns, last_word, start, var, value, weight, first, last, out):
    """Add to out[i, v] what the features add to the log-odds of variable v in row i."""
    n_words = columns.shape[1]
    for f in range(len(start) - 1):
        begin, end = start[f], start[f + 1]
        w = weight[f]
        if w == 0.0:
            continue
        for t in range(first, last):
            none, one = _ALL, np.uint64(0)
            for k in range(begin, end):
                holds = columns[var[k], t] if value[k] else ~columns[var[k], t]
                one = (one & holds) | (none & ~holds)
                none &= holds
            if t == n_words - 1:
                none &= last_word
                one &= last_word
            if none | one == np.uint64(0):
                continue
            for k in range(begin, end):
                holds = columns[var[k], t] if value[k] else ~columns[var[k], t]
                word = none | (one & ~holds)
                change = w if value[k] else -w
                while word:
                    i = np.int64(np.uint64(64 * t) + lowest_bit(word))
                    out[i, var[k]] += change
                    word &= word - np.uint64(1)


class LongerFeatures(NamedTuple):
    """Conjunctions that add to the log-odds of their owner where they hold."""

    start: NDArray[np.int64]
    var: NDArray[np.int32]
    value: NDArray[np.uint8]
    owner: NDArray[np.integer]
    weight: NDArray[np.float64]


@kernel
def add_owned(rows, constant, effect, longer, out):
    """Add to the log-odds of every variable, (n_rows, n_vars), what the features of its CPD add."""
    start, var, value, owner, weight = longer
    for i in range(len(rows)):
        x = rows[i]
        for u in range(len(constant)):
            out[i, u] += constant[u]
        add_effects(effect, x, out[i])
        for f in range(len(owner)):
            k = start[f]
            while k < start[f + 1] and x[var[k]] == value[k]:
                k += 1
            if k == start[f + 1]:
                out[i, owner[f]] += weight[f]


@kernel
def sum_log_probabilities(log_odds, rows, out):
    """Write the sum over variables of the log-probability of each row's own values to `out`."""
    for i in range(len(rows)):
        total = 0.0
        for v in range(rows.shape[1]):
            total += log_sigmoid(log_odds[i, v] if rows[i, v] else -log_odds[i, v])
        out[i] = total
