"""The pseudo-likelihood of features by lists of the rows that each column touches.

A (feature, literal) pair touches the rows where the feature's literals on other variables hold.
There it adds its weight to the logit of the literal's indicator, or takes it away if the literal
asks for 0. Rows that a variable cannot tell apart are merged.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import sum_listed
from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit, log_normal
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.jit import kernel


class Merged(NamedTuple):
    """The merged rows of one variable, and the lists of its columns; fields as in `Design`.

    held : weight of the rows that each column touches.
    """

    held: NDArray[np.float64]
    weight: NDArray[np.float64]
    value: NDArray[np.uint8]
    n_listed: NDArray[np.int64]
    complement: NDArray[np.bool_]
    touched: NDArray[np.unsignedinteger]


@kernel
def merge_rows(offset, touched, mark, value, weight):
    """Merge the rows of a variable that have equal values and that all its columns treat alike.

    Column c touches the rows touched[offset[c]:offset[c + 1]]. Sums of 64-bit random marks of the
    columns tell rows apart, so that two different rows are merged with probability 2^-64. mark :
    one for each column, and one for the value.
    """
    key = mark[-1] * value
    for c in range(len(offset) - 1):
        for k in range(offset[c], offset[c + 1]):
            key[touched[k]] += mark[c]
    number, first = _number_keys(key)
    n, n_columns = len(first), len(offset) - 1
    total, stands = np.zeros(n), np.zeros(len(key), np.bool_)
    for i in range(len(key)):
        total[number[i]] += weight[i]
    for i in first:
        stands[i] = True
    n_listed, complement = np.zeros(n_columns, np.int64), np.zeros(n_columns, np.bool_)
    held = np.empty(n_columns)
    # Where most rows are touched, the others are fewer.
    listed, end = np.empty(offset[-1] - offset[0], touched.dtype), 0
    for c in range(n_columns):
        own, count, sum_of_weights = touched[offset[c] : offset[c + 1]], 0, 0.0
        for i in own:
            count += stands[i]
            sum_of_weights += weight[i]
        held[c] = sum_of_weights
        complement[c] = count > n // 2
        n_listed[c] = n - count if complement[c] else count
        _list_merged(own, number, stands, complement[c], listed[end : end + n_listed[c]], n)
        end += n_listed[c]
    return Merged(held, total, value[first], n_listed, complement, listed[:end])


@kernel
def _number_keys(key):
    """Number the distinct keys in order of appearance; return the numbers and the first places."""
    n_slots = 4
    while n_slots < 2 * len(key):
        n_slots *= 2
    slot, number = np.full(n_slots, -1, np.int32), np.empty(len(key), np.int32)
    first, n = np.empty(len(key), np.int32), 0
    for i in range(len(key)):
        # The keys are sums of random words, so their lowest bits serve as a hash.
        s = np.int64(key[i] & np.uint64(n_slots - 1))
        while slot[s] >= 0 and key[slot[s]] != key[i]:
            s = (s + 1) & (n_slots - 1)
        if slot[s] < 0:
            slot[s] = i
            number[i] = n
            first[n] = i
            n += 1
        else:
            number[i] = number[slot[s]]
    return number, first[:n]


@kernel
def _list_merged(touched, number, stands, complement, out, n):
    """List the merged rows that a column touches, or all others of the `n`, in ascending order."""
    place = 0
    if not complement:
        # Lists of rows and the numbers of merged rows have the same order.
        for i in touched:
            if stands[i]:
                out[place] = number[i]
                place += 1
        return
    listed = np.zeros(n, np.bool_)
    for i in touched:
        listed[number[i]] = True
    for i in range(n):
        if not listed[i]:
            out[place] = i
            place += 1


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


@kernel
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
        loss[v] = sum_of(lost)
        whole = 0.0
        for c in range(var_start[v], var_start[v + 1]):
            own = theta[logit[c] * n : (logit[c] + 1) * n]
            if c == var_start[v] or logit[c] != logit[c - 1]:
                whole = sum_of(own)
            total = sum_listed(own, touched, offset[c], offset[c + 1])
            gradient[c] = whole - total if complement[c] else total
