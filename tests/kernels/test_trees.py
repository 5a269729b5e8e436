"""Probability trees: what is written when a node is split, and whole trees by definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mnlearn.data.rows import pack_columns
from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.trees import (
    LEAF,
    Smoothing,
    SplitRule,
    Target,
    TreeData,
    TreeNodes,
    TreeRoom,
    cooccurrence,
    grow_tree,
    tree_scores,
)
from mnlearn.variables.schema import Schema, Variable

# Numbers of states of the variables; the columns of the kernel are their indicators.
ARITIES = [(2,), (2, 2, 2, 2, 2, 2), (2, 2, 2), (2, 3, 4), (3, 2, 1, 4), (4, 3), (5, 2, 2, 3)]


class Grown:
    """A tree by its definition, in plain Python; its nodes in the order in which they are made."""

    def __init__(self, target, values, rows, weight, min_gain, least, pseudocount):
        self.target, self.rows, self.weight = target, rows, weight
        self.min_gain, self.least, self.pseudocount = min_gain, least, pseudocount
        self.state, self.k = values, len(target.total)
        self.nodes = [self._leaf(np.arange(len(rows)))]
        waiting = [0] if self._may_grow(0) else []
        while waiting:
            waiting += self._split(waiting.pop())

    def _leaf(self, members):
        own = self.weight[members] * np.eye(self.k)[self.state[members]].T
        return {"rows": members, "count": own.sum(axis=1), "gain": -np.inf, "split": LEAF}

    def _score(self, count):
        n, p = count.sum(), self.pseudocount
        return count @ np.log(np.maximum(count + p, 1e-99)) - n * np.log(max(n + self.k * p, 1e-99))

    def _may_grow(self, node):
        count = self.nodes[node]["count"]
        return sum(map(self._score, np.diag(count))) - self._score(count) > self.min_gain

    def _split(self, number):
        """Split a node if that pays; return its children that may grow, the larger one first."""
        node = self.nodes[number]
        tolerance = EQUAL * node["count"].sum()
        candidates = []
        for u in range(self.rows.shape[1]):
            sides = [node["rows"][self.rows[node["rows"], u] == x] for x in (0, 1)]
            counts = [self._leaf(side)["count"] for side in sides]
            enough = min(len(side) for side in sides) > 0
            own = self.target.first <= u < self.target.end
            if own or not enough or min(c.sum() for c in counts) < self.least:
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


def target_of(v, schema, rows, weight):
    """The target of a tree, by its definition."""
    state, first, end = schema.values(rows)[:, v], schema.start[v], schema.start[v + 1]
    by_state = weight * (state == np.arange(schema.arity[v])[:, None])
    return Target(int(first), int(end), state, by_state @ rows, by_state.sum(axis=1))


def room_of(n_rows, n_columns, n_states):
    n_levels = int(np.log2(n_rows)) + 4
    room = TreeRoom(
        np.full((n_levels, n_states, n_columns), np.nan),
        np.full((n_levels, n_columns), 99, np.int32),
        np.full(n_columns, np.nan),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int32),
        np.empty((n_levels, 4), np.int64),
    )
    nodes = TreeNodes(
        np.full(2 * n_rows, 99, np.int32),
        np.full((2 * n_rows, 2), 99, np.int32),
        np.full(2 * n_rows, np.nan),
        np.full((2 * n_rows, n_states), np.nan),
    )
    return room, nodes


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("arities", ARITIES)
@pytest.mark.parametrize("seed", range(5))
def test_trees_by_their_definition(seed, arities, whole):
    rng = np.random.default_rng(seed)
    n_rows = [1, 2, 5, 40, 90][seed]
    schema = Schema(tuple(Variable(f"V{v}", tuple(range(k))) for v, k in enumerate(arities)))
    values = rng.integers(0, arities, (n_rows, len(arities)))
    for v in range(1, len(arities)):
        copied = rng.random(n_rows) < 0.6
        values[copied, v] = values[copied, v - 1] % arities[v]
    rows = schema.rows(values)
    weight = rng.integers(1, 4, n_rows) * (1.0 if whole else 0.5)
    least, pseudocount = float(rng.choice([0.0, 2.0, 6.0])), float(rng.choice([0.1, 1.0]))
    min_gain = float(rng.choice([0.0, 0.3, 2.0]))
    start = np.cumsum([0, *rows.sum(axis=1)]).astype(np.int64)
    pairs = np.zeros((schema.n_columns, schema.n_columns))
    ones = np.nonzero(rows)[1].astype(np.int32)
    cooccurrence(start, ones, weight, pairs)
    assert_array_equal(pairs, (rows.T * weight) @ rows)
    n_bits = int(weight.max()).bit_length() if whole else 0
    columns = np.ascontiguousarray(rows.T)
    data = TreeData(columns, start, ones, weight, pack_columns(rows), n_bits)
    counts = np.arange(int(weight.sum()) + 1) if whole else np.zeros(0)
    for v, k in enumerate(arities):
        added = pseudocount, k * pseudocount
        logs = [np.log(counts + one) for one in added]
        rule = SplitRule(min_gain, least, Smoothing(*added, *logs))
        target = target_of(v, schema, rows, weight)
        grown = Grown(target, values[:, v], rows, weight, min_gain, least, pseudocount)
        expected, (room, nodes) = grown.nodes, room_of(n_rows, schema.n_columns, k)
        n = grow_tree(target, data, rule, room, nodes)
        assert n == len(expected)
        assert nodes.split_var[:n].tolist() == [node["split"] for node in expected]
        assert_allclose(nodes.gain[:n], [node["gain"] for node in expected], atol=1e-9)
        assert_allclose(nodes.state_weight[:n], [node["count"] for node in expected], atol=1e-9)
        inner = [(at, node["child"]) for at, node in enumerate(expected) if "child" in node]
        assert all(nodes.child[at].tolist() == child for at, child in inner)
        out, leaf_log_odds = np.empty((n_rows, 1)), rng.normal(size=n)
        tree = nodes.split_var[:n].copy(), nodes.child[:n].copy()
        log_prob = np.column_stack([np.zeros(n), leaf_log_odds])
        tree_scores(rows, np.array([0, n]), *tree, log_prob, np.array([0, 1]), out)
        for at, node in enumerate(expected):
            if "child" not in node:
                assert (out[node["rows"], 0] == leaf_log_odds[at]).all()
