"""Probability trees: what is written when a node is split, and whole trees by definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.trees import (
    LEAF,
    Smoothing,
    SplitRule,
    TreeData,
    TreeNodes,
    TreeRoom,
    _add_children,
    cooccurrence,
    grow_tree,
    tree_log_odds,
)


def test_the_children_are_leaves_without_a_gain():
    split_var, gain = np.full(7, 99, np.int32), np.full(7, np.nan)
    child, count = np.full((7, 2), 99, np.int32), np.full((7, 2), np.nan)
    count[1] = 10.0, 6.0
    _add_children(1, 5, 3, 4.0, 1.0, split_var, child, gain, count)
    assert split_var.tolist() == [99, 5, 99, LEAF, LEAF, 99, 99]
    assert child.tolist() == [[99, 99], [3, 4], *[[99, 99]] * 5]
    assert_array_equal(count[[1, 3, 4]], [[10, 6], [6, 5], [4, 1]])
    assert_array_equal(gain, [np.nan, np.nan, np.nan, -np.inf, -np.inf, np.nan, np.nan])


class Grown:
    """A tree by its definition, in plain Python; its nodes in the order in which they are made."""

    def __init__(self, target, rows, weight, min_gain, least, pseudocount):
        self.target, self.rows, self.weight = target, rows, weight
        self.min_gain, self.least, self.pseudocount = min_gain, least, pseudocount
        self.nodes = [self._leaf(np.arange(len(rows)))]
        waiting = [0] if self._may_grow(0) else []
        while waiting:
            waiting += self._split(waiting.pop())

    def _leaf(self, members):
        own = self.weight[members] * np.eye(2)[self.rows[members, self.target]].T
        return {"rows": members, "count": own.sum(axis=1), "gain": -np.inf, "split": LEAF}

    def _score(self, count):
        n, p = count.sum(), self.pseudocount
        return count @ np.log(np.maximum(count + p, 1e-99)) - n * np.log(max(n + 2 * p, 1e-99))

    def _may_grow(self, node):
        c0, c1 = self.nodes[node]["count"]
        pure = self._score(np.array([c0, 0])) + self._score(np.array([0, c1]))
        return pure - self._score(np.array([c0, c1])) > self.min_gain

    def _split(self, number):
        """Split a node if that pays; return its children that may grow, the larger one first."""
        node = self.nodes[number]
        tolerance = EQUAL * node["count"].sum()
        candidates = []
        for u in range(self.rows.shape[1]):
            sides = [node["rows"][self.rows[node["rows"], u] == x] for x in (0, 1)]
            counts = [self._leaf(side)["count"] for side in sides]
            enough = min(len(side) for side in sides) > 0
            if u == self.target or not enough or min(c.sum() for c in counts) < self.least:
                continue
            gain = sum(map(self._score, counts)) - self._score(node["count"])
            candidates.append((gain, (u, sides)))
        best = max((gain for gain, _ in candidates), default=-np.inf)
        gain, chosen = next((c for c in candidates if c[0] >= best - tolerance), (best, None))
        node["gain"] = gain - tolerance
        if not node["gain"] > self.min_gain:
            return []
        node["split"], sides = chosen
        first = len(self.nodes)
        node["child"] = [first, first + 1]
        self.nodes += map(self._leaf, sides)
        one_is_small = len(sides[1]) <= len(sides[0])
        order = [first, first + 1] if one_is_small else [first + 1, first]
        return [child for child in order if self._may_grow(child)]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(16))
def test_trees_by_their_definition(seed, whole):
    rng = np.random.default_rng(seed)
    n_rows, n_vars = int(rng.choice([1, 2, 5, 40, 90])), int(rng.integers(1, 7))
    rows = rng.integers(0, 2, (n_rows, n_vars)).astype(np.uint8)
    for v in range(1, n_vars):
        copied = rng.random(n_rows) < 0.6
        rows[copied, v] = rows[copied, v - 1]
    weight = rng.integers(1, 4, n_rows) * (1.0 if whole else 0.5)
    least, pseudocount = float(rng.choice([0.0, 2.0, 6.0])), float(rng.choice([0.1, 1.0]))
    min_gain = float(rng.choice([0.0, 0.3, 2.0]))
    start = np.cumsum([0, *rows.sum(axis=1)]).astype(np.int64)
    pairs = np.zeros((n_vars, n_vars))
    ones = np.nonzero(rows)[1].astype(np.int32)
    cooccurrence(start, ones, weight, pairs)
    assert_array_equal(pairs, (rows.T * weight) @ rows)
    data = TreeData(np.ascontiguousarray(rows.T), start, ones, weight, pairs)
    counts = np.arange(int(weight.sum()) + 1) if whole else np.zeros(0)
    logs = np.log(counts + pseudocount), np.log(counts + 2 * pseudocount)
    rule = SplitRule(min_gain, least, Smoothing(pseudocount, *logs))
    n_levels = int(np.log2(n_rows)) + 4
    room = TreeRoom(
        np.full((n_levels, 2, n_vars), np.nan),
        np.full((n_levels, n_vars), 99, np.int32),
        np.full(n_vars, np.nan),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int32),
        np.empty((n_levels, 4), np.int64),
    )
    nodes = TreeNodes(
        np.full(2 * n_rows, 99, np.int32),
        np.full((2 * n_rows, 2), 99, np.int32),
        np.full(2 * n_rows, np.nan),
        np.full((2 * n_rows, 2), np.nan),
    )
    for target in range(n_vars):
        expected = Grown(target, rows, weight, min_gain, least, pseudocount).nodes
        n = grow_tree(target, data, rule, room, nodes)
        assert n == len(expected)
        assert nodes.split_var[:n].tolist() == [node["split"] for node in expected]
        assert_allclose(nodes.gain[:n], [node["gain"] for node in expected], atol=1e-9)
        assert_allclose(nodes.value_weight[:n], [node["count"] for node in expected], atol=1e-9)
        inner = [(k, node["child"]) for k, node in enumerate(expected) if "child" in node]
        assert all(nodes.child[k].tolist() == child for k, child in inner)
        out, leaf_log_odds = np.empty((n_rows, 1)), rng.normal(size=n)
        tree = nodes.split_var[:n].copy(), nodes.child[:n].copy()
        tree_log_odds(rows, np.array([0, n]), *tree, leaf_log_odds, out)
        for k, node in enumerate(expected):
            if "child" not in node:
                assert (out[node["rows"], 0] == leaf_log_odds[k]).all()
