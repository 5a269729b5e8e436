"""Which rows a feature touches, and which rows a variable cannot tell apart.

A (feature, literal) pair touches the rows where the feature's literals on other variables hold.
There it adds its weight to the logit of the literal's indicator, or takes it away if the literal
asks for 0. The kernels find these rows 64 at a time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import count_bits, lowest_bit
from mnlearn.kernels.jit import kernel

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


class PackedFeatures(NamedTuple):
    """Features, each one's literals in order of var, and the data as packed columns.

    last_word : the bits in use of the last word. variable : the variable of each literal.
    """

    columns: NDArray[np.uint64]
    last_word: np.uint64
    start: NDArray[np.int64]
    var: NDArray[np.int32]
    value: NDArray[np.uint8]
    variable: NDArray[np.int32]


class RowLists(NamedTuple):
    """The rows that each column touches, as in `Design`."""

    var_start: NDArray[np.int64]
    offset: NDArray[np.int64]
    complement: NDArray[np.bool_]
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
def _find_violations(features, begin, end, none, one):
    """Set `none` and `one` to the rows that violate no literal and exactly one of begin:end."""
    none[:] = _ALL
    one[:] = np.uint64(0)
    for k in range(begin, end):
        column = features.columns[features.var[k]]
        flip = np.uint64(0) if features.value[k] else _ALL
        for t in range(len(none)):
            holds = column[t] ^ flip
            one[t] = (one[t] & holds) | (none[t] & ~holds)
            none[t] &= holds


@kernel
def _others_hold(features, begin, end, k, none, one, out):
    """Set `out` to the rows where the literals begin:end on other variables than literal k hold."""
    columns, var, value = features.columns, features.var, features.value
    variable = features.variable
    column, flip = columns[var[k]], np.uint64(0) if value[k] else _ALL
    for t in range(len(out)):
        out[t] = none[t] | (one[t] & ~(column[t] ^ flip))
    before = k > begin and variable[k - 1] == variable[k]
    if before or (k + 1 < end and variable[k + 1] == variable[k]):
        out[:] = _ALL
        for other in range(begin, end):
            if variable[other] != variable[k]:
                column, flip = columns[var[other]], np.uint64(0) if value[other] else _ALL
                for t in range(len(out)):
                    out[t] &= column[t] ^ flip
    out[-1] &= features.last_word


@kernel
def count_touched(features, wanted, first, last, out):
    """Count for each wanted literal of features `first` to `last` the rows that it touches."""
    start = features.start
    n_words = features.columns.shape[1]
    none, one, rest = (
        np.empty(n_words, np.uint64), np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    )  # fmt: skip
    for f in range(first, last):
        begin, end = start[f], start[f + 1]
        _find_violations(features, begin, end, none, one)
        for k in range(begin, end):
            if wanted[k]:
                _others_hold(features, begin, end, k, none, one, rest)
                out[k] = count_bits(rest)


@kernel
def list_touched(features, wanted, complement, offset, first, last, out):
    """List for each wanted literal the rows that `count_touched` counts, or all others."""
    start = features.start
    n_words = features.columns.shape[1]
    none, one, rest = (
        np.empty(n_words, np.uint64), np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    )  # fmt: skip
    for f in range(first, last):
        begin, end = start[f], start[f + 1]
        _find_violations(features, begin, end, none, one)
        for k in range(begin, end):
            if not wanted[k]:
                continue
            _others_hold(features, begin, end, k, none, one, rest)
            place = offset[k]
            for t in range(n_words):
                word = rest[t]
                if complement[k]:
                    word = ~word & (features.last_word if t == n_words - 1 else _ALL)
                while word:
                    out[place] = np.uint64(64 * t) + lowest_bit(word)
                    place += 1
                    word &= word - np.uint64(1)


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
            merging.complement[c] = lists.complement[c] != swap
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
            if design.complement[c] == lists.complement[c]:
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
