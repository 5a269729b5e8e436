"""Pseudo-likelihood of conjunctions: a column of many rows is packed bits, one of few rows a list.

Each indicator of the data has a logit: the log-odds of a variable of two states, or what the
softmax of a variable of more states takes for one of them. A column is a part of one logit, given
that a feature's literals on other variables hold, and touches the rows where they do. A column of
many rows is not stored: the kernels compute it where they need it, 64 rows in one operation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import add_where, count_bits, lowest_bit, sum_listed, sum_where
from mnlearn.kernels.arithmetic.logistic32 import exp_nonpositive, log1p_unit
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.jit import kernel

# Words of rows that are treated together: the sums for them stay in the nearest cache.
BLOCK = 64
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class PackedData(NamedTuple):
    """The distinct rows of a dataset, 64 rows to a word.

    packed : the `n_words` words of each literal 2 c + x (indicator c = x); the last literal always
    holds. last_word : the bits in use. weight : 0 beyond the last row. values : (n_logits, 64
    n_words). Variable v has the indicators start[v]:start[v + 1].
    """

    packed: NDArray[np.uint64]
    n_words: int
    last_word: np.uint64
    weight: NDArray[np.float32]
    values: NDArray[np.uint8]
    start: NDArray[np.int64]


class CodedFeatures(NamedTuple):
    """Features as lists of literals, 2 * indicator + value, with the variable of each."""

    start: NDArray[np.int64]
    code: NDArray[np.uint32]
    variable: NDArray[np.int32]


class ManyColumns(NamedTuple):
    """The columns that touch many rows; logit c has the columns logit_start[c]:logit_start[c + 1].

    own, feature : literal of the column's logit, and its feature. others : (n_columns, 4), see
    `write_other_literals`. coefficient : what the column adds to the logit.
    """

    logit_start: NDArray[np.int64]
    own: NDArray[np.int64]
    feature: NDArray[np.int64]
    others: NDArray[np.int64]
    coefficient: NDArray[np.float32]


class FewColumns(NamedTuple):
    """The columns that touch few rows: column c touches rows[span[c, 0]:span[c, 1]]."""

    logit_start: NDArray[np.int64]
    span: NDArray[np.int64]
    rows: NDArray[np.unsignedinteger]
    coefficient: NDArray[np.float32]


@kernel
def write_other_literals(features, own, feature, always, out):
    """Write up to four literals on other variables of each column's feature, then `always`."""
    start, code, variable = features
    out[:] = always
    for c in range(len(own)):
        n = 0
        for k in range(start[feature[c]], start[feature[c] + 1]):
            if variable[k] != variable[own[c]] and n < out.shape[1]:
                out[c, n] = code[k]
                n += 1


@kernel
def _intersect_others(data, features, f, own, word, n, mask):
    """Set `mask` to `n` words of rows where the literals of `f` on other variables hold."""
    packed, n_words = data.packed, data.n_words
    start, code, variable = features
    mask[:n] = np.uint64(0xFFFFFFFFFFFFFFFF)
    for k in range(start[f], start[f + 1]):
        if variable[k] != variable[own]:
            place = code[k] * n_words + word
            for t in range(n):
                mask[t] &= packed[place + t]


@kernel
def count_touched(data, features, own, feature, count, total):
    """Count the rows that each column touches, and sum their weights."""
    n_words, weight = data.n_words, data.weight
    mask = np.empty(n_words, np.uint64)
    for c in range(len(own)):
        _intersect_others(data, features, feature[c], own[c], 0, n_words, mask)
        mask[n_words - 1] &= data.last_word
        count[c] = count_bits(mask)
        total[c] = sum_where(weight, mask, (0,), n_words)


@kernel
def list_touched(data, features, own, feature, offset, rows):
    """List the rows that column c touches in rows[offset[c]:offset[c + 1]], unless it is empty."""
    n_words = data.n_words
    mask = np.empty(n_words, np.uint64)
    for c in range(len(own)):
        place = offset[c]
        if place == offset[c + 1]:
            continue
        _intersect_others(data, features, feature[c], own[c], 0, n_words, mask)
        mask[n_words - 1] &= data.last_word
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


@kernel
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
def _find_greatest(theta, top):
    """Raise `top` to the logits of a state where these are greater."""
    for i in range(len(theta)):
        top[i] = max(top[i], theta[i])


@kernel
def _exponentiate(value, top, theta, total, observed):
    """Replace the logits of a state by their exponentials, the greatest of which is 1."""
    for i in range(len(theta)):
        s = theta[i] - top[i]
        theta[i] = exp_nonpositive(s)
        total[i] += theta[i]
        observed[i] += s if value[i] else _ZERO


@kernel
def _replace_by_derivative(weight, value, total, theta):
    """Replace the exponentials of a state by the derivatives of the losses by its logits."""
    for i in range(len(theta)):
        theta[i] = weight[i] * (theta[i] / total[i] - (_ONE if value[i] else _ZERO))


