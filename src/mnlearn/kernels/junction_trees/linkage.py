"""Which variables stay together given a separator, at every threshold at once.

Two variables are in one component if a chain of pairs links them, each of which shares more than
the threshold. The spanning tree of the greatest sum of shared information has all such chains.
"""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.junction_trees.subsets import rank_of, rank_of_union

# Information that differs by rounding errors only is equal, on every machine.
_ROUNDED = 1e12
_NONE = -1


@kernel
def link_variables(separators, first, last, n, subset_size, entropy, start, binom, ends, shared):
    """Fill in the spanning trees of the separators first to last - 1.

    separators : int16, (n_separators, k). subset_size : 2 or 3, the most variables that are looked
        at together. entropy : float64, of all subsets; those of m variables begin at start[m].
    ends : int16, (n_separators, n - k - 1, 2), and shared : float64, (n_separators, n - k - 1): the
        ends of each edge, and what they share given the separator, in nats.
    """
    k = separators.shape[1]
    outside = np.empty(n - k, np.int64)
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
        _span(link, outside, ends[s], shared[s])


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
    """Link each two variables of a triple by as much as the triple shares, if it is more.

    A triple shares the least that one of its variables shares with the two others.
    """
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
def _span(link, outside, ends, shared):
    """Fill in the spanning tree of the greatest sum of links (Prim)."""
    m = len(outside)
    best = np.full(m, -np.inf)
    nearest = np.full(m, _NONE)
    waiting = np.ones(m, np.bool_)
    last = 0
    for e in range(m - 1):
        waiting[last] = False
        closest = _NONE
        for i in range(m):
            if not waiting[i]:
                continue
            here = np.rint(link[last, i] * _ROUNDED) / _ROUNDED
            if here > best[i]:
                best[i] = here
                nearest[i] = last
            if closest == _NONE or best[i] > best[closest]:
                closest = i
        ends[e, 0] = outside[nearest[closest]]
        ends[e, 1] = outside[closest]
        shared[e] = best[closest]
        last = closest


@kernel
def count_components(shared, threshold, out):
    """Fill in the number of components of each separator: one more than edges are cut."""
    for s in range(len(shared)):
        out[s] = 1
        for e in range(shared.shape[1]):
            out[s] += shared[s, e] <= threshold


@kernel
def fill_components(separators, n, ends, shared, threshold, first, separator, mask, size):
    """Fill in the components of all separators, each in the order of its first variable.

    first : int64, (n_separators + 1,), where the components of each begin. separator : int32,
        (n_components,). mask : uint64, (n_components, n_words), zeros; bit v stands for variable v.
    size : int32, (n_components,), zeros.
    """
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
