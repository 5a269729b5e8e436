"""Which components have a junction tree of their own, and the best one found for each.

A pair (S, Q) of a separator and one of its components has a tree if Q is one variable, or if for
some x in Q the components of separators inside S + x, other than S, exactly cover Q without x, and
each of them has a tree (Arnborg, Corneil & Proskurowski 1987; Narasimhan & Bilmes 2004).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.inlining import copy_into
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.junction_trees.subsets import rank_of, rank_without


class Components(NamedTuple):
    """The components of all separators.

    separators : int16, (n_separators, k). first : int64, (n_separators + 1,), where the components
        of each separator begin. separator : int32, mask : uint64, (n, n_words), and size : int32,
        of each component.
    """

    separators: NDArray
    first: NDArray
    separator: NDArray
    mask: NDArray
    size: NDArray


class Choice(NamedTuple):
    """The tree of each component.

    value : float64, mean log-likelihood in nats of the variables of a component given the
        separator; minus infinity if it has no tree. new : int16, x, and turn : int8, the first of
        the separators that cover the rest.
    """

    value: NDArray
    new: NDArray
    turn: NDArray


@kernel
def find_trees(order, components, entropy, start, binom, choice):
    """Fill in the choices of all components. order : int64, smaller components first."""
    k = components.separators.shape[1]
    n_words = components.mask.shape[1]
    clique = np.empty(k + 1, np.int64)
    rest = np.empty(n_words, np.uint64)
    chosen = np.empty(64 * n_words, np.int64)
    for c in order:
        members = components.separators[components.separator[c]]
        base = entropy[start[k] + rank_of(members, k, binom)]
        choice.value[c] = -np.inf
        for v in range(64 * n_words):
            if not components.mask[c, v >> 6] >> np.uint64(v & 63) & np.uint64(1):
                continue
            join(members, v, clique)
            own = base - entropy[start[k + 1] + rank_of(clique, k + 1, binom)]
            for turn in range(1 if components.size[c] == 1 else k):
                below, _ = cover(c, v, turn, clique, components, choice, binom, rest, chosen)
                if own + below > choice.value[c]:
                    choice.value[c] = own + below
                    choice.new[c] = v
                    choice.turn[c] = turn


@kernel
def join(members, v, clique):
    """Fill in a subset and one more variable, ascending."""
    j = 0
    while j < len(members) and members[j] < v:
        clique[j] = members[j]
        j += 1
    clique[j] = v
    while j < len(members):
        clique[j + 1] = members[j]
        j += 1


@kernel
def cover(c, v, turn, clique, components, choice, binom, rest, chosen):
    """Cover a component without its variable v by components that have trees.

    turn : which separator is the first to give components; those of the next one fill the gaps.
    rest : uint64, (n_words,), scratch. chosen : int64, overwritten by the components taken.

    Returns
    -------
    value : float, the sum of their values, minus infinity if they are no exact cover.
    n : int, their number.
    """
    k = len(clique) - 1
    copy_into(rest, components.mask[c])
    rest[v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
    total = 0.0
    n = 0
    place = 0
    while clique[place] != v:
        place += 1
    for t in range(k):
        position = (turn + t) % k
        # Separators without v are the one above.
        position += position >= place
        s = rank_without(clique, position, binom)
        for d in range(components.first[s], components.first[s + 1]):
            if choice.value[d] > -np.inf and _take(rest, components.mask[d]):
                total += choice.value[d]
                chosen[n] = d
                n += 1
    for word in rest:
        if word:
            return -np.inf, 0
    return total, n


@kernel
def _take(rest, mask):
    """Take the variables of a mask out of the rest if all of them are in it; tell whether."""
    for w in range(len(rest)):
        if mask[w] & ~rest[w]:
            return False
    for w in range(len(rest)):
        rest[w] &= ~mask[w]
    return True
