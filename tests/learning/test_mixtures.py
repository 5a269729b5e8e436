"""Mixtures of trees and of circuits, against sums over all states."""

import numpy as np
import pytest

import oracles
from made_random import random_data
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.exact import conditionals, log_partition, log_value
from mnlearn.learning.learner import Task
from mnlearn.learning.tree_mixtures import (
    TreeMixture,
    learn_circuit_mixture,
    learn_tree_mixture,
)
from mnlearn.learning.trees import learn_tree_path
from mnlearn.learning.tuning import tune
from mnlearn.methods.dn_bag import DNBag
from mnlearn.methods.mixture import BASES, Mixture
from mnlearn.models.dependency_network import tree_network
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from oracles import all_states


def two_groups(n_examples=2000, seed=0):
    """Examples of two kinds: in one x0 and x1 are equal, in the other they differ."""
    rng = np.random.default_rng(seed)
    kind = rng.random(n_examples) < 0.4
    rows = rng.random((n_examples, 8)) < np.where(kind[:, None], 0.8, 0.2)
    rows[:, 1] = rows[:, 0] ^ kind
    return merge_rows(rows.astype(np.uint8)), kind


def probability(mixture, row):
    """P(row) by its definition."""
    total = 0.0
    for share, parent, table in zip(mixture.share, mixture.parent, mixture.log_prob, strict=True):
        above = [0 if p < 0 else row[p] for p in parent]
        total += share * np.exp(sum(table[v, above[v], row[v]] for v in range(len(row))))
    return total


@pytest.fixture(scope="module")
def mixture():
    return learn_tree_mixture(random_data(1, n_examples=400), 3, tolerance=1e-6, max_iterations=60)


def test_the_circuit_is_the_mixture(mixture):
    states = all_states(6)
    expected = np.array([probability(mixture, row) for row in states])
    circuit = mixture.circuit()
    assert expected.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(np.exp(log_value(circuit, states)), expected, rtol=1e-10)
    assert log_partition(circuit) == pytest.approx(0.0, abs=1e-12)
    one = conditionals(circuit, np.array([[1, 2, 2, 0, 2, 2]], np.uint8))[1][0, :, 1]
    given = (states[:, 0] == 1) & (states[:, 3] == 0)
    np.testing.assert_allclose(one, expected[given] @ states[given] / expected[given].sum())


def test_an_iteration_never_lowers_the_objective(mixture):
    assert len(mixture.objective) > 10
    assert np.diff(mixture.objective).min() > -1e-3


def test_the_objective_is_the_likelihood_and_the_prior():
    """With the prior as weighted examples of its own, summed over all states."""
    data = random_data(2, n_examples=200)
    mixture = learn_tree_mixture(data, 2, prior=3.0, max_iterations=1)
    log_likelihood = sum(
        w * np.log(probability(mixture, row)) for w, row in zip(data.weight, data.rows, strict=True)
    )
    # A distribution with the pair probabilities of the prior: all data and every state.
    ones = 3.0 * 4.0 / (data.n_examples + 4.0)
    states, log_prior = all_states(6), 0.0
    for parent, table in zip(mixture.parent, mixture.log_prob, strict=True):
        tree = TreeMixture(np.ones(1), parent[None], table[None], None)
        of_data = data.weight @ np.log([probability(tree, row) for row in data.rows])
        of_states = np.mean([np.log(probability(tree, row)) for row in states])
        log_prior += 3.0 / (data.n_examples + 4.0) * of_data + ones * of_states
    assert mixture.objective[-1] == pytest.approx(log_likelihood + log_prior, rel=1e-10)


def test_one_component_is_the_chow_liu_tree():
    data = random_data(3)
    alone = tune(Mixture, data, Mixture.grid({"n_components": 1, "prior": 1e-3}), None)
    from mnlearn.methods.chow_liu import ChowLiu

    tree = tune(ChowLiu, data, ChowLiu.grid({"pseudocount": 0}), None)
    np.testing.assert_allclose(
        log_value(alone.best.fitted.model, data.rows),
        log_value(tree.best.fitted.model, data.rows),
        atol=1e-3,
    )


def test_components_that_become_empty_are_dropped():
    data = merge_rows(np.array([[0, 0], [1, 1]] * 3, np.uint8))
    mixture = learn_tree_mixture(data, 40)
    assert 1 <= len(mixture.share) < 7
    assert mixture.share.sum() == pytest.approx(1.0)


def test_validation_data_end_em_early():
    data = random_data(4, n_examples=60, n_vars=8)
    scores = iter([0.0, 1.0, 2.0, 1.5])
    ended = learn_tree_mixture(data, 8, tolerance=0.0, criterion=lambda _: next(scores))
    assert len(ended.objective) == 1 + 15
    ten = learn_tree_mixture(data, 8, tolerance=0.0, max_iterations=11)
    np.testing.assert_array_equal(ended.log_prob, ten.log_prob)


