"""What a feature is worth: the partitions of the two sides of a node."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.lem.domains import add_clause, divide_domain
from mnlearn.kernels.lem.layout import INADMISSIBLE, ONE_BLOCK
from mnlearn.kernels.lem.partition import (
    cost_of,
    is_small,
    merge_clauses,
    merge_triples,
    tie_pairs,
)


@kernel
def assess(node, clauses, feature, mask, n_one, sides, settings, floor, cost):
    """Partition both sides of a feature, and fill in log2 of their costs.

    mask : the bits of the examples that satisfy the feature, of which there are n_one.
    floor : a score; where the feature is certain to be below it, its triples are not looked at.
    cost : float64, (2,); infinite where the feature is not admissible or below the floor.
    """
    n_side = (node.n - n_one, n_one)
    small = (is_small(n_side[0], settings), is_small(n_side[1], settings))
    cost[:] = np.inf
    if settings.small_side == INADMISSIBLE and (small[0] or small[1]):
        return
    n_clauses = (add_clause(clauses, feature), clauses.n)
    for s in range(2):
        divide_domain(node, clauses, n_clauses[s], feature, s == 1, sides[s])
        merge_clauses(node, clauses, n_clauses[s], sides[s])
    tie_pairs(node, mask, n_side, sides, settings)
    for s in range(2):
        one_block = settings.small_side == ONE_BLOCK and small[s]
        cost[s] = cost_of(sides[s], node.log2_size, one_block)
    if settings.subset_size < 3:
        return
    for s in range(2):
        # Blocks only grow, and the costs with them.
        if score_of(cost, settings.joint_score) < floor:
            cost[:] = np.inf
            return
        if not small[s]:
            merge_triples(node, n_side[s], settings, sides[s])
            cost[s] = cost_of(sides[s], node.log2_size, False)


@kernel
def score_of(cost, joint):
    """Return log2 of the score of a feature whose sides have the given log2 costs.

    joint : whether the score is 1 / (d1 + d0); else it is that of the paper, 1 / d1 + 1 / d0.
    """
    high, low = max(cost[0], cost[1]), min(cost[0], cost[1])
    if high == np.inf:
        return -np.inf
    if joint:
        return -(high + np.log2(1.0 + 2.0 ** (low - high)))
    return -low + np.log2(1.0 + 2.0 ** (low - high))
