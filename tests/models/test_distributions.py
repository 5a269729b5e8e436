"""Models of every kind: likelihoods, circuits, networks and samples have their distribution."""

from functools import cache

import numpy as np
import pytest

from lem_oracle import log_probability
from made_feature_trees import learned_twice
from made_hidden_trees import complete_joint, random_hidden_tree
from made_junction_trees import probabilities, random_junction_tree
from made_state_networks import joint, mixed_network, table_network
from made_states import every_row
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.inference.sampling import sample_rows
from mnlearn.scoring.any_model import cll, ll, pll

ARITIES = [(2, 3, 4), (3, 1, 2, 4), (1, 5, 2, 3), (2, 2, 3, 1), (1, 1)]


def bayesian(make):
    """Return a function from seeds to networks and the products of their distributions."""

    def made(seed):
        network = make(np.random.default_rng(seed), ARITIES[seed])
        return network, joint(network)

    return made


def feature_tree(seed):
    tree, nodes, states = learned_twice(seed)
    return tree, np.exp([log_probability(nodes, x) for x in states])


def hidden_tree(seed):
    tree = random_hidden_tree(seed, n_vars=seed + 1)
    return tree, complete_joint(tree)[0].sum(axis=1)


def junction_tree(seed):
    tree = random_junction_tree(seed)
    return tree, probabilities(tree)


# What makes a model and the probabilities of all joint states by its definition; how many of them.
KINDS = {
    "feature tree": (feature_tree, 25),
    "hidden tree": (hidden_tree, 6),
    "junction tree": (junction_tree, 8),
    "mixed network": (bayesian(mixed_network), 5),
    "tables": (bayesian(lambda rng, arity: table_network(rng, arity)[0]), 5),
}
CASES = [(kind, seed) for kind, (_, n) in KINDS.items() for seed in range(n)]
FEW = [case for case in CASES if case[1] < 5]
# Networks of variables of one state each have no columns, and neither data nor circuits.
WITH_COLUMNS = [case for case in CASES if case not in (("mixed network", 4), ("tables", 4))]


@cache
def made(kind, seed):
    return KINDS[kind][0](seed)


def check(log_p, expected, rtol=1e-10):
    np.testing.assert_allclose(np.exp(log_p), expected, rtol=rtol, atol=1e-15)


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_likelihoods(kind, seed):
    model, p = made(kind, seed)
    rows = every_row(model.schema)
    assert p.sum() == pytest.approx(1.0, abs=1e-10)
    if model.has_own_likelihood:
        check(model.log_likelihood(rows), p, rtol=1e-11)
    if (kind, seed) in WITH_COLUMNS:
        data = merge_rows(rows, None, model.schema)
        check(ll(model, data).per_row[data.row_of], p)


@pytest.mark.parametrize(("kind", "seed"), [case for case in FEW if case in WITH_COLUMNS])
def test_scores_of_single_variables(kind, seed):
    model, p = made(kind, seed)
    table = p.reshape(model.schema.arity)
    expected = np.zeros(table.shape)
    with np.errstate(all="ignore"):
        for v in range(table.ndim):
            expected += np.log(table / table.sum(axis=v, keepdims=True))
    possible = p > 0
    data = merge_rows(every_row(model.schema)[possible], None, model.schema)
    for found in (pll(model, data), cll(model, data, [[v] for v in range(table.ndim)])):
        own = found.per_row[data.row_of]
        np.testing.assert_allclose(own, expected.ravel()[possible], atol=1e-9)


@pytest.mark.parametrize(("kind", "seed"), WITH_COLUMNS)
def test_the_circuit_has_the_distribution_over_columns(kind, seed):
    model, p = made(kind, seed)
    circuit = model.to_circuit()
    circuit.check()
    assert log_partition(circuit) == pytest.approx(0.0, abs=1e-10)
    check(log_value(circuit, every_row(model.schema)), p)


@pytest.mark.parametrize(("kind", "seed"), [case for case in CASES if case[0] != "hidden tree"])
def test_the_markov_network_has_partition_function_1(kind, seed):
    model, p = made(kind, seed)
    check(model.to_markov_network().potential_of(every_row(model.schema)), p)
    circuit = model.to_circuit()
    if circuit.features is not None:
        check(circuit.to_markov_network().potential_of(every_row(model.schema)), p)


@pytest.mark.parametrize(("kind", "seed"), FEW)
def test_samples_have_one_state_and_the_frequencies_of_the_model(kind, seed):
    model, p = made(kind, seed)
    drawn = sample_rows(model, 20_000, 0, seed=3)
    values = model.schema.values(drawn)
    assert (values < model.schema.arity).all()
    place = np.ravel_multi_index(values.T.astype(int), model.schema.arity)
    found = np.bincount(place, minlength=len(p)) / len(drawn)
    assert np.abs(found - p).max() < 5 * np.sqrt(0.25 / len(drawn))
    assert found[p == 0].sum() == 0
    np.testing.assert_array_equal(drawn[:50], sample_rows(model, 50, 0, seed=3, threads=2))
