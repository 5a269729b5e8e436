"""LMIP: the variables of a node in blocks with little mutual information (Algorithm 1).

The blocks are those that the pairs and triples with more than `delta` of it tie together. A triple
has as much as the least of its three ways to part one variable from two. A triple inside one block
changes nothing, so that only the others are looked at.
"""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.lem.columns import count_bits, count_both
from mnlearn.kernels.lem.domains import open_literals
from mnlearn.kernels.lem.entropies import pair_entropy, single_entropies, triple_entropy


@kernel
def is_small(n, settings):
    """Tell whether there are too few examples to look for dependences."""
    return n < settings.min_rows or n == 0


@kernel
def mask_side(node, mask, opposite, n, side):
    """Take the examples whose bits are set in the mask, or those whose bits are not."""
    flip = ~np.uint64(0) if opposite else np.uint64(0)
    for c in range(len(node.columns)):
        own, column = side.masked[c], node.columns[c]
        for w in range(len(mask)):
            own[w] = column[w] & (mask[w] ^ flip)
        side.ones[c] = count_bits(own)
    single_entropies(node.slot, side.ones, n, node.c_log_c, side.entropy, side.seen)


@kernel
def count_pairs(slot, variables, columns, masked, both):
    """Count how often the columns of two of the variables are both set in the masked examples."""
    for k in range(len(variables)):
        b = variables[k]
        for d in range(slot[b] - b, slot[b + 1] - b - 1):
            for m in range(k):
                a = variables[m]
                for c in range(slot[a] - a, slot[a + 1] - a - 1):
                    both[c, d] = count_both(columns[c], masked[d])


@kernel
def tie_pairs(node, mask, n_side, sides, settings):
    """Merge the blocks of both sides of a feature that pairs tie together."""
    if is_small(n_side[0], settings) and is_small(n_side[1], settings):
        return
    active = np.zeros(len(node.copy_of), np.bool_)
    for s in range(2):
        mask_side(node, mask, s == 0, n_side[s], sides[s])
        if not is_small(n_side[s], settings):
            _mark_active(node.copy_of, sides[s].entropy, settings.delta, active)
    variables = np.flatnonzero(active)
    count_pairs(node.slot, variables, node.columns, sides[1].masked, sides[1].both)
    for b in variables:
        for d in range(node.slot[b] - b, node.slot[b + 1] - b - 1):
            # Columns of variables that are not active hold counts of nothing, which nobody reads.
            for c in range(node.slot[b] - b):
                sides[0].both[c, d] = node.both[c, d] - sides[1].both[c, d]
    for s in range(2):
        if not is_small(n_side[s], settings):
            merge_pairs(node, n_side[s], settings, sides[s])


@kernel
def _mark_active(copy_of, entropy, delta, active):
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
def _excess(settings, one, other, n):
    """Return by how much the plug-in estimate of mutual information is expected to be too high.

    one, other : numbers of joint values of the two parts.
    """
    return (one - 1.0) * (other - 1.0) / (2.0 * n) if settings.corrected else 0.0


@kernel
def merge_pairs(node, n, settings, side):
    """Merge the blocks of the pairs with more than `delta` mutual information."""
    entropy, seen, label = side.entropy, side.seen, side.label
    active = np.zeros(len(label), np.bool_)
    _mark_active(node.copy_of, entropy, settings.delta, active)
    variables = np.flatnonzero(active)
    for k in range(len(variables)):
        b = variables[k]
        for m in range(k):
            a = variables[m]
            h = pair_entropy(node.slot, a, b, side.ones, side.both, n, node.c_log_c)
            side.joint[a, b] = h
            side.joint[b, a] = h
            shared = entropy[a] + entropy[b] - h - _excess(settings, seen[a], seen[b], n)
            if shared > settings.delta:
                merge(label, a, b)
    for j in range(len(label)):
        shared = entropy[j] - _excess(settings, seen[j], seen[j], n)
        if node.copy_of[j] != j and shared > settings.delta:
            merge(label, j, node.copy_of[j])


@kernel
def merge_triples(node, n, settings, side):
    """Merge the blocks of the triples with more than `delta` mutual information."""
    delta, entropy, joint, label = settings.delta, side.entropy, side.joint, side.label
    active = np.zeros(len(label), np.bool_)
    _mark_active(node.copy_of, entropy, delta, active)
    variables = np.flatnonzero(active)
    for c in variables:
        for k in range(len(variables)):
            a = variables[k]
            if label[a] == label[c]:
                continue
            shared = entropy[c] + entropy[a] - joint[c, a]
            for m in range(k):
                b = variables[m]
                # Of three variables in three blocks, c is the least.
                if label[b] == label[c] or (label[a] != label[b] and b < c):
                    continue
                # I(c; ab) is at most I(c; a) + H(b | a), and the same with a and b exchanged.
                if shared + joint[a, b] - entropy[a] <= delta:
                    continue
                if entropy[c] + joint[a, b] - joint[c, b] <= delta:
                    continue
                if _triple_information(node, a, b, c, n, settings, side) > delta:
                    merge(label, a, c)
                    merge(label, b, c)
                    break


@kernel
def _triple_information(node, a, b, c, n, settings, side):
    """Return the least mutual information between one of three variables and the two others."""
    low, high = min(a, b, c), max(a, b, c)
    members = (low, a + b + c - low - high, high)
    h = triple_entropy(node, members, side, n)
    least = np.inf
    for k in range(3):
        one, other, third = members[k], members[(k + 1) % 3], members[(k + 2) % 3]
        shared = side.entropy[one] + side.joint[other, third] - h
        shared -= _excess(settings, side.seen[one], side.seen[other] * side.seen[third], n)
        least = min(least, shared)
    return least


@kernel
def cost_of(side, log2_size, one_block):
    """Return log2 of the sum of the sizes of the blocks, 2 for each variable that is fixed.

    one_block : whether to take all variables as one block.
    """
    total = np.zeros(len(side.label))
    n_fixed = 0
    for j in range(len(total)):
        n_fixed += side.size[j] == 1
        total[0 if one_block else side.label[j]] += log2_size[side.size[j]]
    largest = total.max()
    cost = 2.0 * n_fixed * 2.0**-largest
    for j in range(len(total)):
        if total[j] > 0.0:
            cost += 2.0 ** (total[j] - largest)
    return largest + np.log2(cost)
