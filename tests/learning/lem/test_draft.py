"""Trees put together from F-nodes and tables that are found in any order."""

import numpy as np

from mnlearn.learning.lem.growth import Draft
from mnlearn.models.feature_tree import ROOT
from mnlearn.variables.schema import binary_schema


def test_what_is_fixed_later_stays_at_its_a_node():
    draft = Draft()
    first = draft.add_feature(ROOT, [(0, 1), (1, 1)], [np.log(0.75), np.log(0.25)], [[], []])
    fixed = {first + 1: ((0, 1), (1, 1)), first: ((0, 0), (1, 0))}
    # The second A-node comes first.
    for a, literals in fixed.items():
        draft.fix(a, literals)
    tree = draft.tree(binary_schema(2))
    assert {a: tuple(tree.fixed(a)) for a in fixed} == fixed