@kernel
def _softmax_losses(data, first, last, word, n, theta, lost):
    """Write the losses of `n` words of rows of a variable; make its logits the derivatives."""
    size, begin, end = 64 * data.n_words, 64 * word, 64 * (word + n)
    weight = data.weight[begin:end]
    top, total = np.full(64 * n, -np.inf, np.float32), np.zeros(64 * n, np.float32)
    for c in range(last - first):
        _find_greatest(theta[c * size + begin : c * size + end], top)
    lost[:] = _ZERO
    for c in range(last - first):
        own = theta[c * size + begin : c * size + end]
        _exponentiate(data.values[first + c, begin:end], top, own, total, lost)
    for c in range(last - first):
        own = theta[c * size + begin : c * size + end]
        _replace_by_derivative(weight, data.values[first + c, begin:end], total, own)
    for i in range(len(lost)):
        lost[i] = weight[i] * (np.log(total[i]) - lost[i])


@kernel
def value_and_gradient(data, features, many, few, first, last, loss, gradients):
    """Negative log-pseudo-likelihood of variables `first` to `last`, and its derivatives."""
    n_words, start = data.n_words, data.start
    size = 64 * n_words
    widest = 0
    for v in range(first, last):
        widest = max(widest, start[v + 1] - start[v])
    mask = np.empty(BLOCK, np.uint64)
    theta = _aligned_floats(widest * size)
    lost = np.empty(size, np.float32)
    for v in range(first, last):
        begin, end = start[v], start[v + 1]
        loss[v] = 0.0
        if begin == end:
            continue
        for c in range(begin, end):
            _set_few(few, c, theta[(c - begin) * size : (c - begin + 1) * size])
        gradients[0][many.logit_start[begin] : many.logit_start[end]] = 0.0
        for word in range(0, n_words, BLOCK):
            n = min(BLOCK, n_words - word)
            span = slice(64 * word, 64 * (word + n))
            for c in range(begin, end):
                at = (c - begin) * size + 64 * word
                _add_many(data, features, many, c, word, n, mask, theta[at : at + 64 * n])
            if end - begin == 1:
                _losses(data.weight[span], data.values[begin, span], theta[span], lost[span])
            else:
                _softmax_losses(data, begin, end, word, n, theta, lost[span])
            for c in range(begin, end):
                at = (c - begin) * size + 64 * word
                block = theta[at : at + 64 * n]
                _sum_many(data, features, many, c, word, n, mask, block, gradients[0])
        loss[v] = sum_of(lost)
        for c in range(begin, end):
            _sum_few(few, c, theta[(c - begin) * size : (c - begin + 1) * size], gradients[1])


@kernel
def _set_few(few, c, theta):
    """Set a logit to what its columns of few rows add up to."""
    theta[:] = _ZERO
    for k in range(few.logit_start[c], few.logit_start[c + 1]):
        w = few.coefficient[k]
        if w != _ZERO:
            for place in range(few.span[k, 0], few.span[k, 1]):
                theta[few.rows[place]] += w


@kernel
def _sum_few(few, c, theta, gradient):
    """Write the gradient of the columns of few rows of a logit, given the derivatives by it."""
    for k in range(few.logit_start[c], few.logit_start[c + 1]):
        gradient[k] = sum_listed(theta, few.rows, few.span[k, 0], few.span[k, 1])


@kernel
def _add_many(data, features, many, logit, word, n, mask, block):
    """Add to a logit, in `n` words of rows from `word` on, what its columns of many rows add."""
    packed, n_words, start = data.packed, data.n_words, features.start
    logit_start, own, feature, others, coefficient = many
    for c in range(logit_start[logit], logit_start[logit + 1]):
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
            _intersect_others(data, features, feature[c], own[c], word, n, mask)
            add_where(block, mask, (0,), n, w)


@kernel
def _sum_many(data, features, many, logit, word, n, mask, block, gradient):
    """Add to the gradient of each column of a logit the sum of `block` over the rows it touches."""
    packed, n_words, start = data.packed, data.n_words, features.start
    logit_start, own, feature, others, _ = many
    for c in range(logit_start[logit], logit_start[logit + 1]):
        begin, end = start[feature[c]], start[feature[c] + 1]
        a, b = others[c, 0] * n_words + word, others[c, 1] * n_words + word
        if end - begin <= 3:
            gradient[c] += sum_where(block, packed, (a, b), n)
        elif end - begin <= 5:
            d, e = others[c, 2] * n_words + word, others[c, 3] * n_words + word
            gradient[c] += sum_where(block, packed, (a, b, d, e), n)
        else:
            _intersect_others(data, features, feature[c], own[c], word, n, mask)
            gradient[c] += sum_where(block, mask, (0,), n)
