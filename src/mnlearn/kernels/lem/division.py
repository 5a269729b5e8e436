"""One step of LEM: the best feature of a node and what it leaves of either side."""

import numpy as np

from mnlearn.kernels.arithmetic.bits import count_bits
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.lem.entropies import spanning_forest
from mnlearn.kernels.lem.node import Node, find_copies, new_side, pack_columns, select_examples
from mnlearn.kernels.lem.partition import (
    count_pairs,
    is_small,
    mask_side,
    merge_clauses,
    merge_pairs,
    merge_triples,
)
from mnlearn.kernels.lem.search import assess, feature_mask, search_feature

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
        label[s], alive[s], size[s] = sides[s].label, sides[s].alive, sides[s].size
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
    copy_into(side.both, node.both)
    merge_pairs(node, node.n, settings, side)
    if settings.subset_size >= 3:
        # Every literal in a call would compile the kernel once more.
        merge_triples(node, node.n, settings, side, np.zeros(2), np.int64(0), -np.inf)


@kernel
def count_cells(values, examples, variable, slot, slot_value, count):
    """Count the joint values of a few variables; the last variable's value changes first."""
    count[:] = 0
    position = np.zeros((len(variable), 256), np.int64)
    stride = 1
    for j in range(len(variable) - 1, -1, -1):
        for s in range(slot[j], slot[j + 1]):
            position[j, slot_value[s]] = (s - slot[j]) * stride
        stride *= slot[j + 1] - slot[j]
    for i in range(len(examples)):
        cell = 0
        for j in range(len(variable)):
            cell += position[j, values[variable[j], examples[i]]]
        count[cell] += 1
