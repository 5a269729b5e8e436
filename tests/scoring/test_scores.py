"""Scores of variables of one to four states against enumeration, and the errors of scores."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from made_hidden_trees import random_hidden_tree
from made_random import random_data, random_dependency_network, random_network
from made_state_models import (
    pairwise_tree,
    random_states_dependency_network,
    random_states_network,
)
from made_states import every_row, random_rows
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.evidence import Evidence
from mnlearn.inference.plan import MARGINALS, plan
from mnlearn.inference.queries import answer
from mnlearn.inference.query_groups import partitions
from mnlearn.inference.sampling import sample_rows
from mnlearn.inference.settings import Inference
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import features_of
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import approximate_ll, cll, cmll, ll, pll
from mnlearn.scoring.metrics import METRICS, Request, find_metric, mean_score
from mnlearn.variables.schema import NO_STATE

GROUPS = [[0, 3], [1, 2], [4]]
EXACT = Inference("exact")
NETWORKS = [random_network, random_states_network]


def forms_of(model):
    """A model, and the circuit of a network without the features, which would answer for it."""
    if not isinstance(model, MarkovNetwork):
        return [model]
    c = compile_network(model)
    return [model, ArithmeticCircuit(c.schema, c.is_sum, c.start, c.child, c.weight)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "make", [*NETWORKS, random_dependency_network, random_states_dependency_network]
)
def test_pll_of_every_kind_of_model(make, seed):
    model = make(seed)
    data = random_rows(seed, model.schema)
    expected = oracles.log_own(model, data.rows).sum(axis=1)
    for form in forms_of(model):
        found = pll(form, data)
        assert_allclose(found.per_row, expected, atol=1e-10)
        every = expected[data.row_of]
        assert_allclose(found.mean, every.mean())
        assert_allclose(found.standard_error, every.std(ddof=1) / np.sqrt(len(every)))


def test_exact_inference_alone_sums_missing_cells_out():
    asked = {way: find_metric("ll").sums_missing(way) for way in (None, "exact", "bp", "ais")}
    assert asked == {None: True, "exact": True, "bp": False, "ais": False}
    assert not find_metric("pll").sums_missing("exact")


def test_scores_have_names_in_any_capitals():
    assert find_metric("CMLL").name == "cmll"
    with pytest.raises(InputError, match=r"^measure: expected one of pll, .*, ll, got 'lll'"):
        find_metric("lll", "measure")


def test_records_have_likelihoods_of_exact_models_only():
    likelihood = find_metric("ll")
    assert not likelihood.in_records(random_dependency_network(0))
    assert likelihood.in_records(compile_network(random_network(0)))


def test_a_likelihood_is_estimated_by_messages_only_where_they_are_asked_for():
    model = random_network(0)
    data, measure = random_rows(0, model.schema), find_metric("ll").measure
    beliefs = Inference("bp", iterations=50)
    exact, estimate = ll(model, data).mean, approximate_ll(model, data, beliefs).mean
    assert abs(exact - estimate) > 1e-4
    assert measure(model, data, Request(inference=beliefs)).mean == estimate
    assert approximate_ll(model, data, beliefs, by_feature=True).mean != estimate
    assert measure(model, data, Request(inference=EXACT)).mean == exact


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", NETWORKS)
def test_scores_of_groups_of_variables(make, seed):
    network = make(seed)
    schema, rows = network.schema, every_row(network.schema)
    data = random_rows(seed, schema)
    log_joint = np.log(oracles.joint(network))
    number = {row.tobytes(): i for i, row in enumerate(rows)}
    own = log_joint[[number[row.tobytes()] for row in data.rows]]
    conditional, marginal = np.zeros(data.n_rows), np.zeros(data.n_rows)
    values, all_values = schema.values(data.rows), schema.values(rows)
    for group in GROUPS:
        known = [v for v in range(len(schema)) if v not in group]
        for i, x in enumerate(values):
            same = (all_values[:, known] == x[known]).all(axis=1)
            evidence = np.logaddexp.reduce(log_joint[same])
            conditional[i] += own[i] - evidence
            for v in group:
                agree = same & (all_values[:, v] == x[v])
                marginal[i] += np.logaddexp.reduce(log_joint[agree]) - evidence
    for form in forms_of(network):
        assert_allclose(ll(form, data).per_row, own, atol=1e-10)
        assert_allclose(cll(form, data, GROUPS).per_row, conditional, atol=1e-9)
        assert_allclose(cmll(form, data, GROUPS, EXACT, seed=0).per_row, marginal, atol=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make", "samples"),
    # Of several states, half a count for each is a bias, which many samples make small.
    [(random_network, 2000), (random_dependency_network, 2000), (random_states_network, 40_000)],
)
def test_the_monte_carlo_error_covers_the_error_of_gibbs(make, samples):
    z = []
    for seed in range(8):
        model = make(seed)
        data = merge_rows(sample_rows(model, 60, 50, seed), None, model.schema)
        groups = [[0, 1, 2], [3, 4]]
        exact = cmll(model, data, groups, EXACT, seed=0)
        sampled = cmll(model, data, groups, Inference(samples=samples), seed=seed)
        assert sampled.monte_carlo_error > 0
        z.append((sampled.mean - exact.mean) / sampled.monte_carlo_error)
    assert np.abs(z).max() < 4
    assert 0.3 < np.std(z) < 2


def test_beliefs_and_mean_field_score_by_variable():
    network = pairwise_tree(1)
    data = random_rows(1, network.schema)
    run = Inference("bp", iterations=500, tolerance=1e-9)
    exact = cmll(network, data, GROUPS, EXACT, seed=0)
    found = cmll(network, data, GROUPS, run, seed=0)
    assert found.converged == 1.0
    assert_allclose(found.per_row, exact.per_row, atol=1e-6)
    assert_allclose(approximate_ll(network, data, run).mean, ll(network, data).mean, atol=1e-6)
    bound = approximate_ll(network, data, Inference("meanfield", iterations=500)).mean
    assert bound > ll(network, data).mean + 1e-4


def test_threads_change_no_score():
    network = random_states_network(4)
    data = random_rows(4, network.schema)
    for score in (pll, ll):
        one, more = (score(network, data, threads).per_row for threads in (1, 3))
        assert_array_equal(one, more)


def test_an_impossible_example_scores_minus_infinity():
    network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [-np.inf])
    data = merge_rows(np.array([[1, 1], [0, 0]]))
    assert pll(network, data).mean == -np.inf
    assert ll(network, data).mean == -np.inf
    assert_allclose(ll(network, merge_rows(np.array([[0, 0]]))).mean, -np.log(3))
    # P(X_1 = 1 | X_0 = 1) is 0 and P(X_1 = 0 | X_0 = 0) one half.
    per_row = cmll(network, data, [[1]], EXACT, seed=0).per_row
    assert_allclose(per_row[data.row_of], [-np.inf, -np.log(2)])


def test_weighted_examples_count_as_often_as_they_weigh():
    network = random_network(0)
    rows = random_data(0).rows[:10]
    weight = np.arange(1, 11)
    weighted = pll(network, merge_rows(rows, weight))
    repeated = pll(network, merge_rows(np.repeat(rows, weight, axis=0)))
    assert_allclose(weighted.mean, repeated.mean)
    assert_allclose(weighted.standard_error, repeated.standard_error)


def test_partitions_do_not_depend_on_how_many_are_asked_for():
    few, many = partitions(1, "d", 10, 4, n=2), partitions(1, "d", 10, 4, n=8)
    assert many[:2] == few
    for groups in many:
        assert sorted(v for g in groups for v in g) == list(range(10))
        assert {len(g) for g in groups} == {2, 3}
    assert partitions(2, "d", 10, 4, n=1) != few[:1]
    assert partitions(1, "e", 10, 4, n=1) != few[:1]
    assert many[0] != many[1]


def test_queries_of_a_person():
    network = random_network(3)
    unknown = NO_STATE
    values = [[unknown, 1, 0, unknown, 1, 1], [0, 1, 0, 1, 1, 1], [1, unknown, 0, 1, 1, 1]]
    evidence = Evidence(np.array(values, np.uint8), "row {}".format)
    chosen = plan(network, MARGINALS, evidence.values == unknown)
    p = answer(network, evidence, chosen, EXACT, seed=0).probability[:, 1::2]
    for x, found in zip(evidence.values, p, strict=True):
        query = np.flatnonzero(x == unknown)
        if len(query):
            assert_allclose(found[query], oracles.conditional_marginals(network, x, query))
        assert_allclose(found[x != unknown], x[x != unknown])


@pytest.mark.parametrize("emission", [0.0, 1.0])
def test_a_hidden_tree_with_an_impossible_state(emission):
    tree = random_hidden_tree(4)
    changed = tree.emission.copy()
    changed[1, 0] = emission
    tree = HiddenTree(tree.parent, tree.transition, changed)
    data = merge_rows(oracles.all_states(tree.n_vars))
    expected = cll(tree, data, [[v] for v in range(tree.n_vars)])
    assert_allclose(pll(tree, data).per_row, expected.per_row, rtol=1e-12)


def test_a_score_by_its_name_is_that_of_its_function():
    model = random_states_network(1)
    data = random_rows(1, model.schema)
    found = {
        metric.name: metric.measure(model, data, Request(GROUPS, seed=3)).per_row.tolist()
        for metric in METRICS
    }
    assert found == {
        "pll": pll(model, data).per_row.tolist(),
        "cmll": cmll(model, data, GROUPS, Inference("auto"), seed=3).per_row.tolist(),
        "cll": cll(model, data, GROUPS).per_row.tolist(),
        "ll": ll(model, data).per_row.tolist(),
    }
    assert Request() == Request(groups=(), inference=None, seed=0, threads=1)
    of_groups = mean_score("cmll", data, Request(GROUPS))
    assert of_groups(model) == pytest.approx(np.mean(np.take(found["cmll"], data.row_of)))
    assert mean_score("pll", data)(model) == pll(model, data).mean


def test_which_scores_of_a_model_are_recorded():
    circuit, network = compile_network(random_network(0)), random_network(0)
    large = markov_network(60, features_of([[(u, 1), (v, 1)] for u in range(60) for v in range(u)]),
                           np.ones(1770))  # fmt: skip
    expected = {"pll": True, "cmll": True, "cll": False, "ll": True}
    for model in (circuit, network):
        assert {metric.name: metric.in_records(model) for metric in METRICS} == expected
    assert {m.name for m in METRICS if m.in_records(large)} == {"pll", "cmll"}
    assert [metric.name for metric in METRICS if metric.by_group] == ["cmll", "cll"]
    with pytest.raises(InputError, match=r"^metric: expected one of pll, cmll, cll, ll, got 'mll'"):
        find_metric("mll")


def test_a_row_without_a_state_of_a_query_variable_is_impossible():
    model = random_states_network(1)
    data = random_rows(1, model.schema)
    several = int(np.flatnonzero(model.schema.arity > 2)[0])
    rows = data.rows.copy()
    rows[:, list(model.schema.columns(several))] = 0
    every = [list(range(model.n_vars))]
    for form in forms_of(model):
        found = cmll(form, replace(data, stored=rows), every, EXACT, seed=0)
        assert np.isneginf(found.per_row).all()
