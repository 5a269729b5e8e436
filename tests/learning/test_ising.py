"""Ising networks: EBIC, edges, codings and the bootstrap, against slow versions."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from made_questionnaires import answers
from made_random import random_data
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.ising.estimate import Estimate
from mnlearn.learning.ising.estimation import TOLERANCE, Items, estimate, learn_ising
from mnlearn.learning.ising.resampling import bootstrap
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from mnlearn.variables.schema import Schema, Variable, binary_schema


def sampled(seed=1, n_examples=1500, n_vars=6, weight=1.6):
    """Examples of a chain of variables, exactly drawn, and its edges."""
    edges = {(v, v + 1): weight * (-1) ** v for v in range(n_vars - 1)}
    states = oracles.all_states(n_vars)
    energy = sum(w * states[:, u] * states[:, v] for (u, v), w in edges.items())
    energy = energy - 0.4 * states.sum(axis=1)
    p = np.exp(energy) / np.exp(energy).sum()
    drawn = np.random.default_rng(seed).choice(len(states), n_examples, p=p)
    names = tuple(f"item{v}" for v in range(n_vars))
    return merge_rows(states[drawn], schema=binary_schema(names)), edges


def test_finds_the_network_that_the_examples_come_from():
    data, edges = sampled(n_examples=6000)
    network = learn_ising(data)
    assert {(u, v) for u, v in network.edges().tolist()} == set(edges)
    for (u, v), weight in edges.items():
        assert_allclose(network.weight[u, v], weight, atol=0.35)
    assert_array_equal(network.weight, network.weight.T)
    assert not network.at_end.any()
    size = [abs(network.weight[u, v]) for u, v in network.edges()]
    assert size == sorted(size, reverse=True)


@pytest.mark.parametrize("gamma", [0.0, 0.25, 1.0])
def test_every_penalty_has_the_least_ebic(gamma):
    """Compared with the definition, on the path of each variable."""
    data, _ = sampled(n_examples=300)
    network = learn_ising(data, gamma)
    for v in range(data.n_vars):
        path, ebic = Items(data).path(v, TOLERANCE), []
        for weights, intercept in zip(path.beta, path.intercept, strict=True):
            odds = data.rows @ weights + intercept
            p = 1 / (1 + np.exp(-odds))
            p = np.where(data.rows[:, v] == 1, p, 1 - p)
            n_neighbours = np.count_nonzero(weights)
            more = np.log(data.n_examples) + 2 * gamma * np.log(data.n_vars - 1)
            ebic.append(-2 * data.weight @ np.log(p) + n_neighbours * more)
        best = int(np.argmin(ebic))
        assert_allclose(network.ebic[v], ebic[best], rtol=1e-6)
        assert_allclose(network.penalty[v], path.penalties[best])
        assert_allclose(network.regression[v], path.beta[best])


GLMNET = json.loads((Path(__file__).parent / "ising_glmnet.json").read_text())["cases"]


@pytest.mark.parametrize("case", GLMNET, ids=lambda c: f"{c['data']} {c['gamma']} {c['thresh']}")
def test_the_network_is_that_of_glmnet(case):
    """Values computed by R's glmnet with its default and with its finest threshold."""
    data = merge_rows(answers(case["data"]))
    network = learn_ising(data, case["gamma"])
    kept, expected = case["kept"], np.array(case["regression"])
    assert np.flatnonzero(~network.dropped).tolist() == kept
    found = network.regression[np.ix_(kept, kept)]
    assert_array_equal(found != 0, expected != 0)
    penalty = network.penalty[kept] / data.n_examples
    assert_allclose(penalty, case["chosen"], rtol=1e-8)
    fine = case["thresh"] < 1e-10
    assert_allclose(found, expected, atol=1e-6 if fine else 1e-3)
    assert_allclose(network.threshold[kept], case["intercept"], atol=1e-6 if fine else 1e-3)
    if fine:
        examples = merge_rows(data.rows[:, kept], data.weight)
        items = Items(examples)
        for v in range(len(kept)):
            penalties = items.path(v, TOLERANCE).penalties / data.n_examples
            assert len(penalties) == case["n_penalties"][v]
            assert_allclose(penalties[[0, -1]], [case["first"][v], case["last"][v]], rtol=1e-8)
    both = (expected != 0) & (expected.T != 0)
    assert_array_equal(network.weight[np.ix_(kept, kept)] != 0, both)


