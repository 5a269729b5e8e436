"""Answers of models of variables of 2, 3, 4 and 1 states, compared with sums over all states."""

import itertools

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn

STATES = {
    "sex": ("f", "m"),
    "mood": ("low", "fair", "high"),
    "land": ("here",),
    "dose": (1, 2, 5, 10),
}
FEATURES = [
    ({"sex": "f", "mood": "low"}, 1.2),
    ({"mood": ["low", "fair"], "dose": 5}, -0.7),
    ({"sex": "m"}, 0.4),
    ({"dose": [1, 10], "mood": "high", "sex": "f"}, 0.9),
    ({"dose": 2, "land": "here"}, -0.3),
    ({"dose": [2, 5, 10]}, 0.6),
    ({"dose": 10}, 0.11),
    ({"mood": "fair"}, 0.15),
]
NAMES = list(STATES)
ALL = pd.DataFrame(list(itertools.product(*STATES.values())), columns=NAMES)


def holds(row, feature):
    return all(row[v] in (own if isinstance(own, list) else [own]) for v, own in feature.items())


POTENTIAL = np.array(
    [sum(w for f, w in FEATURES if holds(row, f)) for _, row in ALL.iterrows()], float
)
P = np.exp(POTENTIAL) / np.exp(POTENTIAL).sum()
NETWORK = mn.MarkovNetwork.from_features(*zip(*FEATURES, strict=True), STATES)
MODELS = {"network": NETWORK, "circuit": NETWORK.to_circuit()}
EVIDENCE = [{}, {"sex": "f"}, {"mood": "fair", "dose": 10}, {"land": "here", "sex": "m"}]


def agrees(evidence):
    return np.all([ALL[v] == x for v, x in evidence.items()], axis=0) | np.zeros(len(ALL), bool)


def expected(evidence, name, state):
    known = agrees(evidence)
    return P[known & (ALL[name] == state)].sum() / P[known].sum()


def check(found, evidence, **tolerance):
    asked = [(v, x) for v in NAMES if v not in evidence for x in STATES[v]]
    assert found.index.tolist() == asked
    assert found.index.names == ["variable", "state"]
    np.testing.assert_allclose(found, [expected(evidence, *each) for each in asked], **tolerance)
    np.testing.assert_allclose(found.groupby("variable").sum(), 1.0)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("evidence", EVIDENCE)
def test_a_query_is_a_sum_over_states(kind, evidence):
    model = MODELS[kind]
    found = model.query(evidence)
    assert found.attrs["is_exact"]
    check(found, evidence, rtol=1e-9)
    for name in set(NAMES) - set(evidence):
        assert model.query(evidence, name).to_dict() == found[[name]].to_dict()


@pytest.mark.parametrize("kind", MODELS)
def test_rows_with_missing_cells(kind):
    model = MODELS[kind]
    rows = pd.DataFrame({"dose": ["5", None, 1.0], "sex": ["m", "f", None]}, index=list("abc"))
    found = model.query(rows)
    assert found.index.tolist() == list("abc")
    assert found.columns.tolist() == [(v, x) for v in NAMES for x in STATES[v]]
    for row, evidence in (("a", {"dose": 5, "sex": "m"}), ("b", {"sex": "f"}), ("c", {"dose": 1})):
        own = [expected(evidence, v, x) for v, x in found.columns]
        np.testing.assert_allclose(found.loc[row], own, rtol=1e-9, atol=1e-12)
    array = [[None, None, None, 5], ["f", "low", "here", 10]]
    by_array = model.query(array)
    assert by_array["dose", 5].tolist() == [1, 0]
    assert by_array.loc[1, [("sex", "f"), ("land", "here")]].tolist() == [1, 1]
    np.testing.assert_allclose(by_array.loc[0, "mood"], model.query({"dose": 5})["mood"])


def test_joint_tables_keep_the_order_of_states():
    table = NETWORK.joint(["dose", "mood", "land"], {"sex": "f"})
    assert table.index.names == ["dose", "mood", "land"]
    event = {"dose": 5, "mood": "low", "land": "here", "sex": "f"}
    expected = P[agrees(event)].sum() / P[agrees({"sex": "f"})].sum()
    assert table[5, "low", "here"] == pytest.approx(expected)
    wide = NETWORK.joint(["mood", "dose"]).unstack()  # noqa: PD010
    assert wide.index.tolist() == list(STATES["mood"])
    assert wide.columns.tolist() == list(STATES["dose"])


def test_missing_cells_are_summed_out():
    rows = pd.DataFrame(
        {"sex": ["f", None], "mood": [None, "fair"], "land": None, "dose": [5, None]}
    )
    known = [{"sex": "f", "dose": 5}, {"mood": "fair"}]
    for model in MODELS.values():
        found = mn.score(model, rows, "ll").per_example
        np.testing.assert_allclose(np.exp(found), [P[agrees(each)].sum() for each in known])


