"""Pseudo-likelihood of conjunctions: a column of many rows is packed bits, one of few rows a list.

A column stands for the log-odds of one variable given that the other literals of a feature hold.
It touches the rows where they hold. A column that touches many rows is not stored: it is the AND of
packed columns of the data. The kernels compute it where they need it, 64 rows in one operation and
from memory that stays in the cache.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.arithmetic.logistic32 import exp_nonpositive, log1p_unit
from mnlearn.kernels.arithmetic.sums import add_where, sum_listed, sum_where
from mnlearn.kernels.jit import fused_kernel, kernel, sum_kernel

# Words of rows that are treated together: the sums for them stay in the nearest cache.
BLOCK = 64
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class PackedData(NamedTuple):
    """The distinct rows of a dataset, 64 rows to a word.

    packed : uint64, (n_literals * n_words,). The rows where literal 2 v + x (variable v = x)
        holds, literal by literal; the last literal always holds.
    n_words : int, words of each literal. last_word : uint64, the bits in use of the last word.
    weight : float32, (64 n_words,), weight of each row, 0 beyond the last row.
    values : uint8, (n_vars, 64 n_words), value of each variable in each row.
    """

    packed: NDArray[np.uint64]
    n_words: int
    last_word: np.uint64
    weight: NDArray[np.float32]
    values: NDArray[np.uint8]


class CodedFeatures(NamedTuple):
    """Features as lists of literals.

    start : int64, (n_features + 1,). Feature f has the literals code[start[f]:start[f + 1]].
    code : uint32, 2 * variable + value of each literal.
    """

    start: NDArray[np.int64]
    code: NDArray[np.uint32]


class ManyColumns(NamedTuple):
    """The columns that touch many rows.

    var_start : int64, (n_vars + 1,). Variable v has the columns var_start[v]:var_start[v + 1].
    own, feature : int64, (n_columns,). Literal of the column's variable, and its feature.
    others : int64, (n_columns, 4), see `write_other_literals`.
    coefficient : float32, (n_columns,). What the column adds to the log-odds.
    """

    var_start: NDArray[np.int64]
    own: NDArray[np.int64]
    feature: NDArray[np.int64]
    others: NDArray[np.int64]
    coefficient: NDArray[np.float32]


class FewColumns(NamedTuple):
    """The columns that touch few rows.

    var_start, coefficient : as in `ManyColumns`.
    span : int64, (n_columns, 4). Column c touches rows[span[c, 0]:span[c, 1]].
    rows : uint16 or uint32.
    """

    var_start: NDArray[np.int64]
    span: NDArray[np.int64]
    rows: NDArray[np.unsignedinteger]
    coefficient: NDArray[np.float32]


@kernel
def write_other_literals(features, own, feature, always, out):
    """Write up to four of the other literals of each column's feature, then `always`.

    features : CodedFeatures. own, feature : as in `ManyColumns`. always : int, the literal that
    always holds. out : int64, (n_columns, 4), written.
    """
    start, code = features
    out[:] = always
    for c in range(len(own)):
        n = 0
        for k in range(start[feature[c]], start[feature[c] + 1]):
            if k != own[c] and n < out.shape[1]:
                out[c, n] = code[k]
                n += 1


@kernel
def _intersect_others(packed, n_words, code, begin, end, own, word, n, mask):
    """Set `mask` to `n` words of rows where all literals but `own` hold."""
    mask[:n] = np.uint64(0xFFFFFFFFFFFFFFFF)
    for k in range(begin, end):
        if k != own:
            place = code[k] * n_words + word
            for t in range(n):
                mask[t] &= packed[place + t]


@kernel
def count_touched(data, features, own, feature, count, total):
    """Count the rows that each column touches, and sum their weights.

    data : PackedData. features : CodedFeatures. own, feature : as in `ManyColumns`.
    count : int64, and total : float64, both (n_columns,), written.
    """
    packed, n_words, last_word, weight, _ = data
    start, code = features
    mask = np.empty(n_words, np.uint64)
    for c in range(len(own)):
        begin, end = start[feature[c]], start[feature[c] + 1]
        _intersect_others(packed, n_words, code, begin, end, own[c], 0, n_words, mask)
        mask[n_words - 1] &= last_word
        touched = np.uint64(0)
        for t in range(n_words):
            touched += popcount(mask[t])
        count[c] = np.int64(touched)
        total[c] = sum_where(weight, mask, (0,), n_words)


@kernel
def list_touched(data, features, own, feature, offset, rows):
    """List the rows that column c touches in rows[offset[c]:offset[c + 1]], unless that is empty.

    offset : int64, (n_columns + 1,). rows : uint16 or uint32, written. Others as in
    `count_touched`.
    """
    packed, n_words, last_word, _, _ = data
    start, code = features
    mask = np.empty(n_words, np.uint64)
    for c in range(len(own)):
        place = offset[c]
        if place == offset[c + 1]:
            continue
        begin, end = start[feature[c]], start[feature[c] + 1]
        _intersect_others(packed, n_words, code, begin, end, own[c], 0, n_words, mask)
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

    data : PackedData. features : CodedFeatures. many : ManyColumns. few : FewColumns.
    loss : float64, (n_vars,), written.
    gradients : two arrays, float64, (n_columns,), of the many and the few columns, written.
    """
    gradient, few_gradient = gradients
    n_words = data.n_words
    mask = np.empty(BLOCK, np.uint64)
    theta = _aligned_floats(64 * n_words)
    lost = np.empty(64 * n_words, np.float32)
    for v in range(first, last):
        theta[:] = _ZERO
        for c in range(few.var_start[v], few.var_start[v + 1]):
            w = few.coefficient[c]
            if w != _ZERO:
                for k in range(few.span[c, 0], few.span[c, 1]):
                    theta[few.rows[k]] += w
        gradient[many.var_start[v] : many.var_start[v + 1]] = 0.0
        for word in range(0, n_words, BLOCK):
            n = min(BLOCK, n_words - word)
            span = slice(64 * word, 64 * (word + n))
            block = theta[span]
            _add_many(data, features, many, v, word, n, mask, block)
            _losses(data.weight[span], data.values[v, span], block, lost[span])
            _sum_many(data, features, many, v, word, n, mask, block, gradient)
        loss[v] = _sum(lost)
        for c in range(few.var_start[v], few.var_start[v + 1]):
            few_gradient[c] = sum_listed(theta, few.rows, few.span[c, 0], few.span[c, 1])


