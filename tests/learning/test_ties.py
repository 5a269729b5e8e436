"""Ties: of candidates that are equal but for rounding, each learner takes the first.

The ties are equal in mathematics. Their sums have the same terms in another order, so that most of
them differ in their last bits.
"""

import numpy as np
import pytest

from mnlearn.data.dataset import Dataset
from mnlearn.learning.trees import learn_tree_path


def twins(seed, n_rows=60):
    """Return data in which columns 1 and 2 have the same joint weights with column 0.

    Column 2 has the ones of column 1 in other rows of the same weight and value of column 0. The
    weights are tenths, whose sums depend on their order.
    """
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.1, 0.2, 0.3, 0.7], n_rows)
    target = rng.integers(0, 2, n_rows)
    first = np.where(rng.random(n_rows) < 0.8, target, 1 - target)
    second = first.copy()
    for members in classes(np.stack([target, weight])):
        second[members] = first[rng.permutation(members)]
    other = rng.integers(0, 2, (n_rows, 6))  # tells the rows apart, so that none are merged
    rows = np.column_stack([target, first, second, other])
    return Dataset.from_arrays(rows, weight)


def classes(keys):
    """Return the places of equal columns of a matrix, for each of them."""
    _, label = np.unique(keys, axis=1, return_inverse=True)
    return [np.flatnonzero(label == k) for k in range(label.max() + 1)]


@pytest.mark.parametrize("seed", range(20))
def test_trees_split_on_the_first_of_equal_variables(seed):
    trees = learn_tree_path(twins(seed), 0.9).trees
    assert trees.split_var[trees.start[0]] == 1