def test_rules_of_merging():
    data, _ = sampled(n_examples=150, weight=0.7)
    both, either = learn_ising(data, 0.0, "and"), learn_ising(data, 0.0, "or")
    found = both.regression != 0
    for u, v in itertools.combinations(range(data.n_vars), 2):
        mean = (both.regression[u, v] + both.regression[v, u]) / 2
        assert both.weight[u, v] == (mean if found[u, v] and found[v, u] else 0)
        assert either.weight[u, v] == (mean if found[u, v] or found[v, u] else 0)
    assert len(either.edges()) > len(both.edges())


def test_codings_and_model_are_one_distribution():
    data, _ = sampled(n_examples=400)
    network = learn_ising(data)
    states = oracles.all_states(data.n_vars).astype(float)
    signs = 2 * states - 1

    def distribution(values, weight, threshold):
        p = np.exp(values @ threshold + ((values @ weight) * values).sum(axis=1) / 2)
        return p / p.sum()

    expected = distribution(states, network.weight, network.threshold)
    assert_allclose(distribution(signs, *network.plus_minus()), expected, rtol=1e-9)
    assert_allclose(oracles.joint(network.markov_network()), expected, rtol=1e-9)


def test_bootstrap_is_learning_from_resamples():
    data, edges = sampled(n_examples=200)
    stability = bootstrap(data, 7, seed=3)
    weights = []
    for b in range(7):
        generator = stream(3, "ising", "bootstrap", str(b))
        count = generator.multinomial(200, data.weight / 200)
        again = merge_rows(np.repeat(data.rows, count, axis=0))
        weights.append(estimate(again, 0.25, "and").weight)
    weights = np.array(weights)
    assert_allclose(stability.share, (weights != 0).mean(axis=0))
    assert_allclose(stability.mean, weights.mean(axis=0), atol=1e-6)
    assert_allclose(stability.low, np.quantile(weights, 0.025, axis=0), atol=1e-6)
    assert_allclose(stability.high, np.quantile(weights, 0.975, axis=0), atol=1e-6)
    assert min(stability.share[u, v] for u, v in edges) > 0.5


def test_frames_hold_the_network():
    data, _ = sampled(n_examples=200)
    network = learn_ising(data, 0.0)
    stability = bootstrap(data, 5, gamma=0.0)
    plain, more = network.edges_frame(), network.edges_frame(stability)
    assert_array_equal(more[: len(plain)][plain.columns], plain)
    assert len(more) > len(plain) == len(network.edges())
    place = {f"item{v}": v for v in range(data.n_vars)}
    for edge in more.itertuples():
        u, v = place[edge.source], place[edge.target]
        assert u < v
        assert edge.weight == network.weight[u, v]
        assert edge.in_regression_of_target == network.regression[v, u]
        assert edge.bootstrap_share == stability.share[u, v] > 0
        assert edge.bootstrap_low == stability.low[u, v]
    beside = more[len(plain) :]
    assert (beside["weight"] == 0).all()
    assert beside["bootstrap_share"].is_monotonic_decreasing
    variables = network.variables_frame()
    assert variables["variable"].tolist() == list(place)
    assert_array_equal(variables["frequency"], data.frequency)
    assert_array_equal(variables["degree"], (network.weights_frame() != 0).sum(axis=1))
    assert_array_equal(network.weights_frame(), network.weight)


