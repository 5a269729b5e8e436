"""Native files of models with one array changed: which array is named, and what is allowed."""

import dataclasses
import re

import numpy as np
import pytest

from made_hidden_trees import random_hidden_tree
from made_models import ISING, TREES, log_prob_of, trees_of
from made_random import random_network
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.bayesian_network import bayesian_network, network_of_tables
from mnlearn.models.cpds import CpdTable
from mnlearn.models.feature_tree import FeatureTree
from mnlearn.models.io.formats import describe, load_model, save_model
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.runtime.arrays import read_arrays, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable, binary_schema, numbered_schema

COMPILED = compile_network(random_network(0, n_vars=3))
TARGETED = dataclasses.replace(
    COMPILED,
    target=np.array([COMPILED.features.literals(k)[0][0] for k in range(len(COMPILED.weight))],
                    np.int32),
)  # fmt: skip
BAYES = bayesian_network(
    trees_of([log_prob_of(0.5), (0, log_prob_of(1.0), log_prob_of(-1.0))]),
    Schema((Variable("a", ("no", "yes")), Variable("b", ("off", "on")))),
)
# F-node 0 asks whether column 0 is 1. F-node 1 is a table of variable 1, F-node 2 asks for it.
FEATURES = {
    "literal_start": [0, 1, 1, 2],
    "literal_var": [0, 1],
    "literal_value": [1, 1],
    "branch_start": [1, 3, 5, 7],
    "log_prob": [0, *np.log([0.5, 0.5, 0.25, 0.75, 0.5, 0.5])],
    "fixed_start": [0, 0, 1, 2, 3, 4, 5, 6],
    "fixed_var": [0, 0, 1, 1, 1, 1],
    "fixed_value": [0, 1, 0, 1, 0, 1],
    "child_start": [0, 1, 2, 3, 3, 3, 3, 3],
    "child": [0, 1, 2],
}
FEATURE_TREE = FeatureTree(binary_schema(2), **FEATURES)
JUNCTION_TREE = JunctionTree(numbered_schema([3]), [0, 1], [0], [-1], np.log([0.2, 0.3, 0.5]))
TABLES = network_of_tables(
    numbered_schema([2, 3]),
    {0: CpdTable((), np.array([0.5, 0.5])), 1: CpdTable((0,), np.full((2, 3), 1 / 3))},
)
HIDDEN = random_hidden_tree(2)
MODELS = {
    "markov_network": ISING,
    "dependency_network": TREES,
    "bayesian_network": TABLES,
    "arithmetic_circuit": TARGETED,
    "feature_tree": FEATURE_TREE,
    "junction_tree": JUNCTION_TREE,
    "hidden_tree": HIDDEN,
}


def changed(tmp_path, model, arrays):
    """Save a model and change arrays of its file, or leave them out where None."""
    path = tmp_path / "a.npz"
    save_model(model, path)
    whole = read_arrays(path)
    for name, array in arrays.items():
        dtype = whole[name].dtype if name in whole else None
        whole[name] = array if array is None or callable(array) else np.asarray(array, dtype)
    write_arrays(path, {name: array for name, array in whole.items() if array is not None})
    return path


# What sentences call an array whose name in the file is another.
CALLED = {"parameter": "weight", "var": "features", "value": "features"}


