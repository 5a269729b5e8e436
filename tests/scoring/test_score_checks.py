"""What scores refuse, which of them are exact, and the error of sampled ones."""

import dataclasses
import functools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_hidden_trees import random_hidden_tree
from made_random import random_data, random_dependency_network, random_network
from made_states import random_rows
from mnlearn.data.dataset import merge_rows
from mnlearn.data.incomplete import incomplete, merge_incomplete
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.marginals import MAX_ENUMERATED, Marginals
from mnlearn.inference.plan import has_exact_likelihood
from mnlearn.inference.score import Score, check_groups, score_of
from mnlearn.inference.settings import Annealing, Inference
from mnlearn.inference.terms import HARD_WEIGHT
from mnlearn.learning.lem.growth import LemSettings, learn_feature_tree
from mnlearn.models.circuit import product_of_marginals
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import answers, any_model
from mnlearn.scoring.any_model import cll, cmll, ll, pll
from mnlearn.variables.schema import numbered_schema
from oracles import all_states

EXACT = Inference("exact")
MARKOV = random_network(0)
KINDS = ("networks", "circuits", "hidden trees", "feature trees")


@functools.cache
def made(kind):
    """Return a model; not at the import, which each worker of a run does."""
    if kind == "circuits":
        return compile_network(MARKOV)
    if kind == "feature trees":
        return learn_feature_tree(random_data(0), LemSettings(delta=0.01))
    return random_hidden_tree(0, n_vars=6) if kind == "hidden trees" else MARKOV


@pytest.fixture(params=KINDS)
def model(request):
    return made(request.param)


def test_data_and_groups_are_checked(model):
    other, data = random_data(0, n_vars=5), random_data(0)
    for score in (
        lambda data, groups: pll(model, data),
        lambda data, groups: ll(model, data),
        lambda data, groups: cll(model, data, groups),
        lambda data, groups: cmll(model, data, groups, EXACT, seed=0),
    ):
        with pytest.raises(InputError, match="expected 6 variables"):
            score(other, [[0, 1]])
    for score in (
        lambda groups: cll(model, data, groups),
        lambda groups: cmll(model, data, groups, EXACT, seed=0),
    ):
        with pytest.raises(InputError, match="variable 1 is in two groups"):
            score([[0, 1], [1]])
        for v in (-1, 6):
            with pytest.raises(InputError) as caught:
                score([[0, v]])
            assert str(caught.value) == f"query groups: expected variables 0 to 5, got {v}."


@pytest.mark.parametrize("score", ["ll", "cll"])
def test_a_score_that_needs_a_joint_distribution_is_named(score):
    groups = [] if score == "ll" else [[[0]]]
    with pytest.raises(InputError, match=rf"^metric {score}: expected a Markov network"):
        getattr(any_model, score)(random_dependency_network(0), random_data(0, n_vars=5), *groups)


def test_estimates_need_a_joint_distribution_too():
    network, data = random_dependency_network(0), random_data(0, n_vars=5)
    with pytest.raises(InputError, match=r"^metric ll: expected a Markov network"):
        any_model.annealed_ll(network, data, Annealing(), seed=0)
    with pytest.raises(InputError, match=r"^metric ll: expected a Markov network"):
        any_model.approximate_ll(network, data, Inference("bp"))


def test_which_likelihoods_are_exact():
    def independent(n_vars):
        return markov_network(n_vars, features_of([[(0, 1)]]), [1.0])

    assert has_exact_likelihood(independent(MAX_ENUMERATED)) is True
    assert has_exact_likelihood(independent(MAX_ENUMERATED + 1)) is False
    assert has_exact_likelihood(random_dependency_network(0)) is False
    assert has_exact_likelihood(compile_network(MARKOV)) is True
    assert has_exact_likelihood(random_hidden_tree(0)) is True
    assert has_exact_likelihood(made("feature trees")) is True


def test_networks_that_cannot_be_enumerated_are_compiled():
    n_vars = MAX_ENUMERATED + 1
    network = markov_network(n_vars, features_of([[(0, 1), (n_vars - 1, 1)]]), [1.0])
    data = random_data(0, n_vars=n_vars)
    log_z = np.log(np.e + 3) + (n_vars - 2) * np.log(2)
    both = data.rows[:, 0] & data.rows[:, -1]
    assert_allclose(any_model.ll(network, data).per_row, both - log_z)
    assert_allclose(any_model.marginal_ll(network, data).per_row, both - log_z)

    def annealed(network, data):
        return any_model.annealed_ll(network, data, Annealing(), seed=0)

    def approximate(network, data):
        return any_model.approximate_ll(network, data, Inference("bp"))

    for score in (any_model.ll, any_model.marginal_ll, annealed, approximate):
        with pytest.raises(InputError, match="expected 21 variables"):
            score(network, random_data(0, n_vars=n_vars + 1))


