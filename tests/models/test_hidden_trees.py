"""Trees of hidden variables against enumeration: likelihoods, marginals, circuits, files."""

from dataclasses import replace

import numpy as np
import pytest

from command import run
from made_hidden_trees import complete_joint, random_hidden_tree
from mnlearn.data.dataset import merge_rows
from mnlearn.inference import hidden_trees
from mnlearn.inference.circuits.evaluation import UNKNOWN
from mnlearn.inference.evidence import Evidence
from mnlearn.inference.plan import plan
from mnlearn.inference.queries import answer
from mnlearn.inference.settings import Inference
from mnlearn.models.hidden_tree import HiddenTree, emission_of, leaf_tables, n_circuit_edges
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import cll, ll, pll
from mnlearn.variables.schema import NO_STATE, numbered_schema
from oracles import all_states

SEEDS = range(6)


@pytest.fixture(params=SEEDS)
def tree(request):
    return random_hidden_tree(request.param, n_vars=request.param + 1)


@pytest.fixture
def p(tree):
    return complete_joint(tree)[0].sum(axis=1)


def given_part(tree, p, seed):
    """Rows of evidence, and P(X_v = 1) given each of them."""
    states = all_states(tree.n_vars)
    rows = np.random.default_rng(seed).integers(0, 3, (20, tree.n_vars)).astype(np.uint8)
    agrees = ((rows[:, None] == UNKNOWN) | (rows[:, None] == states)).all(axis=2)
    return rows, agrees @ p, (agrees * p) @ states / (agrees @ p)[:, None]


def test_likelihoods_and_marginals(tree, p):
    states = all_states(tree.n_vars)
    np.testing.assert_allclose(hidden_trees.log_value(tree, states), np.log(p), rtol=1e-12)
    rows, evidence, one = given_part(tree, p, 3)
    log_value, found = hidden_trees.conditionals(tree, rows)
    np.testing.assert_allclose(np.exp(log_value), evidence, rtol=1e-12)
    np.testing.assert_allclose(found[:, :, 1], one, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    asked = rows == UNKNOWN
    values = np.where(asked, NO_STATE, rows).astype(np.uint8)
    chosen = plan(tree, "marginals", asked)
    answered = answer(tree, Evidence(values, "row {}".format), chosen, Inference(), seed=1)
    by_state = answered.probability.reshape(len(rows), -1, 2)
    np.testing.assert_allclose(by_state[:, :, 1], one, rtol=1e-12, atol=1e-14)


def test_the_circuit_is_small_and_has_the_parameters(tree):
    circuit = tree.to_circuit()
    # A product of one factor is left out at the leaves of the tree.
    assert circuit.n_edges <= n_circuit_edges(tree)
    again = tree.with_parameters(circuit.weight)
    np.testing.assert_allclose(again.transition, tree.transition)
    np.testing.assert_allclose(again.emission, tree.emission)


@pytest.fixture
def partial():
    """A tree in which variable 2 is never 1."""
    return without_ones(slice(None))


def without_ones(values):
    """A tree in which variable 2 is never 1 where its hidden variable has some values."""
    tree = random_hidden_tree(3)
    emission = tree.emission.copy()
    emission[2, values] = 0.0
    emission[1, 0] = 1.0
    return replace(tree, emission=emission)


def test_values_that_are_impossible(partial):
    tree = partial
    data, circuit = merge_rows(all_states(5)), tree.to_circuit()
    for score in (pll, ll, lambda *given: cll(*given, [[0, 2], [1, 3]])):
        found = score(tree, data).per_row
        np.testing.assert_allclose(found, score(circuit, data).per_row, rtol=1e-12)
        np.testing.assert_array_equal(np.isneginf(found), data.rows[:, 2] == 1)
    impossible = np.full((1, 5), UNKNOWN, np.uint8)
    impossible[0, 2] = 1
    assert hidden_trees.log_value(tree, impossible)[0] == -np.inf
    assert np.isnan(hidden_trees.conditionals(tree, impossible)[1]).all()
    tree = without_ones(0)
    found, expected = (pll(model, data).per_row for model in (tree, tree.to_circuit()))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_row_of_evidence_has_one_number(partial, tmp_path):
    """Rows are counted from 0 in Python; the command line names the line of the file."""
    model, rows = partial, np.full((3, 5), np.nan)
    rows[1, 2] = 1
    for ask in (model.query, model.most_probable):
        with pytest.raises(InputError, match=r"^evidence, row 1: has probability 0"):
            ask(rows)
    save_model(partial, tmp_path / "t.npz")
    (tmp_path / "rows").write_text("*,*,*,*,*\n*,*,1,*,*\n")
    rows = tmp_path / "rows"
    for evidence, where in ((rows, f"{rows}, line 2"), ("V2=1", "--evidence")):
        result = run(f"query {tmp_path}/t.npz --evidence {evidence}")
        assert result.stderr == f"mnlearn: {where}: has probability 0.\n"


def test_results_do_not_depend_on_threads():
    tree = random_hidden_tree(1, 12, 16)
    rows = np.random.default_rng(1).integers(0, 3, (2100, 12)).astype(np.uint8)
    one = hidden_trees.conditionals(tree, rows)
    many = hidden_trees.conditionals(tree, rows, threads=3)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, many, strict=True))


def test_a_chain_of_many_variables_does_not_underflow():
    n = 3000
    parent = np.arange(-1, n - 1)
    tree = HiddenTree(parent, np.full((n, 2, 2), 0.5), np.full((n, 2), 1e-3))
    rows = np.ones((1, n), np.uint8)
    assert hidden_trees.log_value(tree, rows)[0] == pytest.approx(n * np.log(1e-3))
    star = replace(tree, parent=np.where(np.arange(n) == 0, -1, 0))
    assert hidden_trees.log_value(star, rows)[0] == pytest.approx(n * np.log(1e-3))


def test_the_most_edges_of_a_circuit():
    tree = random_hidden_tree(2)
    n_edges = n_circuit_edges(tree)
    # All but the products of an emission and of messages, which leaves of the tree do not have.
    n_ends = sum(not below for below in tree.children)
    assert tree.to_circuit(n_edges).n_edges == n_edges - n_ends * tree.n_states
    with pytest.raises(
        InputError, match=f"would have up to {n_edges} edges, more than {n_edges - 1}"
    ):
        tree.to_circuit(n_edges - 1)


def test_tables_of_leaves_and_of_columns():
    schema = numbered_schema([2, 4, 3])
    leaf = np.zeros((3, 2, 4))
    for v, arity in enumerate((2, 4, 3)):
        leaf[v, :, :arity] = np.random.default_rng(v).dirichlet(np.ones(arity), 2)
    emission = emission_of(leaf, schema)
    assert emission.shape == (8, 2)
    np.testing.assert_allclose(leaf_tables(emission, schema), leaf, atol=1e-15)


def test_what_it_refuses(tmp_path):
    assert random_hidden_tree(0, n_vars=2).is_deterministic() is False
    tree = random_hidden_tree(2)
    with pytest.raises(InputError, match="a hidden tree has no features"):
        tree.to_markov_network()
    with pytest.raises(InputError, match="hidden tree"):
        save_model(tree, tmp_path / "a.mn")
    with pytest.raises(InputError, match="equal rows at the root"):
        replace(tree, transition=np.roll(tree.transition, 1, axis=0))
