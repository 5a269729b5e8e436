"""Value and gradient of the pseudo-likelihood, and log-odds of the variables of new rows.

Each indicator of the data has a logit, see `packed_columns`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.arithmetic.logistic import (
    exp_nonpositive,
    log1p_unit,
    log_normal,
    log_sigmoid,
)
from mnlearn.kernels.arithmetic.sums import sum_listed
from mnlearn.kernels.jit import fused_kernel, kernel

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class Design(NamedTuple):
    """Which merged rows each column touches, arranged by variable.

    Variable v has the columns var_start[v]:var_start[v + 1] and the merged rows
    row_start[v]:row_start[v + 1]. Column c lists the merged rows touched[offset[c]:offset[c + 1]],
    numbered within its variable; with `complement` it touches all others instead. logit, n_logits :
    the logit of its variable that each column is a part of, ascending, and their number.
    """

    var_start: NDArray[np.int64]
    offset: NDArray[np.int64]
    complement: NDArray[np.bool_]
    touched: NDArray[np.unsignedinteger]
    row_start: NDArray[np.int64]
    weight: NDArray[np.float64]
    value: NDArray[np.uint8]
    logit: NDArray[np.int64]
    n_logits: NDArray[np.int64]


@kernel
def _add_columns(v, design, coefficient, theta):
    """Set `theta` to the logits of variable `v`, one after the other, in its merged rows."""
    var_start, offset, complement, touched = design[:4]
    n = design.row_start[v + 1] - design.row_start[v]
    for logit in range(design.n_logits[v]):
        constant = 0.0
        for c in range(var_start[v], var_start[v + 1]):
            if complement[c] and design.logit[c] == logit:
                constant += coefficient[c]
        theta[logit * n : (logit + 1) * n] = constant
    for c in range(var_start[v], var_start[v + 1]):
        own = theta[design.logit[c] * n : (design.logit[c] + 1) * n]
        w = -coefficient[c] if complement[c] else coefficient[c]
        if w != 0.0:
            for k in range(offset[c], offset[c + 1]):
                own[touched[k]] += w


@fused_kernel
def _losses(weight, value, theta, loss):
    """Write the loss of each row to `loss`, and replace `theta` by its derivative."""
    for i in range(len(theta)):
        # s is the log-odds of the observed value.
        s = theta[i] if value[i] else -theta[i]
        e = exp_nonpositive(-abs(s))
        loss[i] = weight[i] * (log1p_unit(e) - (s if s < 0.0 else 0.0))
        wrong = weight[i] * ((e if s >= 0.0 else 1.0) / (1.0 + e))
        theta[i] = -wrong if value[i] else wrong


@kernel
def _exponentiate(theta, n, i):
    """Replace the logits of row `i` by exponentials; return their sum and the greatest logit."""
    top = -np.inf
    for k in range(i, len(theta), n):
        top = max(top, theta[k])
    total = 0.0
    for k in range(i, len(theta), n):
        theta[k] = exp_nonpositive(theta[k] - top)
        total += theta[k]
    return total, top


@kernel
def _softmax_losses(weight, value, theta, loss):
    """Do what `_losses` does for a variable of several states; `theta` has the logits of each."""
    n = len(weight)
    for i in range(n):
        observed = theta[value[i] * n + i]
        total, top = _exponentiate(theta, n, i)
        loss[i] = weight[i] * (log_normal(total) + top - observed)
        own = theta[value[i] * n + i]
        for k in range(i, len(theta), n):
            theta[k] *= weight[i] / total
        theta[value[i] * n + i] = -weight[i] * (total - own) / total


@kernel
def value_and_gradient(design, coefficient, first, last, loss, gradient):
    """Negative log-pseudo-likelihood of variables `first` to `last`, and its derivatives."""
    var_start, offset, complement, touched, row_start, weight, value, logit, n_logits = design
    for v in range(first, last):
        begin, end = row_start[v], row_start[v + 1]
        n = end - begin
        theta = np.empty(n_logits[v] * n)
        lost = np.zeros(n)
        _add_columns(v, design, coefficient, theta)
        if n_logits[v] == 1:
            _losses(weight[begin:end], value[begin:end], theta, lost)
        elif n_logits[v] > 1:
            _softmax_losses(weight[begin:end], value[begin:end], theta, lost)
        loss[v] = lost.sum()
        whole = 0.0
        for c in range(var_start[v], var_start[v + 1]):
            own = theta[logit[c] * n : (logit[c] + 1) * n]
            if c == var_start[v] or logit[c] != logit[c - 1]:
                whole = own.sum()
            total = sum_listed(own, touched, offset[c], offset[c + 1])
            gradient[c] = whole - total if complement[c] else total


@kernel
def column_weights(design, out):
    """Write the total weight of the rows that each column touches to `out`."""
    var_start, offset, complement, touched, row_start, weight = design[:6]
    for v in range(len(var_start) - 1):
        own = weight[row_start[v] : row_start[v + 1]]
        whole = own.sum()
        for c in range(var_start[v], var_start[v + 1]):
            total = sum_listed(own, touched, offset[c], offset[c + 1])
            out[c] = whole - total if complement[c] else total


@kernel
def scaled_entropy(design, coefficient, scale, first, last, out):
    """Write the entropy of the residuals times `scale` to out[v]: the dual of the loss.

    It is the weighted sum over the rows of the entropy of a variable that is not in the observed
    state with the probability scale * q, where q is what the weights say that this probability is.
    The other states share it in the same proportions.
    """
    row_start, weight, value = design.row_start, design.weight, design.value
    for v in range(first, last):
        begin, end = row_start[v], row_start[v + 1]
        theta = np.empty(design.n_logits[v] * (end - begin))
        _add_columns(v, design, coefficient, theta)
        total = 0.0
        if design.n_logits[v] != 1:
            out[v] = _softmax_entropy(weight[begin:end], value[begin:end], theta, scale)
            continue
        for i in range(end - begin):
            s = theta[i] if value[begin + i] else -theta[i]
            e = exp_nonpositive(-abs(s))
            q = scale * (e if s >= 0.0 else 1.0) / (1.0 + e)
            if 0.0 < q < 1.0:
                total -= weight[begin + i] * (q * np.log(q) + (1.0 - q) * np.log1p(-q))
        out[v] = total


@kernel
def _softmax_entropy(weight, value, theta, scale):
    """Return what `scaled_entropy` writes for a variable of several states, or of one."""
    n, entropy = len(weight), 0.0
    for i in range(n if len(theta) else 0):
        total, _ = _exponentiate(theta, n, i)
        for k in range(i, len(theta), n):
            q = scale * theta[k] / total
            if k == value[i] * n + i:
                q = 1.0 - scale * (total - theta[k]) / total
            if q > 0.0:
                entropy -= weight[i] * q * np.log(q)
    return entropy


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


@kernel
def sum_log_probabilities(log_odds, rows, out):
    """Write the sum over variables of the log-probability of each row's own values to `out`."""
    for i in range(len(rows)):
        total = 0.0
        for v in range(rows.shape[1]):
            total += log_sigmoid(log_odds[i, v] if rows[i, v] else -log_odds[i, v])
        out[i] = total
