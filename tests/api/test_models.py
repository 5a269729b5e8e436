"""Questions to models of every kind, compared with enumeration."""

import pickle
from dataclasses import fields, replace
from functools import cache

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from made_networks import drawn_network
from mnlearn.api.settings import SETTINGS
from mnlearn.inference.settings import ANNEALED, METHODS
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import features_of
from mnlearn.models.io.native import KINDS as CORE
from mnlearn.models.questions import Questions
from mnlearn.scoring.metrics import METRICS

NAMES = ("sleep", "mood", "work", "sport", "music")
RNG = np.random.default_rng(7)
ROWS = (RNG.random((200, 5)) < [0.3, 0.5, 0.6, 0.4, 0.7]).astype(int)
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(200) < 0.2)
FRAME = pd.DataFrame(ROWS, columns=NAMES)
# A learner of each kind of model.
KINDS = {
    "MarkovNetwork": mn.DTSL,
    "DependencyNetwork": mn.DNTree,
    "ArithmeticCircuit": mn.ChowLiu,
    "FeatureTree": mn.LEM,
    "JunctionTreeModel": mn.JunctionTree,
}


@cache
def learned(kind):
    if kind == "BayesianNetwork":
        return mn.ChowLiu().fit(FRAME).model_.to_bayesian_network()
    return KINDS[kind]().fit(FRAME).model_


def test_every_kind_of_model_answers_all_questions():
    """Questions have other names than what the package itself reads."""
    asked = {name for name in vars(Questions) if not name.startswith("_")}
    for kind in CORE:
        assert issubclass(kind, Questions)
        assert not asked & {*vars(kind), *(f.name for f in fields(kind))}


@pytest.mark.parametrize("kind", [*KINDS, "BayesianNetwork"])
def test_every_kind_answers(kind, tmp_path):
    model = learned(kind)
    assert type(model) is getattr(mn, kind)
    found = model.query({"sleep": 1, "work": 0})
    assert found.index.tolist() == [(v, x) for v in ("mood", "sport", "music") for x in (0, 1)]
    np.testing.assert_allclose(found.groupby("variable").sum(), 1.0)
    assert found.attrs["is_exact"]
    drawn = model.sample(3000, random_state=1)
    assert drawn.columns.tolist() == list(NAMES)
    assert drawn.equals(model.sample(3000, random_state=1, n_jobs=2))
    np.testing.assert_allclose(drawn.mean(), model.query()[:, 1], atol=0.05)
    assert model.score(FRAME) == pytest.approx(model.score_samples(ROWS).mean())
    assert np.isfinite(model.score(FRAME, "cmll", samples=20))
    assert len(repr(model)) < 90
    graph = model.to_networkx()
    assert list(graph) == list(NAMES)
    assert graph.number_of_edges() == len(model.edges_frame())
    path = tmp_path / "model.npz"
    for written in (model, pickle.loads(pickle.dumps(model))):
        mn.save(written, path)
        loaded = mn.load(path)
        assert type(loaded) is type(model)
        np.testing.assert_array_equal(loaded.score_samples(FRAME), model.score_samples(FRAME))


