"""Induced features against a naive search, and sampled expectations against exact ones."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad, minimize_scalar

import oracles
from made_random import random_data
from mnlearn.data.dataset import merge_rows
from mnlearn.data.rows import pack_columns
from mnlearn.learning.features import sampled_gains
from mnlearn.learning.features.literals import mask_features
from mnlearn.learning.features.pair_gains import (
    LikelihoodGains,
    PairCandidates,
    StateLikelihood,
    mask_network,
    rows_of,
)
from mnlearn.learning.features.sampled_gains import SampledGains
from mnlearn.learning.learner import Start, Task
from mnlearn.learning.shares import Store
from mnlearn.learning.weights.descent import Penalty
from mnlearn.methods.della_pietra import DellaPietra
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

N_VARS = 5
READINGS = [("pseudo_likelihood", "gibbs"), ("likelihood", "exact")]


def task_of(data, threads=1, store=None):
    return Task(data, DellaPietra.grid({}), threads=threads, store=store or Store())


def searched(learner, data, threads=1):
    search = learner.new_search(task_of(data, threads))
    search.begin()
    return search, search.run()


def variables(masks, n_vars):
    features = mask_features(masks, n_vars)
    return [frozenset(v for v, _ in features.literals(f)) for f in range(len(features))]


def total(objective, network, data):
    """Log-likelihood or log-pseudo-likelihood of all examples, by enumeration."""
    if objective == "pseudo_likelihood":
        return -oracles.loss_of(network.features, network.weight, data)
    p = dict(zip(map(bytes, oracles.all_states(data.n_vars)), oracles.joint(network), strict=True))
    return data.weight @ np.log([p[bytes(row)] for row in data.rows])


def naive_gain(objective, conjunctions, weight, added, data, penalty):
    def lost(w):
        features = features_of([[(v, 1) for v in sorted(c)] for c in [*conjunctions, added]])
        network = markov_network(data.n_vars, features, [*weight, w])
        paid = penalty.l1 * abs(w) + 0.5 * penalty.precision * w * w
        return paid - total(objective, network, data)

    sides = [minimize_scalar(lost, bounds=b, method="bounded") for b in ((-9, 0), (0, 9))]
    best = min(sides, key=lambda side: side.fun)
    return max(lost(0.0) - best.fun, 0.0)


@pytest.mark.parametrize(
    ("objective", "expectations", "l1"),
    [
        pytest.param("pseudo_likelihood", "gibbs", 2.0, marks=pytest.mark.nightly),
        ("likelihood", "exact", 0.0),
        pytest.param("pseudo_likelihood", "gibbs", 0.0, marks=pytest.mark.nightly),
        pytest.param("likelihood", "exact", 2.0, marks=pytest.mark.nightly),
    ],
)
def test_each_step_takes_the_candidate_that_a_naive_search_takes(objective, expectations, l1):
    data = random_data(4, 200, N_VARS)
    learner = DellaPietra(
        objective=objective, expectations=expectations, min_gain=1.0, search="exact",
        search_l1=l1, min_support=0.0,
    )  # fmt: skip
    search = learner.new_search(task_of(data))
    search.begin()
    for _ in range(9):
        model = variables(search.pool.features, N_VARS)
        weight = search.gains.weight
        unions = {a | b for a, b in itertools.combinations(model, 2)} - set(model)
        penalty = Penalty(1.0, l1)
        gains = {c: naive_gain(objective, model, weight, c, data, penalty) for c in unions}
        more = search._add_best()
        left = set(variables(search.pool.masks[search.pool.key > -np.inf], N_VARS))
        if not more:
            assert left == unions
            assert max(gains.values(), default=0.0) <= 1.0 + 1e-4
            break
        added = variables(search.pool.features, N_VARS)[-1]
        assert left >= unions - {added}
        assert_allclose(search.gained[-1], max(gains.values()), atol=1e-4)
        assert_allclose(search.gained[-1], gains[added], atol=1e-4)
    assert len(search.gained) > 1
    assert not more


@pytest.mark.parametrize(("objective", "expectations"), READINGS)
def test_weights_are_learned_after_each_feature(objective, expectations):
    data = random_data(4, 200, N_VARS)
    learner = DellaPietra(objective=objective, expectations=expectations, min_gain=1.0)
    search, _ = searched(learner, data)
    network = mask_network(search.pool.features, search.gains.weight, binary_schema(N_VARS))

    def objective_at(w):
        moved = MarkovNetwork(N_VARS, network.features, w)
        return total(objective, moved, data) - 0.5 * float(w @ w)

    # Learning ends within 0.1 nats of the best weights, so no single weight gains more.
    for f in range(len(network.weight)):
        for step in (-0.1, 0.1):
            moved = network.weight.copy()
            moved[f] += step
            assert objective_at(moved) < objective_at(network.weight) + 0.1


def test_the_quick_search_ends_where_nothing_gains():
    data = random_data(5, 400, 12)
    quick, why = searched(DellaPietra(min_gain=2.0), data)
    exact, _ = searched(DellaPietra(min_gain=2.0, search="exact"), data)
    assert why == "gain"
    open_ = np.flatnonzero(quick.pool.key > -np.inf)
    assert quick.gains.score(quick.pool, open_)[1].max() <= 2.0
    assert min(quick.gained) > 2.0
    assert quick.n_scored < exact.n_scored
    assert abs(len(quick.gained) - len(exact.gained)) <= 3


def test_a_candidate_matches_enough_examples():
    data = random_data(8, 60, 7)
    for support in (0.0, 1.0, 12.0):
        search, _ = searched(DellaPietra(min_gain=0.5, min_support=support), data)
        pool = search.pool
        for mask, held in zip(variables(pool.masks, 7), pool.held, strict=True):
            rows = data.rows[:, sorted(mask)].all(axis=1)
            assert held == data.weight @ rows >= support
        model = variables(pool.features, 7)
        unions = {a | b for a, b in itertools.combinations(model, 2)}
        matching = {c for c in unions if data.weight @ data.rows[:, sorted(c)].all(1) >= support}
        assert set(variables(pool.masks, 7)) == {c for c in matching if len(c) > 1}


@pytest.mark.parametrize("objective", ["pseudo_likelihood", "likelihood"])
def test_threads_do_not_matter(objective):
    data = random_data(9, 300, 9)
    learner = DellaPietra(objective=objective, chains=300, min_gain=3.0)
    one, two = (searched(learner, data, threads)[0] for threads in (1, 2))
    assert len(one.gained) > 1
    for name, array in one.state().items():
        assert_array_equal(array, two.state()[name])


class KilledError(Exception):
    pass


class Kept(Store):
    """A store that ends the run after some states."""

    def __init__(self, n):
        self.n, self.states = n, {}

    def load(self, key):
        return self.states.get(str(key))

    def save(self, key, arrays):
        self.states[str(key)] = {name: np.array(array) for name, array in arrays.items()}
        self.n -= 1
        if self.n == 0:
            raise KilledError


@pytest.mark.parametrize("objective", ["pseudo_likelihood", "likelihood"])
def test_a_killed_search_goes_on(objective, monkeypatch):
    monkeypatch.setattr("mnlearn.learning.shares.SECONDS_BETWEEN_STATES", -1.0)
    data = random_data(9, 300, 9)
    learner = DellaPietra(objective=objective, chains=300, min_gain=3.0)
    whole = learner.learn(DellaPietra.prepare(task_of(data)), Start())
    store = Kept(3)
    with pytest.raises(KilledError):
        learner.learn(DellaPietra.prepare(task_of(data, store=store)), Start())
    resumed = learner.learn(DellaPietra.prepare(task_of(data, store=store)), Start())
    assert resumed.details == whole.details
    assert resumed.details["n_added"] >= 3
    assert_array_equal(resumed.model.features.start, whole.model.features.start)
    assert_array_equal(resumed.model.features.var, whole.model.features.var)
    assert_array_equal(resumed.model.weight, whole.model.weight)


def test_limits_keep_the_model_so_far():
    data = random_data(9, 300, 9)
    learner = DellaPietra(min_gain=1.0)
    whole, _ = searched(learner, data)
    part, why = searched(replace(learner, max_features=2), data)
    assert why == "features"
    assert_array_equal(part.pool.features, whole.pool.features[:11])
    learned = replace(learner, max_seconds=0.0).learn(DellaPietra.prepare(task_of(data)), Start())
    assert learned.details["search_stopped_by"] == "time"
    assert len(learned.model.features) == 9


def test_a_resumed_search_has_the_time_that_is_left(monkeypatch):
    monkeypatch.setattr("mnlearn.learning.shares.SECONDS_BETWEEN_STATES", -1.0)
    data, store = random_data(9, 200, 7), Kept(3)
    learner = DellaPietra(min_gain=1.0, max_seconds=1000.0)
    with pytest.raises(KilledError):
        learner.learn(DellaPietra.prepare(task_of(data, store=store)), Start())
    (state,) = store.states.values()
    state["seconds"] = np.array(1000.5)
    details = learner.learn(DellaPietra.prepare(task_of(data, store=store)), Start()).details
    assert details["search_stopped_by"] == "time"
    assert details["n_added"] == len(state["gained"]) == 2


def test_states_are_drawn_again_before_a_search_ends(monkeypatch):
    """So that no candidate is left out because of one sample."""
    after, refresh, advance, seeds = [], SampledGains.refresh, sampled_gains.advance_chains, []

    def keep_pass(self, pool):
        after.append(len(pool.features))
        refresh(self, pool)

    def keep_seed(network, states, n_sweeps, seed, **more):
        seeds.append(seed)
        return advance(network, states, n_sweeps, seed, **more)

    monkeypatch.setattr(SampledGains, "refresh", keep_pass)
    monkeypatch.setattr(sampled_gains, "advance_chains", keep_seed)
    learner = DellaPietra(objective="likelihood", chains=400, min_gain=5.0)
    search, why = searched(learner, random_data(9, 200, 7))
    assert why == "gain"
    assert after[-1] == len(search.pool.features)
    assert len(seeds) >= len(after) >= 1
    assert len(set(seeds)) == len(seeds) > 1


def test_exact_expectations_are_for_few_variables():
    learner = DellaPietra(objective="likelihood", expectations="exact")
    with pytest.raises(InputError, match="exact: 21 variables are too many to enumerate"):
        learner.new_search(task_of(random_data(1, 50, 21)))


def test_sampled_weights_fit_columns_that_exclude_each_other():
    """A value that no state has, or that all have, must not run away with its weight."""
    rng = np.random.default_rng(3)
    drawn = rng.choice(4, (1000, 3), p=[0.9, 0.07, 0.028, 0.002])
    drawn[:, 1] = np.where(rng.random(1000) < 0.8, drawn[:, 0], drawn[:, 1])
    data = merge_rows(np.eye(4, dtype=np.uint8)[drawn].reshape(1000, 12))
    learner = DellaPietra(objective="likelihood", chains=2000, min_support=0.0, min_gain=5.0)
    search, why = searched(learner, data)
    assert why == "gain"
    assert np.abs(search.gains.weight).max() < 15.0
    exact = LikelihoodGains(data, Penalty(1.0), 5.0)
    exact._use(exact._likelihood(search.pool), search.gains.weight)
    in_model = exact._share @ oracles.all_states(12)[:, ::-1]
    assert_allclose(in_model, data.frequency, atol=0.05)


def test_value_and_gradient_over_all_states():
    data = random_data(2, 100, 6)
    pool = PairCandidates(data, 0.0)
    pool.add([0, 3, 7])
    bits = rows_of(pack_columns(oracles.all_states(6)), pool.features)
    held = pool.feature_weights()
    likelihood = StateLikelihood(held, data.n_examples, bits, np.zeros(64))
    w = np.random.default_rng(1).normal(size=9)
    network = mask_network(pool.features, w, binary_schema(6))
    p = oracles.joint(network)
    state = data.rows @ (1 << np.arange(6)[::-1])
    value, gradient = likelihood.value_and_gradient(w)
    assert_allclose(value, -data.weight @ np.log(p[state]))
    error = check_grad(
        lambda x: likelihood.value_and_gradient(x)[0],
        lambda x: likelihood.value_and_gradient(x)[1],
        w,
    )
    assert error < 1e-3 * np.abs(gradient).max()
    share, _ = likelihood.state_shares(w)
    assert_allclose(share, p)
