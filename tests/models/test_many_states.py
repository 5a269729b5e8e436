"""Conditionals of Bayesian networks of variables with 1 to 5 states, sizes, and what is none."""

from dataclasses import replace

import numpy as np
import pytest

from made_state_networks import joint, mixed_network, table_network
from made_states import every_row
from mnlearn.models.bayesian_network import network_of_tables
from mnlearn.models.cpds import CpdTable, Tables, tables_of
from mnlearn.models.io.formats import describe
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import numbered_schema

ARITIES = [(2, 3, 4), (3, 1, 2, 4), (1, 5, 2, 3), (2, 2, 3, 1), (1, 1)]


@pytest.mark.parametrize("seed", range(len(ARITIES)))
@pytest.mark.parametrize("make", [mixed_network, lambda *given: table_network(*given)[0]])
def test_conditionals_are_ratios_of_joint_probabilities(make, seed):
    network = make(np.random.default_rng(seed), ARITIES[seed])
    arity, rows = network.schema.arity, every_row(network.schema)
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


def test_the_table_of_the_last_variable_is_checked_too():
    tables = tables_of(2, {1: CpdTable((), np.ones(3) / 3)})
    tables.check(np.array([2, 3]))
    with pytest.raises(InputError, match="the table of variable 1 is no distribution"):
        replace(tables, prob=np.ones(3)).check(np.array([2, 3]))


def test_rounded_rows_are_scaled_to_sum_to_1():
    found = tables_of(2, {1: CpdTable((0,), np.array([[0.2, 0.2, 0.4], [0.3, 0.3, 0.6]]))})
    np.testing.assert_allclose(found.prob, [0.25, 0.25, 0.5] * 2)
