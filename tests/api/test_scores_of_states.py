"""Scores of a network of variables of several states: a term for each variable, not for columns."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.runtime.errors import InputError

BIF = """\
network many { }
variable Age { type discrete [ 3 ] { young, middle, old }; }
variable Ill { type discrete [ 2 ] { no, yes }; }
probability ( Age ) { table 0.3, 0.3, 0.4; }
probability ( Ill | Age ) { (young) 0.9, 0.1; (middle) 0.6, 0.4; (old) 0.5, 0.5; }
"""
P_ILL = np.array([0.1, 0.4, 0.5])
TABLE = pd.DataFrame({"Ill": ["yes", "no", "yes", None], "Age": ["old", "young", None, "middle"]})
ROWS = pd.DataFrame({"Age": ["old", "young", "middle"], "Ill": ["yes", "no", "no"]})


@pytest.fixture
def model(tmp_path):
    (tmp_path / "many.bif").write_text(BIF)
    return mn.load(tmp_path / "many.bif")


def test_missing_cells_are_summed_out(model):
    ill = 0.3 * 0.1 + 0.3 * 0.4 + 0.4 * 0.5
    for how in ({}, {"inference": "exact"}):
        found = mn.score(model, TABLE, "ll", **how).per_example
        np.testing.assert_allclose(np.exp(found), [0.4 * 0.5, 0.3 * 0.9, ill, 0.3])
    with pytest.raises(InputError, match="X, row 0, column 'Age': expected 'young', 'middle' or"):
        mn.score(model, TABLE.assign(Age="ancient"), "ll")


def test_scores_have_one_term_for_each_variable(model):
    joint = np.array([0.3, 0.3, 0.4])[:, None] * np.stack([1 - P_ILL, P_ILL], axis=1)
    own = [(2, 1), (0, 0), (1, 0)]
    p = np.array([joint[a, i] for a, i in own])
    p_age, p_ill = (joint.sum(axis=axis)[[s[1 - axis] for s in own]] for axis in (1, 0))
    expected = np.log(p / p_ill) + np.log(p / p_age)
    for exact in (model, model.to_circuit(), model.to_markov_network()):
        for metric in ("pll", "cll", "cmll"):
            how = {"inference": "exact"} if metric == "cmll" else {}
            found = mn.score(exact, ROWS, metric, **how).per_example
            np.testing.assert_allclose(found, expected, rtol=1e-6)
        whole = [["Age", "Ill"]]
        np.testing.assert_allclose(
            mn.score(exact, ROWS, "cmll", groups=whole, inference="exact").per_example,
            np.log(p_age) + np.log(p_ill),
            rtol=1e-6,
        )
        found = mn.score(exact, ROWS, "cll", groups=whole).per_example
        np.testing.assert_allclose(found, np.log(p), rtol=1e-6)
        only = mn.score(exact, ROWS, "cll", groups=[[0]]).per_example
        np.testing.assert_allclose(only, np.log(p / p_ill), rtol=1e-6)
    sampled = mn.score(model, ROWS, "cmll", samples=20_000)
    np.testing.assert_allclose(sampled.per_example, expected, atol=0.05)
    with pytest.raises(InputError, match="groups: there is no variable 'Age=old'"):
        mn.score(model, ROWS, "cll", groups=[["Age=old"], ["Ill"]])


def test_what_is_impossible_has_score_minus_infinity(tmp_path):
    certain = BIF.replace("(young) 0.9, 0.1", "(young) 1.0, 0.0")
    (tmp_path / "certain.bif").write_text(certain.replace("0.6, 0.4", "1.0, 0.0"))
    model = mn.load(tmp_path / "certain.bif")
    rows = pd.DataFrame({"Age": ["old", "young", "middle"], "Ill": ["yes", "yes", "no"]})
    for exact in (model, model.to_circuit()):
        found = mn.score(exact, rows, "cmll", groups=[["Age"], ["Ill"]], inference="exact")
        expected = [np.log(0.5), -np.inf, np.log(0.3 / (0.3 + 0.3 + 0.4 * 0.5))]
        np.testing.assert_allclose(found.per_example, expected, atol=1e-9)


def test_weights_are_learned_for_features_of_states(model):
    """From many examples, features of all pairs of states give back the network."""
    features = [{"Age": a} for a in ("middle", "old")] + [{"Ill": "yes"}]
    features += [{"Age": a, "Ill": "yes"} for a in ("middle", "old")]
    states = {"Age": ["young", "middle", "old"], "Ill": ["no", "yes"]}
    network = mn.MarkovNetwork.from_features(features, [0.0] * 5, states)
    learned = network.fit_weights(model.sample(20_000, random_state=1), sd=None)
    for age, p in zip(states["Age"], P_ILL, strict=True):
        assert learned.query({"Age": age})["Ill", "yes"] == pytest.approx(p, abs=0.02)
