"""Tables of networks over variables of several values: limits, order and names."""

import numpy as np
import pytest
from mnlearn.models.grouped_variables import grouped_variables

from made_models import log_prob_of, trees_of
from mnlearn.models import discrete
from mnlearn.models.bayesian_network import bayesian_network
from mnlearn.models.cpd_trees import CpdTree, assemble, table_tree
from mnlearn.models.dependency_network import LEAF, flat_trees
from mnlearn.models.discrete import Factor, all_grouped, junction_tree_of, variables_of
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.errors import InputError


def chain(n_parents):
    """A network whose last variable tests all others, one below the other."""
    tree = log_prob_of(0.5)
    for v in reversed(range(n_parents)):
        tree = (v, log_prob_of(float(v)), tree)
    return bayesian_network(trees_of([log_prob_of(0.0)] * n_parents + [tree]))


def test_as_many_parents_as_a_table_has(tmp_path):
    last = variables_of(chain(16))[-1]
    assert (last.name, last.states, last.parents) == ("V16", ("0", "1"), tuple(range(16)))
    assert last.table.shape == (2,) * 17
    # The first parent that is 0 decides.
    assert last.table[(1, 1, 0, *[1] * 13)] == pytest.approx(np.exp(log_prob_of(2.0)))
    for suffix in (".uai", ".bif"):
        path = tmp_path / f"a{suffix}"
        with pytest.raises(InputError) as caught:
            save_model(chain(17), path)
        assert str(caught.value) == (
            f"{path}: variable V17: has 17 parents; a table is written for up to 16."
        )


def test_a_long_product_of_small_factors():
    """Each factor is the same up to a scale, which must not let the product become 0."""
    n, table = 150, np.array([[2.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]])
    small = [Factor((v, v + 1), 1e-9 * table) for v in range(n - 1)]
    tree = junction_tree_of([3] * n, small)
    states = np.zeros((2, n), int)
    states[1, -1] = 1
    found = tree.log_likelihood(tree.variables.one_hot(states))
    # A uniform chain that keeps its value with probability 1/2.
    expected = np.log(1 / 3) + (n - 1) * np.log(0.5)
    np.testing.assert_allclose(found, [expected, expected - np.log(2)], rtol=1e-9)


def test_the_cells_of_all_cliques_are_added_up(monkeypatch):
    factors = [Factor((0, 1), np.ones((2, 3))), Factor((1, 2), np.ones((3, 4)))]
    cells = len(junction_tree_of([2, 3, 4], factors).log_prob)
    # Variable 0 is eliminated first, then 1.
    assert cells == 6 + 12 + 4
    monkeypatch.setattr(discrete, "MAX_CELLS", cells)
    assert junction_tree_of([2, 3, 4], factors).n_cliques == 3
    monkeypatch.setattr(discrete, "MAX_CELLS", cells - 1)
    with pytest.raises(InputError, match=f"its tables have more than {cells - 1} cells"):
        junction_tree_of([2, 3, 4], factors)


def test_groups_of_any_order():
    variables = grouped_variables(6, [(4, 2), (3, 0)])
    assert [variables.columns(v) for v in range(4)] == [(3, 0), (1,), (4, 2), (5,)]
    assert variables.arity.tolist() == [2, 2, 2, 2]
    assert all_grouped([2, 3]).groups == ((0, 1), (2, 3, 4))
    assert grouped_variables(254, [range(254)]).arity.tolist() == [254]
    for groups, message in (
        ([range(255)], "group 0: expected 2 to 254 columns, got 255"),
        ([(0, 1), (-1, 2)], "group 1: expected columns 0 to 254, got -1"),
        ([(0, 255)], "group 0: expected columns 0 to 254, got 255"),
    ):
        with pytest.raises(InputError, match=message):
            grouped_variables(255, groups)


def test_the_tree_of_a_table():
    table = np.arange(16.0).reshape(2, 2, 2, 2)
    tree = table_tree([5, 3, 9], table)
    assert tree.split_var.tolist() == [5, 3, 3, 9, 9, 9, 9, *[LEAF] * 8]
    assert tree.child[:7].tolist() == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12], [13, 14]]
    assert (tree.child[7:] == LEAF).all()
    np.testing.assert_array_equal(tree.value[7:], np.arange(16.0).reshape(8, 2))


def leaf(value):
    return CpdTree(np.array([LEAF]), np.full((1, 2), LEAF), np.array([value]))


def test_distributions_are_normalised_beyond_rounding():
    half = np.log(0.5)
    near = assemble(2, {0: leaf([half + 0.9e-12] * 2), 1: leaf([half + 1.9e-12] * 2)}).log_prob
    assert near[0].tolist() == [half + 0.9e-12] * 2
    assert near[1].tolist() == pytest.approx([half] * 2, abs=1e-15)
    sure = assemble(2, {0: leaf([0.0, np.inf]), 1: leaf([np.inf, 3.0])}).log_prob
    assert sure.tolist() == [[-np.inf, 0.0], [0.0, -np.inf]]
    assert assemble(1, {}).log_prob.tolist() == flat_trees(1).log_prob.tolist() == [[half] * 2]


def test_inner_nodes_have_the_mean_of_their_children():
    tree = table_tree([1], np.log([[0.25, 0.75], [0.5, 0.5]]))
    found = assemble(2, {0: tree}).log_prob
    np.testing.assert_allclose(np.exp(found[0]), [0.375, 0.625])
    # Rounding must not give a probability above 1.
    above = table_tree([1], np.array([[-np.inf, 1e-13]] * 2))
    assert assemble(2, {0: above}).log_prob[0].tolist() == [-np.inf, 0.0]


def test_a_cycle_and_the_order():
    trees = trees_of([(1, *[log_prob_of(0.0)] * 2), log_prob_of(0.0), (0, *[log_prob_of(0.0)] * 2)])
    network = bayesian_network(trees)
    assert network.order.tolist() == [1, 0, 2]
    assert network.rank.tolist() == [1, 0, 2]
    both = trees_of([(1, *[log_prob_of(0.0)] * 2), (0, *[log_prob_of(0.0)] * 2)])
    with pytest.raises(InputError) as caught:
        bayesian_network(both)
    assert str(caught.value) in (
        "Bayesian network: has a directed cycle, v0 -> v1 -> v0.",
        "Bayesian network: has a directed cycle, v1 -> v0 -> v1.",
    )