def test_frames_in_the_other_coding():
    data, _ = sampled(n_examples=200)
    network = learn_ising(data, 0.0)
    weight, threshold = network.plus_minus()
    assert_array_equal(network.weights_frame("-1/1"), weight)
    assert_array_equal(network.variables_frame("-1/1")["threshold"], threshold)
    assert_array_equal(
        network.edges_frame(coding="-1/1")["weight"] * 4, network.edges_frame()["weight"]
    )
    stability = bootstrap(data, 5, gamma=0.0)
    quartered = {"weight", "in_regression_of_source", "in_regression_of_target", "strength"}
    quartered |= {"bootstrap_mean", "bootstrap_low", "bootstrap_high"}
    for frame, other in (
        (network.edges_frame(stability), network.edges_frame(stability, "-1/1")),
        (network.variables_frame(), network.variables_frame("-1/1")),
    ):
        for column in frame.columns.drop("threshold", errors="ignore"):
            expected = frame[column] / 4 if column in quartered else frame[column]
            assert other[column].tolist() == expected.tolist(), column
            quartered -= {column}
    assert not quartered
    with pytest.raises(InputError, match="coding: expected one of 0/1, -1/1, got '1/2'"):
        network.edges_frame(coding="1/2")


def test_a_network_without_edges_has_a_table_without_rows():
    data, _ = sampled(n_examples=200)
    frame = learn_ising(data, 1e9).edges_frame()
    assert len(frame) == 0
    assert frame.columns[:3].tolist() == ["source", "target", "weight"]


def test_bootstrap_does_not_depend_on_threads():
    data, _ = sampled(n_examples=100)
    one, two = (bootstrap(data, 30, threads=t) for t in (1, 2))
    assert_array_equal(one.mean, two.mean)
    assert_array_equal(one.share, two.share)


def test_a_resample_may_lose_a_value():
    rows = random_data(2, n_examples=40, n_vars=4).rows.copy()
    rows[:, 0] = 0
    rows[0, 0] = 1
    stability = bootstrap(merge_rows(rows), 20)
    assert np.isfinite(stability.mean).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gamma": -1.0}, "gamma: expected a number of at least 0, got -1.0."),
        ({"gamma": np.nan}, "gamma: expected"),
        ({"merge": "xor"}, "merge: expected one of and, or, got 'xor'."),
    ],
)
def test_refuses_settings(arguments, message):
    with pytest.raises(InputError, match=message):
        learn_ising(random_data(0), **arguments)


def test_leaves_out_what_has_a_value_fewer_than_twice():
    data, _ = sampled(n_examples=300)
    rows = np.column_stack([data.rows[data.row_of], np.ones(300), np.arange(300) == 5])
    network, without = learn_ising(merge_rows(rows)), learn_ising(data)
    assert network.dropped.tolist() == 6 * [False] + 2 * [True]
    assert_allclose(network.weight[:6, :6], without.weight, atol=1e-6)
    assert not network.weight[6:].any()
    assert_allclose(network.threshold[6:], np.log([300.5 / 0.5, 1.5 / 299.5]))
    assert np.isnan(network.ebic[6:]).all()


def test_refuses_what_has_no_network():
    rows = np.array([[0, 1, 1], [1, 1, 0], [1, 1, 1], [0, 1, 0]])
    with pytest.raises(InputError, match="at least two variables"):
        learn_ising(merge_rows(rows[:, :1]))
    with pytest.raises(InputError, match="n_resamples: expected at least 1, got 0"):
        bootstrap(random_data(0), 0)


def test_variables_of_one_state_are_left_out():
    rng = np.random.default_rng(0)
    schema = Schema(
        (
            Variable("sad", ("no", "yes")),
            Variable("land", ("here",)),
            Variable("tired", ("no", "yes")),
        )
    )
    values = np.column_stack([rng.integers(0, k, 200) for k in (2, 1, 2)])
    values[:150, 2] = values[:150, 0]
    data = merge_rows(schema.rows(values), schema=schema)
    found = Estimate.learn(data, 0.25, "and")
    assert found.network.labels == ("sad", "tired")
    assert found.network.weight[0, 1] > 1.0
    assert found.network.variables_frame()["state"].tolist() == ["yes", "yes"]
    assert "state" not in learn_ising(random_data(0)).variables_frame()
    model = found.network.markov_network(found.schema)
    assert model.schema == schema
    assert model.edges()
