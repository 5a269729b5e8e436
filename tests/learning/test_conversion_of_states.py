"""Dependency networks of variables of any number of states, converted, against the definition."""

import functools
import itertools
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_states import every_row, random_states, schema_of
from mnlearn.inference.conditionals import log_conditionals
from mnlearn.learning import conversion
from mnlearn.learning.conversion import (
    BASES,
    Orders,
    average_networks,
    choose_base,
    choose_orders,
    consistency_gap,
    cpd_features,
    to_markov_network,
)
from mnlearn.learning.trees import learn_tree_path
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees, tree_network
from mnlearn.models.features import features_of
from mnlearn.runtime.errors import InputError
from oracles import log_conditional, log_potential, log_potentials, log_softmax

# Features in any form, as the oracles take them.
Weighted = namedtuple("Weighted", "schema features weight")
ARITIES = [(2, 3, 4), (3, 1, 2, 4), (4, 2, 3), (2, 2, 2, 2)]


def potentials_by_definition(network, bases, weights, orders):
    """log P(row) less that of the first row, averaged over orders and base rows."""
    schema, rows = network.schema, every_row(network.schema)
    states, total = schema.values(rows), np.zeros(len(rows))

    @functools.cache
    def log_p_of(own, v):
        return log_conditional(network, schema.rows(np.array([own]))[0], v)

    for base, weight in zip(schema.values(bases), weights, strict=True):
        for order in orders:
            for i, own in enumerate(states):
                now = own.copy()
                for v in order:
                    log_p = log_p_of(tuple(now.tolist()), v)
                    total[i] += weight / len(orders) * (log_p[own[v]] - log_p[base[v]])
                    now[v] = base[v]
    return total - total[0]


def found_potentials(network):
    total = network.potential_of(every_row(network.schema))
    return total - total[0]


def random_network(seed, arities):
    """Trees with several tests of a variable, and features of which some are sets of states."""
    data = random_states(seed, arities)
    schema, rng = data.schema, np.random.default_rng(seed)
    trees, conjunctions, target = learn_tree_path(data, 1.0).trees, [], []
    tested = trees.paths().select(trees.is_leaf)
    variables = [schema.variable_of[[c for c, _ in tested.literals(f)]] for f in range(len(tested))]
    assert max(arities) < 3 or any(len(set(own)) < len(own) for own in variables)
    many = np.flatnonzero(schema.arity > 1)
    for _ in range(8):
        own = rng.choice(many, rng.integers(1, len(many) + 1), replace=False)
        literals = []
        for v in own:
            columns = schema.columns(v)
            excluded = rng.choice(columns, rng.integers(1, max(2, len(columns))), replace=False)
            one = [(int(rng.choice(columns)), 1)]
            literals += [(int(c), 0) for c in excluded] if rng.random() < 0.5 else one
        conjunctions.append(literals)
        target.append(own[0])
    if max(arities) > 2:
        conjunctions[0] += conjunctions[0][:1]  # said twice
    weight = rng.normal(size=len(target))
    return DependencyNetwork(trees, features_of(conjunctions), target, weight, schema), data


def rotated(order):
    rotations = [np.roll(order, -k) for k in range(len(order))]
    return [*rotations, *(one[::-1] for one in rotations)]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("arities", ARITIES)
def test_average_over_rotations_and_reverses(arities, base):
    network, data = random_network(1, arities)
    if base == "examples":
        data = data.subset(np.arange(0, data.n_rows, 5))
    rows = every_row(data.schema)
    given = choose_base(base, data)
    if base == "examples":
        bases, weights = data.rows, data.weight / data.n_examples
    else:
        of_columns = np.where(
            rows == 1, given, np.where(data.schema.arity[data.schema.variable_of] > 2, 1, 1 - given)
        )
        bases, weights = rows, of_columns.prod(axis=1)
    assert_allclose(weights.sum(), 1)
    orders = Orders(np.random.default_rng(0).permutation(len(arities)))
    found = to_markov_network(network, given, orders)
    expected = potentials_by_definition(network, bases, weights, rotated(orders.order))
    assert_allclose(found_potentials(found), expected, atol=1e-9)


@pytest.mark.parametrize("base", ["marginals", "examples"])
@pytest.mark.parametrize("name", ["one", "pair", "rotations", "all"])
@pytest.mark.parametrize("arities", [(3, 2, 4), (2, 2, 2)])
def test_other_orders(arities, name, base):
    network, data = random_network(2, arities)
    data = data.subset(np.arange(0, data.n_rows, 4))
    given = choose_base(base, data)
    bases, weights = data.rows, data.weight / data.n_examples
    if base == "marginals":
        bases = every_row(data.schema)
        wide = data.schema.arity[data.schema.variable_of] > 2
        weights = np.where(bases == 1, given, np.where(wide, 1, 1 - given)).prod(axis=1)
    order = np.arange(3)
    chosen = {"one": [order], "pair": [order, order[::-1]], "rotations": rotated(order)[:3]}
    expected = chosen.get(name, [np.array(o) for o in itertools.permutations(order)])
    found = to_markov_network(network, given, choose_orders(name, 3, 8))
    assert_allclose(
        found_potentials(found),
        potentials_by_definition(network, bases, weights, expected),
        atol=1e-9,
    )


