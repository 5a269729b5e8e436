"""Answers of clique trees against the enumeration of all states."""

import itertools

import numpy as np
import pytest

from made_factors import (
    agreeing,
    log_joint,
    log_sum,
    marginals_of,
    random_evidence,
    random_factors,
)
from made_state_networks import table_network
from mnlearn.inference.tables.answers import draw, most_probable, pruned_tree
from mnlearn.inference.tables.buckets import cost_of
from mnlearn.inference.tables.clique_tree import CliqueTree
from mnlearn.inference.tables.factors import factors_of, factors_of_tables
from mnlearn.inference.tables.orders import narrow_order
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE

SEEDS = range(25)


def unknown(factors):
    return np.full((1, len(factors.arity)), NO_STATE, np.uint8)


def check(tree, factors, values):
    joint = agreeing(log_joint(factors), values)
    expected = log_sum(joint)
    log_value, p = tree.marginals(values[None])
    assert log_value[0] == pytest.approx(expected, abs=1e-10)
    assert tree.log_values(values[None])[0] == log_value[0]
    if np.isneginf(expected):
        assert np.isnan(p).all()
    else:
        assert p[0] == pytest.approx(marginals_of(joint), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_marginals_and_the_sum(seed):
    factors = random_factors(seed)
    check(CliqueTree(factors), factors, unknown(factors)[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_evidence_that_the_tree_knows_and_that_it_does_not_know(seed):
    factors = random_factors(seed)
    values = random_evidence(seed, factors)
    known = values != NO_STATE
    for own in (known, known & (np.arange(len(known)) % 2 == 0), None):
        check(CliqueTree(factors, own), factors, values)


@pytest.mark.parametrize("seed", SEEDS)
def test_bayesian_networks(seed):
    """Messages of distributions that are summed out are 1 and not computed."""
    rng = np.random.default_rng(seed)
    network, _ = table_network(rng, rng.integers(1, 5, 6), zeros=0.2)
    factors = factors_of(network)
    values = random_evidence(seed, factors)
    check(CliqueTree(factors), factors, unknown(factors)[0])
    check(CliqueTree(factors), factors, values)
    check(CliqueTree(factors, values != NO_STATE), factors, values)
    found = pruned_tree(factors, values != NO_STATE, (), whole=True).log_values(values[None])
    expected = log_sum(agreeing(log_joint(factors), values))
    assert found[0] == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("seed", range(10))
def test_products_too_small_for_linear_space_are_logarithms(seed):
    """Logarithms of cells are hundreds apart."""
    factors = random_factors(seed, scale=300.0)
    values = random_evidence(seed, factors, share=0.1)
    check(CliqueTree(factors), factors, values)


def test_factors_of_thousands_of_nats():
    """States that a factor all but forbids are as likely as the other ones."""
    tables = [[0.0, -1500.0], [-1500.0, 0.0]]
    factors = factors_of_tables([2], [(0,), (0,)], np.array(tables))
    check(CliqueTree(factors), factors, unknown(factors)[0])


@pytest.mark.parametrize("products", [1 << 26, 1000])
@pytest.mark.parametrize("size", [30, 70, 200])
def test_tables_longer_than_a_block(size, products, monkeypatch):
    """Blocks begin and end inside tables of many cells, and large buckets take several calls."""
    monkeypatch.setattr("mnlearn.inference.tables.clique_tree._PRODUCTS", products)
    rng = np.random.default_rng(size)
    arity = (size, 3, size, 5)
    scopes = [(0, 1, 2), (2, 3), (3, 0), (1,), (2, 1)]
    tables = [rng.normal(size=[arity[v] for v in scope]) for scope in scopes]
    factors = factors_of_tables(arity, scopes, tables)
    total = log_joint(factors)
    log_value, p = CliqueTree(factors).marginals(unknown(factors))
    assert log_value[0] == pytest.approx(log_sum(total))
    assert p[0] == pytest.approx(marginals_of(total), abs=1e-12)


@pytest.mark.parametrize("products", [1 << 26, 9000])
def test_buckets_of_many_blocks(products, monkeypatch):
    """A bucket is computed in several calls, up and down, and its messages are scaled once."""
    monkeypatch.setattr("mnlearn.inference.tables.clique_tree._PRODUCTS", products)
    rng = np.random.default_rng(0)
    scopes = [tuple(range(13)), (3, 7), (1,), (12, 0), (13, 2), (14, 13), (13, 5, 8), (15, 6, 11)]
    tables = [rng.normal(size=(2,) * len(scope)) for scope in scopes]
    factors = factors_of_tables([2] * 16, scopes, tables)
    tree, expected = CliqueTree(factors), log_joint(factors)
    assert tree.buckets.size.max() == 2**12
    log_value, p = tree.marginals(unknown(factors))
    assert log_value[0] == pytest.approx(log_sum(expected))
    assert p[0] == pytest.approx(marginals_of(expected), abs=1e-12)


def test_many_rows_on_many_threads():
    factors = random_factors(1)
    rows = np.stack([random_evidence(seed, factors) for seed in range(40)])
    tree = CliqueTree(factors)
    one, several = tree.marginals(rows), tree.marginals(rows, threads=3)
    assert one.log_value == pytest.approx(several.log_value)
    assert np.array_equal(one.probability, several.probability, equal_nan=True)
    for row, found in zip(rows, one.log_value, strict=True):
        expected = log_sum(agreeing(log_joint(factors), row))
        assert found == pytest.approx(expected, abs=1e-10)


def grid(side):
    pairs = [(r * side + c, r * side + c + 1) for r in range(side) for c in range(side - 1)]
    pairs += [(r * side + c, r * side + side + c) for r in range(side - 1) for c in range(side)]
    tables = np.random.default_rng(0).normal(size=(len(pairs), 2, 2))
    return factors_of_tables([2] * side * side, pairs, tables)


def test_what_is_too_large_is_refused_before_it_is_computed():
    factors = grid(60)
    assert cost_of(factors).cells > 2**50
    with pytest.raises(InputError, match="exact inference would take tables of"):
        CliqueTree(factors)
    assert cost_of(grid(6)).cells < 2**10
    with pytest.raises(InputError, match="more than 100"):
        CliqueTree(grid(6), max_cells=100)


@pytest.mark.parametrize("seed", range(10))
def test_messages_that_are_used_up_give_their_memory_back(seed):
    factors = random_factors(seed)
    check(CliqueTree(factors, only_up=True), factors, random_evidence(seed, factors))


def test_the_sum_of_a_grid_takes_less_memory_than_its_marginals():
    factors = grid(9)
    whole = CliqueTree(factors)
    most = 0.6 * whole.cost.cells
    narrow = CliqueTree(factors, only_up=True, max_cells=most)
    found = narrow.log_values(unknown(factors))
    assert found == pytest.approx(whole.marginals(unknown(factors)).log_value, rel=1e-14)
    with pytest.raises(InputError, match="exact inference would take"):
        narrow.marginals(unknown(factors))


def test_evidence_makes_a_tree_smaller():
    factors = grid(6)
    known = np.arange(36) % 2 == 0
    assert cost_of(factors, known).operations < cost_of(factors).operations / 10


def test_the_cost_of_a_joint_distribution_counts_its_table():
    factors = grid(4)
    few, many = cost_of(factors, query=(0,)), cost_of(factors, query=tuple(range(12)))
    assert many.cells >= 2**12 > few.cells


def test_a_chain_costs_what_its_tables_have():
    """Each message of a chain has two cells, the last one has one."""
    chain = factors_of_tables([2] * 5, list(itertools.pairwise(range(5))), np.zeros((4, 2, 2)))
    assert cost_of(chain).cells == 4 * 2 + 1 + 1


def grid_factors(seed, height, width, arity):
    """A grid whose variables are numbered in any order."""
    rng = np.random.default_rng(seed)
    number = rng.permutation(height * width).reshape(height, width)
    scopes = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    scopes += [*zip(number[:-1].ravel(), number[1:].ravel(), strict=True)]
    scopes = [tuple(map(int, scope)) for scope in scopes]
    tables = [rng.normal(size=[arity[v] for v in scope]) for scope in scopes]
    return factors_of_tables(arity, scopes, tables)


@pytest.mark.parametrize("arity", [[2] * 15, [3, 2] * 5])
def test_messages_up_that_are_sent_again_for_want_of_memory(arity):
    """Every division into parts gives the answers, the most probable states and the same draws."""
    factors = grid_factors(0, 5, len(arity) // 5, arity)
    joint, values = log_joint(factors), unknown(factors)
    drawn = draw(factors, values[0], 200, 7)
    n_parts, most = set(), CliqueTree(factors).cost.cells * 2
    while True:
        try:
            tree = CliqueTree(factors, max_cells=most, in_parts=True)
            found = tree.marginals(values)
        except InputError:
            break
        n_parts.add(len(tree.parts))
        assert found.probability[0] == pytest.approx(marginals_of(joint), abs=1e-12)
        best, log_value = most_probable(factors, values, most)
        assert joint[tuple(best[0])] == joint.max() == pytest.approx(log_value[0])
        assert (draw(factors, values[0], 200, 7, max_cells=most) == drawn).all()
        most *= 0.9
    assert len(n_parts) > 1
    known = random_evidence(3, factors)
    tree = CliqueTree(factors, max_cells=most / 0.9, in_parts=True)
    assert len(tree.parts) > 1
    check(tree, factors, known)


def test_a_grid_of_many_cells_has_an_order_along_it():
    factors = grid_factors(1, 18, 18, [2] * 324)
    order = narrow_order(factors.start, factors.scope.astype(np.int64), factors.arity)
    assert sorted(order.order.tolist()) == list(range(324))
    assert order.log2_cells < 19 + np.log2(324)
    tree = CliqueTree(factors, max_cells=2**24, in_parts=True)
    assert 2 * tree.cost.cells < 2**24 < 2 * tree.buckets.size.sum()
    assert CliqueTree(factors, max_cells=2**21, only_up=True).cost.cells < 2**21