def test_variables_and_evidence_may_be_written_in_many_ways():
    network = drawn_network(6, 12, 3, seed=3)
    found = network.query({2: 1, "V4": False})
    for asked in ([3], 3, np.int64(3), "V3", np.array([3])):
        assert network.query({2: 1, 4: 0}, variables=asked).equals(found[["V3"]])
    rows = np.full((2, 6), np.nan)
    rows[0, [2, 4]] = 1, 0
    answered = network.query(rows)
    np.testing.assert_allclose(answered[0, [0, 1, 3, 5]], found[:, 1])
    assert answered[0, [2, 4]].tolist() == [1, 0]
    np.testing.assert_allclose(answered[1], network.query()[:, 1])
    sampled = network.query({2: 1, 4: 0}, inference="gibbs", samples=20_000, random_state=1)
    np.testing.assert_allclose(sampled, found, atol=0.02)
    assert sampled.attrs["inference"] == "gibbs"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.query({"sleep": 1}, variables="sleep"),
         "variables: the value of 'sleep' is in the evidence"),
        (lambda m: m.query(sleep=1), r"a mapping, as in query\({'sleep': ...}\)"),
        (lambda m: mn.score(3, FRAME), "model: expected a model of mnlearn, got int"),
        (lambda m: m.score("test.csv"), "X: expected data, got a path"),
        (lambda m: m.query({"sleep": 1}, inference="guess"), "inference: expected one of auto"),
        (lambda m: m.query({"sleep": 1}, inference="gibbs", sweeps=3),
         "inference: expected settings among burn_in"),
        (lambda m: m.query({"sleep": 1}, inference="gibbs", samples="10"),
         "samples: expected a whole number, got '10'"),
        (lambda m: m.query({"sleep": 1}, inference="bp", tolerance="1"),
         "tolerance: expected a number, got '1'"),
        (lambda m: m.query({"sleep": 1}, variables=1.5), r"variables: expected a name .* got 1\.5"),
        (lambda m: m.score(FRAME.drop(columns="mood")), "X: there is no column 'mood'"),
        (lambda m: m.score(ROWS[:, :3]), "X: expected 5 variables"),
        (lambda m: m.sample(0), "n_samples: expected a whole number from 1"),
        (lambda m: replace(learned("ArithmeticCircuit"), features=None, target=None).to_networkx(),
         "no features, so no graph"),
        *((lambda m, given=given: learned("ArithmeticCircuit").query(given), f"evidence: {message}")
          for given, message in (
              (np.zeros(5), "expected a mapping of variables to states"),
              (["sleep"], "expected a mapping of variables to states"),
              (pd.DataFrame({"mod": [1]}), "there is no variable 'mod'"),
          )),
    ],
)  # fmt: skip
def test_wrong_questions_are_named(ask, message):
    with pytest.raises(mn.InputError, match=message):
        ask(learned("MarkovNetwork"))


def test_columns_are_matched_by_name():
    model = learned("MarkovNetwork")
    assert model.score(FRAME[list(NAMES[::-1])]) == model.score(FRAME)
    assert model.score(FRAME.assign(age=31)) == model.score(FRAME)
    other_order = FRAME[list(NAMES[::-1])]
    row = other_order[:1].astype(float).assign(mood=np.nan)
    expected = model.query(row[list(NAMES)])
    pd.testing.assert_frame_equal(model.query(row), expected)
    pd.testing.assert_frame_equal(model.query(row.drop(columns="mood")), expected)
    with pytest.raises(mn.InputError, match="evidence: there is no variable 'age'"):
        model.query(row.assign(age=31))
    assert model.score(other_order.to_numpy()) != model.score(FRAME)
    with pytest.raises(ValueError, match="same order"):
        mn.Atomic().fit(FRAME).score(other_order)


def test_tables_of_edges_and_features():
    network = drawn_network(5, 10, 3, seed=1)
    edges = network.edges_frame()
    listed = edges[["source", "target", "weight"]].to_numpy()
    assert {(int(u[1:]), int(v[1:])): w for u, v, w in listed} == network.edges()
    assert edges["weight"].abs().is_monotonic_decreasing
    graph = network.to_networkx()
    assert isinstance(graph, nx.Graph)
    members = [{w for w, _ in network.features.literals(f)} for f in range(len(network.features))]
    for (u, v), weight in network.edges().items():
        assert graph[u][v]["weight"] == weight
        row = edges[(edges["source"] == f"V{u}") & (edges["target"] == f"V{v}")]
        assert row["n_features"].item() == sum({u, v} <= own for own in members)
    features = network.features_frame()
    literals = network.features.literals(int(np.abs(network.weight).argmax()))
    assert features["feature"][0] == " & ".join(f"V{v}={x}" for v, x in literals)
    directed = learned("BayesianNetwork").to_networkx()
    assert nx.is_directed_acyclic_graph(directed)


