"""The triples of variables that tie blocks together.

Only a few triples of a node tie blocks, mostly the same ones for many features. These are kept with
the node and looked at first, so that a feature that is below the best so far is soon found out.
"""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.lem.costs import cost_of, score_of
from mnlearn.kernels.lem.entropies import triple_entropy
from mnlearn.kernels.lem.partition import excess_of, mark_active, merge


@kernel
def merge_triples(node, n, settings, side, cost, s, floor):
    """Merge the blocks of the triples with more than `delta` mutual information.

    cost : log2 of the costs of both sides, this one's at s, which is kept up to date.
    Returns the score of the feature; once it is below `floor` no more triples are looked at.
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
        node.tying[k] = node.tying[k - 1]
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
