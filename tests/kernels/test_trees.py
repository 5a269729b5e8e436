"""What is written when a node of a probability tree is split."""

import numpy as np
from numpy.testing import assert_array_equal

from mnlearn.kernels.trees import LEAF, _add_children


def test_the_children_are_leaves_without_a_gain():
    split_var, gain = np.full(7, 99, np.int32), np.full(7, np.nan)
    child, count = np.full((7, 2), 99, np.int32), np.full((7, 2), np.nan)
    count[1] = 10.0, 6.0
    _add_children(1, 5, 3, 4.0, 1.0, split_var, child, gain, count)
    assert split_var.tolist() == [99, 5, 99, LEAF, LEAF, 99, 99]
    assert child.tolist() == [[99, 99], [3, 4], *[[99, 99]] * 5]
    assert_array_equal(count[[1, 3, 4]], [[10, 6], [6, 5], [4, 1]])
    assert_array_equal(gain, [np.nan, np.nan, np.nan, -np.inf, -np.inf, np.nan, np.nan])
