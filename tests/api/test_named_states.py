"""Tables and evidence in the names of states, and in words for 0 and 1."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.runtime.errors import InputError

BIF = """network small {}
variable a { type discrete [ 2 ] { no, yes }; }
variable b { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.3, 0.7; }
probability ( b | a ) { (no) 0.2, 0.8; (yes) 0.6, 0.4; }
"""


@pytest.fixture
def named(tmp_path):
    """A Bayesian network whose states have names."""
    path = tmp_path / "small.bif"
    path.write_text(BIF)
    return mn.load(path)


def test_names_of_states_beside_numbers_are_refused(named):
    table = pd.DataFrame({"a": ["yes", 0], "b": ["no", "yes"]}, dtype=object)
    with pytest.raises(InputError, match="X, row 1, column 'a': expected 'no' or 'yes', got 0"):
        mn.score(named, table, "ll")
    unknown = pd.DataFrame({"a": ["yes", None], "b": ["no", "yes"]}, dtype=object)
    found = mn.score(named, unknown, "ll").per_example
    np.testing.assert_allclose(np.exp(found), [0.7 * 0.6, 0.3 * 0.8 + 0.7 * 0.4])


def test_rows_of_evidence_have_names_of_states(named):
    rows = pd.DataFrame({"a": ["yes", None]}, dtype=object)
    found = named.query(rows)
    np.testing.assert_allclose(found["b"], [0.4, 0.3 * 0.8 + 0.7 * 0.4])
    with pytest.raises(InputError, match="evidence, row 0, column 'a': expected 'no' or 'yes'"):
        named.query(pd.DataFrame({"a": ["maybe"]}))
    twice = pd.DataFrame([[1, 0]], columns=["a", "a"])
    with pytest.raises(InputError, match="evidence: has two columns 'a'"):
        named.query(twice)


def test_words_are_evidence_of_a_model_without_names_of_states():
    table = pd.DataFrame([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 1, 0]] * 20, columns=["a", "b", "c"])
    model = mn.ChowLiu().fit(table).model_
    expected = model.query({"a": 1, "c": 0})
    for one, zero in (("yes", "no"), ("True", "false"), ("1", "0"), (True, False), (1.0, 0.0)):
        assert model.query({"a": one, "c": zero}).equals(expected)
        rows = pd.DataFrame({"c": [zero], "a": [one]}, dtype=object)
        assert model.query(rows)["b"].tolist() == expected.tolist()
    with pytest.raises(InputError, match="evidence, variable 'a': expected one of 0, 1, got 'ja'"):
        model.query({"a": "ja"})
    with pytest.raises(InputError, match="evidence, row 1, column 'a': expected '0' or '1', got 2"):
        model.query(pd.DataFrame({"a": ["yes", 2]}, dtype=object))


def test_evidence_of_one_variable_is_given_once():
    network = mn.MarkovNetwork.from_features([{"a=x": 1}], [1.0], ["a=x", "a=y", "b"])
    expected = network.query({"b": 1, "a=x": "yes", "a=y": 0})
    assert network.query({2: "yes", "a": "x"}).equals(expected)
    for evidence in ({"b": 1, 2: 0}, {"a": "x", "a=y": 1}):
        with pytest.raises(InputError, match=r"evidence: names the variable '.*' twice"):
            network.query(evidence)
        with pytest.raises(InputError, match=r"given: names the variable '.*' twice"):
            network.probability({}, evidence)


def test_tables_are_read_for_a_model_like_files(tmp_path):
    model = mn.MarkovNetwork.from_features([{"a=x": 1}], [1.0], ["a=x", "a=y", "b"])
    table = pd.DataFrame({"note": ["u", "v"], "b": ["yes", "no"], "a": ["y", "x"]})
    table.to_csv(tmp_path / "a.csv", index=False)
    for source in (table, tmp_path / "a.csv"):
        data = mn.read_data(source, model=model)
        assert data.names == ("a=x", "a=y", "b")
        assert data.rows[data.row_of].tolist() == [[0, 1, 1], [1, 0, 0]]