def test_a_column_of_another_name_is_named():
    network, data = random_network(0, n_vars=2), random_data(0, n_vars=2)
    named = dataclasses.replace(network, schema=network.schema.rename(("a", "b")))
    for names, message in ((("x", "b"), "'a' as column 1 as in the model, got 'x'"),
                           (("a", "x"), "'b' as column 2 as in the model, got 'x'")):  # fmt: skip
        with pytest.raises(InputError, match=message):
            pll(named, dataclasses.replace(data, schema=data.schema.rename(names)))
    three = merge_rows([[0, 1, 0, 0]], schema=numbered_schema([3, 2]))
    with pytest.raises(InputError, match="'V0': expected 2 states as in the model, got 3"):
        pll(network, three)


def test_a_dependency_network_has_no_marginal_likelihood():
    with pytest.raises(InputError, match="ll: a dependency network has no joint distribution"):
        any_model.marginal_ll(random_dependency_network(0), random_data(0))


def test_scores_of_a_single_example_have_no_standard_error():
    assert ll(MARKOV, random_data(0, 1)).standard_error == 0.0
    assert ll(MARKOV, random_data(0, 20)).standard_error > 0.0


def test_whether_inference_converged_is_known_of_approximations_only():
    data, groups = random_data(0), [[0, 3], [1, 2]]
    assert cmll(MARKOV, data, groups, EXACT, seed=0).converged is None
    bp = Inference("bp", iterations=100, tolerance=1e-6)
    both = cmll(MARKOV, data, groups, bp, seed=0)
    assert both.converged == 1.0
    each = [cmll(MARKOV, data, [group], bp, seed=0).per_row for group in groups]
    assert_allclose(both.per_row, sum(each), rtol=1e-9)
    assert any_model.approximate_ll(MARKOV, data, bp).converged == 1.0
    stopped = Inference("bp", iterations=1, tolerance=1e-12)
    assert any_model.approximate_ll(MARKOV, data, stopped).converged == 0.0
    assert cmll(MARKOV, data, groups, stopped, seed=0).converged < 1.0


def test_estimates_of_models_with_an_exact_likelihood_are_exact():
    data = random_data(0)
    bp = Inference("bp", iterations=100, tolerance=1e-6)
    for model in map(made, KINDS[1:]):
        annealed = any_model.annealed_ll(model, data, Annealing(), seed=0)
        assert_allclose(annealed.per_row, any_model.ll(model, data).per_row)
        assert annealed.monte_carlo_error == 0
        found = any_model.approximate_ll(model, data, bp)
        assert_allclose(found.per_row, any_model.ll(model, data).per_row)
        assert found.converged is None


def test_rows_that_are_impossible_like_all_their_neighbours():
    """Only 000 is possible; all that differs from 111 in one place is not."""
    circuit = product_of_marginals(np.full(3, 0.5))
    weight = np.tile([0.0, -np.inf], 3)
    circuit = dataclasses.replace(circuit, weight=weight, features=None)
    data = merge_rows([[0, 0, 0], [1, 1, 1], [0, 1, 0]])
    assert pll(circuit, data).per_row.tolist() == [0.0, -np.inf, -np.inf]


def test_a_value_of_conditional_probability_0(monkeypatch):
    def conditionals(model, rows, threads):
        return np.zeros(len(rows)), np.tile([1.0, 0.0], (len(rows), 3, 1))

    monkeypatch.setattr(answers, "conditionals", conditionals)
    data = merge_rows([[0, 0, 0], [0, 0, 1]])
    found = cmll(product_of_marginals(np.full(3, 0.5)), data, [[2]], EXACT, seed=0)
    assert found.per_row.tolist() == [0.0, -np.inf]


