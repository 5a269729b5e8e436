"""Which rows a feature touches, and which rows a variable cannot tell apart.

The log-odds of variable v in a row is a sum over the features with a literal on v whose other
literals all hold: plus the weight if the literal asks for 1, minus if it asks for 0. The rows
where the others hold, those a (feature, literal) touches, are found 64 at a time.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.jit import kernel

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel
def _violations(columns, var, value, begin, end, none, one):
    """Set `none` and `one` to the rows that violate no, exactly one literal of a feature."""
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
    """Return the rows of word `t` where all literals but the one of `column` hold."""
    return none[t] | (one[t] & ~(column[t] ^ flip))


@kernel
def count_touched(columns, last_word, start, var, value, wanted, first, last, out):
    """Count for each wanted literal the rows where the other literals of its feature hold.

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
    """List for each wanted literal the rows that `count_touched` counts, or all others.

    complement : bool, shape (n_literals,). Whether to list the rows not touched.
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
def merge_rows(
    var_start,
    offset,
    complement,
    touched,
    mark,
    values,
    weight,
    first,
    last,
    row_of,
    n_merged,
    merged_offset,
    merged_complement,
):
    """Merge for each variable the rows with equal values that all its columns treat alike.

    Rows are told apart by sums of 64-bit random marks of the columns that list them, so that
    two different rows are merged with probability 2^-64.

    var_start, offset, complement, touched : lists of rows, by column, by variable.
    mark : uint64, (n_columns + 1,), random. values : uint8, (n_vars, n_rows).
    Written for variables `first` to `last`: row_of uint32, (n_vars, n_rows), place of each row
    among the merged; n_merged int64, (n_vars,); and for each column its number of merged rows
    (in merged_offset[c + 1]) and whether those are the ones it does not touch.
    """
    n_rows = len(weight)
    key = np.empty(n_rows, np.uint64)
    stands = np.empty(n_rows, np.bool_)
    n_slots = 4
    while n_slots < 2 * n_rows:
        n_slots *= 2
    slot = np.empty(n_slots, np.int32)
    for v in range(first, last):
        for i in range(n_rows):
            key[i] = mark[-1] if values[v, i] else np.uint64(0)
        for c in range(var_start[v], var_start[v + 1]):
            for k in range(offset[c], offset[c + 1]):
                key[touched[k]] += mark[c]
        n = _number_keys(key, slot, row_of[v], stands)
        n_merged[v] = n
        for c in range(var_start[v], var_start[v + 1]):
            n_listed = 0
            for k in range(offset[c], offset[c + 1]):
                n_listed += stands[touched[k]]
            swap = n_listed > n // 2
            merged_complement[c] = complement[c] != swap
            merged_offset[c + 1] = n - n_listed if swap else n_listed


@kernel
def _number_keys(key, slot, number, stands):
    """Number the distinct keys in order of appearance and return how many there are.

    slot : int32, scratch, a power of two of them, at least twice as many as keys.
    Written for each key: its number, and whether it is the first and stands for its equals.
    """
    slot[:] = -1
    last_slot = len(slot) - 1
    n = 0
    for i in range(len(key)):
        # The keys are sums of random words, so their lowest bits are as good as a hash.
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
def list_merged(
    var_start,
    offset,
    complement,
    touched,
    values,
    weight,
    row_of,
    n_merged,
    first,
    last,
    row_start,
    merged_offset,
    merged_complement,
    out,
    merged_weight,
    merged_value,
):
    """Write the lists, weights and values of the merged rows that `merge_rows` counted."""
    n_rows = len(weight)
    listed = np.empty(n_rows, np.bool_)
    stands = np.empty(n_rows, np.bool_)
    for v in range(first, last):
        begin = row_start[v]
        merged_weight[begin : begin + n_merged[v]] = 0.0
        n = 0
        for i in range(n_rows):
            merged_weight[begin + row_of[v, i]] += weight[i]
            merged_value[begin + row_of[v, i]] = values[v, i]
            stands[i] = row_of[v, i] == n
            n += stands[i]
        for c in range(var_start[v], var_start[v + 1]):
            place = merged_offset[c]
            if merged_complement[c] == complement[c]:
                # Rows are listed, and merged rows numbered, in one and the same order.
                for k in range(offset[c], offset[c + 1]):
                    if stands[touched[k]]:
                        out[place] = row_of[v, touched[k]]
                        place += 1
                continue
            listed[: n_merged[v]] = False
            for k in range(offset[c], offset[c + 1]):
                listed[row_of[v, touched[k]]] = True
            for i in range(n_merged[v]):
                if not listed[i]:
                    out[place] = i
                    place += 1