def test_the_last_iteration_is_scored_too():
    data = random_data(4, n_examples=60, n_vars=8)

    def learned(max_iterations, *scores):
        judge = iter(scores).__next__
        more = {"criterion": lambda _: judge()} if scores else {}
        return learn_tree_mixture(
            data, 8, tolerance=0.0, max_iterations=max_iterations, **more
        ).log_prob

    np.testing.assert_array_equal(learned(4, 1.0, 2.0), learned(4))
    np.testing.assert_array_equal(learned(4, 2.0, 1.0), learned(1))


@pytest.mark.parametrize("base", ["lem", "acmn"])
def test_mixtures_of_circuits_draw_their_examples_apart(base, monkeypatch):
    data, _ = two_groups(200)
    seeds = []

    def spied(*arguments, seed, **others):
        seeds.append(seed)
        return learn_circuit_mixture(*arguments, seed=seed, **others)

    monkeypatch.setattr("mnlearn.methods.mixture.learn_circuit_mixture", spied)
    grid = Mixture.grid({"base": base, "n_components": 2, "n_mixtures": 3, "max_edges": 100})
    tune(Mixture, data, grid, None)
    assert len(seeds) == len(set(seeds)) == 3


def test_a_mixture_is_learned_once_for_all_numbers_of_mixtures(monkeypatch):
    data, _ = two_groups(200)
    learned = []

    def spied(*arguments, **more):
        learned.append(arguments)
        return learn_tree_mixture(*arguments, **more)

    monkeypatch.setattr("mnlearn.methods.mixture.learn_tree_mixture", spied)
    tuned = tune(Mixture, data, Mixture.grid({"n_mixtures": [1, 2, 4]}), lambda model: 0.0)
    assert len(learned) == 4
    assert [row["n_mixtures"] for row in tuned.trace] == [1, 2, 4]


@pytest.mark.parametrize("base", BASES)
def test_every_base_is_a_distribution_and_does_not_depend_on_threads(base):
    data, _ = two_groups(600)
    settings = {"base": base, "n_components": 3, "max_edges": 300, "rounds": 2, "n_mixtures": 2}
    grid = Mixture.grid(settings)
    one, two = (
        tune(Mixture, data, grid, None, threads=threads).best.fitted.model for threads in (1, 2)
    )
    assert log_partition(one) == pytest.approx(0.0, abs=1e-9)
    assert one.weight.tobytes() == two.weight.tobytes()
    total = np.logaddexp.reduce(log_value(one, all_states(8)))
    assert total == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("base", ["lem", "acmn"])
def test_bases_that_count_examples_take_no_weights(base):
    rows = np.random.default_rng(0).integers(0, 2, (30, 3))
    data = merge_rows(rows, np.full(30, 0.5))
    with pytest.raises(InputError, match="take no examples with weights"):
        tune(Mixture, data, Mixture.grid({"base": base}), None)


def test_the_mean_of_several_mixtures():
    """Each starts from other shares; the first of them does not depend on how many follow."""
    data, _ = two_groups(300)

    def values(n_mixtures):
        grid = Mixture.grid({"n_components": 4, "n_mixtures": n_mixtures})
        model = tune(Mixture, data, grid, None).best.fitted.model
        return np.exp(log_value(model, all_states(8)))

    one, two, three = (values(n) for n in (1, 2, 3))
    assert not np.allclose(one, two)
    assert two.sum() == pytest.approx(1.0)
    assert (3 * three > 2 * two - 1e-12).all()
    assert (2 * two > one - 1e-12).all()


DATA = random_data(0, n_vars=5)


def learn(**settings):
    learner = DNBag(kappa=0.01, **settings)
    task = Task(DATA, {"kappa": [0.01]})
    return learner.learn(learner.prepare(task)).model


def log_odds(network):
    return oracles.log_odds_matrix(network, oracles.all_states(5))


def test_the_log_odds_are_the_mean_over_trees_of_samples():
    rng = stream(7, "bagging")
    samples = [DATA.resample(rng) for _ in range(3)]
    assert not np.array_equal(samples[0].weight, samples[1].weight)
    trees = [tree_network(learn_tree_path(s, 0.01, pseudocount=1.0).trees) for s in samples]
    expected = np.mean([log_odds(one) for one in trees], axis=0)
    found = log_odds(learn(n_bags=3, bag_seed=7, pseudocount=1.0))
    np.testing.assert_allclose(found, expected, atol=1e-12)
