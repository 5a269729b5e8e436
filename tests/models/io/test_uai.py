"""The format of the UAI competitions: every sentence, the limits, and the text that is written."""

import re

import numpy as np
import pytest

from mnlearn.inference.evidence import read_evidence
from mnlearn.models.bayesian_network import network_of_tables
from mnlearn.models.cpds import CpdTable
from mnlearn.models.features import features_of
from mnlearn.models.io import uai
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.models.io.uai import read_uai_evidence
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE, numbered_schema


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ": ends too early, expected MARKOV or BAYES."),
        ("x" * 50, f", word 1: expected MARKOV or BAYES, got '{'x' * 40}'."),
        ("MARKOV", ": ends too early, expected the number of variables."),
        ("MARKOV 0", ", word 2: expected the number of variables (1 to 1000000), got '0'."),
        ("MARKOV 1000001", ", word 2: expected the number of variables (1 to 1000000), "
                           "got '1000001'."),
        ("MARKOV ²", ", word 2: expected the number of variables (1 to 1000000), got '²'."),
        ("MARKOV 1 0", ", word 3: expected a number of values (1 to 254), got '0'."),
        ("MARKOV 1 255", ", word 3: expected a number of values (1 to 254), got '255'."),
        ("MARKOV 1 254 x", ", word 4: expected the number of factors (0 to 4194304), got 'x'."),
        ("MARKOV 1 2 1 2", ", word 5: expected the number of variables of a factor (0 to 1), "
                           "got '2'."),
        ("MARKOV 1 2 1 1", ": ends too early, expected a variable."),
        ("MARKOV 2 2 2 1 1 x", ", word 7: expected a variable (0 to 1), got 'x'."),
        ("MARKOV 1 2 1 1 1", ", word 6: expected a variable (0), got '1'."),
        ("MARKOV 2 2 2 1 2 1 1", ", word 8: expected different variables in a factor, got '1'."),
        ("MARKOV 1 2 1 1 0 3", ", word 7: expected the number of cells of a factor (2), got '3'."),
        ("MARKOV 1 2 1 1 0 2", ": ends too early, expected a value."),
        ("MARKOV 1 2 1 1 0 2 x", ", word 8: expected a number of at least 0, got 'x'."),
        ("MARKOV 1 2 1 1 0 2 1_0 1", ", word 8: expected a number of at least 0, got '1_0'."),
        ("MARKOV 1 2 1 1 0 2 1 inf", ", word 9: expected a number of at least 0, got 'inf'."),
        ("MARKOV 1 2 1 1 0 2 -1 1", ", word 8: expected a number of at least 0, got '-1'."),
        ("MARKOV 1 2 0 " + "y" * 50, ", word 5: expected the number of known variables "
                                     f"(0 to 1), got '{'y' * 40}'."),
        ("MARKOV 1 2 1 0 1 0", ": network: all states have the value 0."),
        ("MARKOV 1 3 1 1 0 3 0 0 0", ": network: all states have the value 0."),
        ("BAYES 1 2 1 0 1 1", ": BAYES: expected one distribution of each variable."),
        ("BAYES 1 2 2 1 0 1 0 2 .5 .5 2 .5 .5", ": BAYES: expected one distribution of each "
                                                "variable, got two of 0."),
        ("BAYES 3 2 2 2 1 1 1 2 .5 .5", ": BAYES: variable 0 has no distribution."),
        ("BAYES 1 2 1 1 0 2 .5 .502", ": BAYES: expected probabilities of V0 that add up to 1, "
                                      "got 1.002."),
    ],
)  # fmt: skip
def test_sentences_on_malformed_files(tmp_path, text, sentence):
    path = tmp_path / "a.uai"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}{sentence.replace(', word', ', line 1, word')}"


def test_printed_probabilities_may_be_rounded(tmp_path):
    (tmp_path / "a.uai").write_text("BAYES 2 3 2 2 1 0 2 0 1 3 .3 .3 .3995 6 .5 .5 0 1 1 0.0009")
    network = load_model(tmp_path / "a.uai")
    assert network.schema == numbered_schema([3, 2])
    assert (network.parents(0), network.parents(1)) == ((), (0,))
    np.testing.assert_allclose(network.table(1).prob[2], [1 / 1.0009, 0.0009 / 1.0009])
    np.testing.assert_array_equal(network.table(1).prob[:2], [[0.5, 0.5], [0, 1]])


