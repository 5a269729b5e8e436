"""Circuits in files: native and Libra's, and what is wrong with files that are refused."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import mean, refuse, succeed
from made_circuits import N, grown
from mnlearn.inference.circuits.exact import log_value
from mnlearn.models.circuit_building import NO_PARENT, tree_circuit
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable, binary_schema, numbered_schema
from oracles import all_states


def learned(seed=0):
    circuit, features = grown(seed)
    schema = binary_schema([f"x{v}" for v in range(N)])
    return dataclasses.replace(circuit, schema=schema, features=features)


def hidden():
    """A circuit with a hidden variable: its parameters have no features."""
    parent = np.array([2, 2, NO_PARENT])
    p = np.array([[0.2, 0.7], [0.6, 0.1], [0.3, 0.3]])
    return tree_circuit(parent, np.log(np.stack([1 - p, p], axis=2)), 2)


def test_a_circuit_without_features_is_no_network(tmp_path):
    with pytest.raises(InputError, match="are not the weights of features"):
        save_model(hidden(), tmp_path / "c.mn")


def test_libra_text_of_a_small_circuit(tmp_path):
    text = "(2)\nn 0.25\nv 0 0\n* 0 1\nn 0.75\nv 0 1\n* 3 4\n+ 2 5\nEOF\n\n"
    path = tmp_path / "c.ac"
    path.write_text(text + "0 0.25 +v0_0\n3 0.75 -v0_0\nEOF\n")
    circuit = load_model(path)
    np.testing.assert_allclose(np.exp(log_value(circuit, all_states(1))), [0.25, 0.75])
    assert [circuit.features.literals(k) for k in range(2)] == [[(0, 0)], [(0, 1)]]
    path.write_text(text)
    assert load_model(path).features is None
    # Features of a part of the parameters are no Markov network.
    path.write_text(text + "0 0.25 +v0_0\nEOF\n")
    assert load_model(path).features is None


def test_one_variable_is_enough_except_for_a_latent_tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.data").write_text("1\n0\n1\n1\n")
    for method in ("acmn", "acbn", "chow_liu"):
        succeed(f"fit {method} --train one.data --out {method}.ac")
        assert mean(f"{method}.ac one.data --metric ll") > -0.7
    refuse("fit ltm --train one.data --out ltm.ac", "expected at least 2 variables")


# P(0) = 0.25 and P(1) = 0.75 of one variable; 9 lines.
SMALL = "(2)\nn 0.25\nv 0 0\n* 0 1\nn 0.75\nv 0 1\n* 3 4\n+ 2 5\nEOF\n"
NODE = "expected the number of a parameter node, a number and literals"
LITERALS = "expected literals, as in +v0_1"
SCHEMA = "expected the numbers of values, as in (2 2 2)"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("(2)", ": ends too early, expected EOF."),
        ("(2 2", f", line 1: {SCHEMA}, got '(2 2'."),
        ("()", f", line 1: {SCHEMA}, got '()'."),
        ("(2 x)", f", line 1: {SCHEMA}, got '(2 x)'."),
        ("(2 0)", ", line 1: expected variables of 1 to 254 values, got '(2 0)'."),
        ("(2)\nEOF", ", line 2: expected at least one node, got 'EOF'."),
        ("(2)\nv 0", ", line 2: expected v, a variable and a value, got 'v 0'."),
        ("(2)\nv 0 2", ", line 2: expected v, a variable and a value, got 'v 0 2'."),
        ("(2)\nv 1 0", ", line 2: expected a variable from 0 to 0, got 'v 1 0'."),
        ("(2)\nn x", ", line 2: expected n and a number, got 'n x'."),
        ("(2)\nn inf", ", line 2: expected a number of at least 0, got 'n inf'."),
        ("(2)\n+", ", line 2: expected the numbers of nodes that stand before, got '+'."),
        ("(2)\n* x", ", line 2: expected the numbers of nodes that stand before, got '* x'."),
        ("(2)\nv 0 0\n+ 1", ", line 3: expected the numbers of nodes that stand before, "
                                "got '+ 1'."),
        ("(2)\n" + "q" * 70, f", line 2: expected a node: v, n, + or *, got '{'q' * 60}'."),
        (SMALL + "9 1", f", line 10: {NODE}, got '9 1'."),
        (SMALL + "0", f", line 10: {NODE}, got '0'."),
        (SMALL + "x 1", f", line 10: {NODE}, got 'x 1'."),
        (SMALL + "0 0.25 v0_0", f", line 10: {LITERALS}, got '0 0.25 v0_0'."),
        (SMALL + "0 0.25 +v0_0 -v0_0", ", line 10: a feature asks one variable for both values."),
        (SMALL + "0 0.25 +v1_0", ", line 10: expected a variable from v0 to v0, got v1."),
        (SMALL + "# names x", ", line 10: is not JSON: Expecting value."),
        (SMALL + '# names {"a": 1}', ", line 10: expected a list for 1 variables."),
        (SMALL + "# names [1]", ", line 10: expected texts."),
        (SMALL + '# names [""]\n# states [["a", "b"]]', ", line 10, column 1: has no name."),
        (SMALL + '# names ["a"]\n# states ["a"]', ", line 11: expected a list of 2 states of "
                                                   "variable 0."),
        (SMALL + '# states [["a", []]]', ", line 10: expected texts or numbers."),
        (SMALL + '# states [["a"]]', ", line 10: expected a list of 2 states of variable 0."),
        (SMALL + '# states [["a", "a"]]', ": variable V0: has two states 'a'."),
    ],
)  # fmt: skip
def test_sentences_on_malformed_circuits(tmp_path, text, sentence):
    path = tmp_path / "c.ac"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}{sentence}"


def test_names_and_values_behind_the_nodes(tmp_path):
    path = tmp_path / "c.ac"
    for end, expected in (
        ("", binary_schema(1)),
        ('# names ["a"]\n', binary_schema(["a"])),
        ('# states [["c", 1]]\n', Schema((Variable("V0", ("c", 1)),), is_named=False)),
        ('# names ["é"]\n# states [["c", "b"]]', Schema((Variable("é", ("c", "b")),))),
    ):
        path.write_text(SMALL + end)
        assert load_model(path).schema == expected


# P(v0 = 0, 1, 2) = 0.5, 0.2, 0.3; v1 has one value.
WIDE = """(3 1)
v 0 0
n 0.5
* 0 1
v 0 1
n 0.2
* 3 4
v 0 2
n 0.3
* 6 7
+ 2 5 8
v 1 0
+ 10
* 9 11
EOF
"""


def test_variables_of_one_and_of_three_values(tmp_path):
    path = tmp_path / "c.ac"
    path.write_text(WIDE + "1 0.5 +v0_0\n4 0.2 -v0_0 -v0_2\n7 0.3 +v0_2 +v1_0\nEOF\n")
    circuit = load_model(path)
    assert circuit.schema == numbered_schema([3, 1])
    found = np.exp(log_value(circuit, np.eye(3, dtype=np.uint8)))
    np.testing.assert_allclose(found, [0.5, 0.2, 0.3])
    assert [circuit.features.literals(k) for k in range(3)] == [[(c, 1)] for c in range(3)]
    save_model(circuit, path)
    assert path.read_text() == (
        "(3 1)\nv 0 0\nv 0 1\nv 0 2\nn 0.5\nn 0.2\nn 0.3\n* 0 3\n* 1 4\n* 2 5\n+ 6 7 8\n"
        "v 1 0\n* 9 10\nEOF\n\n3 0.5 +v0_0\n4 0.2 +v0_1\n5 0.3 +v0_2\nEOF\n"
    )
    again = load_model(path)
    assert again.child.tolist() == circuit.child.tolist()
    assert again.start.tolist() == circuit.start.tolist()


def test_a_number_that_is_the_factor_of_two_conjunctions(tmp_path):
    """Such a circuit has no features: which place of the node belongs to which is not said."""
    path = tmp_path / "c.ac"
    path.write_text(WIDE + "1 .5 +v0_0\n4 .2 +v0_1\n7 .3 +v0_2\nEOF\n")
    assert len(load_model(path).features) == 3
    path.write_text(WIDE + "1 .5 +v0_0\n4 .2 +v0_1\n7 .3 +v0_2\n1 .5 +v0_2\nEOF\n")
    assert load_model(path).features is None


@pytest.mark.parametrize(
    ("nodes", "value"),
    [
        ("v 0 0\nEOF", 1.0),
        ("v 0 0\nn 0.25\n* 0 1\nEOF", 0.25),
        ("v 0 0\nn 0.25\n+ 0 1\nEOF", 1.25),
        ("v 0 0\nn 0.25\n* 0 0\n* 2 1 1\nEOF", 0.0625),
    ],
)
def test_circuits_over_a_variable_of_one_value(tmp_path, nodes, value):
    path = tmp_path / "c.ac"
    path.write_text(f"(1)\n{nodes}\n")
    circuit = load_model(path)
    found = log_value(circuit, np.zeros((1, 0), np.uint8))
    assert np.exp(found) == pytest.approx([value])


def test_a_circuit_of_one_leaf(tmp_path):
    path = tmp_path / "c.ac"
    path.write_text("(2)\nv 0 1\nEOF\n")
    circuit = load_model(path)
    assert (circuit.is_sum.tolist(), circuit.child.tolist()) == ([0], [1])
    assert circuit.features is None
    np.testing.assert_array_equal(np.exp(log_value(circuit, all_states(1))), [0, 1])


def test_parameters_of_0_and_conjunctions_without_literals(tmp_path):
    path = tmp_path / "c.ac"
    path.write_text(SMALL.replace("n 0.25", "n 0") + "\n# a note\n0 0 +v0_0\n3 0.75\nEOF\n")
    circuit = load_model(path)
    np.testing.assert_array_equal(circuit.weight, [-np.inf, np.log(0.75)])
    assert [circuit.features.literals(k) for k in range(2)] == [[(0, 0)], []]


@pytest.mark.parametrize("fails", ["c.nnf", "c.nnf.csv"])
def test_a_d_dnnf_and_its_weights_are_both_written_or_none(tmp_path, fails):
    (tmp_path / fails).mkdir()
    with pytest.raises(InputError, match=f"{fails}: cannot be written: Is a directory"):
        save_model(hidden(), tmp_path / "c.nnf")
    assert [path.name for path in tmp_path.iterdir()] == [fails]


@pytest.mark.parametrize("suffix", [".ac", ".nnf"])
@pytest.mark.parametrize(("weight", "word"), [(800, "large"), (-740, "small")])
def test_a_parameter_that_cannot_be_written(tmp_path, suffix, weight, word):
    path = tmp_path / f"c{suffix}"
    circuit = hidden()
    weights = np.where(circuit.weight < -1, weight, circuit.weight)
    with pytest.raises(InputError) as caught:
        save_model(dataclasses.replace(circuit, weight=weights), path)
    assert str(caught.value) == f"{path}: a parameter of exp({weight}) is too {word}."
    assert list(tmp_path.iterdir()) == []


def test_a_circuit_from_which_variables_were_cut(tmp_path, caplog):
    """What `acopt` leaves where the states of variables 0 and 3 are known."""
    caplog.set_level("INFO", "mnlearn")
    path = tmp_path / "c.ac"
    path.write_text("(2 2 1 3)\nv 1 0\nv 1 1\nn 0.3\nn 0.7\n* 0 2\n* 1 3\n+ 4 5\nEOF\n")
    circuit = load_model(path)
    assert "does not mention V0, V3; all states of a variable count alike" in caplog.text
    states = np.indices([2, 2, 1, 3]).reshape(4, -1).T
    found = np.exp(log_value(circuit, circuit.schema.rows(states)))
    np.testing.assert_allclose(found, np.where(states[:, 1], 0.7, 0.3))
    path.write_text("(2)\nv 0 1\nn 0.5\n* 1\neof\n")
    assert np.exp(log_value(load_model(path), np.array([[0], [2]], np.uint8))) == pytest.approx(
        [0.5, 1]
    )


def test_names_are_found_before_other_last_lines(tmp_path):
    path = tmp_path / "c.ac"
    table = pd.DataFrame({"sex": ["f", "m", "f"], "smokes": ["no", "yes", "yes"]})
    save_model(mn.ChowLiu().fit(table).model_.to_circuit(), path)
    schema = load_model(path).schema
    path.write_text(path.read_text() + "\n# a note\n\n")
    assert load_model(path).schema == schema
    assert schema.names == ("sex", "smokes")
