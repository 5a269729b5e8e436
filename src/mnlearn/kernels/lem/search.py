"""The search for the feature, a row of slots padded with NONE, that divides a node best.

A feature is worth what the partitions of its two sides cost (Sections 3 and 4 of the paper). Scores
are base-2 logarithms: a block of thousands of variables has too many states for a number.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import count_bits
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.lem.node import (
    INADMISSIBLE,
    ONE_BLOCK,
    Node,
    add_clause,
    divide_domain,
    find_copies,
    mask_of,
    new_side,
    pack_columns,
    select_examples,
    spanning_forest,
)
from mnlearn.kernels.lem.partition import (
    cost_of,
    count_pairs,
    is_small,
    mask_side,
    mask_sides,
    merge_clauses,
    merge_pairs,
    score_of,
    tie_links,
    tie_pairs,
)
from mnlearn.kernels.lem.sets import merge_sets


@kernel
def assess(node, clauses, feature, mask, n_one, sides, settings, floor, cost):
    """Partition both sides of a feature, and fill in log2 of their costs.

    These are infinite where the feature is not admissible, or once it is certain to score below
    `floor`. mask, n_one : the examples that satisfy the feature.
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
            score = merge_sets(node, n_side[s], settings, sides[s], cost, s, floor)
    if score < floor:
        cost[:] = np.inf


@kernel
def _cost_sides(node, small, sides, settings, cost):
    """Fill in log2 of the costs of both sides as they are; return the score."""
    for s in range(2):
        one_block = settings.small_side == ONE_BLOCK and small[s]
        cost[s] = cost_of(sides[s], node.log2_size, one_block)
    return score_of(cost, settings.joint_score)


NONE = -1
# Scores are equal within rounding if they differ by less than this share. They are made of whole
# numbers of states (decision 0023).
_EQUAL = 1e-12
_EQUAL_LOG2 = 1.4426950408889634 * _EQUAL


@kernel
def search_feature(node, clauses, sides, settings):
    """Return the best feature, as slots; empty if none is admissible."""
    if settings.exhaustive:
        features = conjunctions(node, settings.max_feature_length, settings.both_values)
        best, _ = _best_of(features, node, clauses, sides, settings, -np.inf)
        return best
    feature = np.empty(0, np.int32)
    score = -np.inf
    for _ in range(settings.max_feature_length):
        features = longer_features(node, feature, settings.both_values)
        # Among similar features the rule of balance may choose one below the score so far.
        floor = -np.inf if settings.similar > 0.0 else score
        best, total = _best_of(features, node, clauses, sides, settings, floor)
        if len(best) == 0 or total <= score + _EQUAL_LOG2:
            break
        feature, score = best, total
    return feature


@kernel
def _best_of(features, node, clauses, sides, settings, floor):
    """Return the best of the features and its score; those below `floor` need not be looked at."""
    n_words = node.columns.shape[1]
    cost = np.full((len(features), 2), np.inf)
    total = np.full(len(features), -np.inf)
    n_one = np.zeros(len(features), np.int64)
    mask, part = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    tied = _tied_variables(node, clauses)
    for f in range(len(features)):
        feature = strip(features[f])
        if _repeats(feature, node, tied, settings.both_values):
            continue
        feature_mask(node, feature, mask, part)
        n_one[f] = count_bits(mask)
        if n_one[f] == 0 or n_one[f] == node.n:
            continue
        assess(node, clauses, feature, mask, n_one[f], sides, settings, floor, cost[f])
        total[f] = score_of(cost[f], settings.joint_score)
        if settings.similar < 1.0:
            floor = max(floor, total[f] + np.log2(1.0 - settings.similar) - 2.0 * _EQUAL_LOG2)
    for f in range(len(features)):
        n_one[f] = -abs(2 * n_one[f] - node.n)
    f = choose(total, cost, n_one, settings.similar, settings.balance)
    if f == NONE:
        return np.empty(0, np.int32), -np.inf
    return strip(features[f]).copy(), total[f]