def test_marginals_have_a_count_for_each_state():
    data = random_states(4, (2, 3, 1, 4))
    values, n = data.schema.values(data.rows[data.row_of]), data.n_examples
    expected = [(np.sum(values[:, 0] == 1) + 1) / (n + 2)]
    expected += [(np.sum(values[:, 1] == a) + 1) / (n + 3) for a in range(3)]
    expected += [(np.sum(values[:, 3] == a) + 1) / (n + 4) for a in range(4)]
    assert_allclose(choose_base("marginals", data), expected)
    assert_allclose(choose_base("uniform", data), [0.5] + [1 / 3] * 3 + [0.25] * 4)
    mode = choose_base("mode", data)
    assert mode[1:4].sum() == mode[4:].sum() == 1
    assert mode[1:4].argmax() == np.bincount(values[:, 1]).argmax()


@pytest.mark.parametrize("arities", ARITIES)
def test_the_conditionals_of_a_network_give_it_back(arities):
    """Whatever the base and the order: they are those of a distribution."""
    network, data = random_network(3, arities)
    schema, rng = data.schema, np.random.default_rng(7)
    given, weight = network.features, rng.normal(size=len(network.features))
    conjunctions, target, weights = [], [], []
    for f in range(len(given)):
        literals = given.literals(f)
        for v in np.unique(schema.variable_of[[c for c, _ in literals]]):
            conjunctions.append(literals)
            target.append(v)
            weights.append(weight[f])
    own = DependencyNetwork(flat_trees(schema), features_of(conjunctions), target, weights, schema)
    row, distribution = every_row(schema)[5], Weighted(schema, given, weight)
    for v in range(len(schema)):
        assert_allclose(log_conditional(own, row, v), log_conditional(distribution, row, v))
    orders = Orders(rng.permutation(len(arities)), *rng.integers(0, 2, 2).astype(bool))
    found = to_markov_network(own, choose_base("marginals", data), orders)
    expected = log_potentials(distribution)
    assert_allclose(found_potentials(found), expected - expected[0], atol=1e-9)


def test_features_that_cannot_hold_change_nothing():
    schema = schema_of(3, 4, 2)
    literals = [
        [(0, 1), (1, 1), (7, 1)],
        [(3, 0), (3, 1), (7, 1)],
        [(0, 1), (4, 0), (5, 0), (7, 0)],
    ]
    weight, target = np.array([5.0, 7.0, 1.0]), [2, 2, 2]
    base = np.array([0.2, 0.3, 0.5, 0.1, 0.2, 0.3, 0.4, 0.6])

    def converted(own):
        own = np.array(own)
        features = features_of([literals[f] for f in own])
        network = DependencyNetwork(
            flat_trees(schema), features, np.array(target)[own], weight[own], schema
        )
        return found_potentials(to_markov_network(network, base, Orders(np.arange(3))))

    assert_allclose(converted([0, 1, 2]), converted([2]))


def test_trees_are_given_by_the_logarithms_of_their_leaves():
    data = random_states(5, (3, 2, 4))
    network = tree_network(learn_tree_path(data, 1.0).trees, data.schema)
    features, target, weight = cpd_features(network)
    for row in every_row(data.schema)[::5]:
        values = data.schema.values(row[None])[0]
        for v in range(3):
            own = target == v
            part = Weighted(data.schema, features.select(own), weight[own])
            assert_allclose(log_potential(part, row), log_conditional(network, row, v)[values[v]])


SEVERAL = [(2, 3, 4), (4, 1, 2, 3), (2, 2, 2)]


def networks_of(arities):
    samples = [random_states(seed, arities) for seed in range(3)]
    return [tree_network(learn_tree_path(one, 1.0).trees, one.schema) for one in samples], samples[
        0
    ]


def by_variable(matrix, schema):
    return np.split(matrix, np.cumsum(schema.arity)[:-1], axis=1)


@pytest.mark.parametrize("arities", SEVERAL)
def test_averages_are_normalised_geometric_means(arities):
    networks, data = networks_of(arities)
    shares = [0.5, 0.2, 0.3]
    mean = average_networks(list(zip(shares, networks, strict=True)))
    found = by_variable(log_conditionals(mean, data), data.schema)
    parts = [by_variable(log_conditionals(one, data), data.schema) for one in networks]
    for v, own in enumerate(found):
        total = sum(share * part[v] for share, part in zip(shares, parts, strict=True))
        assert_allclose(own, [log_softmax(row) for row in total], atol=1e-10)