def test_weights_of_one_example_have_no_standard_error():
    model, weight = learned("ArithmeticCircuit"), np.full(len(FRAME), 1 / len(FRAME))
    whole = mn.score(model, FRAME, "ll")
    for found in (
        mn.score(model, FRAME, "ll", sample_weight=weight),
        mn.score(model, FRAME, "ll", sample_weight=weight / 2),
    ):
        assert found.mean == pytest.approx(whole.mean)
        assert np.isnan(found.stderr)
    assert np.isnan(mn.score(model, FRAME[:1], "pll").stderr)
    assert mn.score(model, FRAME[:2], "pll").stderr >= 0


@pytest.mark.parametrize(
    ("metric", "given", "message"),
    [
        ("auc", {}, "metric: expected one of"),
        ("pll", {"burnin": 5}, "burnin: is not read by the metric pll, which reads no settings"),
        ("pll", {"smaples": 3}, "smaples: is not read"),
        ("pll", {"inference": "ais"}, "inference: is not read by the metric pll"),
        ("pll", {"folds": 2}, "folds: is not read by the metric pll"),
        ("pll", {"groups": [["sleep"]]}, "groups: is not read by the metric pll"),
        (
            "cll",
            {"samples": 3},
            "samples: is not read by the metric cll, which reads folds, groups",
        ),
        ("cll", {"inference": "gibbs"}, "inference: is not read by the metric cll"),
        ("cll", {"folds": 2, "groups": [["sleep"]]}, "folds: expected none with groups"),
        ("cmll", {"smaples": 3}, "smaples: is not .* cmll with inference auto, .* burn_in, samp"),
        ("cmll", {"chains": 3}, "chains: is not read"),
        ("cmll", {"inference": "exact", "samples": 3}, "samples: is not .* with inference exact"),
        ("cmll", {"inference": "meanfield", "damping": 0.1}, "damping: is not read"),
        (
            "cmll",
            {"inference": "ais"},
            "inference: expected one of auto, gibbs, .* metric cmll, got 'ais'",
        ),
        ("cmll", {"inference": "ai"}, "inference: expected one of auto, gibbs, .* got 'ai'"),
        ("cmll", {"samples": "10"}, "samples: expected a whole number, got '10'"),
        ("cmll", {"samples": True}, "samples: expected a whole number, got True"),
        ("ll", {"samples": 3}, "samples: is not read by the metric ll with inference exact"),
        ("ll", {"inference": "gibbs"}, "inference: expected one of exact, bp, meanfield, ais"),
        ("ll", {"inference": "ais", "burn_in": 3}, "burn_in: is not .* reads inference, chains, s"),
        ("ll", {"inference": "ais", "chains": 2.5}, "chains: expected a whole number, got 2.5"),
        ("ll", {"inference": "bp", "damping": "0.1"}, "damping: expected a number, got '0.1'"),
        ("ll", {"inference": "bp", "schedule": 3}, "schedule: expected a text, got 3"),
    ],
)
def test_a_score_refuses_what_its_metric_does_not_read(metric, given, message):
    with pytest.raises(mn.InputError, match=message):
        mn.score(learned("MarkovNetwork"), FRAME, metric, **given)


def test_a_score_takes_what_its_metric_reads():
    assert tuple(SETTINGS) == ("auto", *METHODS, "trw", ANNEALED)
    model = learned("MarkovNetwork")
    values = dict.fromkeys(("burn_in", "samples", "iterations", "chains"), np.int32(20))
    values |= {"tolerance": 1, "damping": np.float32(0.5), "schedule": "parallel"}
    for known in METRICS:
        for method in known.methods or (None,):
            given = {name: values[name] for name in SETTINGS.get(method, ())}
            given |= {"folds": np.int64(2)} if known.by_group else {}
            found = mn.score(model, FRAME, known.name, inference=method, n_jobs=2, **given)
            assert np.isfinite(found.mean)
    by_default = mn.score(model, FRAME, "cmll", samples=None).per_example
    np.testing.assert_array_equal(by_default, mn.score(model, FRAME, "cmll", folds=4).per_example)