def refuse_damaged(path, name):
    """Check that a file is refused by a sentence on an array."""
    with pytest.raises(InputError) as caught:
        load_model(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: is damaged: ")
    last = name.rpartition("_")[2]
    assert re.search(rf"({last}|{CALLED.get(name, name)})\b", sentence)


@pytest.mark.parametrize("kind", MODELS)
def test_the_name_of_a_kind(tmp_path, kind):
    save_model(MODELS[kind], tmp_path / "a.npz")
    arrays = read_arrays(tmp_path / "a.npz")
    assert str(arrays["kind"]) == kind
    assert (int(arrays["version"]), arrays["version"].dtype) == (1, np.int64)
    article = "an" if kind[0] == "a" else "a"
    assert MODELS[kind].title.lower() == f"{article} {kind.replace('_', ' ')}"
    assert describe(load_model(tmp_path / "a.npz"))["kind"].lower() == kind.replace("_", " ")


@pytest.mark.parametrize("kind", MODELS)
def test_an_array_that_is_missing_or_of_another_type(tmp_path, kind):
    model = MODELS[kind]
    save_model(model, tmp_path / "b.npz")
    for name, array in read_arrays(tmp_path / "b.npz").items():
        if name == "kind":
            continue
        # A file of 1.0 has no schema; what its arrays then mean depends on the model.
        optional = name == "names" or (model is TARGETED and name in ("start", "target"))
        path = changed(tmp_path, model, {name: None})
        if optional:
            load_model(path)
        elif name not in ("schema", "table_prob"):
            refuse_damaged(path, name)
        for other in (array.astype(np.complex64) if array.dtype.kind != "U" else None, array[None]):
            if other is not None:
                save_model(model, path)
                write_arrays(path, {**read_arrays(path), name: other})
                refuse_damaged(path, name)


def entry(array, place, value):
    """An array with one other entry."""
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    ("model", "arrays", "named"),
    [
        (ISING, {"version": 0}, "version"),
        (ISING, {"n_vars": 0}, "n_vars"),
        (ISING, {"n_vars": 1_000_000}, "names"),
        (ISING, {"names": ["a", "b"]}, "names"),
        (ISING, {"start": [1, 1, 3, 5]}, "start"),
        (ISING, {"start": [0, 3, 1, 5]}, "start"),
        (ISING, {"start": [0, 1, 5]}, "var"),
        (ISING, {"var": [-1, 0, 1, 1, 2]}, "var"),
        (ISING, {"var": [0, 0, 1, 1, 3]}, "var"),
        (ISING, {"var": [0, 1, 1, 1, 2]}, "var"),
        (ISING, {"value": [1, 1, 1, 0]}, "value"),
        (ISING, {"value": [2, 1, 1, 0, 1]}, "value"),
        (ISING, {"weight": [np.nan, 1, 2]}, "weight"),
        (TREES, {"tree_start": [0, 5, 5, 7]}, "tree_start"),
        (TREES, {"tree_start": [0, 5, 7]}, "tree_start"),
        (TREES, {"split_var": [1, -2, -1, -1, -1, -1, -1]}, "split_var"),
        (TREES, {"log_prob": [[-1, -1]] * 4 + [[-1, np.nan]] + [[-1, -1]] * 2}, "log_prob"),
        (TREES, {"split_var": [1, 3, -1, -1, -1, -1, -1]}, "split_var"),
        (TREES, {"log_prob": [[-1, -1]] * 6}, "log_prob"),
        (TREES, {"child": [[2, 1]] * 6}, "child"),
        (TREES, {"split_var": [1, 1, 1, -1, -1, -1, -1]}, "child"),
        # Node 1 below itself, below another tree, or twice.
        (TREES, {"child": [[3, 4], [1, 2]] + [[-1, -1]] * 5,
                 "split_var": [1, 2, -1, -1, -1, -1, -1]}, "child"),
        (TREES, {"child": [[2, 5], [3, 4]] + [[-1, -1]] * 5,
                 "split_var": [1, 2, -1, -1, -1, -1, -1]}, "child"),
        (TREES, {"child": [[1, 1], [3, 4]] + [[-1, -1]] * 5,
                 "split_var": [1, 2, -1, -1, -1, -1, -1]}, "child"),
        (BAYES, {"tree_start": [0, 1, 3]}, "tree_start"),
        (BAYES, {"schema": None, "states": [["a", "b", "c"]] * 2}, "states"),
        (COMPILED, {"is_sum": [], "child_start": [0], "circuit_child": []}, "child_start"),
        (COMPILED, {"weight": None, "parameter": COMPILED.weight * np.nan}, "parameter"),
        (COMPILED, {"is_sum": entry(COMPILED.is_sum, 0, 2)}, "is_sum"),
        (COMPILED, {"child_start": entry(COMPILED.start, 1, 0)}, "is_sum"),
        (COMPILED, {"circuit_child": entry(COMPILED.child, 0, COMPILED.n_leaves)}, "child"),
        (COMPILED, {"child_start": entry(COMPILED.start, -1, len(COMPILED.child) + 1)}, "start"),
        (TARGETED, {"target": np.where(TARGETED.target == 0, 1, 0)}, "target"),
        (HIDDEN, {"parent": HIDDEN.parent[:-1]}, "schema"),
        (JUNCTION_TREE, {"clique_start": [0, 0]}, "clique_start"),
        (BAYES, {"schema": "{"}, "schema"),
        (BAYES, {"schema": '{"is_named": true, "variables": []}'}, "schema"),
        (TABLES, {"table_start": [0, 2, 7]}, "table_start"),
        (TABLES, {"table_start": [0, 6]}, "table_start"),
        (TABLES, {"table_parent_start": [0, 2, 1]}, "table_parent_start"),
        (FEATURE_TREE, {"branch_start": [1]}, "branch_start"),
        (FEATURE_TREE, {"branch_start": [2, 3, 5, 7]}, "branch_start"),
        (FEATURE_TREE, {"branch_start": [1, 3, 5, 6]}, "branch_start"),
        (FEATURE_TREE, {"branch_start": [1, 4, 5, 7]}, "branch_start"),
        # A table without values.
        (FEATURE_TREE, {"branch_start": [1, 3, 3, 7], "literal_start": [0, 1, 1, 1],
                        "literal_var": [0], "literal_value": [1]}, "branch_start"),
        *((FEATURE_TREE, {f"{name}_start": [begin, *FEATURES[f"{name}_start"][1:-1], end]},
           f"{name}_start")
          for name, total in (("literal", 2), ("fixed", 6), ("child", 3))
          for begin, end in ((1, total), (0, total + 1))),
        *((FEATURE_TREE, {f"{name}_start": [*FEATURES[f"{name}_start"][:-2], total]},
           f"{name}_start")
          for name, total in (("literal", 2), ("fixed", 6), ("child", 3))),
        *((FEATURE_TREE, {name: [value, *FEATURES[name][1:]]}, name)
          for name, values in (("literal_var", (-1, 2)), ("fixed_var", (-1, 2)),
                               ("literal_value", (2,)), ("fixed_value", (2,)),
                               ("child", (-1, 3)), ("log_prob", (-0.5, np.nan)))
          for value in values),
        (FEATURE_TREE, {"literal_value": [1]}, "literal_value"),
        (FEATURE_TREE, {"fixed_value": [0, 1]}, "fixed_value"),
        (FEATURE_TREE, {"child": [0, 0, 2]}, "child"),
        (FEATURE_TREE, {"log_prob": [*FEATURES["log_prob"][:-1], np.nan]}, "log_prob"),
    ],
)  # fmt: skip
def test_an_array_that_does_not_fit(tmp_path, model, arrays, named):
    refuse_damaged(changed(tmp_path, model, arrays), named)


