"""Searches for features over variables of one to four states."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import logit, logsumexp

from made_states import every_row, examples_of, schema_of
from mnlearn.data.rows import pack_columns
from mnlearn.kernels.search import generalisation as kernels
from mnlearn.kernels.search.generalisation import Examples, MaskedFeatures, Price
from mnlearn.learning.features.bottom_up import search_bottom_up
from mnlearn.learning.features.generation import generate_features
from mnlearn.learning.features.literals import asked_columns, literal_log_odds, mask_features
from mnlearn.learning.features.pair_gains import LikelihoodGains, PairCandidates
from mnlearn.learning.features.sampled_gains import SampledGains
from mnlearn.learning.learner import Task
from mnlearn.learning.tuning import tune
from mnlearn.learning.weights.descent import Penalty
from mnlearn.methods.atomic import Atomic
from mnlearn.methods.blm import BLM
from mnlearn.methods.della_pietra import DellaPietra
from mnlearn.methods.gssl import GSSL
from mnlearn.methods.l1 import L1
from mnlearn.models.features import atomic_features, concatenate, features_of
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll
from oracles import conditionals, loss_of

SCHEMA = schema_of(2, 3, 1, 4)
DATA = examples_of(SCHEMA, 400, 3)
ATOMS = atomic_features(SCHEMA.n_columns)


def expected_odds(network, data):
    """The log-odds of the value 1 of each column, from the probabilities of states."""
    out = np.empty(data.rows.shape)
    shares = [share for _, share, _ in conditionals(network.features, network.weight, data)]
    for c, v in enumerate(SCHEMA.variable_of.tolist()):
        out[:, c] = logit(shares[v][:, c - SCHEMA.start[v] if SCHEMA.arity[v] > 2 else 1])
    return out.T


def one_state_each(features):
    variable = SCHEMA.variable_of[features.var]
    same = (np.diff(features.owner) == 0) & (np.diff(variable) == 0)
    return not same.any() and features.value[SCHEMA.arity[variable] > 2].all()


@pytest.mark.parametrize("initial", ["full", "positive"])
def test_generated_features_ask_for_states(initial):
    run = generate_features(DATA, 2000, initial)
    features = run.features(2000, 0)
    assert len(features) > 20
    assert one_state_each(features)
    assert features.satisfied(DATA.rows).any(axis=0)[SCHEMA.n_columns :].all()
    if initial == "full":
        assert run.start[1] == 3  # The variable of one state has no literal.


@pytest.mark.parametrize("initial", ["full", "positive"])
def test_a_pass_of_the_bottom_up_search_gains_what_it_says(initial):
    price, base = 0.5, np.random.default_rng(0).normal(size=SCHEMA.n_columns)
    rows = pack_columns(DATA.rows.T)
    asked = pack_columns(asked_columns(DATA, initial).T)
    value, weight, table = rows.copy(), np.zeros(len(rows)), np.zeros(2**14, np.uint64)
    kernels.remember_all(asked, value, table)
    theta = literal_log_odds(MarkovNetwork(SCHEMA, ATOMS, base), DATA, 1)
    assert_allclose(theta, expected_odds(MarkovNetwork(SCHEMA, ATOMS, base), DATA), atol=1e-9)
    own = np.stack([SCHEMA.start[SCHEMA.variable_of], SCHEMA.start[SCHEMA.variable_of + 1]], 1)
    _, gained = kernels.generalise_pass(
        Examples(rows, DATA.weight, theta, own), np.arange(len(rows)),
        MaskedFeatures(asked, value, weight, np.zeros(len(rows), bool)), 5,
        Price(1.0, 1.0, price), table,
    )  # fmt: skip
    found = np.flatnonzero(weight)
    assert len(found) > 3
    features = mask_features(asked[found], SCHEMA.n_columns, value[found])
    assert one_state_each(features)
    whole = MarkovNetwork(SCHEMA, concatenate([ATOMS, features]), np.append(base, weight[found]))
    assert_allclose(theta, expected_odds(whole, DATA), atol=1e-8)
    costs = np.sum(np.abs(weight) + 0.5 * weight**2) + price * features.length.sum()
    end = loss_of(whole.features, whole.weight, DATA)
    assert_allclose(gained, loss_of(ATOMS, base, DATA) - end - costs, rtol=1e-8)


def test_the_bottom_up_search_ends_with_features_of_states():
    found = search_bottom_up(examples_of(SCHEMA, 60, 1), Penalty(1.0, 0.5), "full", 5, price=0.5)
    assert len(found.features) > SCHEMA.n_columns
    assert one_state_each(found.features)


def lost(objective, features, w, penalty):
    """The penalised loss of weights in all examples."""
    if objective == "pseudo_likelihood":
        loss = loss_of(features, w, DATA)
    else:
        log_z = logsumexp(features.satisfied(every_row(SCHEMA)) @ w)
        loss = DATA.weight @ (log_z - features.satisfied(DATA.rows) @ w)
    return loss + 0.5 * penalty.precision * w[-1] ** 2


@pytest.mark.parametrize("objective", ["pseudo_likelihood", "likelihood"])
def test_induction_takes_the_conjunction_that_gains_most(objective):
    learner = DellaPietra(
        objective=objective, expectations="exact", min_gain=1.0, search="exact", min_support=0.0
    )
    search = learner.new_search(Task(DATA, DellaPietra.grid({})))
    search.begin()
    n = SCHEMA.n_columns
    # A pair of states of one variable is no candidate.
    possible = [
        (a, b) for a, b in itertools.combinations(range(n), 2)
        if SCHEMA.variable_of[a] != SCHEMA.variable_of[b]
    ]  # fmt: skip
    assert len(search.pool) == len(possible)
    atoms, weight = mask_features(search.pool.features, n), search.gains.weight
    gains = {}
    for pair in possible:
        features = concatenate([atoms, features_of([[(c, 1) for c in pair]])])

        def at(w, features=features):
            return lost(objective, features, np.append(weight, w), Penalty(1.0))

        best = minimize_scalar(at, bounds=(-9, 9), method="bounded")
        gains[pair] = at(0.0) - best.fun
    assert search._add_best()
    added = mask_features(search.pool.features[-1:], n)
    assert_allclose(search.gained[0], max(gains.values()), atol=1e-4)
    assert_allclose(search.gained[0], gains[tuple(added.var.tolist())], atol=1e-4)


def test_sampled_expectations_agree_with_exact_ones():
    pool = PairCandidates(DATA, 0.0)
    sampled = SampledGains(DATA, Penalty(1.0), 1.0, 20_000, 20, 1)
    assert (SCHEMA.values(sampled._states) < SCHEMA.arity).all()
    sampled.refit(pool, sampled.weight)
    pool.add([int(np.argmax(pool.held))])
    sampled.refit(pool, np.append(sampled.weight, 0.5))
    assert (SCHEMA.values(sampled._states) < SCHEMA.arity).all()
    exact = LikelihoodGains(DATA, Penalty(1.0), 1.0)
    exact.refit(pool, np.zeros(len(pool.features)))
    network = mask_features(pool.features, SCHEMA.n_columns).satisfied(every_row(SCHEMA))
    shares = []
    for gains in (sampled, exact):
        potential = network @ gains.weight
        shares.append(network.T @ np.exp(potential - logsumexp(potential)))
    assert_allclose(*shares, atol=0.02)


@pytest.mark.parametrize(
    ("learner", "chosen"),
    [
        (GSSL, {"n_generated": [3000], "l1": [1.0]}),
        (BLM, {"l1": [0.0], "search_l1": [1.0]}),
        (DellaPietra, {"min_gain": [3.0]}),
        (L1, {"lambda": [3.0]}),
    ],
)
def test_a_network_of_many_examples_has_the_conditionals_they_came_from(learner, chosen):
    train, test = examples_of(SCHEMA, 4000, 5), examples_of(SCHEMA, 2000, 6)
    model = tune(learner, train, learner.grid(chosen), None).best.fitted.model
    values = SCHEMA.values(train.rows).astype(int)
    count = np.full(tuple(SCHEMA.arity), 0.1)
    np.add.at(count, tuple(values.T), train.weight)
    joint = np.log(count)
    own = SCHEMA.values(test.rows).astype(int)
    saturated = 0.0
    for v in range(len(SCHEMA)):
        given = joint - logsumexp(joint, axis=v, keepdims=True)
        saturated += test.weight @ given[tuple(own.T)] / test.n_examples
    assert pll(model, test).mean > saturated - 0.03


def test_independent_variables():
    model = tune(Atomic, DATA, Atomic.grid({"pseudocount": [0.5]}), None).best.fitted.model
    for v, (_, share, _) in enumerate(conditionals(model.features, model.weight, DATA)):
        count = DATA.counts(v) + 0.5 if SCHEMA.arity[v] > 1 else np.ones(1)
        assert_allclose(share, np.tile(count / count.sum(), (len(share), 1)))
