"""Junction trees: what is none, and the limits; test_distributions.py has what they mean."""

from dataclasses import replace

import numpy as np
import pytest

from made_junction_trees import junction_tree
from mnlearn.models import junction_tree as junction_trees
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.runtime.arrays import read_arrays, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.metrics import usual_metric
from mnlearn.variables.schema import binary_schema


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("parent", [-1, 0, 2, 0], "clique 2: expected a parent before it"),
        ("parent", [-1, 0, 1, -1], "clique 3: expected its parent to have all its variables"),
        ("parent", [-1, 0, 1, -2], "clique 3: expected a parent before it"),
        ("clique_var", [0, 0, 1, 2, 2, 3, 1, 4], "clique 0: expected its variables to ascend"),
        ("clique_var", [-1, 1, 1, 2, 2, 3, 1, 4], "expected variables 0 to 4 in the cliques"),
        ("clique_var", [0, 1, 1, 2, 2, 3, 1, 3], "clique 3: expected its parent to have all"),
        ("clique_var", [0, 1, 1, 2, 2, 3, 0, 1], "clique 3: expected a variable of its own"),
        ("clique_var", [0, 1, 1, 2, 2, 3, 1, 5], "expected variables 0 to 4 in the cliques"),
        ("clique_start", [0, 2, 4, 8], "shape"),
        ("clique_start", [0, 2, 2, 6, 8], "at least one variable in each clique"),
        ("clique_start", [0, 2, 4, 6, 9], "start: expected positions from 0 to 8"),
        ("log_prob", np.full(16, np.nan), "clique 0: expected log-probabilities of its new"),
        ("log_prob", np.r_[np.full(4, np.log(0.25)), np.zeros(12)], "clique 1: .* add up to 1"),
        ("log_prob", np.r_[[np.inf], np.full(15, -np.inf)], "clique 0: .* add up to 1"),
        ("log_prob", np.zeros(15), "expected shape"),
    ],
)
def test_files_that_hold_no_junction_tree(tmp_path, name, value, message):
    members = [(0, 1), (1, 2), (2, 3), (1, 4)]
    tree = junction_tree(binary_schema(5), members, [-1, 0, 1, 0], np.random.default_rng(0))
    save_model(tree, tmp_path / "a.npz")
    arrays = read_arrays(tmp_path / "a.npz")
    value = np.asarray(value, arrays[name].dtype)
    write_arrays(tmp_path / "a.npz", {**arrays, name: value})
    with pytest.raises(InputError, match=message):
        load_model(tmp_path / "a.npz")


def test_variables_in_no_clique_and_tables_without_bounds():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="variable 2 is in no clique"):
        junction_tree(binary_schema(3), [(0, 1)], [-1], rng)
    n = 64
    with pytest.raises(InputError, match="more than 2,000,000 cells"):
        JunctionTree(binary_schema(n), [0, n], np.arange(n), [-1], [0.0])


def test_as_many_cells_as_a_tree_has(monkeypatch):
    members = [(0, 1), (1, 2), (2, 3), (1, 4)]
    tree = junction_tree(binary_schema(5), members, [-1, 0, 1, 0], np.random.default_rng(0))
    monkeypatch.setattr(junction_trees, "MAX_CELLS", 16)
    assert replace(tree).table_start.tolist() == [0, 4, 8, 12, 16]
    assert tree.describe()["treewidth"] == 1
    assert usual_metric(tree) == "ll"
    monkeypatch.setattr(junction_trees, "MAX_CELLS", 15)
    with pytest.raises(InputError, match="its tables have more than 15 cells"):
        replace(tree)
