"""`mn.Ising` and `mn.compare_ising`: tables of an estimate, warnings and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import mnlearn as mn
from made_questionnaires import answers

ROWS = answers("rare")
FRAME = pd.DataFrame(ROWS, columns=[f"item{v}" for v in range(ROWS.shape[1])])


def test_tables_of_an_estimate():
    with pytest.warns(UserWarning, match="a value fewer than 2 times: item3, item5"):
        ising = mn.Ising(random_state=0).fit(FRAME)
    weights = ising.weights_frame()
    assert weights.columns.tolist() == FRAME.columns.tolist()
    np.testing.assert_array_equal(weights, ising.weights_)
    centrality = ising.centrality_frame()
    np.testing.assert_allclose(centrality["strength"], np.abs(ising.weights_).sum(axis=0))
    predicted = ising.predictability_frame().set_index("variable")
    # Item 8 nearly repeats item 2, and item 3 never varies.
    assert predicted.loc["item8", "normalised_accuracy"] > 0.9
    assert np.isnan(predicted.loc["item3", "normalised_accuracy"])
    with pytest.raises(NotFittedError, match="call bootstrap"):
        ising.differences_frame()
    ising.bootstrap(3)
    differences = ising.differences_frame("strength")
    assert len(differences) == 45
    cases = ising.drop_cases(1)
    assert set(ising.cs_) == set(cases["measure"])
    with pytest.warns(UserWarning, match="fewer than 2 times"):
        ising.fit(FRAME)
    assert not hasattr(ising, "stability_")
    assert not hasattr(ising, "cs_")


def test_tables_figures_and_the_model_of_ratings_and_words():
    rng = np.random.default_rng(0)
    mood = rng.integers(1, 5, 250)
    sleep = np.where(rng.random(250) < 0.7, mood, rng.integers(1, 5, 250))
    land = np.where(rng.random(250) < 0.8, np.array(list("xyzx"))[mood - 1], "y")
    table = pd.DataFrame({"mood": mood, "sleep": sleep, "land": land})
    ising = mn.Ising().fit(table)
    edges = ising.edges_frame().set_index(["source", "target"])
    assert edges.loc[("mood", "sleep"), "signed"]
    assert not edges.loc[("mood", "land"), "signed"]
    thresholds = ising.variables_frame()
    assert thresholds["state"].tolist() == [2, 3, 4, 2, 3, 4, "y", "z"]
    assert thresholds["threshold"].tolist() == ising.thresholds_.tolist()
    influence = ising.centrality_frame().set_index("variable")["expected_influence"]
    assert influence["land"] == 0
    assert influence["mood"] == edges.loc[("mood", "sleep"), "weight"]
    answer = ising.query({"mood": 4})
    assert answer["sleep", 4] > answer["sleep", 1]
    assert answer["land", "x"] > answer["land", "z"]
    interactions = ising.model_.interactions("mood", "sleep").to_numpy()
    # Neighbouring states have the weight as log odds ratio.
    odds = interactions[1:, 1:] + interactions[:-1, :-1] - interactions[1:, :-1]
    np.testing.assert_allclose(odds - interactions[:-1, 1:], influence["mood"])
    labels = [text.get_text() for text in mn.draw_ising(ising).legends[0].get_texts()]
    assert labels[:3] == ["positive", "negative", "unordered"]
    with pytest.raises(mn.InputError, match=r"^coding: expected 0/1, because mood has more than"):
        ising.weights_frame("-1/1")


def test_groups_are_compared():
    groups = {"first": FRAME[:150], "second": FRAME[150:]}
    with pytest.warns(UserWarning, match="rare in a group: item3, item5"):
        found = mn.compare_ising(groups, 3, random_state=0)
    assert set(found.networks) == set(groups)
    assert found.edges["p"].between(0.25, 1).all()
    with pytest.raises(mn.InputError, match="groups: expected a mapping"):
        mn.compare_ising([FRAME, FRAME])


def test_errors_name_the_arguments():
    ising = mn.Ising().fit(FRAME[["item0", "item1", "item2"]])
    groups = {"first": FRAME[:150], "second": FRAME[150:]}
    faults = {
        "merge: expected one of and, or, got 'xor'": [
            lambda: mn.Ising(merge="xor").fit(FRAME),
            lambda: mn.compare_ising(groups, merge="xor"),
        ],
        "n_resamples: expected a whole number from 1, got 0": [
            lambda: ising.bootstrap(n_resamples=0),
            lambda: ising.drop_cases(n_resamples=0),
        ],
        "n_permutations: expected a whole number from 1, got 0": [
            lambda: mn.compare_ising(groups, n_permutations=0),
        ],
    }
    for message, calls in faults.items():
        for call in calls:
            with pytest.raises(mn.InputError, match=f"^{message}"):
                call()


def test_groups_are_read_and_ordered_like_the_first():
    rng = np.random.default_rng(4)
    first = pd.DataFrame(rng.integers(1, 3, (120, 3)), columns=["a", "b", "c"])
    second = pd.DataFrame(rng.integers(1, 3, (120, 3)), columns=["a", "b", "c"])
    second["c"] = 1
    second.loc[:5, "c"] = 2
    constant = second.assign(b=1)
    one = mn.compare_ising({"x": first, "y": second}, 5, random_state=0)
    two = mn.compare_ising({"x": first, "y": second[["c", "a", "b"]]}, 5, random_state=0)
    pd.testing.assert_frame_equal(one.edges, two.edges)
    with pytest.warns(UserWarning, match="not compared, rare in a group: b"):
        mn.compare_ising({"x": first, "y": constant}, 5, random_state=0)
    with pytest.raises(mn.InputError, match=r"groups\['y'\]: there is no column 'a'"):
        mn.compare_ising({"x": first - 1, "y": (second - 1).rename(columns={"a": "z"})}, 5)


def test_missing_cells_of_groups_are_dropped_or_filled_in_together():
    table = FRAME[["item0", "item2", "item8"]].astype(float)
    holes = table.mask(np.random.default_rng(0).random(table.shape) < 0.1)
    groups = {"first": holes[:150], "second": holes[150:]}
    with pytest.raises(mn.InputError, match=r"groups\['first'\], row \d+, .*is missing"):
        mn.compare_ising(groups, 3)
    with pytest.raises(mn.InputError, match="missing: expected drop, impute or None, got 'em'"):
        mn.compare_ising(groups, 3, missing="em")
    other = groups["second"].rename(columns={"item0": "z"})
    with pytest.raises(mn.InputError, match=r"groups\['second'\]: there is no column 'item0'"):
        mn.compare_ising({**groups, "second": other}, 3, missing="impute")
    found = mn.compare_ising(groups, 3, missing="drop", random_state=0)
    whole = mn.compare_ising({k: x.dropna() for k, x in groups.items()}, 3, random_state=0)
    pd.testing.assert_frame_equal(found.edges, whole.edges)
    assert found.edges["difference"].any()
    found = mn.compare_ising(groups, 3, missing="impute", random_state=0)
    filled = mn.impute(holes, random_state=0)
    parts = {"first": filled[:150], "second": filled[150:]}
    whole = mn.compare_ising(parts, 3, random_state=0)
    pd.testing.assert_frame_equal(found.edges, whole.edges)


def test_the_penalty_is_lambda_times_the_number_of_examples():
    """At the optimum the mean gradient for an edge, on a scaled input, is glmnet's lambda."""
    table = FRAME[["item0", "item2", "item8"]]
    ising, x = mn.Ising().fit(table), table.to_numpy(float)
    network = ising.network_
    found = ising.variables_frame()["penalty"] / len(x)
    for v, u in zip(*np.nonzero(network.regression), strict=True):
        odds = x @ network.regression[v] + network.threshold[v]
        gradient = np.mean(x[:, u] * (x[:, v] - 1 / (1 + np.exp(-odds)))) / x[:, u].std()
        assert abs(gradient) == pytest.approx(found[v], rel=1e-3)
    assert network.regression.any()
