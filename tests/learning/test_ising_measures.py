"""Centrality, predictability and stability of Ising networks, against their definitions."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_ising import sampled

from mnlearn.data.dataset import merge_rows
from mnlearn.learning.ising import resampling
from mnlearn.learning.ising.estimation import estimate, learn_ising
from mnlearn.learning.ising.network import (
    case_drop_frame,
    centrality_frame,
    differences_frame,
    predictability_frame,
)
from mnlearn.learning.ising.resampling import bootstrap, drop_cases
from mnlearn.learning.ising.stability import DROPPED, Differences
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema


def with_weights(weight):
    """A network with given weights."""
    names = [f"item{v}" for v in range(len(weight))]
    data = merge_rows(
        np.random.default_rng(0).integers(0, 2, (30, len(weight))),
        schema=binary_schema(names),
    )
    return replace(learn_ising(data), weight=np.array(weight, float))


def shortest(weight, a, b):
    """All shortest paths between two variables, by enumeration, and their length."""
    others = [v for v in range(len(weight)) if v not in (a, b)]
    found = {}
    for n in range(len(others) + 1):
        for inside in itertools.permutations(others, n):
            path = (a, *inside, b)
            steps = [abs(weight[u][v]) for u, v in itertools.pairwise(path)]
            if all(steps):
                found[path] = sum(1 / step for step in steps)
    least = min(found.values(), default=np.inf)
    return [path for path, length in found.items() if length < least + 1e-9], least


def test_centrality_is_that_of_all_paths():
    weight = np.zeros((7, 7))
    for u, v, w in [
        (0, 1, 1),
        (1, 2, -1),
        (0, 3, 1),
        (3, 2, 1),
        (2, 4, 0.4),
        (5, 6, 2),
        (1, 3, -2),
    ]:
        weight[u, v] = weight[v, u] = w
    frame = centrality_frame(with_weights(weight))
    assert_allclose(frame["strength"], np.abs(weight).sum(axis=0))
    assert_allclose(frame["expected_influence"], weight.sum(axis=0))
    between = np.zeros(7)
    for a, b in itertools.combinations(range(7), 2):
        paths, _ = shortest(weight, a, b)
        for path in paths:
            between[list(path[1:-1])] += 1 / len(paths)
    assert_allclose(frame["betweenness"], between)
    for v in range(5):
        distances = sum(shortest(weight, v, u)[1] for u in range(5) if u != v)
        assert_allclose(frame["closeness"][v], 1 / distances)
    # The pair 5, 6 is not in the largest connected part.
    assert np.isnan(frame["closeness"][5:]).all()
    assert_allclose(
        centrality_frame(with_weights(weight), "-1/1")["strength"] * 4, frame["strength"]
    )


def test_bridges_are_the_edges_to_other_groups():
    weight = np.zeros((4, 4))
    for u, v, w in [(0, 1, 3), (0, 2, -2), (0, 3, 0.5), (2, 3, 1)]:
        weight[u, v] = weight[v, u] = w
    frame = centrality_frame(with_weights(weight), groups=["x", "x", "y", "y"])
    assert frame["bridge_strength"].tolist() == [2.5, 0.0, 2.0, 0.5]
    assert frame["bridge_expected_influence"].tolist() == [-1.5, 0.0, -2.0, 0.5]


def test_an_interval_that_ends_at_0_holds_it():
    low, high = np.array([[0.0, 2.0], [-2.0, 0.0], [0.1, 2.0], [-2.0, -0.1], [-1.0, 1.0]]).T
    places = np.arange(5)
    found = Differences(places, places, low, low, high)
    assert found.differs.tolist() == [False, False, True, True, False]


def test_predictability_by_its_definition():
    data, _ = sampled(n_examples=300)
    network = learn_ising(data)
    frame = predictability_frame(network, data)
    rows = data.rows[data.row_of].astype(float)
    for v in range(data.n_vars):
        p = 1 / (1 + np.exp(-(rows @ network.regression[v] + network.threshold[v])))
        right = np.mean((p > 0.5) == rows[:, v])
        most = max(rows[:, v].mean(), 1 - rows[:, v].mean())
        assert_allclose(frame["normalised_accuracy"][v], (right - most) / (1 - most))
        likely = np.where(rows[:, v] == 1, p, 1 - p).prod() ** (2 / 300)
        null = np.where(rows[:, v] == 1, rows[:, v].mean(), 1 - rows[:, v].mean()).prod() ** (
            2 / 300
        )
        assert_allclose(frame["nagelkerke_r2"][v], (1 - null / likely) / (1 - null), rtol=1e-9)
    assert (frame["nagelkerke_r2"] > 0.05).all()


def test_differences_are_those_of_the_resamples():
    data, _ = sampled(n_examples=250)
    network, stability = learn_ising(data, 0.0), bootstrap(data, 15, gamma=0.0)
    weights = []
    for b in range(15):
        whole = np.zeros((6, 6))
        whole[np.triu_indices(6, 1)] = stability.weights[b]
        weights.append(whole + whole.T)
    weights = np.array(weights)
    place = {f"item{u} – item{v}": (u, v) for u, v in itertools.combinations(range(6), 2)}
    frame = differences_frame(network, stability)
    assert len(frame) == len(network.edges()) * (len(network.edges()) - 1) / 2
    for row in frame.itertuples():
        a, b = place[row.first], place[row.second]
        assert_allclose(row.difference, network.weight[a] - network.weight[b])
        low, high = np.quantile(weights[:, *a] - weights[:, *b], (0.025, 0.975))
        assert_allclose((row.low, row.high), (low, high), atol=1e-12)
        assert row.differs == (low > 0 or high < 0)
    # The chain has edges of either sign, and its ends have one edge only.
    assert frame["differs"].any()
    strength = np.abs(weights).sum(axis=1)
    for row in differences_frame(network, stability, "strength").itertuples():
        u, v = int(row.first[4:]), int(row.second[4:])
        low, high = np.quantile(strength[:, u] - strength[:, v], (0.025, 0.975))
        assert_allclose((row.low, row.high), (low, high), atol=1e-12)
    with pytest.raises(InputError, match="of: expected one of edges, strength, got 'nodes'"):
        differences_frame(network, stability, "nodes")


def test_the_cs_coefficient_of_a_strong_network_and_of_noise():
    data, _ = sampled(n_examples=1500)
    strong = drop_cases(data, 6)
    assert all(strong.coefficient(measure) >= 0.5 for measure in strong.correlation)
    noise = merge_rows(np.random.default_rng(1).integers(0, 2, (1500, 6)))
    weak = drop_cases(noise, 6, gamma=0.0)
    assert all(weak.coefficient(measure) <= 0.25 for measure in weak.correlation)
    frame = case_drop_frame(strong)
    assert len(frame) == 30
    stable = frame[(frame["measure"] == "strength") & (frame["share_high"] >= 0.95)]
    assert stable["dropped"].max() == strong.coefficient("strength")


def test_dropped_cases_are_drawn_without_replacement():
    data, _ = sampled(n_examples=120)
    cases, twice = drop_cases(data, 2, threads=1), drop_cases(data, 2, threads=3)
    for measure, correlation in cases.correlation.items():
        assert_array_equal(correlation, twice.correlation[measure])
    assert cases.dropped.tolist() == list(DROPPED)
    weighted = merge_rows(data.rows, data.weight + 0.5)
    with pytest.raises(InputError, match="weights cannot be dropped"):
        drop_cases(weighted, 2)
    with pytest.raises(InputError, match="n_resamples: expected at least 1"):
        drop_cases(data, 0)
    assert_allclose(estimate(data, 0.25, "and").weight, learn_ising(data).weight, atol=1e-4)


@pytest.fixture
def estimated(monkeypatch):
    """The data of each estimate of `drop_cases`, and the weights of its pairs."""
    found = []

    def keep(data, *settings):
        network = estimate(data, *settings)
        found.append((data, network.weight[np.triu_indices(6, 1)]))
        return network

    monkeypatch.setattr(resampling, "estimate", keep)
    return found


def test_each_share_is_dropped_of_the_examples(estimated):
    data, _ = sampled(n_examples=120)
    drop_cases(data, 2)
    (whole, _), *drawn = estimated
    assert whole is data
    sizes = [114, 105, 95, 86, 77, 67, 58, 49, 39, 30]
    assert [int(some.n_examples) for some, _ in drawn] == [n for n in sizes for _ in range(2)]
    of_row = {row.tobytes(): n for row, n in zip(data.rows, data.weight, strict=True)}
    for some, _ in drawn:
        for row, n in zip(some.rows, some.weight, strict=True):
            assert n <= of_row[row.tobytes()]


def test_correlations_of_dropped_cases_by_their_definition(estimated):
    data, _ = sampled(n_examples=500)
    cases = drop_cases(data, 5, gamma=0.0)
    weights = np.array([weight for _, weight in estimated])
    first, second = np.triu_indices(6, 1)
    touches = (np.arange(6) == first[:, None]) | (np.arange(6) == second[:, None])
    frame = case_drop_frame(cases)
    for measure, values in (
        ("edges", weights),
        ("strength", np.abs(weights) @ touches),
        ("expected_influence", weights @ touches),
    ):
        expected = np.corrcoef(values)[0, 1:].reshape(10, 5)
        assert_allclose(cases.correlation[measure], expected)
        rows = frame[frame["measure"] == measure]
        assert_allclose(rows["low"], np.quantile(expected, 0.05, axis=1))
        assert_allclose(rows["high"], np.quantile(expected, 0.95, axis=1))