@pytest.mark.parametrize("kind", MODELS)
def test_the_most_probable_states(kind):
    model = MODELS[kind]
    for evidence in EVIDENCE:
        best = ALL.loc[np.where(agrees(evidence), P, -1).argmax()].to_dict()
        found = model.most_probable(evidence)
        assert found.to_dict() == {v: x for v, x in best.items() if v not in evidence}
        assert found.attrs["is_exact"]
    rows = pd.DataFrame({"sex": ["m", None]}, index=[7, 8])
    table = model.most_probable(rows)
    assert table.index.tolist() == [7, 8]
    assert table.loc[8].to_dict() == ALL.loc[P.argmax()].to_dict()
    assert model.query(table).to_numpy().max(axis=1).tolist() == [1, 1]


def test_what_is_written_by_hand_is_what_it_says():
    np.testing.assert_allclose(NETWORK.log_potential(ALL), POTENTIAL)
    assert NETWORK.log_partition() == pytest.approx(np.log(np.exp(POTENTIAL).sum()))
    features = NETWORK.features_frame()
    shown = dict(zip(features["feature"], features["weight"], strict=True))
    assert shown["sex=f & mood=low"] == 1.2
    assert shown["mood!=high & dose=5"] == -0.7
    assert shown["sex=f & mood=high & dose!=2 & dose!=5"] == 0.9
    assert features.set_index("feature")["length"]["sex=f & mood=high & dose!=2 & dose!=5"] == 3


def test_interactions_are_in_the_zero_sum_gauge():
    """While the third variable is in its first state: sex is f, mood low, dose 1."""
    log_p = pd.Series(POTENTIAL, pd.MultiIndex.from_frame(ALL))
    first = {v: own[0] for v, own in STATES.items()}
    edges = NETWORK.edges_frame().set_index(["source", "target"])["weight"]
    assert set(edges.index) == {("sex", "mood"), ("mood", "dose"), ("sex", "dose")}
    for (u, v), weight in edges.items():
        table = np.array(
            [
                [log_p[tuple((first | {u: a, v: b})[name] for name in NAMES)] for b in STATES[v]]
                for a in STATES[u]
            ]
        )
        centred = table - table.mean(0) - table.mean(1)[:, None] + table.mean()
        found = NETWORK.interactions(u, v)
        np.testing.assert_allclose(found, centred, atol=1e-12)
        np.testing.assert_allclose(NETWORK.interactions(v, u), centred.T, atol=1e-12)
        assert found.index.tolist() == list(STATES[u])
        assert found.columns.tolist() == list(STATES[v])
        assert weight == pytest.approx(2 * np.linalg.norm(centred))
    assert not NETWORK.interactions("land", "dose").to_numpy().any()
    graph = NETWORK.to_networkx()
    assert list(graph) == NAMES
    assert graph["sex"]["mood"]["weight"] == edges["sex", "mood"]


def test_the_weight_of_two_states_is_the_log_odds_ratio_beside_variables_of_more():
    features = [({"a": "x", "b": "q"}, 0.7), ({"a": "y", "b": "q"}, -0.2), ({"c": 3, "a": "x"}, 1)]
    states = {"a": "xy", "b": "pq", "c": [1, 2, 3]}
    network = mn.MarkovNetwork.from_features(*zip(*features, strict=True), states)
    weight = network.edges_frame().set_index(["source", "target"])["weight"]
    assert weight["a", "b"] == pytest.approx(-0.9)


def test_names_are_no_part_of_what_is_asked():
    """An array of 0, 1 and NaN gives an array of probabilities, if the variables have no names."""
    nameless = mn.MarkovNetwork.from_features([{0: 1, 1: 1}], [1.0], 2)
    found = nameless.query([[1, np.nan]])
    assert isinstance(found, np.ndarray)
    assert found[0].tolist() == pytest.approx([1, 1 / (1 + np.exp(-1))])
    assert nameless.sample(3).shape == (3, 2)
    assert nameless.most_probable([[np.nan, 0]]).shape == (1, 2)
    named = mn.MarkovNetwork.from_features([{"a": 1, "b": 1}], [1.0], ["a", "b"])
    assert named.query([[1, np.nan]]).columns.tolist() == [(v, x) for v in "ab" for x in (0, 1)]


def test_booleans_beside_0_and_1_keep_their_names():
    table = pd.DataFrame({"smoker": [True, False] * 10, "female": [0, 1, 1, 0] * 5})
    for columns in (["smoker", "female"], ["female", "smoker"]):
        found = mn.ChowLiu().fit(table[columns]).query()
        states = {name: [s for n, s in found.index if n == name] for name in columns}
        assert [str(state) for state in states["smoker"]] == ["False", "True"]
        assert [str(state) for state in states["female"]] == ["0", "1"]