def test_the_likelihood_of_the_known_cells(model):
    # No row knows the value of the last variable.
    rows = np.array([[1, 2, 0, 2, 1, 2], [0, 1, 1, 0, 1, 2]], np.uint8)
    data = merge_incomplete(rows)
    found = any_model.marginal_ll(model, data).per_row[data.row_of]
    states = all_states(6)
    whole = merge_rows(states)
    log_p = any_model.ll(model, whole).per_row
    assert_allclose(any_model.marginal_ll(model, incomplete(whole)).per_row, log_p, atol=1e-9)
    for row, value in zip(rows, found, strict=True):
        agree = ((states == row) | (row == 2)).all(axis=1)
        assert value == pytest.approx(np.logaddexp.reduce(log_p[agree]), abs=1e-9)


def test_the_mean_of_a_score_and_its_error():
    data = merge_rows([[0], [1]], [1.0, 3.0])
    score = score_of(np.array([-1.0, -2.0]), data, 0.25)
    assert (score.mean, score.monte_carlo_error) == (-1.75, 0.25)
    assert score.standard_error == pytest.approx(np.std([-1, -2, -2, -2], ddof=1) / 2)
    assert score_of(np.array([-1.0, -2.0]), data).monte_carlo_error == 0
    assert Score(np.zeros(1), 0.0, 0.0).monte_carlo_error == 0
    two = score_of(np.array([-1.0, -2.0]), merge_rows([[0], [1]]))
    assert two.standard_error == pytest.approx(0.5)
    assert score_of(np.array([-1.0, -2.0]), merge_rows([[0], [1]], [0.5, 0.5])).standard_error == 0


def test_which_scores_are_those_of_forbidden_states():
    near = np.array([-0.51, -0.49]) * HARD_WEIGHT
    assert score_of(near, merge_rows([[0], [1]])).per_row.tolist() == [-np.inf, near[1]]


def test_query_groups_of_all_variables():
    check_groups([[0, 5], [3]], 6)
    check_groups([], 6)


@pytest.mark.parametrize("n_batches", [1, 2, 5])
def test_the_variance_of_sampled_scores_is_that_of_batch_means(n_batches):
    rng = np.random.default_rng(0)
    data = random_data(0, 30)
    query = np.array([1, 4])
    row_of = rng.integers(0, 3, data.n_rows)
    batches = rng.uniform(0.2, 0.8, (3, n_batches, 2))
    probability = batches.mean(axis=1)
    marginals = Marginals(query, np.arange(3), query, probability, 1 - probability, row_of, batches)
    values = data.rows[:, query]
    p_own = np.where(values, probability[row_of], 1 - probability[row_of])
    # The score is linear in the estimates to first order: one value of it for each batch.
    expected = 0.0
    for e in range(3):
        per_batch = np.zeros(n_batches)
        for i in np.flatnonzero(row_of == e):
            for q in range(2):
                sign = 1 if values[i, q] else -1
                per_batch += sign * batches[e, :, q] * data.weight[i] / p_own[i, q]
        if n_batches > 1:
            expected += per_batch.var(ddof=1) / n_batches
    assert_allclose(answers.sampling_variance(marginals, data), expected)


def test_the_variance_of_a_variable_of_three_states_is_that_of_its_own_state():
    rng = np.random.default_rng(0)
    data = random_rows(0, numbered_schema([3, 2]))
    by_state = rng.dirichlet(np.ones(3), 5), rng.uniform(0.2, 0.8, 5)
    batches = np.column_stack(by_state)[None]
    p = batches.mean(axis=1)
    row_of = np.zeros(data.n_rows, np.int64)
    columns = np.arange(4)
    marginals = Marginals(np.arange(2), np.array([0, 3, 4]), columns, p, 1 - p, row_of, batches)
    states = data.schema.values(data.rows)
    per_batch = np.zeros(5)
    for i, (three, two) in enumerate(states.tolist()):
        own = by_state[1] if two else 1 - by_state[1]
        for q in (by_state[0][:, three], own):
            per_batch += data.weight[i] * q / q.mean()
    expected = per_batch.var(ddof=1) / 5
    assert_allclose(answers.sampling_variance(marginals, data), expected)


def test_errors_of_groups_add_up():
    data = random_data(3, 40)
    gibbs = Inference("gibbs", burn_in=5, samples=20)
    groups = ([0, 1], [3, 4])
    errors = [
        cmll(MARKOV, data, own, gibbs, seed=1).monte_carlo_error
        for own in (groups, *[[g] for g in groups])
    ]
    assert min(errors) > 0.0
    assert_allclose(errors[0] ** 2, errors[1] ** 2 + errors[2] ** 2)
