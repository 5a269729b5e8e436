"""Random generalisation of features: each new one keeps some literals of one drawn before.

Literals are numbers 2 * variable + value; a feature is known by the sum of the random keys of its
literals. Parents are drawn from all over the list, so draws are made some steps ahead, and what
they point to is asked for.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import prefetch
from mnlearn.kernels.arithmetic.splitmix import advance, mix, uniform
from mnlearn.kernels.jit import copy_into, kernel

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
# So many steps ahead parents are asked for, and so many their literals; powers of 2.
_PARENTS_AHEAD = 16
_LITERALS_AHEAD = 8
_LENGTH_BITS = 12
_LENGTH_MASK = (1 << _LENGTH_BITS) - 1
_LITERALS_PER_LINE = 32


@kernel
def literal_keys(n_literals, seed):
    """Return a random 64-bit word for each literal, (n_literals,)."""
    keys = np.empty(n_literals, np.uint64)
    state = mix(seed)
    for k in range(n_literals):
        state = advance(state)
        keys[k] = mix(state)
    return keys


@kernel
def generalise(start, literal, n_initial, keys, seed, digest):
    """Fill the list with generalised features; return the literals, in perhaps a larger array.

    Repeatedly a feature of at least three literals is drawn from the list as it is, uniformly, and
    a uniform number of its literals from 1 to all but 2 are dropped at random. The first
    `n_initial` features are given, at least one with three literals and none with more than 2^12.
    """
    n_features = len(digest)
    # Of those with three literals: where they begin and their length, and their hash.
    parent = np.empty(n_features, np.int64)
    parent_digest = np.empty(n_features, np.uint64)
    n_parents = 0
    for f in range(n_initial):
        total = np.uint64(0)
        for k in range(start[f], start[f + 1]):
            total += keys[literal[k]]
        digest[f] = total
        length = start[f + 1] - start[f]
        if length >= 3:
            parent[n_parents] = start[f] << _LENGTH_BITS | length
            parent_digest[n_parents] = total
            n_parents += 1
    # A stream of its own for the parents, so that it can be read ahead.
    parent_state = mix(seed)
    state = mix(seed + np.uint64(1))
    drawn = np.empty(_PARENTS_AHEAD)
    for i in range(_PARENTS_AHEAD):
        parent_state = advance(parent_state)
        drawn[i] = uniform(parent_state)
    end = start[n_initial]
    for f in range(n_initial, n_features):
        at = f & (_PARENTS_AHEAD - 1)
        p = np.int64(drawn[at] * n_parents)
        parent_state = advance(parent_state)
        drawn[at] = uniform(parent_state)
        ahead = np.int64(drawn[at] * n_parents)
        prefetch(parent, ahead)
        prefetch(parent_digest, ahead)
        word = parent[np.int64(drawn[(f + _LITERALS_AHEAD) & (_PARENTS_AHEAD - 1)] * n_parents)]
        for k in range(0, min(word & _LENGTH_MASK, 4 * _LITERALS_PER_LINE), _LITERALS_PER_LINE):
            prefetch(literal, (word >> _LENGTH_BITS) + k)
        length = parent[p] & _LENGTH_MASK
        source = parent[p] >> _LENGTH_BITS
        if end + length > len(literal):
            larger = np.empty(end + length + len(literal) // 2, np.uint16)
            copy_into(larger, literal[:end])
            literal = larger
        # Slices, because an index that might be negative keeps a loop from being vectorised.
        own, given = literal[end : end + length], literal[source : source + length]
        for k in range(len(given)):
            own[k] = given[k]
        state = advance(state)
        n_kept = 2 + np.int64(uniform(state) * (length - 2))
        few = min(n_kept, length - n_kept)
        total = np.uint64(0)
        random = np.uint64(0)
        # The fewer, kept or dropped, are drawn to the front, two from each random word.
        for i in range(few):
            if i % 2 == 0:
                state = advance(state)
                random = mix(state)
            j = i + np.int64(((random & _LOW) * np.uint64(length - i)) >> _HALF)
            random >>= _HALF
            chosen = own[j]
            own[j] = own[i]
            own[i] = chosen
            total += keys[chosen]
        if few < n_kept:
            for i in range(few):
                own[i] = own[length - 1 - i]
            total = parent_digest[p] - total
        digest[f] = total
        if n_kept >= 3:
            parent[n_parents] = end << _LENGTH_BITS | n_kept
            parent_digest[n_parents] = total
            n_parents += 1
        end += n_kept
        start[f + 1] = end
    return literal
