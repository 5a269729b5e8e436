"""Gradient boosting: kernels that grow small regression trees of the scores of states.

A tree of depth d is an array in which the children of node i are 2 i + 1 (the column is 0) and
2 i + 2. Its inner nodes come first, 2^d - 1 of them.
"""

from typing import NamedTuple

import numpy as np

from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.trees import LEAF


class BoostRule(NamedTuple):
    """How trees are grown.

    rate : share of the Newton step that a leaf takes. l2 : penalty on the value of a leaf.
    least : least curvature on each side of a split.
    """

    rate: float
    l2: float
    least: float


@kernel
def boost(data, state, target, rule, score, split, value):
    """Add trees to the scores of the states but the first, round after round.

    data : TreeData. state : uint8, (n_rows,), of the target. target : its first column and the end.
    score : float64, (n_rows, k), the scores at the start; the trees are added to them.
    split : int32, (k - 1, n_rounds, n_inner), filled with columns and LEAF.
    value : float64, (k - 1, n_rounds, n_nodes), filled.
    """
    n_rows, k = score.shape
    n_inner = split.shape[2]
    sums = np.empty((n_inner, len(data.columns), 2))
    p, slope = np.empty((n_rows, k)), np.empty((n_rows, 2))
    node = np.empty(n_rows, np.int32)
    for r in range(split.shape[1]):
        _probabilities(score, p)
        for s in range(1, k):
            for i in range(n_rows):
                slope[i, 0] = data.weight[i] * (p[i, s] - (state[i] == s))
                slope[i, 1] = data.weight[i] * p[i, s] * (1.0 - p[i, s])
            _grow(data, slope, target, rule, sums, node, split[s - 1, r], value[s - 1, r])
            for i in range(n_rows):
                score[i, s] += value[s - 1, r, node[i]]


@kernel
def _probabilities(score, p):
    """Fill in the probabilities of the states of each row."""
    for i in range(len(score)):
        high, total = -np.inf, 0.0
        for s in range(score.shape[1]):
            high = max(high, score[i, s])
        for s in range(score.shape[1]):
            p[i, s] = np.exp(score[i, s] - high)
            total += p[i, s]
        for s in range(score.shape[1]):
            p[i, s] /= total


@kernel
def _grow(data, slope, target, rule, sums, node, split, value):
    """Grow one tree, level by level; fill in its splits, its values and the leaf of each row."""
    total = np.zeros((len(value), 2))
    total[0, 0], total[0, 1] = slope[:, 0].sum(), slope[:, 1].sum()
    node[:] = 0
    split[:] = LEAF
    first = 0
    while first < len(split):
        _sum_ones(data, slope, node, first, split, sums)
        for j in range(first, 2 * first + 1):
            if j == 0 or split[(j - 1) // 2] != LEAF:
                split[j] = _best_column(sums[j], total[j], target, rule)
            if split[j] != LEAF:
                for k in range(2):
                    total[2 * j + 2, k] = sums[j, split[j], k]
                    total[2 * j + 1, k] = total[j, k] - total[2 * j + 2, k]
        for i in range(len(node)):
            j = node[i]
            if j >= first and split[j] != LEAF:
                node[i] = 2 * j + 1 + data.columns[split[j], i]
        first = 2 * first + 1
    for j in range(len(value)):
        value[j] = -rule.rate * total[j, 0] / (total[j, 1] + rule.l2)


@kernel
def _sum_ones(data, slope, node, first, split, sums):
    """Fill in, for each node of a level and each column, the sums over the rows with a one.

    Rows are read below the root and on the sides of ones; the rest is left for the other sides.
    """
    sums[first : 2 * first + 1] = 0.0
    for i in range(len(node)):
        if node[i] < first or node[i] % 2:
            continue
        own = sums[node[i]]
        for e in range(data.indptr[i], data.indptr[i + 1]):
            own[data.indices[e], 0] += slope[i, 0]
            own[data.indices[e], 1] += slope[i, 1]
    for j in range((first - 1) // 2, first):
        if first > 0 and split[j] != LEAF:
            for c in range(sums.shape[1]):
                for k in range(2):
                    sums[2 * j + 1, c, k] = sums[j, c, k] - sums[2 * j + 2, c, k]


@kernel
def _best_column(ones, total, target, rule):
    """Return the column that lowers the penalised loss most, the first of equals; or LEAF."""
    best, column = EQUAL * total[1], LEAF
    here = total[0] ** 2 / (total[1] + rule.l2)
    for c in range(len(ones)):
        one, zero = ones[c, 1], total[1] - ones[c, 1]
        if one < rule.least or zero < rule.least or target[0] <= c < target[1]:
            continue
        gain = ones[c, 0] ** 2 / (one + rule.l2) - here
        gain += (total[0] - ones[c, 0]) ** 2 / (zero + rule.l2)
        if gain > best + EQUAL * total[1]:
            best, column = gain, c
    return column