@kernel
def choose(total, cost, even, similar, balance):
    """Return the position of the best feature (the first of equals), NONE if none is admissible.

    balance : of the features with similar scores, take that with the least difference between the
    scores of its sides. even : decides between equals, the greater is better.
    """
    best = -np.inf
    for f in range(len(total)):
        best = max(best, total[f])
    if best == -np.inf:
        return NONE
    left = np.zeros(len(total), np.bool_)
    evenness = np.zeros(len(total))
    for f in range(len(total)):
        left[f] = total[f] > -np.inf
        if left[f] and balance:
            left[f] = 2.0 ** (total[f] - best) >= 1.0 - similar - _EQUAL
            evenness[f] = -abs(2.0 ** (-cost[f, 0] - best) - 2.0 ** (-cost[f, 1] - best))
    _keep_greatest(evenness, left, _EQUAL)
    if similar > 0.0 or not balance:
        _keep_greatest(total, left, _EQUAL_LOG2)
    _keep_greatest(even, left, 0.0)
    f = 0
    while not left[f]:
        f += 1
    return f


@kernel
def _keep_greatest(value, left, tolerance):
    """Leave of the features those whose value is within the tolerance of the greatest."""
    greatest = -np.inf
    for f in range(len(value)):
        if left[f]:
            greatest = max(greatest, value[f])
    for f in range(len(value)):
        left[f] &= value[f] >= greatest - tolerance


@kernel
def strip(padded):
    """Return the slots of a feature without the padding."""
    length = 0
    while length < len(padded) and padded[length] != NONE:
        length += 1
    return padded[:length]


@kernel
def feature_mask(node, feature, mask, part):
    """Fill in the bits of the examples that satisfy a feature. part : uint64, scratch."""
    for k in range(len(feature)):
        s = feature[k]
        mask_of(node.columns, node.slot, node.owner[s], s, node.last_word, part)
        for w in range(len(mask)):
            mask[w] = part[w] if k == 0 else mask[w] & part[w]


@kernel
def _tied_variables(node, clauses):
    """Mark the variables of clauses."""
    tied = np.zeros(len(node.copy_of), np.bool_)
    for e in range(clauses.start[clauses.n]):
        tied[node.owner[clauses.slots[e]]] = True
    return tied


@kernel
def _repeats(feature, node, tied, both):
    """Tell whether an earlier feature has the same score, for a copy is like its original."""
    for s in feature:
        j = node.owner[s]
        original = node.copy_of[j]
        if original == j or tied[j] or tied[original]:
            continue
        inside = False
        for t in feature:
            inside |= node.owner[t] == original
        same = node.slot[original] + ((s - node.slot[j]) ^ np.int32(node.opposite[j]))
        # By itself, a value of two divides the examples as the other one does.
        if not inside and (len(feature) == 1 or both or node.literal[same]):
            return True
    return False


@kernel
def longer_features(node, feature, both):
    """Return the feature with each literal of another variable added, one a row."""
    out = np.empty((len(node.owner), len(feature) + 1), np.int32)
    n = 0
    for s in range(len(node.owner)):
        free = node.literal[s] or (both and len(feature) > 0)
        for t in feature:
            free &= node.owner[t] != node.owner[s]
        if free:
            at = len(feature)
            while at > 0 and feature[at - 1] > s:
                out[n, at] = feature[at - 1]
                at -= 1
            out[n, at] = s
            copy_into(out[n], feature[:at])
            n += 1
    return out[:n]


@kernel
def conjunctions(node, max_length, both):
    """Return all features of up to `max_length` literals, shorter ones first."""
    out, n, first = np.full((1, max_length), NONE, np.int32), 1, 0
    for length in range(max_length):
        last = n
        room = np.full((last + (last - first) * len(node.owner), max_length), NONE, np.int32)
        for r in range(last):
            copy_into(room[r], out[r])
        out = room
        for r in range(first, last):
            for s in range(len(node.owner)):
                after = length == 0 or node.owner[s] > node.owner[out[r, length - 1]]
                if after and (both or node.literal[s]):
                    copy_into(out[n], out[r])
                    out[n, length] = s
                    n += 1
        first = last
    kept = 0
    for r in range(1, n):
        if (max_length > 1 and out[r, 1] != NONE) or node.literal[out[r, 0]]:
            copy_into(out[kept], out[r])
            kept += 1
    return out[:kept]


# How many triples that tied blocks are remembered at a node.
_N_TYING = 64


