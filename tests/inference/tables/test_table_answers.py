"""Joint distributions, most probable states and samples against the enumeration of all states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_factors import agreeing, log_joint, log_sum, random_evidence, random_factors
from made_state_networks import table_network
from mnlearn.inference.exact import marginals as exact_marginals
from mnlearn.inference.table_form import TableForm
from mnlearn.inference.tables import marginal_map as maps
from mnlearn.inference.tables.answers import draw, joint, most_probable, relevant
from mnlearn.inference.tables.factors import factors_of, factors_of_tables
from mnlearn.inference.tables.marginal_map import marginal_map
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE

SEEDS = range(20)


def possible_case(seed, **settings):
    """Factors and evidence that is possible."""
    factors = random_factors(seed, **settings)
    table = log_joint(factors)
    for k in range(100):
        values = random_evidence(1000 * seed + k, factors)
        if np.isfinite(log_sum(agreeing(table, values))):
            return factors, values, agreeing(table, values)
    return factors, np.full(len(factors.arity), NO_STATE, np.uint8), table


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_distributions(seed):
    factors, values, table = possible_case(seed)
    query = tuple(np.random.default_rng(seed).permutation(len(values))[:3].tolist())
    p = np.exp(table - log_sum(table))
    p = p.sum(axis=tuple(v for v in range(p.ndim) if v not in query))
    expected = p.transpose(np.argsort(np.argsort(query)))
    found = joint(factors, values[None], query)[0]
    assert found.shape == tuple(factors.arity[list(query)])
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_distributions_of_bayesian_networks_leave_barren_variables_out(seed):
    rng = np.random.default_rng(seed)
    network, p = table_network(rng, (2, 3, 2, 4, 2, 3), zeros=0.0)
    factors = factors_of(network)
    values = random_evidence(seed, factors, share=0.2)
    values[[1, 2]] = NO_STATE
    table = agreeing(np.log(p.reshape(factors.arity)), values)
    expected = np.exp(table - log_sum(table)).sum(axis=(0, 3, 4, 5)).T
    assert joint(factors, values[None], (2, 1))[0] == pytest.approx(expected, abs=1e-12)


def test_only_what_bears_on_the_query_is_left():
    """The network a -> b -> c -> d, with c known: d is barren, and b needs no more than a to c."""
    scopes = [(0,), (0, 1), (1, 2), (2, 3)]
    tables = [np.log(np.full((2,) * len(s), 0.5)) for s in scopes]
    factors = factors_of_tables([2] * 4, scopes, tables, np.arange(4, dtype=np.int32))
    known = np.array([False, False, True, False])
    assert relevant(factors, known, [0]).scopes == scopes[:3]
    assert relevant(factors, known, [3]).scopes == scopes[3:]
    assert relevant(factors, ~known & False, [0]).scopes == scopes[:1]
    assert relevant(factors, known, [], whole=True).scopes == scopes[:3]


@pytest.mark.parametrize("seed", SEEDS)
def test_most_probable_states(seed):
    factors, values, table = possible_case(seed)
    rows = np.stack([values, np.full(len(values), NO_STATE, np.uint8)])
    states, log_value = most_probable(factors, rows)
    for found, value, own in zip(states, log_value, (table, log_joint(factors)), strict=True):
        assert value == pytest.approx(own.max(), abs=1e-10)
        assert own[tuple(found)] == pytest.approx(own.max(), abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_samples_have_the_frequencies_of_the_distribution(seed, scale):
    factors, values, table = possible_case(seed, n_vars=4, n_factors=5, scale=scale)
    n = 20_000
    rows = draw(factors, values, n, seed)
    assert np.array_equal(rows, draw(factors, values, n, seed, threads=3))
    p = np.exp(table - log_sum(table))
    counts = np.zeros(table.shape)
    np.add.at(counts, tuple(rows.T), 1)
    error = np.sqrt(p * (1 - p) / n)
    assert (np.abs(counts / n - p) <= 5 * error + 1e-12).all()


def by_definition(table, query):
    """The log of the sum over the other variables for all states of the query."""
    others = tuple(v for v in range(table.ndim) if v not in query)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(table - table.max()).sum(axis=others)) + table.max()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("products", [0, 1e9])
def test_marginal_map_by_elimination_and_by_search(seed, products, monkeypatch):
    monkeypatch.setattr(maps, "_PRODUCTS", products)
    factors, values, table = possible_case(seed)
    free = np.flatnonzero(values == NO_STATE)
    query = sorted(np.random.default_rng(seed).permutation(free)[:3].tolist())
    sums = by_definition(table, query)
    states, log_value = marginal_map(factors, values, query)
    assert sorted(states) == query
    assert log_value == pytest.approx(sums.max(), abs=1e-9)
    assert sums[tuple(states[v] for v in query)] == pytest.approx(sums.max(), abs=1e-9)


def test_impossible_evidence_has_no_most_probable_states():
    factors = random_factors(0, zeros=0.0)
    factors.log_table[:] = -np.inf
    with pytest.raises(InputError, match="has probability 0"):
        marginal_map(factors, np.full(7, NO_STATE, np.uint8), [0, 1])


@pytest.mark.parametrize("n_rows", [1, 5, 80])
@pytest.mark.parametrize("wanted", [[0], [1, 4], range(7)])
def test_marginals_of_rows_know_what_is_known(n_rows, wanted):
    """One tree for each pattern of unknown variables, or one for all; asked variables or all."""
    rng = np.random.default_rng(n_rows)
    network, joint = table_network(rng, [2, 3, 1, 2, 4, 2, 2], zeros=0.0)
    factors, first = factors_of(network), np.cumsum([0, *network.schema.arity])
    values = np.stack([random_evidence(n_rows + k, factors, 0.5) for k in range(n_rows)])
    asked = np.isin(np.arange(7), wanted)
    _, p = exact_marginals(TableForm(factors, network.schema), values, asked)
    for row, own in zip(values, p, strict=True):
        table = np.exp(agreeing(np.log(joint).reshape(factors.arity), row))
        for v in range(7):
            found = own[first[v] : first[v + 1]]
            if row[v] != NO_STATE:
                assert_array_equal(found, np.arange(len(found)) == row[v])
            elif asked[v]:
                expected = table.sum(axis=tuple(u for u in range(7) if u != v)) / table.sum()
                assert_allclose(found, expected, rtol=1e-9)
