"""LMIP with sets of four to six variables, each parted in two in all ways."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.lem.partition import (
    cost_of,
    excess_of,
    mark_active,
    merge,
    merge_triples,
    score_of,
)


@kernel
def merge_sets(node, n, settings, side, cost, s, floor):
    """Do as `merge_triples`, then merge the blocks of larger sets that are tied, up to q."""
    score = merge_triples(node, n, settings, side, cost, s, floor)
    if settings.subset_size == 3:
        return score
    active = np.zeros(len(side.label), np.bool_)
    mark_active(node.copy_of, side.entropy, settings.delta, active)
    variables = np.flatnonzero(active)
    for size in range(4, settings.subset_size + 1):
        place, members = np.arange(size), np.empty(size, np.int64)
        more = size <= len(variables)
        while more and score >= floor:
            apart = False
            for k in range(size):
                members[k] = variables[place[k]]
                apart |= side.label[members[k]] != side.label[members[0]]
            if apart and _is_tied(node, members, n, settings, side):
                for j in members[1:]:
                    merge(side.label, members[0], j)
                cost[s] = cost_of(side, node.log2_size, np.bool_(False))
                score = score_of(cost, settings.joint_score)
            more = _advance(place, len(variables))
    return score


@kernel
def _advance(place, n):
    """Go to the next combination of ascending places below n; return whether there is one."""
    k = len(place) - 1
    while k >= 0 and place[k] == n - len(place) + k:
        k -= 1
    if k < 0:
        return False
    place[k] += 1
    for m in range(k + 1, len(place)):
        place[m] = place[m - 1] + 1
    return True


@kernel
def _is_tied(node, members, n, settings, side):
    """Tell whether each way to part a set in two has more than `delta` mutual information.

    With the bias correction, that of the part of least plug-in information is subtracted.
    """
    entropy = subset_entropies(node, members, n, side)
    whole, part, least = len(entropy) - 1, 0, np.inf
    # The parts without the last variable.
    for one in range(1, len(entropy) // 2):
        shared = entropy[one] + entropy[whole ^ one] - entropy[whole]
        if shared < least:
            part, least = one, shared
    seen = np.ones(2)
    for k in range(len(members)):
        seen[(part >> k) & 1] *= side.seen[members[k]]
    return least - excess_of(settings, seen[0], seen[1], n) > settings.delta


@kernel
def subset_entropies(node, members, n, side):
    """Return the joint entropy of each subset of some variables, whose bits are its place."""
    q, n_cells, arity = len(members), 1, np.empty(len(members), np.int64)
    for k in range(q):
        arity[k] = node.slot[members[k] + 1] - node.slot[members[k]]
        n_cells *= arity[k]
    count = np.zeros(n_cells, np.int64)
    code = np.zeros(node.n, np.int64)
    stride = 1
    for k in range(q):
        first = node.slot[members[k]] - members[k]
        for c in range(first, first + arity[k] - 1):
            own, value = side.masked[c], stride * (c - first + 1)
            for i in range(node.n):
                code[i] += value * np.int64((own[i >> 6] >> np.uint64(i & 63)) & np.uint64(1))
        stride *= arity[k]
    for i in range(node.n):
        count[code[i]] += 1
    # The examples of the other side have no bits.
    count[0] -= node.n - n
    entropy = np.zeros(1 << q)
    marginal = np.empty(len(count), np.int64)
    for part in range(1, 1 << q):
        marginal[:] = 0
        for cell in range(len(count)):
            rest, place, step = cell, 0, 1
            for k in range(q):
                if (part >> k) & 1:
                    place += step * (rest % arity[k])
                    step *= arity[k]
                rest //= arity[k]
            marginal[place] += count[cell]
        total = 0.0
        for cell in range(len(count)):
            total += node.c_log_c[marginal[cell]]
        entropy[part] = np.log(n) - total / n
    return entropy
