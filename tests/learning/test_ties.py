"""Ties: of candidates that are equal but for rounding, each learner takes the first.

The ties are equal in mathematics. Their sums have the same terms in another order, so that most of
them differ in their last bits.
"""

import itertools

import numpy as np
import pytest

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.lem.search import choose
from mnlearn.learning.circuits.bayes import BayesGrowth
from mnlearn.learning.circuits.growth import CircuitGrowth
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.features.della_pietra import InductionSearch
from mnlearn.learning.features.pair_gains import PairCandidates, PseudoLikelihoodGains
from mnlearn.learning.junction_trees.consistent import examples_of
from mnlearn.learning.junction_trees.search import SearchSettings, TreeSearch, grow_greedily
from mnlearn.learning.latent_trees.chow_liu import PairTables
from mnlearn.learning.latent_trees.grouping import _choose_pair
from mnlearn.learning.latent_trees.search import GROUPINGS, learn_latent_tree
from mnlearn.learning.lem.growth import LemSettings, learn_feature_tree
from mnlearn.learning.logistic import learn_logistic_path
from mnlearn.learning.trees import learn_tree_path
from mnlearn.learning.weights.descent import Penalty


def twins(seed, n_rows=200):
    """Return data in which columns 1 and 2 have the same joint weights with column 0.

    Column 2 has the ones of column 1 in other rows of the same weight and value of column 0. The
    weights are tenths, whose sums depend on their order.
    """
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.1, 0.2, 0.3, 0.7], n_rows)
    target = rng.integers(0, 2, n_rows)
    first = np.where(rng.random(n_rows) < 0.9, target, 1 - target)
    second = first.copy()
    for members in classes(np.stack([target, weight])):
        second[members] = first[rng.permutation(members)]
    other = rng.integers(0, 2, (n_rows, 8))  # tells the rows apart, so that few are merged
    rows = np.column_stack([target, first, second, other])
    return Dataset.from_arrays(rows, weight)


def classes(keys):
    """Return the places of equal columns of a matrix, for each of them."""
    _, label = np.unique(keys, axis=1, return_inverse=True)
    return [np.flatnonzero(label == k) for k in range(label.max() + 1)]


def in_another_order(data, seed):
    """Return the same examples with their rows in another order."""
    order = np.random.default_rng(seed).permutation(data.n_rows)
    rows, weight = data.rows[order], data.weight[order]
    return Dataset(rows, weight, np.argsort(order).astype(np.int32), data.schema)


