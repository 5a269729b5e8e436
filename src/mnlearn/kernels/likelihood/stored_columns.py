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
from mnlearn.kernels.jit import fused_kernel, kernel


class RowLists(NamedTuple):
    """The rows that each column touches, as in `Design`."""

    var_start: NDArray[np.int64]
    offset: NDArray[np.int64]
    touched: NDArray[np.unsignedinteger]


class Examples(NamedTuple):
    """The distinct rows: the state of each variable, (n_vars, n_rows), and weights."""

    values: NDArray[np.uint8]
    weight: NDArray[np.float64]


class Merging(NamedTuple):
    """How the rows of each variable are merged.

    row_of : (n_vars, n_rows), place of each row among the merged ones. n_listed, complement : of
    each column, as in `Design`.
    """

    row_of: NDArray[np.uint32]
    n_merged: NDArray[np.int64]
    n_listed: NDArray[np.int64]
    complement: NDArray[np.bool_]


@kernel
def merge_rows(lists, examples, mark, merging, first, last):
    """Merge for each variable the rows with equal values that all its columns treat alike.

    Sums of 64-bit random marks of the columns tell rows apart, so that two different rows are
    merged with probability 2^-64. mark : one for each column, and one for the value.
    """
    n_rows = len(examples.weight)
    key = np.empty(n_rows, np.uint64)
    stands = np.empty(n_rows, np.bool_)
    n_slots = 4
    while n_slots < 2 * n_rows:
        n_slots *= 2
    slot = np.empty(n_slots, np.int32)
    for v in range(first, last):
        _sum_marks(lists, examples.values[v], mark, v, key)
        n = _number_keys(key, slot, merging.row_of[v], stands)
        merging.n_merged[v] = n
        for c in range(lists.var_start[v], lists.var_start[v + 1]):
            n_listed = 0
            for k in range(lists.offset[c], lists.offset[c + 1]):
                n_listed += stands[lists.touched[k]]
            swap = n_listed > n // 2
            merging.complement[c] = swap
            merging.n_listed[c] = n - n_listed if swap else n_listed


@kernel
def _sum_marks(lists, value, mark, v, key):
    """Write to `key` the sum of the marks of the columns of variable `v` that list each row."""
    for i in range(len(key)):
        key[i] = mark[-1] * np.uint64(value[i])
    for c in range(lists.var_start[v], lists.var_start[v + 1]):
        for k in range(lists.offset[c], lists.offset[c + 1]):
            key[lists.touched[k]] += mark[c]


@kernel
def _number_keys(key, slot, number, stands):
    """Number the distinct keys in order of appearance; return how many there are."""
    slot[:] = -1
    last_slot = len(slot) - 1
    n = 0
    for i in range(len(key)):
        # The keys are sums of random words, so their lowest bits serve as a hash.
        s = np.int64(key[i] & np.uint64(last_slot))
        while slot[s] >= 0 and key[slot[s]] != key[i]:
            s = (s + 1) & last_slot
        stands[i] = slot[s] < 0
        if stands[i]:
            slot[s] = i
            number[i] = n
            n += 1
        else:
            number[i] = number[slot[s]]
    return n


@kernel
def list_merged(lists, examples, merging, design, first, last):
    """Write to `design` the lists, weights and values of the rows that `merge_rows` counted."""
    n_rows = len(examples.weight)
    listed = np.empty(n_rows, np.bool_)
    stands = np.empty(n_rows, np.bool_)
    for v in range(first, last):
        row_of = merging.row_of[v]
        n = merging.n_merged[v]
        begin = design.row_start[v]
        _merge_examples(
            examples, v, row_of, design.weight[begin : begin + n], design.value[begin:], stands
        )
        for c in range(lists.var_start[v], lists.var_start[v + 1]):
            own = lists.touched[lists.offset[c] : lists.offset[c + 1]]
            place = design.offset[c]
            if not design.complement[c]:
                # Lists of rows and the numbers of merged rows have the same order.
                for i in own:
                    if stands[i]:
                        design.touched[place] = row_of[i]
                        place += 1
                continue
            listed[:n] = False
            for i in own:
                listed[row_of[i]] = True
            for i in range(n):
                if not listed[i]:
                    design.touched[place] = i
                    place += 1


@kernel
def _merge_examples(examples, v, row_of, weight, value, stands):
    """Write the weights and values of the merged rows of `v`, and which rows come first of them."""
    weight[:] = 0.0
    n = 0
    for i in range(len(row_of)):
        weight[row_of[i]] += examples.weight[i]
        value[row_of[i]] = examples.values[v, i]
        stands[i] = row_of[i] == n
        n += stands[i]


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