@pytest.mark.parametrize("n_rows", [1000, 8])
@pytest.mark.parametrize("arities", SEVERAL[:2])
def test_the_gap_is_the_mean_divergence_of_the_conditionals(monkeypatch, arities, n_rows):
    """Of every third of the 24 distinct rows if at most 8 are to be used."""
    monkeypatch.setattr(conversion, "GAP_ROWS", n_rows)
    (network, *_), data = networks_of(arities)
    data = data.subset(np.arange(min(data.n_rows, 24)))
    step = -(-data.n_rows // n_rows)
    found = to_markov_network(
        network, choose_base("marginals", data), Orders(np.arange(len(arities)))
    )
    some = data.subset(np.arange(0, data.n_rows, step))
    p, q = (
        [np.exp(own) for own in by_variable(log_conditionals(m, some), data.schema)]
        for m in (network, found)
    )
    expected = sum(some.weight @ (a * np.log(a / b)).sum(axis=1) for a, b in zip(p, q, strict=True))
    expected /= some.n_examples * len(arities)
    assert expected > 1e-4
    assert consistency_gap(network, found, data) == pytest.approx(expected)


@pytest.mark.parametrize("longest", [3, 4])
def test_longer_features_are_averaged_over_rotations_and_the_others_over_all_orders(longest):
    """The features have one to five literals; each adds its own part to the potentials."""
    rng = np.random.default_rng(longest)
    variables = [rng.choice(5, length, replace=False) for length in (1, 2, 3, 3, 4, 4, 5)]
    conjunctions = [[(int(v), int(rng.integers(2))) for v in sorted(own)] for own in variables]
    target = np.array([own[0] for own in variables])
    weight, base = rng.normal(size=len(target)), rng.integers(0, 2, 5)
    schema = schema_of(*(2,) * 5)

    def network_of(chosen):
        features = features_of([conjunctions[f] for f in chosen])
        return DependencyNetwork(
            flat_trees(schema), features, target[chosen], weight[chosen], schema
        )

    every = [np.array(o) for o in itertools.permutations(range(5))]
    expected = 0.0
    for is_long, orders in ((False, every), (True, rotated(np.arange(5)))):
        chosen = np.flatnonzero([(len(c) > longest) == is_long for c in conjunctions])
        if len(chosen):
            expected += potentials_by_definition(network_of(chosen), base[None], [1.0], orders)
    whole = network_of(np.arange(len(target)))
    found = to_markov_network(whole, base.astype(float), choose_orders("all", 5, longest))
    assert_allclose(found_potentials(found), expected, atol=1e-10)


@pytest.mark.parametrize(
    ("base", "order", "names"),
    [
        (np.full(4, 0.5), np.arange(5), "5 probabilities"),
        (np.full(5, 1.5), np.arange(5), "5 probabilities"),
        (np.full(5, 0.5), np.array([0, 1, 2, 3, 3]), "an order of the variables 0 to 4"),
        (random_states(0, (2,) * 4), np.arange(5), "examples of 5 variables"),
    ],
)
def test_what_is_refused(base, order, names):
    with pytest.raises(InputError, match=names):
        to_markov_network(networks_of((2,) * 5)[0][0], base, Orders(order))


def test_probabilities_of_zero_are_refused():
    trees = replace(flat_trees(2), log_prob=np.array([[0.0, -np.inf], [np.log(0.5)] * 2]))
    network = tree_network(replace(trees, split_var=np.full(2, -1, np.int32)))
    with pytest.raises(InputError, match="probability is 0"):
        to_markov_network(network, np.full(2, 0.5), Orders(np.arange(2)))


@pytest.mark.parametrize("all_up_to", [1, 2, 3])
def test_a_subfeature_of_several_features_is_one_feature(all_up_to):
    """Whichever way its weights are computed: from orders, or from all subsets."""
    rng = np.random.default_rng(5)
    literals = [(v, int(x)) for v, x in enumerate(rng.integers(0, 2, 5))]
    kinds = [[0, 1], [0, 1, 2], [0, 1, 2, 3], [1, 2], [1, 2, 3]]
    features = features_of([[literals[v] for v in own] for own in kinds])
    target = np.array([own[0] for own in kinds], np.int32)
    model = DependencyNetwork(flat_trees(5), features, target, rng.normal(size=len(kinds)))
    orders = Orders(rng.permutation(5), all_up_to=all_up_to)
    found = to_markov_network(model, rng.random(5), orders).features
    kept = [tuple(sorted(found.literals(f))) for f in range(len(found))]
    assert len(kept) == len(set(kept))
