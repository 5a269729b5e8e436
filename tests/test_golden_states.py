"""Trees of variables of many states, and their networks by DN2MN, against those of Libra."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_states import schema_of
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.conversion import Orders, to_markov_network
from mnlearn.learning.trees import learn_tree_path
from mnlearn.models.dependency_network import Trees, tree_network

TABLE = np.loadtxt(Path(__file__).parent / "golden_dn2mn_of_states.txt")
VALUES, COUNT = TABLE[:, :6].astype(int), TABLE[:, 6]
SCHEMA = schema_of(*VALUES.max(axis=0) + 1)


@pytest.fixture(scope="module")
def trees():
    """Trees in which one count is spread over the states of a target, as Libra does."""
    seen = COUNT > 0
    data = merge_rows(SCHEMA.rows(VALUES[seen]), COUNT[seen], SCHEMA)
    kappa, least = float(np.exp(-5)), 10.0
    of_arity = {
        k: learn_tree_path(data, kappa, least, pseudocount=1 / k).trees
        for k in set(SCHEMA.arity.tolist())
    }
    start, parts = [0], []
    for v, k in enumerate(SCHEMA.arity.tolist()):
        first, end = of_arity[k].start[v : v + 2]
        child = of_arity[k].child[first:end]
        child = np.where(child < 0, child, child - first + start[-1])
        parts.append((of_arity[k].split_var[first:end], child, of_arity[k].log_prob[first:end]))
        start.append(start[-1] + end - first)
    return data, Trees(np.array(start), *map(np.concatenate, zip(*parts, strict=True)))


@pytest.mark.parametrize(
    ("column", "orders"),
    [
        (7, Orders(np.arange(6))),
        # Libra keeps the earlier variables of an order as they are in the row.
        (8, Orders(np.arange(6)[::-1], rotations=False, reverse=False)),
    ],
)
def test_converted_networks_are_those_of_libra(column, orders, trees):
    data, grown = trees
    n_states = SCHEMA.arity[SCHEMA.variable_of]
    base = (data.ones + 1 / n_states) / (data.n_examples + 1)
    network = to_markov_network(tree_network(grown, SCHEMA), base, orders)
    found = network.features.satisfied(SCHEMA.rows(VALUES)) @ network.weight
    expected = TABLE[:, column]
    assert np.ptp(expected) > 9
    assert_allclose(found - found[0], expected - expected[0], atol=1e-5)
