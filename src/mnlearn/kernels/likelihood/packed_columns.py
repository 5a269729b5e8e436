"""Pseudo-likelihood of conjunctions: rows that many touch are packed bits, few are a list.

A column stands for the log-odds of one variable given that the other literals of a feature hold.
It touches the rows where they do. Where those are many they are not stored: they are the AND of
packed columns of the data, made anew where it is needed, 64 rows in one operation and from memory
that stays in the cache.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.arithmetic.logistic32 import exp_nonpositive, log1p_unit
from mnlearn.kernels.arithmetic.masked_sums import add_where, sum_where
from mnlearn.kernels.jit import fused_kernel, kernel, sum_kernel

# Words of rows that are treated together: what is added up for them stays in the nearest cache.
BLOCK = 64
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@kernel
def other_literals(start, code, own, feature, always, out):
    """Write up to four of the other literals of each column's feature, then `always`.

    out : int64, (n_columns, 4).
    """
    out[:] = always
    for c in range(len(own)):
        n = 0
        for k in range(start[feature[c]], start[feature[c] + 1]):
            if k != own[c] and n < out.shape[1]:
                out[c, n] = code[k]
                n += 1


@kernel
def _others_hold(packed, n_words, code, begin, end, own, word, n, mask):
    """Set `mask` to `n` words of rows where all literals but `own` hold."""
    mask[:n] = np.uint64(0xFFFFFFFFFFFFFFFF)
    for k in range(begin, end):
        if k != own:
            place = code[k] * n_words + word
            for t in range(n):
                mask[t] &= packed[place + t]


@kernel
def count_touched(packed, n_words, last_word, weight, start, code, own, feature, count, total):
    """Count the rows that each column touches, and add up their weights.

    Arguments as for `value_and_gradient`; last_word : uint64, bits in use of the last word.
    """
    mask = np.empty(n_words, np.uint64)
    for c in range(len(own)):
        f = feature[c]
        _others_hold(packed, n_words, code, start[f], start[f + 1], own[c], 0, n_words, mask)
        mask[n_words - 1] &= last_word
        touched = np.uint64(0)
        for t in range(n_words):
            touched += popcount(mask[t])
        count[c] = np.int64(touched)
        total[c] = sum_where(weight, mask, (0,), n_words)


@kernel
def list_touched(packed, n_words, last_word, weight, start, code, own, feature, offset, rows):
    """List the rows that column c touches in rows[offset[c]:offset[c + 1]], if there is room."""
    mask = np.empty(n_words, np.uint64)
    for c in range(len(own)):
        place = offset[c]
        if place == offset[c + 1]:
            continue
        f = feature[c]
        _others_hold(packed, n_words, code, start[f], start[f + 1], own[c], 0, n_words, mask)
        mask[n_words - 1] &= last_word
        for t in range(n_words):
            word = mask[t]
            while word:
                rows[place] = np.uint64(64 * t) + lowest_bit(word)
                place += 1
                word &= word - np.uint64(1)


@kernel
def _aligned_floats(n):
    """Return `n` numbers of which the first begins a cache line."""
    room = np.empty(n + 16, np.float32)
    skip = (-np.int64(room.ctypes.data) % 64) // 4
    return room[skip : skip + n]


@fused_kernel
def _losses(weight, value, theta, lost):
    """Write the loss of each row to `lost`, and replace `theta` by its derivative."""
    for i in range(len(theta)):
        # s is the log-odds of the observed value.
        s = theta[i] if value[i] else -theta[i]
        e = exp_nonpositive(-abs(s))
        lost[i] = weight[i] * (log1p_unit(e) - (s if s < _ZERO else _ZERO))
        wrong = weight[i] * ((e if s >= _ZERO else _ONE) / (_ONE + e))
        theta[i] = -wrong if value[i] else wrong


@kernel
def value_and_gradient(data, features, many, few, first, last, loss, gradients):
    """Negative log-pseudo-likelihood of variables `first` to `last`, and its derivatives.

    data : (packed, n_words, weight, values). packed : uint64, (n_literals * n_words,), the rows
        where literal 2 v + x, variable v = x, holds, literal by literal, and last a literal that
        always holds. weight : float32, (64 n_words,), 0 beyond the last row. values : uint8,
        (n_vars, 64 n_words).
    features : (start, code); feature f has the literals code[start[f]:start[f + 1]].
    many : (var_start, own, feature, others, coefficient) of the columns that touch many rows:
        variable v has var_start[v]:var_start[v + 1], column c is of the literal own[c] of
        feature[c], others are as from `other_literals`, and coefficient, float32, is what the
        column adds to the log-odds.
    few : (var_start, span, rows, coefficient) of the other columns; c touches
        rows[span[c, 0]:span[c, 1]].
    loss : float64, (n_vars,). gradients : float64, (n_columns,) of many and of few. Written.
    """
    packed, n_words, weight, values = data
    start, code = features
    var_start, own, feature, others, coefficient = many
    few_start, listed, rows, few_coefficient = few
    gradient, few_gradient = gradients
    mask = np.empty(BLOCK, np.uint64)
    theta = _aligned_floats(64 * n_words)
    lost = np.empty(64 * n_words, np.float32)
    for v in range(first, last):
        theta[:] = _ZERO
        for c in range(few_start[v], few_start[v + 1]):
            w = few_coefficient[c]
            if w != _ZERO:
                for k in range(listed[c, 0], listed[c, 1]):
                    theta[rows[k]] += w
        gradient[var_start[v] : var_start[v + 1]] = 0.0
        for word in range(0, n_words, BLOCK):
            n = min(BLOCK, n_words - word)
            block = theta[64 * word : 64 * (word + n)]
            for c in range(var_start[v], var_start[v + 1]):
                w = coefficient[c]
                if w == _ZERO:
                    continue
                begin, end = start[feature[c]], start[feature[c] + 1]
                a, b = others[c, 0] * n_words + word, others[c, 1] * n_words + word
                if end - begin <= 3:
                    add_where(block, packed, (a, b), n, w)
                elif end - begin <= 5:
                    d, e = others[c, 2] * n_words + word, others[c, 3] * n_words + word
                    add_where(block, packed, (a, b, d, e), n, w)
                else:
                    _others_hold(packed, n_words, code, begin, end, own[c], word, n, mask)
                    add_where(block, mask, (0,), n, w)
            span = slice(64 * word, 64 * (word + n))
            _losses(weight[span], values[v, span], block, lost[span])
            for c in range(var_start[v], var_start[v + 1]):
                begin, end = start[feature[c]], start[feature[c] + 1]
                a, b = others[c, 0] * n_words + word, others[c, 1] * n_words + word
                if end - begin <= 3:
                    gradient[c] += sum_where(block, packed, (a, b), n)
                elif end - begin <= 5:
                    d, e = others[c, 2] * n_words + word, others[c, 3] * n_words + word
                    gradient[c] += sum_where(block, packed, (a, b, d, e), n)
                else:
                    _others_hold(packed, n_words, code, begin, end, own[c], word, n, mask)
                    gradient[c] += sum_where(block, mask, (0,), n)
        loss[v] = _sum(lost)
        for c in range(few_start[v], few_start[v + 1]):
            few_gradient[c] = _sum_listed(theta, rows, listed[c, 0], listed[c, 1])


@sum_kernel
def _sum(x):
    total = 0.0
    for i in range(len(x)):
        total += np.float64(x[i])
    return total


@kernel
def _sum_listed(x, rows, begin, end):
    """Return the sum of x over a list of rows; four sums keep the adder busy."""
    a = b = c = d = 0.0
    k = begin
    while k + 4 <= end:
        a += x[rows[k]]
        b += x[rows[k + 1]]
        c += x[rows[k + 2]]
        d += x[rows[k + 3]]
        k += 4
    while k < end:
        a += x[rows[k]]
        k += 1
    return (a + b) + (c + d)