@kernel
def divide_node(values, examples, variable, slot, slot_value, clauses, tables, settings):
    """Find the best feature of a node and the blocks, the values left and their number on either
    side.

    Side 0 is where the feature does not hold; without a feature both are those of the node. The
    examples of either side are returned, too. tables : `c_log_c` and `log2_size` of `Node`, and the
    number of values of each variable before any were ruled out.
    """
    node = _make_node(values, examples, variable, slot, slot_value, tables)
    n_words = node.columns.shape[1]
    sides = (
        new_side(len(variable), len(slot_value), n_words),
        new_side(len(variable), len(slot_value), n_words),
    )
    feature = search_feature(node, clauses, sides, settings)
    mask, part = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    if len(feature):
        feature_mask(node, feature, mask, part)
        cost = np.empty(2)
        assess(node, clauses, feature, mask, count_bits(mask), sides, settings, -np.inf, cost)
    else:
        mask[:] = ~np.uint64(0)
        mask[-1] = node.last_word
        for side in sides:
            _partition_all(node, clauses, mask, settings, side)
    label, size = np.empty((2, len(variable)), np.int32), np.empty((2, len(variable)), np.int32)
    alive = np.empty((2, len(slot_value)), np.uint8)
    for s in range(2):
        copy_into(label[s], sides[s].label)
        copy_into(alive[s], sides[s].alive)
        copy_into(size[s], sides[s].size)
    return feature, label, alive, size, _divide_examples(node, examples, mask)


@kernel
def _divide_examples(node, examples, mask):
    """Return the examples whose bits are not set in the mask, and those whose bits are."""
    n_one = count_bits(mask)
    ones, zeros = np.empty(n_one, np.int32), np.empty(node.n - n_one, np.int32)
    select_examples(examples, mask, ones)
    rest = ~mask
    rest[-1] &= node.last_word
    select_examples(examples, rest, zeros)
    return zeros, ones


@kernel
def _make_node(values, examples, variable, slot, slot_value, tables):
    """Return the node with its columns packed and counted."""
    n, n_variables, n_slots = len(examples), len(variable), len(slot_value)
    columns = np.empty((n_slots - n_variables, (n + 63) // 64), np.uint64)
    pack_columns(values, examples, variable, slot, slot_value, columns)
    used = n % 64
    last_word = (np.uint64(1) << np.uint64(used)) - np.uint64(1) if used else ~np.uint64(0)
    owner, literal = np.empty(n_slots, np.int32), np.empty(n_slots, np.bool_)
    largest = 0
    for j in range(n_variables):
        for s in range(slot[j], slot[j + 1]):
            owner[s] = j
            literal[s] = tables[2][variable[j]] > 2 or slot_value[s] == 1
        largest = max(largest, slot[j + 1] - slot[j])
    copy_of, opposite = np.empty(n_variables, np.int32), np.empty(n_variables, np.bool_)
    find_copies(columns, slot, last_word, copy_of, opposite)
    both = np.empty((len(columns), len(columns)), np.int32)
    varies = np.zeros(n_variables, np.bool_)
    for j in range(n_variables):
        for c in range(slot[j] - j, slot[j + 1] - j - 1):
            varies[j] |= copy_of[j] == j and count_bits(columns[c]) > 0
    variables = np.flatnonzero(varies)
    count_pairs(slot, variables, columns, columns, both)
    links = spanning_forest(slot, variables, columns, both, n, tables[0])
    cells = np.empty(largest**3, np.int64)
    return Node(
        columns, last_word, n, slot, owner, literal, copy_of, opposite, both, links,
        np.empty((_N_TYING, 3), np.int64), np.zeros(1, np.int64), tables[0], tables[1], cells,
    )  # fmt: skip


@kernel
def _partition_all(node, clauses, mask, settings, side):
    """Partition the variables of a node, whatever the feature."""
    side.alive[:] = 1
    for j in range(len(side.size)):
        side.size[j] = node.slot[j + 1] - node.slot[j]
    merge_clauses(node, clauses, clauses.n, side)
    if is_small(node.n, settings):
        return
    mask_side(node, mask, np.uint64(0), node.n, side)
    for c in range(len(node.both)):
        copy_into(side.both[c], node.both[c])
    merge_pairs(node, node.n, settings, side)
    if settings.subset_size >= 3:
        # Every literal in a call would compile the kernel once more.
        merge_sets(node, node.n, settings, side, np.zeros(2), np.int64(0), -np.inf)