@pytest.mark.parametrize("seed", range(20))
def test_trees_split_on_the_first_of_equal_variables(seed):
    trees = learn_tree_path(twins(seed), 0.9).trees
    assert trees.split_var[trees.start[0]] == 1


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_circuits_make_the_first_of_equal_splits(seed, quick):
    train = twins(seed)
    of_bayes = CircuitGrowth(BayesGrowth(train, 0.5), 0.1, 0.1, 500, quick=quick)._next()
    assert (of_bayes.group, of_bayes.var) in ((0, 1), (1, 0))
    of_markov = CircuitGrowth(MarkovGrowth(train, Penalty(1.0)), 0.1, 0.1, 500, quick=quick)._next()
    assert (of_markov.group // 2, of_markov.var) in ((0, 1), (1, 0))


def splits(model, quick):
    growth = CircuitGrowth(model, 0.1, 0.1, 400, quick=quick)
    while (split := growth._next()) is not None:
        yield split.group, split.var, split.n_new_edges
        growth._take(split)


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_the_rows_changes_no_structure(seed, quick):
    given = twins(seed)
    other = in_another_order(given, seed)
    trees, again = (learn_tree_path(data, 0.9).trees for data in (given, other))
    assert trees.split_var.tolist() == again.split_var.tolist()
    of_bayes = [list(splits(BayesGrowth(data, 0.5), quick)) for data in (given, other)]
    assert of_bayes[0] == of_bayes[1]
    assert len(of_bayes[0]) > 10
    of_markov = [
        list(itertools.islice(splits(MarkovGrowth(data, Penalty(1.0)), quick), 10))
        for data in (given, other)
    ]
    assert of_markov[0] == of_markov[1]
    assert len(of_markov[0]) == 10


def opposites(seed):
    """Return data in which column 2 is the opposite of column 1, which depends on column 0."""
    given = twins(seed)
    rows = given.rows.copy()
    rows[:, 2] = 1 - rows[:, 1]
    return Dataset.from_arrays(rows, given.weight)


@pytest.mark.parametrize("seed", range(20))
def test_chow_liu_trees_have_the_first_of_equal_edges(seed):
    assert PairTables(opposites(seed), 1.0).tree()[:3].tolist() == [-1, 0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_junction_trees_begin_with_the_first_of_equal_pairs(seed):
    assert grow_greedily(examples_of(twins(seed)), 1).members[0] == (0, 1)


@pytest.mark.parametrize("seed", range(20))
def test_neighbours_are_the_first_of_equal_pairs(seed):
    """Any two of three nodes are as near as any two, and two of four as the two others."""
    rng = np.random.default_rng(seed)
    for n in (3, 4):
        distance = rng.random((n, n))
        distance += distance.T
        np.fill_diagonal(distance, 0.0)
        pair = _choose_pair(list(range(n)), distance)
        assert pair == [0, 1] if n == 3 else 0 in pair


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_rows_changes_no_tree(seed):
    for given in (twins(seed), opposites(seed)):
        other = in_another_order(given, seed)
        found = [TreeSearch(data).find(SearchSettings(2)) for data in (given, other)]
        assert found[0].members == found[1].members
        for grouping in GROUPINGS:
            trees = [
                learn_latent_tree(data, grouping, 1.0, 5, n_iterations=20, tolerance=1e-6)
                for data in (given, other)
            ]
            assert trees[0].tables.keys() == trees[1].tables.keys()


@pytest.mark.parametrize("sizes", [(3, 5, 7), (3, 5, 11), (3, 7, 11), (5, 7, 11)])
def test_independent_variables_share_nothing(sizes):
    """Information that is 0 is not above `delta` 0, whatever rounding says."""
    values = [np.arange(size) % 2 for size in sizes]
    rows = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, 3)
    tree = learn_feature_tree(Dataset.from_arrays(rows), LemSettings(delta=0.0, min_rows=0))
    # One feature, and on both sides a table for each of the two other variables.
    assert np.diff(tree.literal_start).tolist() == [1, 0, 0, 0, 0]
    assert np.diff(tree.branch_start).tolist() == [2] * 5


def test_near_ties_form_no_chain():
    """Of three scores, of which only neighbours are equal, the one in the middle is the first."""
    total = np.log2([1.0, 1.0 + 0.8e-12, 1.0 + 1.6e-12])
    cost = np.repeat(1.0 - total[:, None], 2, axis=1)
    imbalance = np.zeros(3, np.int64)
    for order in itertools.permutations(range(3)):
        place = list(order)
        chosen = choose(total[place], cost[place], imbalance, 0.0, False)
        assert chosen == min(place.index(1), place.index(2))


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_the_first_of_equal_features_is_added(seed, quick):
    train = twins(seed)
    gains = PseudoLikelihoodGains(train, Penalty(1.0), 0.01)
    search = InductionSearch(PairCandidates(train, 0.0), gains, 0.01, quick, max_features=1)
    search.begin()
    assert search.run() == "features"
    assert search.pool.features[-1].tolist() == [0b11]


@pytest.mark.parametrize("free_intercept", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_rounding_gives_no_weight_to_a_copy_of_a_column(seed, free_intercept):
    given = opposites(seed)
    rows = np.column_stack([given.rows, given.rows[:, 1]])
    path = learn_logistic_path(Dataset.from_arrays(rows), [1.0, 3.0, 10.0], free_intercept)
    weights = np.concatenate([coefficient.data for coefficient in path.coefficient])
    assert np.abs(weights).min() > 1e-9
