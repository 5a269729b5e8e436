"""Components that a separator leaves, and the best junction tree of each of them.

Two variables are in one component if a chain of pairs links them, each of which shares more than
the threshold: the spanning tree of greatest shared information has all such chains. A separator S
and its component Q have a tree if Q is one variable, or if for some x in Q the components of
separators inside S + x, other than S, exactly cover Q without x, and each has a tree (Arnborg,
Corneil & Proskurowski 1987; Narasimhan & Bilmes 2004).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.ties import EQUAL, rounded
from mnlearn.kernels.chow_liu import fill_spanning_tree
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.junction_trees.entropies import rank_of, rank_of_union, rank_without

_NONE = -1


@kernel
def link_variables(separators, first, last, n, subset_size, entropy, start, binom, ends, shared):
    """Fill in the spanning trees of the separators first to last - 1.

    subset_size : 2 or 3, the most variables that are looked at together. entropy : of all subsets;
    those of m variables begin at start[m].
    """
    k = separators.shape[1]
    outside = np.empty(n - k, np.int64)
    parent, joined = np.empty(n - k, np.int64), np.empty(n - k, np.int64)
    own = np.empty(n - k)
    both = np.empty((n - k, n - k))
    link = np.empty((n - k, n - k))
    for s in range(first, last):
        members = separators[s]
        j = 0
        for v in range(n):
            if not _is_member(members, v):
                outside[j] = v
                j += 1
        _fill_entropies(members, outside, entropy, start, binom, own, both)
        base = entropy[start[k] + rank_of(members, k, binom)]
        for i in range(n - k):
            for j in range(n - k):
                link[i, j] = own[i] + own[j] - both[i, j] - base
        if subset_size > 2:
            _raise_by_triples(members, outside, entropy, start, binom, own, both, base, link)
        for i in range(n - k):
            for j in range(n - k):
                link[i, j] = rounded(link[i, j], EQUAL)
        fill_spanning_tree(link, parent, joined)
        for e in range(n - k - 1):
            i = joined[e + 1]
            ends[s, e, 0], ends[s, e, 1] = outside[parent[i]], outside[i]
            shared[s, e] = link[parent[i], i]


@kernel
def _is_member(members, v):
    """Tell whether a variable is in a subset."""
    inside = False
    for member in members:
        inside |= member == v
    return inside


@kernel
def _fill_entropies(members, outside, entropy, start, binom, own, both):
    """Fill in the entropies of the separator with each other variable, and with each two."""
    k = len(members)
    others = np.empty(2, np.int64)
    for i in range(len(outside)):
        others[0] = outside[i]
        own[i] = entropy[start[k + 1] + rank_of_union(members, others, 1, binom)]
        both[i, i] = own[i]
        for j in range(i + 1, len(outside)):
            others[1] = outside[j]
            both[i, j] = entropy[start[k + 2] + rank_of_union(members, others, 2, binom)]
            both[j, i] = both[i, j]


@kernel
def _raise_by_triples(members, outside, entropy, start, binom, own, both, base, link):
    """Link each two variables of a triple by the least that one shares with the others, if more."""
    others = np.empty(3, np.int64)
    for a in range(len(outside)):
        others[0] = outside[a]
        for b in range(a + 1, len(outside)):
            others[1] = outside[b]
            for c in range(b + 1, len(outside)):
                others[2] = outside[c]
                h = entropy[start[len(members) + 3] + rank_of_union(members, others, 3, binom)]
                least = min(own[a] + both[b, c], own[b] + both[a, c], own[c] + both[a, b])
                least -= base + h
                for i, j in ((a, b), (a, c), (b, c)):
                    if least > link[i, j]:
                        link[i, j] = least
                        link[j, i] = least


@kernel
def fill_components(separators, n, ends, shared, threshold, first, separator, mask, size):
    """Fill in the components of all separators, each in the order of its first variable."""
    label = np.empty(n, np.int64)
    number = np.empty(n, np.int64)
    for s in range(len(separators)):
        for v in range(n):
            label[v] = v
            number[v] = _NONE
        for e in range(shared.shape[1]):
            if shared[s, e] > threshold:
                _merge(label, label[ends[s, e, 0]], label[ends[s, e, 1]])
        found = first[s]
        for v in range(n):
            if _is_member(separators[s], v):
                continue
            if number[label[v]] == _NONE:
                number[label[v]] = found
                separator[found] = s
                found += 1
            c = number[label[v]]
            mask[c, v >> 6] |= np.uint64(1) << np.uint64(v & 63)
            size[c] += 1


@kernel
def _merge(label, one, other):
    """Give the variables of two labels the smaller one."""
    kept, dropped = min(one, other), max(one, other)
    for v in range(len(label)):
        if label[v] == dropped:
            label[v] = kept


class Components(NamedTuple):
    """The components of all separators; those of separator s are first[s]:first[s + 1]."""

    separators: NDArray
    first: NDArray
    separator: NDArray
    mask: NDArray
    size: NDArray


class Choice(NamedTuple):
    """The tree of each component: its value, x, and the first of the separators that cover the
    rest.

    The value is the mean log-likelihood in nats given the separator, rounded; -inf without a tree.
    """

    value: NDArray
    new: NDArray
    turn: NDArray


@kernel
def find_trees(order, components, entropy, start, binom, choice):
    """Fill in the choices of all components, in an order of smaller ones first."""
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
                value = rounded(own + below, EQUAL)
                if value > choice.value[c]:
                    choice.value[c] = value
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
    """Cover a component without its variable v by components that have trees; return value and
    number.

    turn : which separator is the first to give components; those of the next one fill the gaps.
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
