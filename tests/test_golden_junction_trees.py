"""Golden values of the greedy 2-tree: test LL in nats that an independent program computed.

Each line of `golden_junction_trees.txt` is one run: data set, number of examples, pseudocount, test
LL. The data are those of `golden_lem.txt`.
"""

from pathlib import Path

import pytest

from mnlearn.learning.junction_trees.search import SearchSettings, learn_junction_tree
from mnlearn.scoring.any_model import ll

pytestmark = pytest.mark.slow

LINES = Path(__file__).with_name("golden_junction_trees.txt").read_text().splitlines()[1:]


@pytest.mark.parametrize("line", LINES)
def test_greedy_2_trees(line, sample):
    name, n, pseudocount, test_ll = line.split()
    data = sample(name, n)
    settings = SearchSettings(treewidth=2, search="greedy")
    tree = learn_junction_tree(data["train"], settings, float(pseudocount))
    assert ll(tree, data["test"]).mean == pytest.approx(float(test_ll), abs=1e-9)