@kernel
def _add_many(data, features, many, v, word, n, mask, block):
    """Add to the log-odds of variable `v` what its columns of many rows add.

    word, n : first word and number of words. mask : uint64, (BLOCK,), scratch.
    block : float32, (64 n,), log-odds of the rows in these words, added to.
    """
    packed, n_words = data.packed, data.n_words
    start, code = features
    var_start, own, feature, others, coefficient = many
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
            _intersect_others(packed, n_words, code, begin, end, own[c], word, n, mask)
            add_where(block, mask, (0,), n, w)


@kernel
def _sum_many(data, features, many, v, word, n, mask, block, gradient):
    """Add to the gradient of each column of `v` the sum of `block` over the rows it touches.

    block : float32, (64 n,), derivatives by the log-odds of the rows. Others as in `_add_many`.
    """
    packed, n_words = data.packed, data.n_words
    start, code = features
    var_start, own, feature, others, _ = many
    for c in range(var_start[v], var_start[v + 1]):
        begin, end = start[feature[c]], start[feature[c] + 1]
        a, b = others[c, 0] * n_words + word, others[c, 1] * n_words + word
        if end - begin <= 3:
            gradient[c] += sum_where(block, packed, (a, b), n)
        elif end - begin <= 5:
            d, e = others[c, 2] * n_words + word, others[c, 3] * n_words + word
            gradient[c] += sum_where(block, packed, (a, b, d, e), n)
        else:
            _intersect_others(packed, n_words, code, begin, end, own[c], word, n, mask)
            gradient[c] += sum_where(block, mask, (0,), n)


@sum_kernel
def _sum(x):
    """Return the sum of float32 numbers in double precision."""
    total = 0.0
    for i in range(len(x)):
        total += np.float64(x[i])
    return total
