"""Random generalisation: what is drawn, how often, and what is kept."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import stats

from made_random import random_data
from mnlearn.data.dataset import merge_rows
from mnlearn.kernels.search.generation import generalise, literal_keys
from mnlearn.learning.features.generation import generate_features
from mnlearn.learning.learner import Start, Task
from mnlearn.learning.tuning import tune
from mnlearn.methods.gssl import GSSL
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.metrics import mean_score


def literals(run, f):
    part = run.literal[run.start[f] : run.start[f + 1]]
    return frozenset((int(code) >> 1, int(code) & 1) for code in part)


def conjunctions(run):
    return [literals(run, f) for f in range(len(run.digest))]


@pytest.mark.parametrize("initial", ["full", "positive"])
def test_every_feature_generalises_an_example(initial):
    data = random_data(1, n_examples=30, n_vars=9)
    run = generate_features(data, 2000, initial)
    found = conjunctions(run)
    examples = [
        frozenset((v, x) for v, x in enumerate(row) if initial == "full" or x)
        for row in data.rows.tolist()
    ]
    assert found[: run.n_initial] == examples
    assert all(len(f) == n for f, n in zip(found, np.diff(run.start), strict=True))
    for f in found[run.n_initial :]:
        assert len(f) >= 2
        assert any(f < example for example in examples)


def test_duplicates_weigh():
    """From one example of four literals, the third draw is from what the first two have left."""
    data = merge_rows(np.array([[1, 0, 1, 1]]))
    n_runs = 4000
    lengths = [np.diff(generate_features(data, 2, seed=s).start)[1:] for s in range(n_runs)]
    # After a feature of 3 literals there are two parents: the example, and it (always to 2).
    threes = [pair for pair in lengths if pair[0] == 3]
    long = sum(pair[1] == 3 for pair in threes)
    assert stats.binomtest(long, len(threes), 0.25).pvalue > 1e-3
    # After one of 2 the only parent is the example.
    twos = [pair for pair in lengths if pair[0] == 2]
    long = sum(pair[1] == 3 for pair in twos)
    assert stats.binomtest(long, len(twos), 0.5).pvalue > 1e-3


@pytest.mark.parametrize("initial", ["full", "positive"])
def test_kept_are_those_generated_more_often_than_the_threshold(initial):
    data = random_data(2, n_examples=20, n_vars=7)
    run = generate_features(data, 3000, initial)
    for n_generated, threshold in [(3000, 1), (3000, 5), (500, 0), (500, 2)]:
        generated = conjunctions(run)[run.n_initial : run.n_initial + n_generated]
        counts = Counter(generated)
        expected = {f for f, n in counts.items() if n > threshold}
        expected |= {frozenset([(v, 1)]) for v in range(data.n_vars)}
        features = run.features(n_generated, threshold)
        found = [frozenset(features.literals(f)) for f in range(len(features))]
        assert set(found) == expected
        assert len(found) == len(expected)
        position, count = run.distinct(n_generated)
        assert len(position) == len(counts)
        assert [counts[literals(run, p)] for p in position] == count.tolist()


def test_a_short_run_is_the_beginning_of_a_long_one():
    data = random_data(3, n_examples=40, n_vars=12)
    short, long = (generate_features(data, n, seed=7) for n in (200, 5000))
    assert_array_equal(short.digest, long.digest[: len(short.digest)])
    assert_array_equal(short.literal, long.literal[: len(short.literal)])
    other = generate_features(data, 200, seed=8)
    assert not np.array_equal(short.start, other.start)


def test_each_number_and_set_of_literals_is_kept_equally_often():
    """Of the children of one feature, over many seeds, by their share within 5 standard errors."""
    length, n = 12, 4000
    given, keys = np.arange(length).astype(np.uint16), literal_keys(length, np.uint64(1))
    kept = np.zeros((n, length), bool)
    for seed in range(n):
        literal = np.concatenate([given, np.zeros(length, np.uint16)])
        start, digest = np.array([0, length, 0]), np.empty(2, np.uint64)
        literal = generalise(start, literal, 1, keys, np.uint64(7 * seed), digest)
        own = literal[length : start[2]]
        kept[seed, own] = True
        assert len(own) == kept[seed].sum()
        assert digest[1] == keys[own].sum(dtype=np.uint64)
    # From 2 to all but one are kept.
    counts = np.bincount(kept.sum(axis=1), minlength=length + 1)
    assert_array_equal(counts[[0, 1, length]], 0)
    p = 1 / (length - 2)
    assert np.abs(counts[2:length] / n - p).max() < 5 * np.sqrt(p * (1 - p) / n)
    share = kept.mean(axis=0)
    assert np.abs(share - share.mean()).max() < 5 * np.sqrt(0.25 / n)
    # Pairs of literals, too.
    together = (kept.T.astype(float) @ kept / n)[np.triu_indices(length, 1)]
    assert np.abs(together - together.mean()).max() < 5 * np.sqrt(0.25 / n)


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        (np.eye(4), {"initial": "some"}, "expected one of full, positive, got 'some'"),
        (np.eye(4), {"n_generated": 0}, "at least one feature, got 0"),
    ],
)
def test_refuses_what_cannot_be_generated(rows, arguments, message):
    with pytest.raises(InputError, match=message):
        generate_features(merge_rows(rows.astype(int)), **{"n_generated": 10, **arguments})


@pytest.mark.parametrize(("n", "initial"), [(4, "positive"), (2, "full")])
def test_nothing_is_generated_from_examples_of_two_literals(n, initial):
    run = generate_features(merge_rows(np.eye(n, dtype=int)), 10, initial)
    assert len(run.distinct(10)[0]) == 0
    assert len(run.features(10, 0)) == n


def test_gssl_learns_weights_of_nested_feature_sets():
    data = random_data(4, n_examples=200, n_vars=6)
    grid = GSSL.grid({"n_generated": [100, 1000], "threshold": [1, 5], "l1": [0.5]})
    tuned = tune(GSSL, data, grid, lambda model: float(len(model.features)))
    workspace = GSSL.prepare(Task(data, grid))
    for variant, candidate in tuned.variants.items():
        initial, n_generated, threshold = variant.split("-")
        run = generate_features(data, 1000, initial)
        features = run.features(int(n_generated), int(threshold))
        model = candidate.fitted.model
        assert_array_equal(model.features.var, features.var)
        assert candidate.fitted.details["n_candidates"] == len(features)
        assert candidate.fitted.details["gap"] >= 0
        n_unique = len(run.distinct(int(n_generated))[0])
        assert candidate.fitted.details["n_unique"] == n_unique
    assert workspace.generated(GSSL(initial="positive")).nested.run.n_initial == data.n_rows
    assert tuned.best.parameters["n_generated"] == 1000


def test_gssl_does_not_depend_on_the_order_of_the_values():
    data = random_data(5, n_examples=300, n_vars=7)
    values = {
        "initial": ["full", "positive"],
        "n_generated": [100, 500],
        "threshold": [1, 2],
        "l1": [0.5, 2],
        "sd": [0.1, 1],
        "max_iterations": [5],
    }
    names = GSSL.stages[-1].parameters

    def objectives(values):
        tuned = tune(GSSL, data, GSSL.grid(values), mean_score(GSSL.criterion, data))
        return {tuple(row[n] for n in names): row["objective"] for row in tuned.trace}

    forward = objectives(values)
    assert len(forward) == 32
    assert objectives({name: list(reversed(each)) for name, each in values.items()}) == forward


def test_gssl_starts_where_fewer_features_ended():
    """The weights of features that the start does not have are 0; those it has are its own."""
    data = random_data(6, n_examples=300, n_vars=7)
    grid = GSSL.grid({"n_generated": 500, "threshold": [1, 3], "sd": 0.5, "l1": 1})
    workspace = GSSL.prepare(Task(data, grid))
    few, many = (GSSL(n_generated=500, threshold=t, sd=0.5, l1=1.0) for t in (3, 1))
    before = few.learn(workspace, Start())
    weight = workspace.initial_weights(many, Start(learner=few, fitted=before))
    features = workspace.selected(many)[0].features
    known = dict(zip(conjunctions_of(before.model.features), before.model.weight, strict=True))
    assert len(known) < len(features)
    for key, w in zip(conjunctions_of(features), weight, strict=True):
        assert w == known.get(key, 0.0)


def conjunctions_of(features):
    return [frozenset(features.literals(k)) for k in range(len(features))]
