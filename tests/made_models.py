"""Random Markov and dependency networks, two fixed ones, and how tests compare them."""

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from mnlearn.models.dependency_network import (
    LEAF,
    DependencyNetwork,
    Trees,
    tree_network,
)
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.variables.schema import binary_schema

modest = settings(
    deadline=None,
    max_examples=40,
    # The files of one example are overwritten by the next.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def log_prob_of(log_odds):
    return (-np.logaddexp(0.0, log_odds), -np.logaddexp(0.0, -log_odds))


numbers = st.one_of(
    st.floats(-60, 60),
    st.sampled_from([0.0, -0.0, 1e-300, 3.0, 1e16, -1e22, 0.1, float("-inf")]),
)
leaves = st.one_of(
    st.floats(-40, 40).map(log_prob_of),
    st.sampled_from([(-np.inf, 0.0), (0.0, -np.inf), log_prob_of(0.0)]),
)


def name_tuples(n_vars):
    # Control characters, but not tab, line feed and carriage return, are refused in names.
    printable = st.characters(
        codec="utf-8",
        exclude_categories=("Cs",),
        exclude_characters=[*map(chr, (*range(9), 11, 12, *range(14, 32), 127, 0xFFFE, 0xFFFF))],
    )
    text = st.text(printable, min_size=1, max_size=5)
    return st.none() | st.lists(text, min_size=n_vars, max_size=n_vars, unique=True).map(tuple)


def conjunctions(variables, max_size=4):
    pairs = st.dictionaries(st.sampled_from(variables), st.integers(0, 1), max_size=max_size)
    return pairs.map(lambda d: sorted(d.items()))


@st.composite
def markov_networks(draw):
    n_vars = draw(st.integers(1, 6))
    row = st.tuples(conjunctions(range(n_vars)).filter(len), numbers)
    rows = draw(st.lists(row, min_size=1, max_size=12))
    weight = np.array([weight for _, weight in rows])
    names = draw(name_tuples(n_vars))
    return markov_network(binary_schema(n_vars, names), features_of([c for c, _ in rows]), weight)


@st.composite
def nested_trees(draw, variables, depth):
    """A leaf is its pair of log-probabilities, an inner node (variable, zero, one)."""
    if depth == 0 or not variables or draw(st.booleans()):
        return draw(leaves)
    below = nested_trees(variables, depth - 1)
    return (draw(st.sampled_from(variables)), draw(below), draw(below))


def trees_of(nested):
    """Flat arrays of nested trees; the subtree for value 1 comes first."""
    start, split_var, child, log_prob = [0], [], [], []

    def add(tree):
        node = len(split_var)
        split_var.append(LEAF)
        child.append([LEAF, LEAF])
        log_prob.append(log_prob_of(0.0))
        if len(tree) == 2:
            log_prob[node] = tree
        else:
            split_var[node] = tree[0]
            one, zero = add(tree[2]), add(tree[1])
            child[node] = [zero, one]
        return node

    for tree in nested:
        add(tree)
        start.append(len(split_var))
    return Trees(
        np.array(start, np.int64),
        np.array(split_var, np.int32),
        np.array(child, np.int32),
        np.array(log_prob, np.float64),
    )


@st.composite
def dependency_networks(draw):
    n_vars = draw(st.integers(1, 6))
    others = [[u for u in range(n_vars) if u != v] for v in range(n_vars)]
    nested = [draw(nested_trees(others[v], 3)) for v in range(n_vars)]
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        v = draw(st.integers(0, n_vars - 1))
        literals = draw(conjunctions(others[v], 3)) if others[v] else []
        literals = sorted([*literals, (v, draw(st.integers(0, 1)))])
        rows.append((literals, v, draw(st.floats(-60, 60))))
    return DependencyNetwork(
        trees_of(nested),
        features_of([literals for literals, _, _ in rows]),
        np.array([v for _, v, _ in rows], np.int32),
        np.array([weight for _, _, weight in rows], np.float64),
        binary_schema(n_vars, draw(name_tuples(n_vars))),
    )


def arrays_of(model):
    """The arrays that make a model, by name."""
    arrays = {f"features.{k}": getattr(model.features, k) for k in ("start", "var", "value")}
    arrays["weight"] = model.weight
    if isinstance(model, DependencyNetwork):
        arrays["target"] = model.target
        for k in ("start", "split_var", "child", "log_prob"):
            arrays[f"trees.{k}"] = getattr(model.trees, k)
    return arrays


def assert_equal_models(a, b):
    assert type(a) is type(b)
    assert a.schema == b.schema
    ours, theirs = arrays_of(a), arrays_of(b)
    for name, array in ours.items():
        assert array.dtype == theirs[name].dtype, name
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


ISING = markov_network(
    binary_schema(3, ("a", "b", "c,d")),
    features_of([[(0, 1)], [(0, 1), (1, 1)], [(1, 0), (2, 1)]]),
    [1, 2, 3],
)
TREES = tree_network(trees_of([(1, (2, *[log_prob_of(1.0)] * 2), log_prob_of(0.0)),
                               log_prob_of(0.2), log_prob_of(0.3)]))  # fmt: skip
