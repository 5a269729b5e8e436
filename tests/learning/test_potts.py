"""Networks of items of more than two states, by enumeration and by another optimiser."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import oracles
from made_states import every_row
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.ising.comparison import cautions, compare
from mnlearn.learning.ising.estimation import N_PENALTIES, Items, estimate, learn_ising
from mnlearn.learning.ising.items import Scores, items_of
from mnlearn.learning.ising.network import predictability_frame
from mnlearn.learning.ising.resampling import bootstrap, drop_cases
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable

SCHEMA = Schema(
    (
        Variable("tired", ("no", "yes")),
        Variable("mood", ("low", "mid", "high"), ordered=True),
        Variable("land", ("a", "b", "c", "d")),
        Variable("sleep", ("bad", "fair", "good"), ordered=True),
    )
)
# Interactions in the zero-sum gauge of `land`, and thresholds relative to the first states.
MOOD_SLEEP, TIRED_MOOD = 0.8, -0.9
LAND = np.array([0.9, -0.5, -0.6, 0.2])
THRESHOLDS = ([0.7], [0.4, -0.7], [-0.3, 0.2, 0.1], [-0.5, -1.5])


def truth(schema=SCHEMA):
    """The rows of a known network over the variables, and their probabilities."""
    rows = every_row(schema)
    tired, mood, land, sleep = schema.values(rows).T.astype(int)
    energy = TIRED_MOOD * tired * mood + MOOD_SLEEP * mood * sleep + LAND[land] * tired
    for values, own in zip((tired, mood, land, sleep), THRESHOLDS, strict=True):
        energy = energy + np.append(0.0, own)[values]
    p = np.exp(energy)
    return rows, p / p.sum()


def drawn(n_examples, seed=0):
    rows, p = truth()
    examples = rows[np.random.default_rng(seed).choice(len(p), n_examples, p=p)]
    return merge_rows(examples, schema=SCHEMA)


def test_a_known_network_is_found():
    network = learn_ising(drawn(60_000))
    edges = {(u, v): network.weight[u, v] for u, v in network.edges().tolist()}
    assert set(edges) == {(0, 1), (1, 3), (0, 2)}
    assert edges[1, 3] == pytest.approx(MOOD_SLEEP, abs=0.04)
    assert edges[0, 1] == pytest.approx(TIRED_MOOD, abs=0.04)
    # The norm of LAND, by that of the centred scores 0 to 3.
    scores = np.arange(4) - 1.5
    expected = np.linalg.norm(LAND) / np.linalg.norm(scores)
    assert edges[0, 2] == pytest.approx(expected, abs=0.04)
    assert network.signed[1, 3]
    assert not network.signed[0, 2]
    assert_allclose(network.threshold, np.concatenate(THRESHOLDS), atol=0.12)
    model = network.markov_network()
    assert_allclose(oracles.joint(model), truth()[1], atol=0.004)


def objective(scores, data, v, weights, intercept):
    """The loss of a regression by its definition, and its derivatives."""
    table, inputs = scores.table(v), scores.inputs(data).astype(float)
    logits = inputs @ weights.T @ table.T + intercept
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=1)[:, None])
    held = data.schema.values(data.rows)[:, [v]] == np.arange(len(table))
    residual = data.weight[:, None] * (p - held)
    return -data.weight @ np.log(p[held]), table.T @ residual.T @ inputs, residual.sum(axis=0)


@pytest.mark.parametrize("v", range(4))
def test_regressions_are_at_the_optimum_of_another_optimiser(v):
    data = items_of(drawn(150, seed=3))
    items = Items(data)
    scores, path = items.scores, items.path(v, 1e-8)
    n_own, k = scores.table(v).shape[1], int(SCHEMA.arity[v])
    examples = scores.inputs(data)[data.row_of]
    for place in (1, 15):
        held = np.where(scores.item_of == v, 1e9, path.penalties[place] * examples.std(axis=0))
        beta, intercept = np.atleast_2d(path.beta[place]), path.intercept[place]
        intercept = intercept if k > 2 else np.array([0.0, intercept])
        loss = objective(scores, data, v, beta, intercept)[0]
        assert_allclose(loss, path.loss[place], rtol=1e-9)

        def split(x, held=held):
            """Weights are differences of two numbers of at least 0, so the penalty is smooth."""
            parts = x[:-k].reshape(2, n_own, -1)
            loss, pull, rest = objective(scores, data, v, parts[0] - parts[1], x[-k:])
            slope = np.stack([pull + held, held - pull])
            return loss + (held * parts).sum(), np.append(slope, rest)

        n = 2 * beta.size
        bounds = [(0, None)] * n + [(None, None)] * k
        how = {"maxiter": 10**4, "maxfun": 10**4, "ftol": 1e-14, "gtol": 1e-7}
        best = minimize(split, np.zeros(n + k), jac=True, bounds=bounds, options=how)
        reached = loss + (held * np.abs(beta)).sum()
        assert_allclose(reached, best.fun, rtol=1e-7)


@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_the_penalty_has_the_least_ebic(gamma):
    """Of the weights of a pair no more count than are free: (k - 1)(l - 1) of unordered items."""
    data = items_of(drawn(400, seed=1))
    network = learn_ising(data, gamma)
    free = np.array([1, 1, 3, 1])
    ends = np.cumsum([1, 1, 4, 1])
    for v in range(4):
        path, values = Items(data).path(v, 1e-8), []
        n_possible = sum(free[v] * free[u] for u in range(4) if u != v)
        for beta, loss in zip(path.beta, path.loss, strict=True):
            blocks = np.split(np.atleast_2d(beta), ends[:-1], axis=1)
            sizes = [np.count_nonzero(block) for block in blocks]
            k = sum(min(n, free[v] * free[u]) for u, n in enumerate(sizes))
            values.append(2 * loss + k * (np.log(400) + 2 * gamma * np.log(n_possible)))
        best = int(np.argmin(values))
        assert_allclose(network.ebic[v], values[best])
        assert_allclose(network.penalty[v], path.penalties[best])
    assert len(path.penalties) <= N_PENALTIES


def test_the_model_has_the_conditional_distributions_of_its_regressions():
    """Where both regressions of each pair agree."""
    network = learn_ising(drawn(300, seed=2), 0.0, "or")
    both = (network.regression + network.regression.T) / 2
    network = replace(network, regression=both, weight=network.scores.sizes(both))
    model, rows = network.markov_network(), every_row(SCHEMA)
    data = merge_rows(rows, schema=network.schema)
    for v, (_, logits) in enumerate(network.conditionals(data)):
        for row, own in zip(data.rows, logits, strict=True):
            expected = oracles.log_conditional(model, row, v)
            assert_allclose(oracles.log_softmax(own), expected, atol=1e-9)


def test_weights_do_not_depend_on_the_order_of_unordered_states():
    data = drawn(500, seed=4)
    turned = [3, 1, 0, 2]
    land = Variable("land", tuple(SCHEMA[2].states[k] for k in turned))
    schema = Schema((SCHEMA[0], SCHEMA[1], land, SCHEMA[3]))
    values = SCHEMA.values(data.rows[data.row_of])
    values[:, 2] = np.argsort(turned)[values[:, 2]]
    one = learn_ising(data, 0.0)
    other = learn_ising(merge_rows(schema.rows(values), schema=schema), 0.0)
    assert_allclose(one.weight, other.weight, atol=1e-4)
    assert one.weight[0, 2] > 0


def test_which_items_are_ordered():
    schema = Schema(
        (Variable("q", (1, 2, 3)), Variable("b", (True, False)), Variable("w", ("x", "y", "z")))
    )
    data = merge_rows(every_row(schema), schema=schema)
    for ordered, expected in (
        (None, [True, True, False]),
        (True, [True, True, True]),
        (False, [False, True, False]),
        (["w"], [False, True, True]),
        ([], [False, True, False]),
    ):
        assert Scores(items_of(data, ordered).schema).scored.tolist() == expected
    with pytest.raises(InputError, match=r"^ordered: 'v' is no variable; there are q, b, w\.$"):
        items_of(data, ["v"])
    with pytest.raises(InputError, match=r"^ordered: expected a list of names, got 'w'\.$"):
        items_of(data, "w")


def test_a_state_that_never_occurs_is_improbable_and_an_item_of_one_value_is_left_out():
    schema = Schema((Variable("q", (1, 2, 3, 4)), Variable("r", (1, 2, 3)), *SCHEMA[2:3]))
    rng = np.random.default_rng(0)
    values = rng.integers(0, 3, (300, 3))
    values[:, 1] = np.where(rng.random(300) < 0.7, values[:, 0], values[:, 1])
    for ordered in (True, False):
        data = items_of(merge_rows(schema.rows(values), schema=schema), ordered)
        network = learn_ising(data, ordered=ordered)
        assert network.weight[0, 1] > 0.2
        assert not network.dropped.any()
        model = network.markov_network()
        p = oracles.joint(model)
        assert p[schema.values(every_row(schema))[:, 0] == 3].sum() < 0.02
        # Of an ordered item the other states say enough about its weights.
        rare = [line for line in cautions(data, network) if "fewer than 10 times in q" in line]
        assert len(rare) == (not ordered)
    constant = values.copy()
    constant[1:, 0] = 1
    data = items_of(merge_rows(schema.rows(constant), schema=schema))
    network = estimate(data, 0.25, "and")
    assert network.dropped.tolist() == [True, False, False]
    assert_array_equal(network.weight[0], 0.0)
    assert np.isfinite(network.threshold).all()


def test_predictability_by_its_definition():
    data = items_of(drawn(400, seed=5))
    network = learn_ising(data)
    frame = predictability_frame(network, data)
    values = data.schema.values(data.rows)
    scores = network.scores
    sums = scores.inputs(data) @ network.regression.T
    for v, (first, last) in enumerate(itertools.pairwise(scores.first_threshold)):
        logits = sums[:, scores.own(v)] @ scores.table(v).T
        logits = logits + np.append(0.0, network.threshold[first:last])
        p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        share = data.counts(v) / 400
        right = data.weight @ (p.argmax(axis=1) == values[:, v]) / 400
        assert_allclose(frame["normalised_accuracy"][v], (right - share.max()) / (1 - share.max()))
        null = -share @ np.log(share)
        loss = -data.weight @ np.log(p[np.arange(len(p)), values[:, v]]) / 400
        expected = (1 - np.exp(2 * (loss - null))) / (1 - np.exp(-2 * null))
        assert_allclose(frame["nagelkerke_r2"][v], expected)


@pytest.mark.nightly
def test_resamples_are_estimated_like_the_data():
    data = items_of(drawn(250, seed=6))
    stability = bootstrap(data, 3)
    resample = data.resample(np.random.default_rng(0))
    assert estimate(resample, 0.25, "and").weight.shape == (4, 4)
    assert stability.share[1, 3] == stability.share[0, 1] == 1.0
    cases = drop_cases(data, 1)
    assert cases.correlation["edges"][0, 0] > 0.9


@pytest.mark.nightly
def test_tables_of_equal_size_that_differ_are_told_apart():
    """Groups in which the same states go together with others."""
    schema = Schema((Variable("a", tuple("xyz")), Variable("b", tuple("xyz"))))
    rng = np.random.default_rng(1)
    first = rng.integers(0, 3, (500, 2))
    first[:, 1] = np.where(rng.random(500) < 0.6, first[:, 0], first[:, 1])
    second = np.column_stack([first[:, 0], (first[:, 1] + 1) % 3])
    groups = {
        name: merge_rows(schema.rows(values), schema=schema)
        for name, values in (("one", first), ("two", second))
    }
    found = compare(groups, 19)
    edge, tests = found.edges.iloc[0], found.tests.set_index("test")
    assert edge["weight: one"] == pytest.approx(edge["weight: two"], rel=1e-3)
    assert edge["difference"] > edge["weight: one"]
    assert tests.loc["largest edge difference", "p"] == 0.05
    assert tests.loc["global strength", "p"] > 0.3
