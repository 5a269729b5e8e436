"""What a feature is worth: the partitions of the two sides of a node."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.lem.costs import cost_of, score_of
from mnlearn.kernels.lem.domains import add_clause, divide_domain
from mnlearn.kernels.lem.layout import INADMISSIBLE, ONE_BLOCK
from mnlearn.kernels.lem.partition import (
    is_small,
    mask_sides,
    merge_clauses,
    tie_links,
    tie_pairs,
)
from mnlearn.kernels.lem.triples import merge_triples


@kernel
def assess(node, clauses, feature, mask, n_one, sides, settings, floor, cost):
    """Partition both sides of a feature, and fill in log2 of their costs.

    mask : the bits of the examples that satisfy the feature, of which there are n_one.
    floor : a score; a feature that is certain to be below it is not looked at any further.
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
    if not (small[0] and small[1]):
        mask_sides(node, mask, n_side, sides)
        tie_links(node, n_side, sides, settings)
        # Blocks only grow, and the costs with them.
        if _cost_sides(node, small, sides, settings, cost) < floor:
            cost[:] = np.inf
            return
        tie_pairs(node, n_side, sides, settings)
    score = _cost_sides(node, small, sides, settings, cost)
    for s in range(2):
        if settings.subset_size >= 3 and not small[s] and score >= floor:
            score = merge_triples(node, n_side[s], settings, sides[s], cost, s, floor)
    if score < floor:
        cost[:] = np.inf


@kernel
def _cost_sides(node, small, sides, settings, cost):
    """Fill in log2 of the costs of both sides as they are; return the score."""
    for s in range(2):
        one_block = settings.small_side == ONE_BLOCK and small[s]
        cost[s] = cost_of(sides[s], node.log2_size, one_block)
    return score_of(cost, settings.joint_score)