@pytest.mark.parametrize(
    ("rest", "fault"),
    [
        ("0", None),
        ("0 2 0 1 0 2 1 1", None),
        ("1 0 1", None),
        ("2 1 0 0 1 2 0 1", None),
        ("0 2 0 1 3 1", "ends too early, expected a number"),
        ("1 0 2", "word 16: expected the number of a state (0 to 1), got '2'"),
        ("1 2 0", "word 15: expected a variable (0 to 1), got '2'"),
        ("2 0 1 0 1", "word 17: expected a variable that is not known yet, got '0'"),
        ("0 1 x", "word 16: expected a number (0 to 1000000), got 'x'"),
        ("0 1.5", "word 15: expected the length of a list (0 to 15), got '1.5'"),
    ],
)
def test_evidence_and_lists_behind_the_tables(tmp_path, caplog, rest, fault):
    caplog.set_level("INFO", "mnlearn")
    (tmp_path / "a.uai").write_text(f"MARKOV 2 2 2 1 2 0 1 4 1 2 3 4 {rest}")
    if fault is None:
        assert len(load_model(tmp_path / "a.uai").features) == 3
        assert ("known states" in caplog.text) == (rest[0] != "0")
    else:
        with pytest.raises(InputError, match=re.escape(fault)):
            load_model(tmp_path / "a.uai")


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("0", [{}]),
        ("2 0 1 2 3", [{0: 1, 2: 3}]),
        ("2\n0 1\n2 3\n", [{0: 1, 2: 3}]),
        ("1\n2 0 1 2 3\n", [{0: 1, 2: 3}]),
        ("2 # samples\n1 2 3\n0\n", [{2: 3}, {}]),
        ("1 0", [{}]),
    ],
)
def test_files_of_evidence(tmp_path, text, known):
    (tmp_path / "a.uai.evid").write_text(text)
    schema = numbered_schema([2, 1, 4])
    assert read_uai_evidence(tmp_path / "a.uai.evid", schema) == known
    values = read_evidence(tmp_path / "a.uai.evid", schema)[0].values
    assert [{v: x for v, x in enumerate(row) if x != NO_STATE} for row in values.tolist()] == known


def test_evidence_of_another_network(tmp_path):
    (tmp_path / "a.uai").write_text("MARKOV 2 2 2 1 2 0 1 4 1 2 3 4 1 1 0")
    assert read_uai_evidence(tmp_path / "a.uai", numbered_schema([2, 2])) == [{1: 0}]
    with pytest.raises(InputError, match="is a network of other variables than the model"):
        read_uai_evidence(tmp_path / "a.uai", numbered_schema([2, 3]))
    (tmp_path / "a.evid").write_text("1 1 0 5")
    with pytest.raises(InputError, match="word 4: expected the number of a state"):
        read_uai_evidence(tmp_path / "a.evid", numbered_schema([1, 1]))


# P(a), P(b | a) and P(c | a, b) of 2, 3 and 2 states, as four programs write them.
A, B, C = [0.3, 0.7], [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], [[0.9, 0.8, 0.6], [0.3, 0.2, 0.05]]


def layouts():
    a, b, c = np.array(A), np.array(B), np.stack([np.array(C), 1 - np.array(C)], axis=-1)
    heads = {"last": ("1 0", "2 0 1", "3 0 1 2"), "first": ("1 0", "2 1 0", "3 2 0 1")}
    tables = {
        "the form": ("last", a, b, c),
        "child first": ("first", a, b.T, c.transpose(2, 0, 1)),
        "pgmpy": ("last", a, b.T, c.T),
        "pyAgrum": ("last", a, b, c.transpose(1, 0, 2)),
    }
    for name, (place, *own) in tables.items():
        ends = ("   # a", "   # b", "   # c") if name == "pyAgrum" else ("", "", " // c")
        scopes = "\n".join(head + end for head, end in zip(heads[place], ends, strict=True))
        cells = "\n".join(f"{t.size} {' '.join(map(str, t.ravel()))}" for t in own)
        yield pytest.param(f"# made\nBayes\n3\n2 3 2\n3\n{scopes}\n\n{cells}\n", id=name)


@pytest.mark.parametrize("text", list(layouts()))
def test_layouts_of_other_programs(tmp_path, text):
    (tmp_path / "a.uai").write_text(text)
    network = load_model(tmp_path / "a.uai")
    np.testing.assert_allclose(network.table(0).prob, A)
    np.testing.assert_allclose(network.table(1).prob, B)
    parents, prob = network.table(2)
    order = [parents.index(0), parents.index(1), 2]
    np.testing.assert_allclose(prob.transpose(order)[..., 0], C)


