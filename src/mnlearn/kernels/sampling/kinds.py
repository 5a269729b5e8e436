"""Kinds of terms: those that are equal wherever the evidence holds.

The features of a probability tree, and those converted from it, differ in few literals. A query
leaves out the literals on evidence, so that many of the terms that hold are equal.
"""

import numpy as np

from mnlearn.kernels.jit import kernel

_FREE = -1
# An odd number near 2^64 divided by the golden ratio.
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@kernel
def number_kinds(start, var, value, owner):
    """Return the kind of each term, int64, (n_terms,), numbered in the order of their first terms.

    Terms of one kind have the same owner and the same literals in the same order.

    start : int64, (n_terms + 1,). Term t has the literals start[t]:start[t + 1].
    var : int64, value : uint8, (n_literals,). owner : int64, (n_terms,).
    """
    n_terms = len(owner)
    n_slots = 2
    while n_slots < 2 * n_terms:
        n_slots *= 2
    first_of = np.full(n_slots, _FREE, np.int64)
    kind = np.empty(n_terms, np.int64)
    n_kinds = 0
    for t in range(n_terms):
        mixed = np.uint64(owner[t] + 1)
        for k in range(start[t], start[t + 1]):
            mixed = (mixed ^ np.uint64(2 * var[k] + value[k])) * _MULTIPLIER
            mixed ^= mixed >> _HALF
        slot = np.int64(mixed & np.uint64(n_slots - 1))
        while first_of[slot] != _FREE and not _equal(first_of[slot], t, start, var, value, owner):
            slot = (slot + 1) & (n_slots - 1)
        if first_of[slot] == _FREE:
            first_of[slot] = t
            kind[t] = n_kinds
            n_kinds += 1
        else:
            kind[t] = kind[first_of[slot]]
    return kind


@kernel
def _equal(s, t, start, var, value, owner):
    """Tell whether two terms have the same owner and the same literals."""
    n_literals = start[t + 1] - start[t]
    if owner[s] != owner[t] or start[s + 1] - start[s] != n_literals:
        return False
    for k in range(n_literals):
        i, j = start[s] + k, start[t] + k
        if var[i] != var[j] or value[i] != value[j]:
            return False
    return True
