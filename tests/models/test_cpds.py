"""Conditional distributions as tables and trees: limits, order, and one made of the other."""

import numpy as np
import pytest

from made_models import log_prob_of, trees_of
from mnlearn.models.bayesian_network import bayesian_network
from mnlearn.models.cpds import CpdTree, assemble, tables_of
from mnlearn.models.dependency_network import LEAF, flat_trees
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema


def chain(n_parents):
    """A network whose last variable tests all others, one below the other."""
    tree = log_prob_of(0.5)
    for v in reversed(range(n_parents)):
        tree = (v, log_prob_of(float(v)), tree)
    return bayesian_network(trees_of([log_prob_of(0.0)] * n_parents + [tree]))


def test_as_many_cells_as_a_table_has(tmp_path):
    parents, prob = chain(16).table(16)
    assert parents == tuple(range(16))
    assert prob.shape == (2,) * 17
    # The first parent that is 0 decides.
    assert prob[(1, 1, 0, *[1] * 13)] == pytest.approx(np.exp(log_prob_of(2.0)))
    for suffix in (".uai", ".bif"):
        path = tmp_path / f"a{suffix}"
        with pytest.raises(InputError) as caught:
            save_model(chain(17), path)
        assert str(caught.value) == (
            f"{path}: variable V17: has 17 parents, so its table has 262,144 cells; a tree is "
            "written as a table of up to 131,072."
        )


def leaf(value):
    return CpdTree(np.array([LEAF]), np.full((1, 2), LEAF), np.array([value]))


def test_distributions_are_normalised_beyond_rounding():
    half = np.log(0.5)
    one, two = binary_schema(1), binary_schema(2)
    leaves = {0: leaf([half + 0.9e-12] * 2), 1: leaf([half + 1.9e-12] * 2)}
    near = assemble(two, leaves).log_prob
    assert near[0].tolist() == [half + 0.9e-12] * 2
    assert near[1].tolist() == pytest.approx([half] * 2, abs=1e-15)
    sure = assemble(two, {0: leaf([0.0, np.inf]), 1: leaf([np.inf, 3.0])}).log_prob
    assert sure.tolist() == [[-np.inf, 0.0], [0.0, -np.inf]]
    far = assemble(one, {0: leaf([1.7e308, -1.7e308])}).log_prob
    assert far.tolist() == [[0.0, -np.inf]]
    assert len(tables_of(3, {}).log_prob) == 0
    assert assemble(one, {}).log_prob.tolist() == flat_trees(1).log_prob.tolist() == [[half] * 2]


def test_inner_nodes_have_the_mean_of_their_children():
    def inner(value):
        child = np.array([[1, 2], [LEAF, LEAF], [LEAF, LEAF]])
        tree = CpdTree(np.array([1, LEAF, LEAF]), child, np.array([[0.0, 0.0], *value]))
        return assemble(binary_schema(2), {0: tree}).log_prob[0]

    found = inner(np.log([[0.25, 0.75], [0.5, 0.5]]))
    np.testing.assert_allclose(np.exp(found), [0.375, 0.625])
    # Rounding must not give a probability above 1.
    assert inner([[-np.inf, 1e-13]] * 2).tolist() == [-np.inf, 0.0]


def test_a_cycle_and_the_order():
    trees = trees_of([(1, *[log_prob_of(0.0)] * 2), log_prob_of(0.0), (0, *[log_prob_of(0.0)] * 2)])
    network = bayesian_network(trees)
    assert network.order.tolist() == [1, 0, 2]
    assert network.rank.tolist() == [1, 0, 2]
    both = trees_of([(1, *[log_prob_of(0.0)] * 2), (0, *[log_prob_of(0.0)] * 2)])
    with pytest.raises(InputError) as caught:
        bayesian_network(both)
    assert str(caught.value) in (
        "Bayesian network: has a directed cycle, V0 -> V1 -> V0.",
        "Bayesian network: has a directed cycle, V1 -> V0 -> V1.",
    )