def test_the_order_that_comments_of_pyagrum_tell(tmp_path):
    text = "MARKOV\n3 # nbr Nodes\n2 3 2\n1 # nbr Factors\n3 1 2 0\n\n12 # {2, 0, 1}\n"
    cells = np.arange(1.0, 13).reshape(3, 2, 2)  # of variables 1, 0 and 2
    (tmp_path / "a.uai").write_text(text + " ".join(map(str, cells.ravel())))
    network = load_model(tmp_path / "a.uai")
    states = np.indices([2, 3, 2]).reshape(3, -1).T
    found = np.exp(network.potential_of(network.schema.rows(states))).reshape(2, 3, 2)
    np.testing.assert_allclose(found, cells.transpose(1, 0, 2))


def test_the_limits_of_tables(tmp_path, monkeypatch):
    path = tmp_path / "a.uai"
    wide = [markov_network(n, features_of([[(v, 1) for v in range(n)]]), [1.0]) for n in (16, 17)]
    save_model(wide[0], path)
    assert len(load_model(path).features) == 1
    with pytest.raises(
        InputError, match=r"expected features of at most 16 variables and 4,194,304 "
    ):
        save_model(wide[1], path)
    # One table for the variables of equal features.
    features = features_of([[(0, 1), (1, 1)], [(0, 1), (1, 0)], [(2, 1)]])
    network = markov_network(3, features, [1, 2, 3])
    monkeypatch.setattr(uai, "MAX_CELLS", 6)
    save_model(network, path)
    assert load_model(path).n_vars == 3
    monkeypatch.setattr(uai, "MAX_CELLS", 5)
    with pytest.raises(InputError, match="the factors have more than 5 cells"):
        load_model(path)
    with pytest.raises(InputError, match="and 5 cells"):
        save_model(network, path)
    two = {v: CpdTable((), np.full(3, 1 / 3)) for v in range(2)}
    before = path.read_text()
    with pytest.raises(InputError, match="expected tables with at most 5 cells in all"):
        save_model(network_of_tables(numbered_schema([3, 3]), two), path)
    assert path.read_text() == before


# Two factors with a constant and a zero; 1 is no feature.
UAI = "MARKOV\n3\n2 3 2\n3\n2 0 1\n2 2 1\n0\n\n6\n1 2 3\n4 5 6\n\n6 1 0 .5\n2 1 1\n1 2.5\n"


def test_constants_zeros_and_the_partition_function_are_kept(tmp_path, monkeypatch):
    (tmp_path / "a.uai").write_text(UAI)
    network = load_model(tmp_path / "a.uai")
    assert network.schema == numbered_schema([2, 3, 2])
    one, other = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 0, 0.5], [2, 1, 1]])
    states = np.indices([2, 3, 2]).reshape(3, -1).T
    expected = [2.5 * one[a, b] * other[c, b] for a, b, c in states]
    save_model(network, tmp_path / "b.uai")
    for again in (network, load_model(tmp_path / "b.uai")):
        found = np.exp(again.potential_of(network.schema.rows(states)))
        np.testing.assert_allclose(found, expected, atol=1e-12)
    monkeypatch.setattr(uai, "MAX_FEATURES", 8)
    with pytest.raises(InputError, match="its factors have 9 cells that are not 1; a Markov netw"):
        load_model(tmp_path / "a.uai")


def test_variables_of_one_state_and_constants(tmp_path):
    """A factor of variables of one state is a constant, which a variable of several gets."""
    path = tmp_path / "a.uai"
    path.write_text("MARKOV 3 1 3 1 3 1 0 2 0 1 0 1 5 3 1 2 0 1 0.5")
    network = load_model(path)
    found = np.exp(network.potential_of(np.eye(3, dtype=np.uint8)))
    np.testing.assert_allclose(found, [2.5, 5, 0])
    path.write_text("MARKOV 1 1 1 1 0 1 7")
    assert load_model(path).n_columns == 0


def test_a_weight_that_a_uai_file_cannot_hold(tmp_path):
    network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [1000.0])
    with pytest.raises(InputError, match="a weight is too large to write as a number"):
        save_model(network, tmp_path / "a.uai")
    for weight in (-740.0, -1000.0):
        network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [weight])
        with pytest.raises(InputError, match="a weight is too small to write as a number"):
            save_model(network, tmp_path / "a.uai")
    assert not (tmp_path / "a.uai").exists()
    save_model(markov_network(2, features_of([[(0, 1)]]), [-np.inf]), tmp_path / "a.uai")
    assert load_model(tmp_path / "a.uai").weight.tolist() == [-np.inf]
