"""Networks that give states probability 0: impossible evidence, and chains that get stuck."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import mnlearn as mn
from command import refuse, succeed

# b is always a; c depends on b.
BIF = """network copies { }
variable a { type discrete [ 2 ] { no, yes }; }
variable b { type discrete [ 2 ] { no, yes }; }
variable c { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.5, 0.5; }
probability ( b | a ) { (no) 1, 0; (yes) 0, 1; }
probability ( c | b ) { (no) 0.7, 0.3; (yes) 0.1, 0.9; }
"""
# Each feature forbids one state of three variables. All are needed to forbid V0=1, V1=0.
FORBIDDEN = [{0: 1, 1: 0, 2: 0}, {0: 1, 1: 0, 2: 1}]
METHODS = ["auto", "exact", "gibbs", "mcsat", "bp", "meanfield"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with the model, as current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copies.bif").write_text(BIF, encoding="utf-8")


@pytest.mark.parametrize("method", METHODS)
def test_impossible_evidence_is_refused_by_every_method(method):
    model = mn.load("copies.bif")
    network = mn.MarkovNetwork.from_features(FORBIDDEN, [-np.inf, -np.inf], 4)
    for asked, evidence in ((model, {"a": "yes", "b": "no"}), (network, {0: 1, 1: 0})):
        with pytest.raises(mn.InputError, match="evidence: has probability 0"):
            asked.query(evidence, inference=method)
    rows = np.array([[1, 1, np.nan, 0], [1, 0, np.nan, 0]])
    with pytest.raises(mn.InputError, match="evidence, row 1: has probability 0"):
        network.query(rows, inference=method)
    assert np.isfinite(network.query(rows[:1], inference=method)).all()
    refuse(
        f"query copies.bif --evidence a=yes,b=no --inference {method}",
        "--evidence: has probability 0.",
    )


def test_one_chain_says_that_it_may_not_get_around():
    """That of a score; queries have several chains at several temperatures."""
    model, rows = mn.load("copies.bif"), np.array([[1, 1, 1], [0, 0, 1]])
    sentence = "inference gibbs: the model gives states probability 0"
    found = model.query({"c": "yes"}, inference="gibbs")
    assert found["a", "yes"] == pytest.approx(0.75, abs=0.1)
    with pytest.warns(UserWarning, match=sentence):
        mn.score(model, rows, "cmll", folds=1, inference="gibbs")
    Path("d.csv").write_text("a,b,c\n1,1,1\n0,0,1\n", encoding="utf-8")
    line = "score copies.bif d.csv --metric cmll --inference gibbs"
    assert f"copies.bif: {sentence}" in succeed(line).stderr


def test_nothing_is_said_where_chains_get_around():
    states = {"v": ["x", "y", "z"], "z": [0, 1]}
    several = mn.MarkovNetwork.from_features([{"v": "x", "z": 1}], [1.0], states)
    plain = mn.MarkovNetwork.from_features([{"v": 1, "z": 1}], [1.0], ["v", "z"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for network in (several, plain):
            network.query({"z": 1}, inference="gibbs")
        model = mn.load("copies.bif")
        model.query({"c": "yes"})
        mn.score(model, np.array([[1, 1, 1]]), "cmll", folds=1)
