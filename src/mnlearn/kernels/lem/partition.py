"""LMIP: the variables of a node in blocks with little mutual information (Algorithm 1).

Pairs and triples with more than `delta` of it tie blocks; a triple has as much as the least of its
three ways to part one variable from two. The few triples that tie blocks are mostly the same ones
for many features: the node keeps them, and they are looked at first. Costs are base-2 logarithms.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import count_bits, count_both
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.lem.node import open_literals, pair_entropy, single_entropies, triple_entropy


@kernel
def is_small(n, settings):
    """Tell whether there are too few examples to look for dependences."""
    return n < settings.min_rows or n == 0


@kernel
def mask_side(node, mask, flip, n, side):
    """Take the examples whose bits are set in the mask, or the others if all bits of `flip` are."""
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
    """Merge the blocks of both sides that the strongest pairs of the node, most of all, tie
    together.
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
    """Return by how much the plug-in estimate of mutual information is expected to be too high."""
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


@kernel
def cost_of(side, log2_size, one_block):
    """Return log2 of the sum of the sizes of the blocks, 2 for each variable that is fixed."""
    total = np.zeros(len(side.label))
    n_fixed = 0
    for j in range(len(total)):
        n_fixed += side.size[j] == 1
        total[0 if one_block else side.label[j]] += log2_size[side.size[j]]
    largest = 0.0
    for size in total:
        largest = max(largest, size)
    cost = 2.0 * n_fixed * 2.0**-largest
    for j in range(len(total)):
        if total[j] > 0.0:
            cost += 2.0 ** (total[j] - largest)
    return largest + np.log2(cost)


@kernel
def score_of(cost, joint):
    """Return log2 of the score, 1 / (d1 + d0) if `joint`, else the paper's, 1 / d1 + 1 / d0."""
    high, low = max(cost[0], cost[1]), min(cost[0], cost[1])
    if high == np.inf:
        return -np.inf
    if joint:
        return -(high + np.log2(1.0 + 2.0 ** (low - high)))
    return -low + np.log2(1.0 + 2.0 ** (low - high))


@kernel
def merge_triples(node, n, settings, side, cost, s, floor):
    """Merge the blocks of the triples of more than `delta` mutual information; return the score.

    cost : log2 of the costs of both sides; this one's, at s, is kept up to date. Once the score is
    below `floor` no more triples are looked at.
    """
    active = np.zeros(len(side.label), np.bool_)
    mark_active(node.copy_of, side.entropy, settings.delta, active)
    score = score_of(cost, settings.joint_score)
    for k in range(node.n_tying[0]):
        a, b, c = node.tying[k]
        if active[a] and active[b] and active[c] and score >= floor:
            score = _try_triple(node, a, b, c, n, settings, side, cost, s, score)
    variables = np.flatnonzero(active)
    for c in variables:
        if score >= floor:
            score = _try_triples_of(node, variables, c, n, settings, side, cost, s, score, floor)
    return score


@kernel
def _try_triples_of(node, variables, c, n, settings, side, cost, s, score, floor):
    """Do as `merge_triples` for the triples in which c is alone or the least of three alone."""
    delta, entropy, joint, label = settings.delta, side.entropy, side.joint, side.label
    for k in range(len(variables)):
        a = variables[k]
        if label[a] == label[c]:
            continue
        shared = entropy[c] + entropy[a] - joint[c, a]
        for m in range(k):
            b = variables[m]
            if label[b] == label[c] or (label[a] != label[b] and b < c):
                continue
            # I(c; ab) is at most I(c; a) + H(b | a), and the same with a and b exchanged.
            if shared + joint[a, b] - entropy[a] <= delta:
                continue
            if entropy[c] + joint[a, b] - joint[c, b] <= delta:
                continue
            score = _try_triple(node, a, b, c, n, settings, side, cost, s, score)
            if label[a] == label[c]:
                break
        if score < floor:
            break
    return score


@kernel
def _try_triple(node, a, b, c, n, settings, side, cost, s, score):
    """Merge the blocks of a triple if it ties them; return the score of the feature."""
    label = side.label
    if label[a] == label[b] == label[c]:
        return score
    if _triple_information(node, a, b, c, n, settings, side) <= settings.delta:
        return score
    merge(label, a, c)
    merge(label, b, c)
    _remember(node, a, b, c)
    cost[s] = cost_of(side, node.log2_size, np.bool_(False))
    return score_of(cost, settings.joint_score)


@kernel
def _remember(node, a, b, c):
    """Keep a triple that tied blocks; the first place is for the one that did so last."""
    last = min(node.n_tying[0], len(node.tying) - 1)
    for k in range(node.n_tying[0]):
        if node.tying[k, 0] == a and node.tying[k, 1] == b and node.tying[k, 2] == c:
            last = k
            break
    else:
        node.n_tying[0] = last + 1
    for k in range(last, 0, -1):
        copy_into(node.tying[k], node.tying[k - 1])
    node.tying[0, 0], node.tying[0, 1], node.tying[0, 2] = a, b, c


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
        shared -= excess_of(settings, side.seen[one], side.seen[other] * side.seen[third], n)
        least = min(least, shared)
    return least
