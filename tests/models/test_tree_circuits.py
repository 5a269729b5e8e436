"""Trees of observed and hidden variables as circuits; Chow-Liu trees."""

import itertools

import numpy as np
import pytest

from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.learning.latent_trees.chow_liu import PairTables, count_pairs
from mnlearn.learning.learner import Task
from mnlearn.methods.chow_liu import ChowLiu
from mnlearn.models.circuit_building import NO_PARENT, tree_circuit
from mnlearn.scoring.any_model import ll, pll
from mnlearn.variables.schema import binary_schema
from oracles import all_states


def random_tree(n_tree, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_tree)
    parent = np.full(n_tree, NO_PARENT)
    for k in range(1, n_tree):
        parent[order[k]] = order[rng.integers(k)]
    p = rng.uniform(0.05, 0.95, (n_tree, 2))
    return parent, np.log(np.stack([1 - p, p], axis=2))


@pytest.mark.parametrize("n_vars", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(4))
def test_hidden_variables_are_summed_out(n_vars, seed):
    parent, log_prob = random_tree(8, seed)
    circuit = tree_circuit(parent, log_prob, n_vars)
    circuit.check()
    p = np.zeros(2**n_vars)
    for k, x in enumerate(itertools.product((0, 1), repeat=8)):
        given = [x[u] if u != NO_PARENT else 0 for u in parent]
        p[k >> (8 - n_vars)] += np.exp(sum(log_prob[v, given[v], x[v]] for v in range(8)))
    np.testing.assert_allclose(log_value(circuit, all_states(n_vars)), np.log(p), atol=1e-10)
    assert log_partition(circuit) == pytest.approx(0.0, abs=1e-10)
    assert (circuit.features is None) == (n_vars < 8)
    if circuit.features is not None:
        polynomial = circuit.features.satisfied(all_states(8)) @ circuit.weight
        np.testing.assert_allclose(polynomial, np.log(p), atol=1e-10)
    # Without features the pseudo-likelihood comes from the circuit itself.
    data = merge_rows(all_states(n_vars))
    odds = [[np.log(p[i]) - np.log(p[i ^ (1 << v)]) for v in range(n_vars)] for i in range(len(p))]
    expected = -np.logaddexp(0, -np.array(odds)).sum(axis=1)
    np.testing.assert_allclose(pll(circuit, data).per_row, expected, atol=1e-9)


def test_information_is_that_of_the_definition():
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (300, 4))
    rows[:, 3] = np.where(rng.random(300) < 0.8, rows[:, 0], rows[:, 3])
    rows[:, 1] = np.where(rng.random(300) < 0.7, rows[:, 3], rows[:, 1])
    data = merge_rows(rows)
    tables = PairTables(data, 1.0)
    weight = information_by_definition(PairTables(data, 1.0).all())
    for v in range(4):
        found = tables.information(v, np.arange(len(weight)))
        np.testing.assert_allclose(found, weight[v], rtol=0, atol=1e-9)  # They are rounded.


def information_by_definition(pairs):
    """The mutual information of each pair."""
    n_vars = pairs.shape[2]
    out = np.zeros((n_vars, n_vars))
    for u, v, a, b in itertools.product(range(n_vars), range(n_vars), (0, 1), (0, 1)):
        p = pairs[:, :, u, v]
        out[u, v] += p[a, b] * np.log(p[a, b] / (pairs[a, :, u, 0].sum() * pairs[b, :, v, 0].sum()))
    return out


@pytest.mark.parametrize("weights", ["none", "whole", "fractions"])
@pytest.mark.parametrize(("n_vars", "n_rows"), [(1, 3), (5, 64), (70, 150), (33, 20_000)])
def test_counts_of_pairs(weights, n_vars, n_rows):
    rng = np.random.default_rng(n_vars)
    rows = (rng.random((n_rows, n_vars)) < 0.3).astype(np.uint8)
    given = {
        "none": None,
        "whole": rng.integers(1, 1000, n_rows),
        "fractions": rng.uniform(0.1, 2, n_rows),
    }[weights]
    data = merge_rows(rows, given)
    weight = np.ones(n_rows) if given is None else given
    expected = (rows * weight[:, None]).T @ rows.astype(float)
    found = count_pairs(data)
    assert found.dtype == (np.float64 if weights == "fractions" else np.int32)
    np.testing.assert_allclose(found, expected, rtol=1e-12 if weights == "fractions" else 0)


def test_learned_tree_has_the_likelihood_of_its_tables():
    rng = np.random.default_rng(2)
    data = merge_rows(rng.integers(0, 2, (200, 5)), schema=binary_schema("abcde"))
    fitted = ChowLiu(pseudocount=1.0).learn(Task(data, ChowLiu.grid({})))
    assert fitted.model.schema.names == tuple("abcde")
    assert log_partition(fitted.model) == pytest.approx(0.0, abs=1e-12)
    pairs = PairTables(data, 1.0).all()
    parent = PairTables(data, 1.0).tree()
    single = pairs.sum(axis=1)[:, :, 0]
    expected = np.zeros(data.n_rows)
    for v in range(5):
        expected += np.log(single[data.rows[:, v], v])
        if v:
            u = parent[v]
            joint = pairs[data.rows[:, u], data.rows[:, v], u, v]
            expected += np.log(joint / single[data.rows[:, u], u] / single[data.rows[:, v], v])
    np.testing.assert_allclose(ll(fitted.model, data).per_row, expected, atol=1e-10)
