"""Subsets of m of n variables in the order of their last member, then of the one before, and so on.

The rank of a subset in this order is the sum of binom[j + 1, member j] over its members, ascending,
where binom[j, v] is the number of subsets of j of v variables. Rank 0 is the subset 0, ..., m - 1.
"""

import numpy as np

from mnlearn.kernels.jit import kernel

NO_SUBSET = -1


@kernel
def next_subset(members, n):
    """Turn a subset of n variables into the next one; return the highest position that changed.

    Returns NO_SUBSET after the last subset.
    """
    for j in range(len(members)):
        limit = members[j + 1] if j + 1 < len(members) else n
        if members[j] + 1 < limit:
            members[j] += 1
            for i in range(j):
                members[i] = i
            return j
    return NO_SUBSET


@kernel
def rank_of(members, n_members, binom):
    """Return the rank of the first members."""
    rank = 0
    for j in range(n_members):
        rank += binom[j + 1, members[j]]
    return rank


@kernel
def rank_of_union(members, others, n_others, binom):
    """Return the rank of a subset and the first of some other variables, both ascending."""
    rank = 0
    i = 0
    j = 0
    for size in range(1, len(members) + n_others + 1):
        if j == n_others or (i < len(members) and members[i] < others[j]):
            rank += binom[size, members[i]]
            i += 1
        else:
            rank += binom[size, others[j]]
            j += 1
    return rank


@kernel
def rank_without(members, position, binom):
    """Return the rank of a subset without the member at a position."""
    rank = 0
    for j in range(len(members)):
        if j != position:
            rank += binom[j + 1 - (j > position), members[j]]
    return rank


@kernel
def fill_subsets(n, out):
    """Fill in all subsets, one a row. out : int16, (n_subsets, m), m at least 1."""
    members = np.arange(out.shape[1])
    for r in range(len(out)):
        out[r] = members
        next_subset(members, n)
