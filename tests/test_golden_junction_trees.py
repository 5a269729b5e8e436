"""Golden values of the greedy 2-tree: test LL in nats that an independent program computed.

Each line of `golden_junction_trees.txt` is one run: data set, number of examples, pseudocount, test
LL. The data are those of `test_golden_lem`.
"""

from pathlib import Path

import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.learning.junction_trees.search import SearchSettings, learn_junction_tree
from mnlearn.scoring.any_model import ll
from test_golden_lem import grouped, held_out, values_of

pytestmark = pytest.mark.slow

LINES = Path(__file__).with_name("golden_junction_trees.txt").read_text().splitlines()[1:]


@pytest.mark.parametrize("line", LINES)
def test_greedy_2_trees(line, mirror):
    name, n, pseudocount, test_ll = line.split()
    train, _, arity = values_of(mirror, name)
    variables = grouped(arity)
    data = merge_rows(variables.one_hot(train[: int(n)]))
    settings = SearchSettings(treewidth=2, search="greedy")
    tree = learn_junction_tree(data, settings, float(pseudocount), variables.groups)
    assert ll(tree, held_out(mirror, name)).mean == pytest.approx(float(test_ll), abs=1e-9)
