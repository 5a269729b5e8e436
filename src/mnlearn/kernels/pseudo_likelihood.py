"""Pseudo-likelihood of conjunctive features: which examples a feature touches, and by how much.

The log-odds of variable v in an example is a sum over the features with a literal on v whose
other literals all hold: plus the weight if the literal asks for 1, minus if it asks for 0. For
each (feature, literal) the examples where the others hold are found 64 at a time.
"""

import numpy as np

from mnlearn.jit import kernel
from mnlearn.kernels.bits import lowest_bit, popcount
from mnlearn.kernels.logistic import exp_nonpositive, log1p_unit, log_sigmoid

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def _violations(columns, var, value, begin, end, none, one):
    """Set `none` and `one` to the examples that violate no, exactly one literal of a feature."""
    none[:] = _ALL
    one[:] = np.uint64(0)
    for k in range(begin, end):
        column = columns[var[k]]
        flip = np.uint64(0) if value[k] else _ALL
        for t in range(len(none)):
            holds = column[t] ^ flip
            one[t] = (one[t] & holds) | (none[t] & ~holds)
            none[t] &= holds


@kernel
def _others_hold(column, flip, none, one, t):
    """Return the examples of word `t` where all literals but the one of `column` hold."""
    return none[t] | (one[t] & ~(column[t] ^ flip))


@kernel
def count_touched(columns, last_word, start, var, value, wanted, first, last, out):
    """Count for each wanted literal the examples where the other literals of its feature hold.

    columns : uint64, shape (n_vars, n_words). last_word : uint64, bits in use of the last word.
    start, var, value : features, as in `FeatureSet`; those from `first` to `last` are counted.
    wanted : bool, shape (n_literals,). out : int64, shape (n_literals,).
    """
    n_words = columns.shape[1]
    none = np.empty(n_words, np.uint64)
    one = np.empty(n_words, np.uint64)
    for f in range(first, last):
        _violations(columns, var, value, start[f], start[f + 1], none, one)
        none[n_words - 1] &= last_word
        one[n_words - 1] &= last_word
        for k in range(start[f], start[f + 1]):
            if wanted[k]:
                column = columns[var[k]]
                flip = np.uint64(0) if value[k] else _ALL
                total = np.uint64(0)
                for t in range(n_words):
                    total += popcount(_others_hold(column, flip, none, one, t))
                out[k] = np.int64(total)


@kernel
def list_touched(
    columns, last_word, start, var, value, wanted, complement, offset, first, last, out
):
    """List for each wanted literal the examples that `count_touched` counts, or all others.

    complement : bool, shape (n_literals,). Whether to list the examples not touched.
    offset : int64, shape (n_literals,). Where the list of each literal begins in `out`.
    out : unsigned integers, all lists.
    """
    n_words = columns.shape[1]
    none = np.empty(n_words, np.uint64)
    one = np.empty(n_words, np.uint64)
    for f in range(first, last):
        _violations(columns, var, value, start[f], start[f + 1], none, one)
        for k in range(start[f], start[f + 1]):
            if not wanted[k]:
                continue
            column = columns[var[k]]
            flip = np.uint64(0) if value[k] else _ALL
            opposite = _ALL if complement[k] else np.uint64(0)
            place = offset[k]
            for t in range(n_words):
                word = _others_hold(column, flip, none, one, t) ^ opposite
                if t == n_words - 1:
                    word &= last_word
                while word:
                    out[place] = np.uint64(64 * t) + lowest_bit(word)
                    place += 1
                    word &= word - np.uint64(1)


@kernel
def _add_columns(v, design, coefficient, theta):
    """Set `theta` to the log-odds of variable `v` in every row."""
    var_start, offset, complement, touched = design
    constant = 0.0
    theta[:] = 0.0
    for c in range(var_start[v], var_start[v + 1]):
        w = coefficient[c]
        if w == 0.0:
            continue
        if complement[c]:
            constant += w
            w = -w
        for k in range(offset[c], offset[c + 1]):
            theta[touched[k]] += w
    for i in range(len(theta)):
        theta[i] += constant


@kernel
def value_and_gradient(design, values, weight, coefficient, first, last, loss, gradient):
    """Negative log-pseudo-likelihood of variables `first` to `last`, and its derivatives.

    design : (var_start, offset, complement, touched). Columns var_start[v]:var_start[v + 1]
        belong to variable v; column c touches the rows touched[offset[c]:offset[c + 1]], or all
        others if complement[c].
    values : uint8, shape (n_vars, n_rows). weight : float64, shape (n_rows,).
    coefficient : float64, shape (n_columns,). What a column adds to the log-odds.
    loss : float64, shape (n_vars,). gradient : float64, shape (n_columns,).
    """
    var_start, offset, complement, touched = design
    n_rows = len(weight)
    theta = np.empty(n_rows)
    lost = np.empty(n_rows)
    for v in range(first, last):
        _add_columns(v, design, coefficient, theta)
        column = values[v]
        for i in range(n_rows):
            # s is the log-odds of the observed value.
            s = theta[i] if column[i] else -theta[i]
            e = exp_nonpositive(-abs(s))
            lost[i] = weight[i] * (log1p_unit(e) - min(s, 0.0))
            wrong = weight[i] * ((e if s >= 0.0 else 1.0) / (1.0 + e))
            theta[i] = -wrong if column[i] else wrong
        loss[v] = lost.sum()
        whole = theta.sum()
        for c in range(var_start[v], var_start[v + 1]):
            total = 0.0
            for k in range(offset[c], offset[c + 1]):
                total += theta[touched[k]]
            gradient[c] = whole - total if complement[c] else total


@kernel
def column_weights(design, weight, out):
    """Write the total weight of the rows each column touches to `out`, shape (n_columns,)."""
    _, offset, complement, touched = design
    whole = weight.sum()
    for c in range(len(out)):
        total = 0.0
        for k in range(offset[c], offset[c + 1]):
            total += weight[touched[k]]
        out[c] = whole - total if complement[c] else total


@kernel
def scaled_entropy(design, values, weight, coefficient, scale, first, last, out):
    """Write the entropy of the residuals times `scale` to out[v]: the dual of the loss.

    With q the probability of the value not observed, the entropy of a Bernoulli variable of
    parameter scale * q is summed over the rows with their weights.
    """
    n_rows = len(weight)
    theta = np.empty(n_rows)
    for v in range(first, last):
        _add_columns(v, design, coefficient, theta)
        total = 0.0
        for i in range(n_rows):
            s = theta[i] if values[v, i] else -theta[i]
            e = exp_nonpositive(-abs(s))
            q = scale * (e if s >= 0.0 else 1.0) / (1.0 + e)
            if 0.0 < q < 1.0:
                total -= weight[i] * (q * np.log(q) + (1.0 - q) * np.log1p(-q))
        out[v] = total


@kernel
def add_log_odds(columns, last_word, start, var, value, weight, first, last, out):
    """Add to out[i, v] what the features add to the log-odds of variable v in row i.

    columns : packed columns of the rows, as in `Dataset`. weight : float64, (n_features,).
    first, last : range of words, so that threads write different rows.
    out : float64, shape (n_rows, n_vars).
    """
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


@kernel
def sum_log_probabilities(log_odds, rows, out):
    """Write the sum over variables of the log-probability of each row's own values to `out`.

    log_odds : float64, shape (n_rows, n_vars). rows : uint8, the same shape.
    """
    for i in range(len(rows)):
        total = 0.0
        for v in range(rows.shape[1]):
            total += log_sigmoid(log_odds[i, v] if rows[i, v] else -log_odds[i, v])
        out[i] = total
