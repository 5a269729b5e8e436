"""Bayesian networks of variables with 1 to 5 states, against the product of their distributions."""

import numpy as np
import pytest

from made_state_networks import all_values, joint, mixed_network, table_network
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.sampling import sample_rows
from mnlearn.models.bayesian_network import network_of_tables
from mnlearn.models.cpds import CpdTable, Tables, tables_of
from mnlearn.models.io.formats import describe
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import ll, pll
from mnlearn.variables.schema import numbered_schema

ARITIES = [(2, 3, 4), (3, 1, 2, 4), (1, 5, 2, 3), (2, 2, 3, 1), (1, 1)]


def networks(arities=ARITIES):
    found = []
    for seed, arity in enumerate(arities):
        mixed = mixed_network(np.random.default_rng(seed), arity)
        found.append(pytest.param(mixed, id=f"mixed{arity}"))
        tables, _ = table_network(np.random.default_rng(seed), arity)
        found.append(pytest.param(tables, id=f"{arity}"))
    return found


def rows_of(network):
    return network.schema.rows(all_values(network.schema.arity))


@pytest.mark.parametrize("network", networks())
def test_the_likelihood_is_the_product_of_the_distributions(network):
    expected = joint(network)
    assert expected.sum() == pytest.approx(1.0)
    rows = rows_of(network)
    np.testing.assert_allclose(np.exp(network.log_likelihood(rows)), expected, atol=1e-15)
    potential = network.to_markov_network().potential_of(rows)
    np.testing.assert_allclose(np.exp(potential), expected, atol=1e-12)


@pytest.mark.parametrize("network", networks(ARITIES[:4]))
def test_scores_of_data(network):
    rows = rows_of(network)
    data = merge_rows(rows, schema=network.schema)
    scored = ll(network, data).per_row[data.row_of]
    np.testing.assert_allclose(np.exp(scored), joint(network), atol=1e-15)
    scored = pll(network, data).per_row[data.row_of]
    start = np.concatenate([[0], np.cumsum(network.schema.arity)[:-1]])
    own = np.take_along_axis(network.log_conditionals(rows), start + network.schema.values(rows), 1)
    np.testing.assert_allclose(np.exp(scored), np.exp(own.sum(axis=1)), atol=1e-12)


@pytest.mark.parametrize("network", networks())
def test_conditionals_are_ratios_of_joint_probabilities(network):
    arity, rows = network.schema.arity, rows_of(network)
    table = joint(network).reshape(arity)
    found = network.log_conditionals(rows)
    start = np.concatenate([[0], np.cumsum(arity)])
    for v, k in enumerate(arity):
        own = np.moveaxis(table, v, -1)
        total = own.sum(axis=-1, keepdims=True)
        given = np.divide(own, total, out=np.full(own.shape, np.nan), where=total > 0)
        expected = np.moveaxis(np.broadcast_to(given[..., None, :], (*own.shape, k)), -2, v)
        expected = expected.reshape(-1, k)
        possible = ~np.isnan(expected[:, 0])
        part = np.exp(found[:, start[v] : start[v + 1]])
        np.testing.assert_allclose(part[possible], expected[possible], atol=1e-12)


@pytest.mark.parametrize("network", networks())
def test_samples_have_one_state_and_the_frequencies_of_the_network(network):
    drawn = sample_rows(network, 20_000, 0, seed=3)
    values = network.schema.values(drawn)
    assert (values < network.schema.arity).all()
    place = np.ravel_multi_index(values.T.astype(int), network.schema.arity)
    expected = joint(network)
    found = np.bincount(place, minlength=len(expected)) / len(drawn)
    assert np.abs(found - expected).max() < 5 * np.sqrt(0.25 / len(drawn))
    assert found[expected == 0].sum() == 0
    assert np.array_equal(drawn[:50], network.draw(50, seed=3, threads=2))


def test_rows_without_a_state_are_impossible():
    network, _ = table_network(np.random.default_rng(0), (2, 3), zeros=0.0)
    rows = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 1, 0]], np.uint8)
    assert np.isneginf(network.log_likelihood(rows)).tolist() == [False, True, True]
    assert np.isneginf(network.log_conditionals(rows)).any(axis=1).tolist() == [False, True, True]


def test_the_sizes_of_a_network():
    network = network_of_tables(
        numbered_schema([2, 3, 1]),
        {
            0: CpdTable((), np.array([0.5, 0.5])),
            1: CpdTable((2, 0), np.full((1, 2, 3), 1 / 3)),
            2: CpdTable((), np.ones(1)),
        },
    )
    assert network.n_parameters == 1 + 2 * 2
    assert describe(network) == {
        "kind": "Bayesian network", "n_vars": 3, "n_leaves": 4, "deepest_leaf": 2, "n_edges": 2,
    }  # fmt: skip
    assert network.edges() == {(0, 1): 1, (2, 1): 1}
    assert network.parents(1) == (2, 0)


@pytest.mark.parametrize(
    ("parents", "prob"),
    [
        ((0,), [[0.5, 0.5], [0.5, 0.5]]),
        ((5,), [[0.5, 0.5], [0.5, 0.5]]),
        ((1,), [[0.5, 0.5]]),
        ((1,), [[1.5, -0.5]] * 3),
        ((1,), [[np.nan, 0.5]] * 3),
    ],
)
def test_what_is_no_table_of_a_variable(parents, prob):
    prob = np.array(prob).ravel()
    tables = Tables([0, len(parents), len(parents)], parents, [0, len(prob), len(prob)], prob)
    with pytest.raises(InputError, match="the table of variable 0 is no distribution"):
        network_of_tables(numbered_schema([2, 3]), {}).__class__(
            network_of_tables(numbered_schema([2, 3]), {}).trees,
            [0, 1],
            numbered_schema([2, 3]),
            tables,
        )


def test_rounded_rows_are_scaled_to_sum_to_1():
    found = tables_of(2, {1: CpdTable((0,), np.array([[0.2, 0.2, 0.4], [0.3, 0.3, 0.6]]))})
    np.testing.assert_allclose(found.prob, [0.25, 0.25, 0.5] * 2)
