"""The packed pseudo-likelihood, and weights found by searching among few of many features."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from conftest import random_data, random_features
from mnlearn.data.dataset import merge_rows
from mnlearn.kernels.arithmetic import logistic32
from mnlearn.learning.method import Task
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights import packed_likelihood as packed_module
from mnlearn.learning.weights.descent import Stopping, learn_weights
from mnlearn.learning.weights.packed_likelihood import PackedLikelihood, packed_likelihood
from mnlearn.learning.weights.paths import WeightPaths, stronger, strongest_first, weight_paths
from mnlearn.learning.weights.rewritten_likelihood import (
    MAX_COMMON,
    RewrittenLikelihood,
    likelihood_of,
    rewrite,
)
from mnlearn.learning.weights.screening import Verdict, gap_terms, learn_screened_weights
from mnlearn.learning.weights.stored_likelihood import pseudo_likelihood
from mnlearn.models.features import atomic_features, canonicalise, concatenate, features_of
from mnlearn.models.markov_network import MarkovNetwork


def features_and_data(seed, n_vars=8, n_features=60, longest=7):
    rng = np.random.default_rng(seed)
    drawn = random_features(rng, n_vars, n_features, longest)
    features, _ = canonicalise(concatenate([atomic_features(n_vars), drawn]))
    return features, random_data(seed, 400, n_vars)


@pytest.mark.parametrize("share", [0.0, 1 / 24, 2.0], ids=["all bits", "mixed", "all lists"])
@pytest.mark.parametrize("seed", range(3))
def test_value_against_enumeration(seed, share, monkeypatch):
    monkeypatch.setattr(packed_module, "FEW", share)
    features, data = features_and_data(seed)
    likelihood = packed_likelihood(features, data)
    assert (len(likelihood.many) == 0) == (share > 1)
    assert (len(likelihood.few) == 0) == (share == 0)
    w = np.random.default_rng(seed).normal(size=len(features))
    value, gradient = likelihood.value_and_gradient(w)
    network = MarkovNetwork(data.n_vars, features, w)
    assert_allclose(value, -data.weight @ oracles.pll(network, data.rows), rtol=1e-6)
    exact = pseudo_likelihood(features, data)
    assert_allclose(gradient, exact.value_and_gradient(w)[1], atol=1e-4 * data.n_examples)
    assert_allclose(likelihood.curvature, exact.curvature(), rtol=1e-6)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 4095, 4097, 9000])
def test_any_number_of_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    data = merge_rows(rng.integers(0, 2, (n_rows, 40)), rng.uniform(0.5, 2, n_rows))
    features, _ = canonicalise(concatenate([atomic_features(40), random_features(rng, 40, 80, 8)]))
    w = rng.normal(size=len(features))
    value, gradient = packed_likelihood(features, data).value_and_gradient(w)
    exact, exact_gradient = pseudo_likelihood(features, data).value_and_gradient(w)
    assert_allclose(value, exact, rtol=1e-6)
    assert_allclose(gradient, exact_gradient, rtol=1e-4, atol=1e-5 * data.n_examples)


def test_does_not_depend_on_threads():
    features, data = features_and_data(0)
    w = np.random.default_rng(0).normal(size=len(features))
    one = packed_likelihood(features, data, 1).value_and_gradient(w)
    three = packed_likelihood(features, data, 3).value_and_gradient(w)
    assert one[0] == three[0]
    assert_array_equal(one[1], three[1])


def test_restricted_is_the_likelihood_of_the_rest():
    features, data = features_and_data(1)
    rng = np.random.default_rng(1)
    member = rng.random(len(features)) < 0.5
    w = rng.normal(size=member.sum())
    part = packed_likelihood(features, data).restricted(member)
    alone = packed_likelihood(features.select(member), data)
    assert part.n_features == member.sum()
    assert_allclose(part.curvature, alone.curvature)
    found, expected = part.value_and_gradient(w), alone.value_and_gradient(w)
    assert_allclose(found[0], expected[0], rtol=1e-6)
    assert_allclose(found[1], expected[1], atol=1e-2)


def test_single_precision_functions():
    from mnlearn.kernels.jit import kernel

    @kernel
    def tabulate(x, exp, log1p):
        for i in range(len(x)):
            exp[i] = logistic32.exp_nonpositive(x[i])
            log1p[i] = logistic32.log1p_unit(exp[i])

    x = -np.concatenate([[0.0], np.geomspace(1e-8, 200, 20001)]).astype(np.float32)
    exp, log1p = np.empty_like(x), np.empty_like(x)
    tabulate(x, exp, log1p)
    exact = np.exp(np.maximum(x, np.float32(-87)).astype(float))
    assert_allclose(exp, exact, rtol=3e-7)
    assert_allclose(log1p, np.log1p(exp.astype(float)), rtol=3e-7)


@pytest.mark.parametrize("penalty", [Penalty(0.5, 5.0), Penalty(1.0, 0.0), Penalty(None, 10.0)])
def test_optimum_of_all_features(penalty):
    features, data = features_and_data(2)
    exact = learn_weights(pseudo_likelihood(features, data), penalty, None, 5000, Stopping(1e-9))
    found = learn_screened_weights(packed_likelihood(features, data), penalty, None, 5000, 1e-7)
    assert_allclose(found.objective, exact.objective, rtol=2e-6)
    if penalty.l1:
        assert found.n_searched < len(features)
        assert (found.weight == 0).sum() > 0


def test_gap_is_a_bound_wherever_learning_ends():
    features, data = features_and_data(3)
    penalty, likelihood = Penalty(0.5, 3.0), packed_likelihood(features, data)
    best = learn_weights(
        pseudo_likelihood(features, data), penalty, None, 5000, Stopping(1e-9)
    ).objective
    for n in (1, 3, 10, 30):
        found = learn_screened_weights(likelihood, penalty, None, n)
        assert found.n_iterations <= n
        assert found.objective - found.gap <= best <= found.objective * (1 + 1e-6)
        assert 0 <= found.left_out <= found.gap * (1 + 1e-9)


def test_gap_terms_of_weights_at_their_minimum_are_zero():
    penalty = Penalty(0.5, 2.0)
    w = np.array([0.0, 0.0, 0.25, -0.5])
    gradient = np.array([1.9, -2.0, -(2 + 0.25 / 0.25), 2 + 0.5 / 0.25])
    assert_allclose(gap_terms(penalty, w, gradient), 0, atol=1e-12)
    assert gap_terms(penalty, w, gradient + 0.1).min() >= 0


def test_a_warm_start_at_the_optimum_ends_at_once():
    features, data = features_and_data(4)
    likelihood, penalty = packed_likelihood(features, data), Penalty(0.3, 4.0)
    first = learn_screened_weights(likelihood, penalty, None, 1000, 1e-5)
    assert first.stopped_by == "gap"
    again = learn_screened_weights(likelihood, penalty, first.weight, 1000, 1e-4)
    assert again.n_iterations == 0
    assert_array_equal(again.weight, first.weight)


def test_judge_ends_what_falls_behind():
    scores = iter([0.0, -1.0, -2.0, -3.0, -4.0])
    features, data = features_and_data(5)
    likelihood = packed_likelihood(features, data)
    found = learn_screened_weights(
        likelihood, Penalty(10.0, 0.0), None, 500, 1e-9, lambda w: next(scores)
    )
    assert (found.stopped_by, found.n_iterations) == ("judge", 20)


@pytest.mark.parametrize(
    ("scores", "bar", "ends"),
    [
        ([0, -1, -1, -2], -9, False),
        ([0, -1, -1, -2, -2], -9, True),
        ([0, 2, 2, 1, 1, 0.5], -9, False),
        ([0, 1, 1, -1, -1, -2], -9, True),
        # 90 iterations left at 0.1 each, then 85 at 0.05.
        ([0, 0.5, 1.0], 9.9, False),
        ([0, 0.5, 1.0, 1.0], 9.9, True),
        # 95 iterations left at 0.1 each.
        ([0, 0.5], 9.9, False),
        ([0, 0.5], 10.1, True),
        ([0, -1], -0.9, True),
        ([0, -1], -1.1, False),
        ([0, -1, -2], -1.9, True),
        ([0, -1, -2], -2.1, False),
    ],
)
def test_verdict(scores, bar, ends):
    said = iter(scores)
    verdict = Verdict(lambda w: next(said), bar, [next(said)])
    left = range(95, 0, -5)
    outcomes = [
        verdict.falls_behind(np.zeros(1), n) for _, n in zip(scores[1:], left, strict=False)
    ]
    assert outcomes[-1] == ends
    assert not any(outcomes[:-1])


def test_stronger_penalties_come_first():
    grid = {"l1": [1, 5, 10], "sd": [1.0, None, 0.1]}
    order = strongest_first(grid)
    assert len(order) == 9
    assert all(stronger(p, grid) in order[:k] for k, p in enumerate(order) if k)
    assert stronger(Penalty(0.1, 10), grid) is None
    assert stronger(Penalty(0.1, 1), grid) == Penalty(0.1, 5)
    assert stronger(Penalty(1.0, 10), grid) == Penalty(0.1, 10)
    assert stronger(Penalty(None, 10), grid) == Penalty(1.0, 10)


@pytest.mark.parametrize("judged", [False, True])
def test_paths_do_not_depend_on_the_order_of_questions(judged):
    features, data = features_and_data(6)
    grid = {"l1": [1.0, 5.0], "sd": [0.1, 1.0]}
    penalties = [Penalty(sd, l1) for sd in grid["sd"] for l1 in grid["l1"]]
    task = Task(data, grid, criterion=(lambda m: -abs(m.weight).sum()) if judged else None)
    forward = weight_paths(task, features, 30, 0.0)
    backward = weight_paths(task, features, 30, 0.0)
    assert forward.strongest() == Penalty(0.1, 5.0)
    one = [forward.fitted(p, 0.0).model.weight for p in penalties]
    other = [backward.fitted(p, 0.0).model.weight for p in reversed(penalties)]
    for a, b in zip(one, reversed(other), strict=True):
        assert_array_equal(a, b)


def test_paths_ask_the_criterion_of_tuning():
    features, data = features_and_data(7)
    asked = []

    def worse(model):
        asked.append(model)
        return -len(asked)

    task = Task(data, {"l1": [0.0], "sd": [0.1, 100.0]}, criterion=worse)
    paths = WeightPaths(task, features, packed_likelihood(features, data), 200)
    assert paths.weights(Penalty(0.1, 0.0)).stopped_by != "judge"
    assert not asked
    assert paths.weights(Penalty(100.0, 0.0)).stopped_by in ("judge", "gap", "decrease")
    assert len(asked) > 0
    assert all(isinstance(model, MarkovNetwork) for model in asked)


@pytest.mark.parametrize("seed", range(4))
def test_rewritten_features_have_the_same_likelihood(seed):
    features, data = features_and_data(seed)
    conjunctions, sums = rewrite(features, data)
    rare = data.frequency[conjunctions.var] <= 0.5
    split = np.bincount(
        features.owner[features.value == (data.frequency[features.var] > 0.5)],
        minlength=len(features),
    )
    assert (split > MAX_COMMON).any()
    assert (split == MAX_COMMON).any()
    # All but the features with many common values are of rare values alone.
    whole = np.bincount(conjunctions.owner[conjunctions.value != rare], minlength=len(conjunctions))
    assert (whole > 0).sum() == (split > MAX_COMMON).sum()
    indicator = sums @ conjunctions.satisfied(data.rows).T.astype(float)
    expected = features.satisfied(data.rows).T.astype(float)
    constant = (expected - indicator)[:, :1]
    assert_allclose(indicator + constant, expected)
    plain = packed_likelihood(features, data)
    rewritten = RewrittenLikelihood(
        plain.curvature, packed_likelihood(conjunctions, data), sums, sums.T.tocsr()
    )
    rng = np.random.default_rng(seed)
    w = rng.normal(size=len(features))
    assert rewritten.n_features == len(features)
    for one, other, weights in (
        (plain, rewritten, w),
        (plain.restricted(w > 0), rewritten.restricted(w > 0), w[w > 0]),
    ):
        value, gradient = one.value_and_gradient(weights)
        found, found_gradient = other.value_and_gradient(weights)
        assert_allclose(found, value, rtol=1e-5)
        assert_allclose(found_gradient, gradient, atol=1e-4 * data.n_examples)


def test_the_quicker_way_is_taken():
    rng = np.random.default_rng(0)
    triples = [[(v, 0) for v in triple] for triple in itertools.combinations(range(16), 3)]
    features, _ = canonicalise(concatenate([atomic_features(40), features_of(triples)]))
    sparse_data = merge_rows(rng.random((4000, 40)) < 0.1)
    dense_data = merge_rows(rng.random((4000, 40)) < 0.5)
    assert isinstance(likelihood_of(features, sparse_data), RewrittenLikelihood)
    assert isinstance(likelihood_of(features, dense_data), PackedLikelihood)
