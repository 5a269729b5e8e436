"""LMIP: the variables of a node in blocks with little mutual information (Algorithm 1).

The blocks are those that the pairs and triples with more than `delta` of it tie together. A triple
has as much as the least of its three ways to part one variable from two. A triple inside one block
changes nothing, so that only the others are looked at.
"""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.lem.columns import count_bits, count_both
from mnlearn.kernels.lem.domains import open_literals
from mnlearn.kernels.lem.entropies import pair_entropy, single_entropies


@kernel
def is_small(n, settings):
    """Tell whether there are too few examples to look for dependences."""
    return n < settings.min_rows or n == 0


@kernel
def mask_side(node, mask, flip, n, side):
    """Take the examples whose bits are set in the mask, or, if all bits of `flip` are, the others.

    flip : uint64.
    """
    for c in range(len(node.columns)):
        own, column = side.masked[c], node.columns[c]
        for w in range(len(mask)):
            own[w] = column[w] & (mask[w] ^ flip)
        side.ones[c] = count_bits(own)
    single_entropies(node.slot, side.ones, n, node.c_log_c, side.entropy, side.seen)


@kernel
def mask_sides(node, mask, n_side, sides):
    """Take the examples of both sides of a feature, whose bits the mask has."""
    for s in range(2):
        flip = ~np.uint64(0) if s == 0 else np.uint64(0)
        mask_side(node, mask, flip, n_side[s], sides[s])


@kernel
def count_pair(slot, a, b, columns, masked, both):
    """Count how often the columns of variables a < b are both set in the masked examples."""
    for d in range(slot[b] - b, slot[b + 1] - b - 1):
        for c in range(slot[a] - a, slot[a + 1] - a - 1):
            both[c, d] = count_both(columns[c], masked[d])


@kernel
def count_pairs(slot, variables, columns, masked, both):
    """Do as `count_pair` for each two of the variables."""
    for k in range(len(variables)):
        for m in range(k):
            count_pair(slot, variables[m], variables[k], columns, masked, both)


@kernel
def _count_others(node, a, b, sides):
    """Find the counts of a pair of variables on side 0 from those of side 1 and of the node."""
    for d in range(node.slot[b] - b, node.slot[b + 1] - b - 1):
        for c in range(node.slot[a] - a, node.slot[a + 1] - a - 1):
            sides[0].both[c, d] = node.both[c, d] - sides[1].both[c, d]


@kernel
def tie_links(node, n_side, sides, settings):
    """Merge the blocks of both sides that the strongest pairs of the node tie together.

    These are few and tie most of what is tied, so that many features are found wanting by them.
    """
    for k in range(len(node.links)):
        a, b = node.links[k]
        counted = False
        for s in range(2):
            entropy = sides[s].entropy
            if is_small(n_side[s], settings) or min(entropy[a], entropy[b]) <= settings.delta:
                continue
            if not counted:
                count_pair(node.slot, a, b, node.columns, sides[1].masked, sides[1].both)
                _count_others(node, a, b, sides)
                counted = True
            _merge_pair(node, a, b, n_side[s], settings, sides[s])
    for s in range(2):
        if not is_small(n_side[s], settings):
            _merge_copies(node, n_side[s], settings, sides[s])


@kernel
def tie_pairs(node, n_side, sides, settings):
    """Merge the blocks of both sides that pairs tie together."""
    active = np.zeros(len(node.copy_of), np.bool_)
    for s in range(2):
        if not is_small(n_side[s], settings):
            mark_active(node.copy_of, sides[s].entropy, settings.delta, active)
    variables = np.flatnonzero(active)
    count_pairs(node.slot, variables, node.columns, sides[1].masked, sides[1].both)
    for k in range(len(variables)):
        for m in range(k):
            _count_others(node, variables[m], variables[k], sides)
    for s in range(2):
        if not is_small(n_side[s], settings):
            merge_pairs(node, n_side[s], settings, sides[s])


@kernel
def mark_active(copy_of, entropy, delta, active):
    """Mark the variables that can have more than `delta` mutual information with others."""
    for j in range(len(copy_of)):
        # A copy shares whatever its original shares.
        if copy_of[j] == j and entropy[j] > delta:
            active[j] = True


@kernel
def merge_clauses(node, clauses, n_clauses, side):
    """Start with a block for each variable, then merge those of each open clause."""
    for j in range(len(side.label)):
        side.label[j] = j
    for c in range(n_clauses):
        n_open, last = open_literals(node.owner, clauses, c, side.alive, side.size)
        if n_open > 0:
            for e in range(clauses.start[c], clauses.start[c + 1]):
                j = node.owner[clauses.slots[e]]
                if side.size[j] > 1:
                    merge(side.label, node.owner[last], j)


@kernel
def merge(label, a, b):
    """Merge the blocks of two variables."""
    kept, dropped = min(label[a], label[b]), max(label[a], label[b])
    if kept == dropped:
        return
    for j in range(dropped, len(label)):
        if label[j] == dropped:
            label[j] = kept


@kernel
def excess_of(settings, one, other, n):
    """Return by how much the plug-in estimate of mutual information is expected to be too high.

    one, other : numbers of joint values of the two parts.
    """
    return (one - 1.0) * (other - 1.0) / (2.0 * n) if settings.corrected else 0.0


@kernel
def _merge_pair(node, a, b, n, settings, side):
    """Merge the blocks of variables a < b if they have more than `delta` mutual information."""
    h = pair_entropy(node.slot, a, b, side.ones, side.both, n, node.c_log_c)
    side.joint[a, b] = h
    side.joint[b, a] = h
    shared = side.entropy[a] + side.entropy[b] - h
    if shared - excess_of(settings, side.seen[a], side.seen[b], n) > settings.delta:
        merge(side.label, a, b)


@kernel
def _merge_copies(node, n, settings, side):
    """Merge the blocks of copies and their originals, which share all information."""
    for j in range(len(side.label)):
        shared = side.entropy[j] - excess_of(settings, side.seen[j], side.seen[j], n)
        if node.copy_of[j] != j and shared > settings.delta:
            merge(side.label, j, node.copy_of[j])


@kernel
def merge_pairs(node, n, settings, side):
    """Merge the blocks of the pairs with more than `delta` mutual information."""
    active = np.zeros(len(side.label), np.bool_)
    mark_active(node.copy_of, side.entropy, settings.delta, active)
    variables = np.flatnonzero(active)
    for k in range(len(variables)):
        for m in range(k):
            _merge_pair(node, variables[m], variables[k], n, settings, side)
    _merge_copies(node, n, settings, side)
