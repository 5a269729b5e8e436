"""Files with rows of evidence: with names and without, values, words and states."""

import numpy as np
import pytest

from made_data import write
from mnlearn.inference.evidence import read_evidence
from mnlearn.models.bayesian_network import bayesian_network
from mnlearn.models.dependency_network import flat_trees
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

NAMES = ("ill", "age=young", "age=old", "sex")
NETWORK = markov_network(binary_schema(4, NAMES), features_of([[(0, 1)]]), [0.5])


def read(tmp_path, content, model=NETWORK):
    """Return rows of evidence with 9 for what is asked for, and the line of the first."""
    found = read_evidence(write(tmp_path / "e.csv", content), model)
    return np.where(found.asked, 9, found.rows).tolist(), found.first_line


@pytest.mark.parametrize(
    "content",
    [
        "1,0,1,*\n",
        "1.0,0.0,1.0,\n",
        "yes,no,True,*\n",
        "ill,age=young,age=old,sex\n1,0,1,*\n",
        "age=old;ill;age=young\n1;1;0\n",
        "age,ill\nold,yes\n",
        "ill\tage\nt\told\n",
        ",age,ill\n7,old,yes\n",
        "1,0,1,NA\n",
    ],
)
def test_forms_of_one_row(tmp_path, content):
    rows, _ = read(tmp_path, content)
    assert rows == [[1, 0, 1, 9]]


def test_words_alone_are_no_names(tmp_path):
    assert read(tmp_path, "yes,no,no,no\n") == ([[1, 0, 0, 0]], 1)
    assert read(tmp_path, "sex,age\nno,\nyes,young\n") == ([[9, 9, 9, 0], [9, 1, 0, 1]], 2)
    assert read(tmp_path, "yes,,no,\n1,0,1,0\n") == ([[1, 9, 0, 9], [1, 0, 1, 0]], 1)
    unnamed = markov_network(3, features_of([[(0, 1)]]), [0.5])
    assert read(tmp_path, "yes,,no\n1,0,1\n", unnamed) == ([[1, 9, 0], [1, 0, 1]], 1)
    short = markov_network(binary_schema(2, ("y", "n")), features_of([[(0, 1)]]), [0.5])
    assert read(tmp_path, "n,y\n1,*\n", short) == ([[9, 1]], 2)


def test_numbers_as_names_of_states(tmp_path):
    network = bayesian_network(flat_trees(1), ("a",), (("1", "2"),))
    for text in ("1", "1.0"):
        assert read(tmp_path, f"a\n{text}\n", network)[0] == [[0]]


def test_variables_that_are_called_by_numbers(tmp_path):
    network = markov_network(binary_schema(2, ("0", "1")), features_of([[(0, 1)]]), [0.5])
    assert read(tmp_path, "0,1\n1,*\n", network) == ([[0, 1], [1, 9]], 1)


def test_names_of_states(tmp_path):
    states = (("yes", "no"), ("low", "high"))
    network = bayesian_network(flat_trees(2), ("ill", "mood"), states)
    assert read(tmp_path, "mood,ill\nhigh,yes\n*,no\n1,\n", network)[0] == [[0, 1], [1, 9], [9, 1]]
    assert read(tmp_path, "yes,low\n", network) == ([[0, 0]], 1)
    with pytest.raises(InputError, match=r"line 2: expected low, high or \*, got 'yes'"):
        read(tmp_path, "mood\nyes\n", network)


def test_a_model_without_names_takes_any(tmp_path):
    network = markov_network(2, features_of([[(0, 1)]]), [0.5])
    assert read(tmp_path, "b,a\n1,*\n", network) == ([[1, 9]], 2)
    with pytest.raises(InputError, match="line 2: expected 2 values, got 1"):
        read(tmp_path, "b\n1\n", network)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("ill,sax\n1,1\n", "e.csv, line 1: there is no variable 'sax'; the most similar"),
        ("ill,age,age=old\n1,old,1\n", "line 1: names the variable 'age=old' twice"),
        ("ill,ill\n1,1\n", "line 1: names the variable 'ill' twice"),
        ("age\nolder\n", r"line 2: expected young, old or \*, got 'older'"),
        ("1,2,0,1\n", r"line 1: expected 0, 1 or \*, got '2'"),
        ("1,0,0,1\n1,0,0\n", "line 2: expected 4 values, got 3"),
        ("ill,sex\n", "e.csv: holds no evidence"),
        ("", "e.csv: holds no evidence"),
        ("\n1,0,0,1\n", "line 1: expected 4 values, got 0"),
        ('1,"0,0,1\n', "line 1: is not CSV"),
    ],
)
def test_evidence_that_means_nothing(tmp_path, content, sentence):
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, content)
