"""The packed pseudo-likelihood, and weights found by searching among few of many features."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from made_random import random_data, random_features
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.features.generation import generate_features
from mnlearn.learning.owlqn import new_history, restrict_history
from mnlearn.learning.weights import descent
from mnlearn.learning.weights import packed_likelihood as packed_module
from mnlearn.learning.weights.arrangement import arrange
from mnlearn.learning.weights.descent import Judge, Penalty, Stopping, gap_terms
from mnlearn.learning.weights.fit import Sample, fit_weights
from mnlearn.learning.weights.packed_likelihood import (
    MAX_COMMON,
    PackedLikelihood,
    RewrittenLikelihood,
    arrange_packed,
    rewrite_features,
)
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.models.features import atomic_features, canonicalise, concatenate, features_of
from oracles import loss_of


@pytest.mark.parametrize("screen", [False, True])
def test_weights_do_not_depend_on_the_threads_of_matrix_products(screen):
    data = random_data(3, 600, 14)
    features = generate_features(data, 40_000).features(40_000, 0)
    assert len(features) > 10_000  # Products of shorter vectors have one thread anyway.
    likelihood = arrange(features, data)
    weights = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fit = fit_weights(likelihood, Penalty(0.5, 1.0), max_iterations=5, screen=screen)
        weights.append(fit.weight)
    assert_array_equal(weights[0], weights[1])


def features_and_data(seed, n_vars=8, n_features=60, longest=7):
    rng = np.random.default_rng(seed)
    drawn = random_features(rng, n_vars, n_features, longest)
    features, _ = canonicalise(concatenate([atomic_features(n_vars), drawn]))
    return features, random_data(seed, 400, n_vars)


def minimum_of_all(features, data, penalty):
    likelihood = arrange_stored(features, data)
    return fit_weights(likelihood, penalty, max_iterations=5000, stopping=Stopping(1e-9))


@pytest.mark.parametrize("penalty", [Penalty(1.0, 0.0), Penalty(2.0, 1.5), Penalty(None, 2.0)])
@pytest.mark.parametrize("n_sampled", [30, 128])
def test_weights_by_way_of_a_sample(n_sampled, penalty):
    features, _ = features_and_data(4, n_features=40, longest=3)
    data = random_data(4, 6000, 8)
    some = data.subset(np.arange(0, data.n_rows, -(-data.n_rows // n_sampled)))
    likelihood = arrange(features, data)
    sample = Sample(arrange(features, some), data.n_examples / some.n_examples)
    fit = fit_weights(likelihood, penalty, screen=True, sample=sample)
    minimum = minimum_of_all(features, data, penalty)
    assert fit.stopped_by in descent.CONVERGED
    assert fit.objective - minimum.objective <= 2e-5 * minimum.objective
    of_sample = fit_weights(sample.likelihood, penalty, screen=True).weight
    value, _ = likelihood.value_and_gradient(of_sample)
    worse = value + descent.penalty_terms(penalty, of_sample).sum() - minimum.objective
    assert worse > 10 * (fit.objective - minimum.objective)


@pytest.mark.parametrize("share", [0.0, 1 / 24, 2.0], ids=["all bits", "mixed", "all lists"])
@pytest.mark.parametrize("seed", range(3))
def test_value_against_enumeration(seed, share, monkeypatch):
    monkeypatch.setattr(packed_module, "FEW", share)
    features, data = features_and_data(seed)
    likelihood = arrange_packed(features, data)
    assert (len(likelihood.many) == 0) == (share > 1)
    assert (len(likelihood.few) == 0) == (share == 0)
    w = np.random.default_rng(seed).normal(size=len(features))
    value, gradient = likelihood.value_and_gradient(w)
    assert_allclose(value, loss_of(features, w, data), rtol=1e-6)
    exact = arrange_stored(features, data)
    assert_allclose(gradient, exact.value_and_gradient(w)[1], atol=1e-4 * data.n_examples)
    assert_allclose(likelihood.curvature, exact.curvature, rtol=1e-6)


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 4095, 4097, 9000])
def test_any_number_of_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    data = merge_rows(rng.integers(0, 2, (n_rows, 40)), rng.uniform(0.5, 2, n_rows))
    features, _ = canonicalise(concatenate([atomic_features(40), random_features(rng, 40, 80, 8)]))
    w = rng.normal(size=len(features))
    value, gradient = arrange_packed(features, data).value_and_gradient(w)
    exact, exact_gradient = arrange_stored(features, data).value_and_gradient(w)
    assert_allclose(value, exact, rtol=1e-6)
    assert_allclose(gradient, exact_gradient, rtol=1e-4, atol=1e-5 * data.n_examples)


def test_columns_of_pairs_share_their_lists(monkeypatch):
    monkeypatch.setattr(packed_module, "FEW", 2.0)
    rng = np.random.default_rng(0)
    data = merge_rows(rng.random((500, 12)) < 0.3)
    pairs = [[(u, u % 2), (v, 1)] for u, v in itertools.combinations(range(12), 2)]
    triples = [[(0, 1), (v, 1), (v + 1, 0)] for v in range(1, 9)]
    features, _ = canonicalise(concatenate([atomic_features(12), features_of(pairs + triples)]))
    likelihood = arrange_packed(features, data)
    assert len(likelihood.rows) < likelihood.n_listed / 2
    exact, w = arrange_stored(features, data), rng.normal(size=len(features))
    assert likelihood.n_listed == sum(
        np.all([data.rows[:, u] == x for j, (u, x) in enumerate(literals) if j != k], axis=0).sum()
        if len(literals) > 1
        else data.n_rows
        for literals in map(features.literals, range(len(features)))
        for k in range(len(literals))
    )
    assert_allclose(likelihood.curvature, exact.curvature, rtol=1e-6)
    found, expected = likelihood.value_and_gradient(w), exact.value_and_gradient(w)
    assert_allclose(found[0], expected[0], rtol=1e-6)
    assert_allclose(found[1], expected[1], atol=1e-4 * data.n_examples)


@pytest.mark.parametrize("penalty", [Penalty(0.5, 5.0), Penalty(1.0, 0.0), Penalty(None, 10.0)])
def test_optimum_of_all_features(penalty):
    features, data = features_and_data(2)
    exact = minimum_of_all(features, data, penalty)
    found = fit_weights(
        arrange_packed(features, data),
        penalty,
        max_iterations=5000,
        stopping=Stopping(1e-7),
        screen=True,
    )
    assert_allclose(found.objective, exact.objective, rtol=2e-6)
    if penalty.l1:
        assert found.n_searched < len(features)
        assert (found.weight == 0).sum() > 0


def test_gap_is_a_bound_wherever_learning_ends():
    features, data = features_and_data(3)
    penalty, likelihood = Penalty(0.5, 3.0), arrange_packed(features, data)
    best = minimum_of_all(features, data, penalty).objective
    for n in (1, 3, 10, 30):
        found = fit_weights(likelihood, penalty, max_iterations=n, screen=True)
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
    likelihood, penalty = arrange_packed(features, data), Penalty(0.3, 4.0)
    first = fit_weights(
        likelihood, penalty, max_iterations=1000, stopping=Stopping(1e-5), screen=True
    )
    assert first.stopped_by == "gap"
    again = fit_weights(likelihood, penalty, start=first.weight, max_iterations=1000, screen=True)
    assert again.n_iterations == 0
    assert_array_equal(again.weight, first.weight)


@pytest.mark.parametrize(("sd", "l1"), [(10.0, 0.0), (1.0, 1.0), (None, 3.0)])
def test_ten_times_the_iterations_gain_nothing_that_counts(sd, l1):
    features, data = features_and_data(5)
    likelihood, penalty = arrange_packed(features, data), Penalty(sd, l1)
    learned = fit_weights(likelihood, penalty, screen=True)
    assert learned.summary()["converged"]
    longer = fit_weights(
        likelihood,
        penalty,
        start=learned.weight,
        max_iterations=10 * learned.n_iterations + 100,
        stopping=Stopping(0.0),
        screen=True,
    )
    assert learned.objective - longer.objective <= 1e-5 * learned.objective


def test_a_search_in_which_weights_become_0_goes_on_among_the_others(monkeypatch):
    features, data = features_and_data(6)
    likelihood, penalty = arrange_packed(features, data), Penalty(1.0, 4.0)
    start = np.ones(len(features))
    plain = fit_weights(likelihood, penalty, start=start, stopping=Stopping(1e-7), screen=True)
    monkeypatch.setattr(descent, "_SHRINK_AFTER", 3)
    shrunk = fit_weights(likelihood, penalty, start=start, stopping=Stopping(1e-7), screen=True)
    assert shrunk.n_searches > plain.n_searches
    assert shrunk.n_searched < len(features)
    assert_allclose(shrunk.objective, plain.objective, rtol=1e-6)


def test_a_restricted_history_keeps_the_steps_of_the_variables_that_stay():
    history = new_history(3)
    history.append((np.array([1.0, 2.0]), np.array([3.0, 4.0]), 11.0))
    history.append((np.array([1.0, 0.0]), np.array([3.0, 4.0]), 3.0))
    old, new = np.array([True, False, True]), np.array([False, True, True])
    (pair,) = restrict_history(history, old, new)
    assert_array_equal(pair[0], [0.0, 2.0])
    assert_array_equal(pair[1], [0.0, 4.0])
    assert pair[2] == 8.0


@pytest.mark.parametrize("seed", range(4))
def test_rewritten_features_have_the_same_likelihood(seed):
    features, data = features_and_data(seed)
    conjunctions, sums = rewrite_features(features, data)
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
    plain = arrange_packed(features, data)
    rewritten = RewrittenLikelihood(
        plain.curvature, arrange_packed(conjunctions, data), sums, sums.T.tocsr()
    )
    rng = np.random.default_rng(seed)
    w = rng.normal(size=len(features))
    assert rewritten.n_features == len(features)
    for one, other, weights in (
        (plain, rewritten, w),
        (plain.restrict(w > 0), rewritten.restrict(w > 0), w[w > 0]),
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
    assert isinstance(arrange(features, sparse_data), RewrittenLikelihood)
    assert isinstance(arrange(features, dense_data), PackedLikelihood)


@pytest.mark.parametrize(
    ("score", "ends"),
    # The last 13 of 25 iterations gained 13 nats; 26 more are 0.26 for each of 100 examples.
    [(-1.0, True), (-0.27, True), (-0.25, False), (0.5, False)],
)
def test_a_judge_ends_weights_that_cannot_come_up_to_the_bar(score, ends):
    judge = Judge(lambda w: float(w[0]), bar=0.0, n_examples=100.0)
    objectives = [100.0 - k for k in range(26)]
    weight = np.array([score])
    assert not judge.falls_behind(lambda: weight, objectives[:-1])
    assert judge.falls_behind(lambda: weight, objectives) == ends
    # It is asked again after 50 iterations.
    assert not judge.falls_behind(lambda: np.array([-99.0]), [*objectives, 74.0])


def test_weights_that_fall_behind_are_not_at_their_optimum():
    features, data = features_and_data(5)
    judge = Judge(lambda w: -1e9, bar=0.0, n_examples=data.n_examples)
    likelihood, quick = arrange_packed(features, data), Stopping(1e-9)
    found = fit_weights(likelihood, Penalty(10.0), stopping=quick, screen=True, judge=judge)
    assert (found.stopped_by, found.n_iterations) == ("behind", 25)
    assert not found.summary()["converged"]