def test_as_many_variables_and_the_version_that_are_read(tmp_path):
    path = changed(tmp_path, ISING, {"n_vars": 1_000_000, "names": None})
    assert load_model(path).n_vars == 1_000_000
    path = changed(tmp_path, ISING, {"n_vars": 1_000_001, "names": None})
    sentence = "expected at most 1000000 variables, it declares 1000001."
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}: {sentence}"
    with pytest.raises(InputError, match=r"format version 2, newer than this program reads \(1\)"):
        load_model(changed(tmp_path, ISING, {"version": 2}))


def test_inner_nodes_may_have_no_distribution(tmp_path):
    log_prob = TREES.trees.log_prob.copy()
    log_prob[0] = np.nan
    loaded = load_model(changed(tmp_path, TREES, {"log_prob": log_prob}))
    np.testing.assert_array_equal(loaded.trees.log_prob, log_prob)


def write_1_0(path, kind, n_columns, arrays):
    """Write a file as 1.0 did: columns in place of variables."""
    head = {"kind": np.array(kind), "version": np.int64(1), "n_vars": np.int64(n_columns)}
    write_arrays(path, head | {name: np.asarray(array) for name, array in arrays.items()})


def test_groups_of_columns_in_files_of_1_0(tmp_path):
    arrays = {
        "names": ["b", "a=x", "a=y", "c=u", "a=z", "c=v"],
        "group_start": np.array([0, 3, 5]),
        "group_column": np.array([4, 1, 2, 5, 3], np.int32),
        "clique_start": np.array([0, 3]),
        "clique_var": np.array([0, 1, 2], np.int32),
        "parent": np.array([-1], np.int32),
        "log_prob": np.log(np.arange(1, 13) / 78),
    }
    path = tmp_path / "a.npz"
    write_1_0(path, "junction_tree", 6, arrays)
    tree = load_model(path)
    names = ("b", "a", "c")
    states = ((0, 1), ("z", "x", "y"), ("v", "u"))
    assert tree.schema == Schema(tuple(map(Variable, names, states)))
    rows = tree.schema.rows(np.indices((2, 3, 2)).reshape(3, -1).T)
    np.testing.assert_allclose(np.exp(tree.log_likelihood(rows)), np.arange(1, 13) / 78)
    write_1_0(path, "junction_tree", 6, arrays | {"group_start": np.array([0, 3, 9])})
    with pytest.raises(InputError, match=r"a\.npz: is damaged: its groups of columns are not"):
        load_model(path)


def test_values_of_columns_in_files_of_1_0(tmp_path):
    save_model(ISING, tmp_path / "a.npz")
    whole = read_arrays(tmp_path / "a.npz")
    names = whole.pop("names").tolist()
    for kept in ("codes", "states"):
        write_arrays(tmp_path / "b.npz", whole | {"names": names, kept: [["f", "m"]] * 3})
        found = load_model(tmp_path / "b.npz").schema
        assert found == Schema(tuple(Variable(name, ("f", "m")) for name in names))