def test_columns_may_be_called_by_numbers():
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 300)
    X = pd.DataFrame({20: first, 10: first ^ (rng.random(300) < 0.1), 0: rng.integers(0, 2, 300)})
    learner = mn.ChowLiu().fit(X)
    model, moved = learner.model_, X[[0, 10, 20]]
    assert model.schema.names == ("20", "10", "0")
    assert model.query({20: 1}).tolist() == model.query({"20": 1}).tolist()
    assert list(model.query({0: 1})[:, 1].index) == ["20", "10"]
    assert model.score(moved) == model.score(X)
    with pytest.raises(mn.InputError, match="expected the columns 20, 10, 0 in this order"):
        learner.score(moved)
    # Numbers that only count the columns are names too, but arrays need none.
    counted = mn.ChowLiu().fit(pd.DataFrame(X.to_numpy()))
    assert counted.model_.schema.names == ("0", "1", "2")
    assert list(counted.sample(3, random_state=0).columns) == ["0", "1", "2"]
    assert counted.score(X.to_numpy()) == counted.score(pd.DataFrame(X.to_numpy()))


def test_examples_of_weight_0_keep_their_places():
    model = mn.Atomic().fit([[0, 1], [1, 1], [0, 0]]).model_
    X, weight = [[0, 1], [1, 0], [1, 1]], [1.0, 0.0, 2.0]
    found = mn.score(model, X, "pll", sample_weight=weight)
    whole = mn.score(model, X, "pll").per_example
    np.testing.assert_array_equal(found.per_example, [whole[0], np.nan, whole[2]])
    assert found.mean == pytest.approx((whole[0] + 2.0 * whole[2]) / 3.0)
    assert repr(found).endswith("2 examples>")
    np.testing.assert_array_equal(
        model.score_samples(X, "pll", sample_weight=weight), found.per_example
    )


def test_coefficients_of_logistic_regressions():
    network = mn.DNLR(lambda_=2.0).fit(FRAME).model_
    table, x = network.coefficients_frame(), FRAME.to_numpy(float)
    odds = table["(Intercept)"].to_numpy() + x @ table[list(NAMES)].to_numpy().T
    assert table.index.tolist() == list(NAMES)
    assert (np.diag(table[list(NAMES)]) == 0).all()
    log_p = -np.logaddexp(0, np.where(x == 1, -odds, odds)).sum(axis=1)
    np.testing.assert_allclose(log_p, network.score_samples(FRAME, "pll"), atol=1e-9)
    features = network.features_frame()
    assert features["weight"].abs().is_monotonic_decreasing
    assert set(features["target"]) <= set(NAMES)
    assert len(features) == len(network.features)


def test_coefficients_for_other_literals():
    trees = flat_trees(2)
    features = features_of([[(0, 0)], [(0, 1), (1, 0)], [(0, 0), (1, 1)], [(0, 1), (1, 1)]])
    target = [0, 0, 1, 1]
    network = DependencyNetwork(trees, features, target, [1.0, 2.0, 3.0, 5.0])
    odds = {(0, 0): -1.0 + 2.0, (0, 1): -1.0}
    table = network.coefficients_frame()
    for (_, other), expected in odds.items():
        found = table.loc["V0", "(Intercept)"] + other * table.loc["V0", "V1"]
        assert found == pytest.approx(expected)
    assert table.loc["V1"].tolist() == [3.0, 2.0, 0.0]


def test_trees_have_no_coefficients():
    network = mn.DNTree(kappa=1e-9).fit(FRAME).model_
    with pytest.raises(mn.InputError, match="expected logistic regressions; the network has trees"):
        network.coefficients_frame()
    with pytest.raises(mn.InputError, match="a dependency network of trees has no features"):
        network.features_frame()
