"""Packed columns of the examples at a node: a bit for each example; see `layout`."""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.inlining import copy_into
from mnlearn.kernels.jit import kernel


@kernel
def pack_columns(values, examples, variable, slot, slot_value, columns):
    """Fill in the columns of the variables at a node.

    values : uint8, (n_variables, n_examples), of all examples. examples : int32, those at the node.
    variable : int32, (n,), the variables at the node. slot : int32, (n + 1,). slot_value : uint8.
    columns : uint64, (n_slots - n, n_words), overwritten.
    """
    columns[:] = 0
    for j in range(len(variable)):
        own = values[variable[j]]
        for s in range(slot[j] + 1, slot[j + 1]):
            column = columns[s - j - 1]
            wanted = slot_value[s]
            for i in range(len(examples)):
                if own[examples[i]] == wanted:
                    column[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@kernel
def mask_of(columns, slot, j, s, last_word, mask):
    """Fill in the bits of the examples in which variable j has the value of slot s."""
    if s > slot[j]:
        copy_into(mask, columns[s - j - 1])
        return
    mask[:] = ~np.uint64(0)
    mask[len(mask) - 1] = last_word
    for c in range(slot[j] - j, slot[j + 1] - j - 1):
        for w in range(len(mask)):
            mask[w] &= ~columns[c, w]


@kernel
def count_bits(words):
    """Return the number of bits that are set."""
    total = np.uint64(0)
    for w in range(len(words)):
        total += popcount(words[w])
    return np.int64(total)


@kernel
def count_both(one, other):
    """Return the number of bits set in both."""
    total = np.uint64(0)
    for w in range(len(one)):
        total += popcount(one[w] & other[w])
    return np.int64(total)


@kernel
def count_all(one, other, third):
    """Return the number of bits set in all three."""
    total = np.uint64(0)
    for w in range(len(one)):
        total += popcount(one[w] & other[w] & third[w])
    return np.int64(total)


@kernel
def select_examples(examples, mask, out):
    """Fill in the examples whose bits are set, in their order."""
    n = 0
    for w in range(len(mask)):
        word = mask[w]
        while word:
            out[n] = examples[64 * w + np.int64(lowest_bit(word))]
            n += 1
            word &= word - np.uint64(1)


@kernel
def find_copies(columns, slot, last_word, copy_of, opposite):
    """Fill in for each variable of two values the first whose column is the same, or the opposite.

    copy_of : int32, (n,). A variable that is no copy stands for itself. opposite : bool, (n,).
    """
    n = len(copy_of)
    n_words = columns.shape[1]
    for j in range(n):
        copy_of[j] = j
        opposite[j] = False
        if slot[j + 1] - slot[j] != 2:
            continue
        own = columns[slot[j] - j]
        for k in range(j):
            if copy_of[k] != k or slot[k + 1] - slot[k] != 2:
                continue
            other = columns[slot[k] - k]
            flip = (own[0] ^ other[0]) & np.uint64(1)
            flipped = ~np.uint64(0) if flip else np.uint64(0)
            same = True
            for w in range(n_words):
                used = last_word if w == n_words - 1 else ~np.uint64(0)
                if (own[w] ^ other[w] ^ flipped) & used:
                    same = False
                    break
            if same:
                copy_of[j] = k
                opposite[j] = flip != 0
                break
