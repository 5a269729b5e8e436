"""Junction trees against enumeration: likelihoods, marginals, circuits, networks, files."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from made_states import every_row, schema_of
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.models import junction_tree
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.junction_tree import NO_PARENT, JunctionTree
from mnlearn.runtime.arrays import read_arrays, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

SEEDS = range(8)


def random_tree(seed):
    """A tree of random cliques with random tables; odd seeds have grouped columns."""
    rng = np.random.default_rng(seed)
    schema = schema_of(*((3, 2, 4, 2, 1) if seed % 2 else (2,) * 8))
    order = rng.permutation(len(schema)).tolist()
    members, parent = [], []
    while order:
        new = [order.pop() for _ in range(min(len(order), int(rng.integers(1, 3))))]
        above = int(rng.integers(-1, len(members))) if members else NO_PARENT
        old = rng.permutation(members[above])[:2].tolist() if above >= 0 else []
        members.append(tuple(sorted([*new, *old])))
        parent.append(above if old else NO_PARENT)
    return build(schema, members, parent, rng)


def build(schema, members, parent, rng):
    tables = []
    for own, above in zip(members, parent, strict=True):
        shape = tuple(schema.arity[list(own)].tolist())
        common = members[above] if above >= 0 else ()
        new = tuple(k for k, v in enumerate(own) if v not in common)
        cells = rng.random(shape) + 0.05
        tables.append(np.log(cells / cells.sum(axis=new, keepdims=True)).ravel())
    return JunctionTree(
        schema,
        np.cumsum([0, *map(len, members)]),
        np.concatenate([np.array(own) for own in members]),
        np.array(parent),
        np.concatenate(tables),
    )


def enumerated(tree):
    """All states as values, and their probabilities by the definition."""
    states = np.array(list(itertools.product(*map(range, tree.schema.arity.tolist()))))
    p = np.ones(len(states))
    for c in range(tree.n_cliques):
        table = np.exp(tree.table(c))
        p *= [table[tuple(x[list(tree.clique(c))])] for x in states]
    return states, p


@pytest.fixture(params=SEEDS)
def tree(request):
    return random_tree(request.param)


def test_likelihoods(tree):
    states, p = enumerated(tree)
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    found = tree.log_likelihood(tree.schema.rows(states))
    np.testing.assert_allclose(found, np.log(p), atol=1e-12)


def test_the_circuit_and_the_network_have_the_distribution_over_columns(tree):
    circuit, network = tree.to_circuit(), tree.to_markov_network()
    circuit.check()
    assert log_partition(circuit) == pytest.approx(0.0, abs=1e-12)
    rows = every_row(tree.schema)
    expected = tree.log_likelihood(rows)
    np.testing.assert_allclose(log_value(circuit, rows), expected, atol=1e-12)
    np.testing.assert_allclose(network.potential_of(rows), expected, atol=1e-12)
    if circuit.features is not None:
        found = circuit.to_markov_network().potential_of(rows)
        np.testing.assert_allclose(found, expected, atol=1e-12)


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
        ("log_prob", np.full(16, np.nan), "no NaN among the log-probabilities"),
        ("log_prob", np.zeros(15), "expected shape"),
    ],
)
def test_files_that_hold_no_junction_tree(tmp_path, name, value, message):
    members = [(0, 1), (1, 2), (2, 3), (1, 4)]
    tree = build(binary_schema(5), members, [-1, 0, 1, 0], np.random.default_rng(0))
    save_model(tree, tmp_path / "a.npz")
    arrays = read_arrays(tmp_path / "a.npz")
    value = np.asarray(value, arrays[name].dtype)
    write_arrays(tmp_path / "a.npz", {**arrays, name: value})
    with pytest.raises(InputError, match=message):
        load_model(tmp_path / "a.npz")


def test_variables_in_no_clique_and_tables_without_bounds():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="variable 2 is in no clique"):
        build(binary_schema(3), [(0, 1)], [-1], rng)
    n = 64
    with pytest.raises(InputError, match="more than 2,000,000 cells"):
        JunctionTree(binary_schema(n), [0, n], np.arange(n), [-1], [0.0])


def test_as_many_cells_as_a_tree_has(monkeypatch):
    members = [(0, 1), (1, 2), (2, 3), (1, 4)]
    tree = build(binary_schema(5), members, [-1, 0, 1, 0], np.random.default_rng(0))
    monkeypatch.setattr(junction_tree, "MAX_CELLS", 16)
    assert replace(tree).table_start.tolist() == [0, 4, 8, 12, 16]
    assert tree.describe()["treewidth"] == 1
    monkeypatch.setattr(junction_tree, "MAX_CELLS", 15)
    with pytest.raises(InputError, match="its tables have more than 15 cells"):
        replace(tree)
