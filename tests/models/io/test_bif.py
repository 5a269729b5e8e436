"""Bayesian networks in the interchange format."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_text
from mnlearn.scoring.any_model import ll
from oracles import all_states

# The wet grass: rain depends on clouds, the sprinkler too, the grass on both.
WET = """\
network "wet grass" {
  property author = nobody;
}
// states are listed no, yes
variable Cloudy { type discrete [ 2 ] { no, yes }; }
variable Sprinkler { type discrete[2] { off on };
  property position = (1, 2) ; }
variable Rain {
  type discrete [ 2 ] { no, yes };
}
variable Wet { type discrete [ 2 ] { no, yes }; }
/* tables and
   entries */
probability ( Cloudy ) { table 0.4, 0.6; }
probability ( Sprinkler | Cloudy ) {
  (no) 0.5, 0.5;
  (yes) 0.9, 0.1;
}
probability ( Rain | Cloudy ) {
  property source = a book;
  table 0.8, 0.2, 0.2, 0.8;
}
probability ( Wet | Sprinkler, Rain ) {
  (off, no) 1.0, 0.0;
  (on, yes) 0.01, 0.99;
  default 0.1, 0.9;
}
"""
SPRINKLER = (0.5, 0.1)
RAIN = (0.2, 0.8)
WET_GIVEN = {(0, 0): 0.0, (0, 1): 0.9, (1, 0): 0.9, (1, 1): 0.99}


def chance(p, x):
    return p if x else 1 - p


def joint(cloudy, sprinkler, rain, wet):
    return (
        chance(0.6, cloudy)
        * chance(SPRINKLER[cloudy], sprinkler)
        * chance(RAIN[cloudy], rain)
        * chance(WET_GIVEN[sprinkler, rain], wet)
    )


def test_the_example(tmp_path):
    path = tmp_path / "wet.bif"
    path.write_text(WET)
    network = load_model(path)
    assert network.schema.names == ("Cloudy", "Sprinkler", "Rain", "Wet")
    found = ll(network, merge_rows(all_states(4)))
    expected = [joint(*x) for x in all_states(4).tolist()]
    assert np.exp(found.per_row) == pytest.approx(expected, abs=1e-12)
    assert sorted(network.edges()) == [(0, 1), (0, 2), (1, 3), (2, 3)]
    save_model(network, tmp_path / "wet.bn")
    again = ll(load_model(tmp_path / "wet.bn"), merge_rows(all_states(4)))
    assert np.exp(again.per_row) == pytest.approx(expected, abs=1e-12)


def test_the_last_variable_of_a_table_changes_fastest(tmp_path):
    """The order of the format: P(a | b, c) with a slowest and c fastest."""
    head = "".join(f"variable {v} {{ type discrete [2] {{ 0, 1 }}; }}\n" for v in "abc")
    priors = "probability (b) { table .5, .5; }\nprobability (c) { table .5, .5; }\n"
    path = tmp_path / "abc.bif"
    path.write_text(
        head + priors + "probability (a | c, b) { table .9, .8, .7, .6, .1, .2, .3, .4; }\n"
    )
    found = np.exp(ll(load_model(path), merge_rows(all_states(3))).per_row)
    given = {(0, 0): 0.1, (0, 1): 0.2, (1, 0): 0.3, (1, 1): 0.4}  # by (c, b)
    expected = [0.25 * chance(given[c, b], a) for a, b, c in all_states(3).tolist()]
    assert found == pytest.approx(expected, abs=1e-12)


def same_after(network, path, states):
    save_model(network, path)
    again = load_model(path)
    found, expected = (ll(m, merge_rows(states)).per_row for m in (again, network))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    return again


def test_names_of_several_words_come_back(tmp_path):
    path = tmp_path / "wet.bif"
    path.write_text(WET.replace("Cloudy", '"Cloudy sky"'))
    network = load_model(path)
    assert network.schema[1].states == ("off", "on")
    again = same_after(network, tmp_path / "again.bif", all_states(4))
    assert again.schema == network.schema
    circuit = same_after(compile_network(network), tmp_path / "c.ac", all_states(4))
    assert circuit.schema == network.schema


@pytest.mark.parametrize("name", ['c"', "two\nlines", "{"])
def test_a_name_that_the_form_cannot_hold(tmp_path, name):
    (tmp_path / "wet.bif").write_text(WET)
    network = load_model(tmp_path / "wet.bif")
    network = dataclasses.replace(network, schema=network.schema.rename(("a", "b", name, "d")))
    with pytest.raises(InputError, match="cannot be written to a"):
        save_model(network, tmp_path / "again.bif")


# Declarations of one variable, and of two.
ONE = "variable a { type discrete [2] { x, y }; }\n"
TWO = ONE + "variable b { type discrete [2] { x, y }; }\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\n// none\n", ": expected variables, found none."),
        (ONE, ": variable a has no probabilities."),
        ("x", ", line 1: expected network, variable or probability, got 'x'."),
        ("network a ;", ", line 1: expected the name of the network, got ';'."),
        ("network a {\n", ": ends too early, expected }."),
        ("variable\n; {", ", line 2: expected the name of a variable, got ';'."),
        ("variable a {\n x }", ", line 2: expected type or property, got 'x'."),
        ("variable a { }", ", line 1: expected the type of a, got '}'."),
        ("variable a { type real", ", line 1: expected discrete, got 'real'."),
        ("variable a { type discrete [ {", ", line 1: expected the number of states, got '{'."),
        ("variable a {\ntype discrete [2] { [", ", line 2: expected the names of states, got '['."),
        ("variable a { type discrete [2] { x, y } }", ", line 1: expected ;, got '}'."),
        ("variable a { type discrete [0] { };", ", line 1: expected as many different states "
                                                "of a as are named, got '0'."),
        ("variable a { type discrete [2] { x, x };", ", line 1: expected as many different states "
                                                     "of a as are named, got '2'."),
        (ONE + ONE, ", line 2: expected a variable that is not declared yet, got 'a'."),
        (ONE + "probability a", ", line 2: expected (, got 'a'."),
        (ONE + "probability (a | c)", ", line 2: expected a variable that is declared, got 'c'."),
        (ONE + "probability (a) { table 1, 0; }\nprobability (a)", ", line 3: expected one CPD of "
                                                                 "each variable, got 'a'."),
        (TWO + "probability (a | b) { (x) 1, 0; }", ", line 3: expected probabilities of a given "
                                                   "b=y, found none."),
        (ONE + "probability ( )", ", line 2: expected the name of a variable, got ')'."),
        (ONE + "probability (a a) {", ", line 2: expected different variables, got 'a'."),
        (ONE + "probability (a | | a)", ", line 2: expected parents, got '|'."),
        (TWO + "probability (a | b, b) {", ", line 3: expected different variables, got 'a'."),
        (ONE + "probability (a) { x", ", line 2: expected table, default or the states of the "
                                      "parents, got 'x'."),
        (ONE + "probability (a) { table 1.5, 0;", ", line 2: expected a probability, got '1.5'."),
        (ONE + "probability (a) { table nan, 0;", ", line 2: expected a probability, got 'nan'; "
         "R's bnlearn writes it for states of the parents that its data lack; write numbers, such "
         "as 0.5 for each state."),
        (ONE + "probability (a) { table 0_1, 1;", ", line 2: expected a probability, got '0_1'."),
        (ONE + "probability (a) { table 0,4 0,6;", ", line 2: decimal commas are not read; write "
                                                   "0.4 for 0,4."),
        (ONE + "probability (a) { table 1, 0;\ntable 0, 1;", ", line 3: a has probabilities before "
                                                             "this table."),
        (ONE + "probability (a) { default 1, 0;\ndefault 0, 1;", ", line 3: a has a second "
                                                                 "default."),
        (TWO + "probability (a | b) { (x) 1, 0;\n(y) 0, 1;\n(x) 1, 0;", ", line 5: the row (x) of "
                                                                       "a is there twice."),
        (TWO + "probability (a | b) { (x) 1, 0;\n(y) 0.2, 0.7;", ", line 4: expected probabilities "
                                                                "of a that add up to 1, got 0.9."),
        (TWO + "probability (a | b) { table .1 .1 .9 .8;", ", line 3: expected probabilities of a "
                                                          "given b=y that add up to 1, got 0.9."),
        (ONE + "probability (a) { table .5, {", ", line 2: expected probabilities, got '{'."),
        (ONE + "probability (a) { table 1,\n0, 0\n;", ", line 4: expected 2 probabilities, not 3."),
        (ONE + "probability (a) { default .5;", ", line 2: expected 2 probabilities, not 1."),
        (TWO + "probability (a | b) { (x, y)", ", line 3: expected 1 states of parents, got '('."),
        (TWO + "probability (a | b) { (z)", ", line 3: expected x or y, got 'z'."),
        (TWO + "probability (a | b) { ((", ", line 3: expected states of the parents, got '('."),
        ('network\n"a', ", line 2: a quotation mark is not closed."),
    ],
)  # fmt: skip
def test_sentences_on_malformed_files(tmp_path, text, sentence):
    path = tmp_path / "a.bif"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_model(path)
    assert str(caught.value) == f"{path}{sentence}"


@pytest.mark.parametrize(
    ("printed", "fits"),
    [
        *(("0.5 0.5009", True), ("0.5 0.4991", True), ("0.5 0.5011", False), ("0.5 0.4", False)),
        *((" ".join([third] * 3), True) for third in ("0.33", "0.333", "0.3333333")),
    ],
)
def test_printed_probabilities_may_be_rounded(tmp_path, printed, fits):
    path, n = tmp_path / "a.bif", len(printed.split())
    path.write_text(
        f"variable a {{ type discrete [{n}] {{ {', '.join('xyz'[:n])} }}; }}\n"
        f"probability (a) {{ table {printed}; }}\n"
    )
    if fits:
        np.testing.assert_allclose(load_model(path).table(0).prob, np.full(n, 1 / n), atol=1e-3)
    else:
        with pytest.raises(InputError, match="expected probabilities of a that add up to 1, got"):
            load_model(path)


def test_as_many_parents_and_cells_as_are_read(tmp_path):
    path = tmp_path / "a.bif"
    declared = "".join(f"variable v{v} {ONE[len('variable a ') :]}" for v in range(22))
    wide = "variable w { type discrete [3] { x, y, z }; }\n"
    parents = [f"v{v}" for v in range(21)]
    for own, given, sentence in (
        ("v21", parents[:20], "line 24: expected 2097152 probabilities, not 1"),
        ("v21", parents, "line 24: expected at most 20 parents, got 'v21'"),
        ("w", parents[:20], "line 24: expected at most 2097152 probabilities of one variable"),
    ):
        path.write_text(
            f"{declared}{wide}probability ({own} | {', '.join(given)}) {{ table 1; }}\n"
        )
        with pytest.raises(InputError, match=sentence):
            load_model(path)


def test_defaults_fill_only_what_is_not_listed(tmp_path):
    path = tmp_path / "a.bif"
    path.write_text(
        TWO + "probability (b) { default .25, .75; }\n"
        "probability (a | b) { property p; (y) .1, .9; property q; default .3, .7; }\n"
    )
    found = np.exp(ll(load_model(path), merge_rows(all_states(2))).per_row)
    # P(a | b) P(b) by (a, b).
    assert found == pytest.approx([0.3 * 0.25, 0.1 * 0.75, 0.7 * 0.25, 0.9 * 0.75], abs=1e-12)


def test_states_that_are_numbers_signs_or_several_words(tmp_path):
    path = tmp_path / "a.bif"
    path.write_text(
        "variable a { type discrete [ 4 ] { <4, >=7.5, Asy/Patch, in use }; } // four\n"
        "variable b { type discrete [ 3 ] { 0, 1,// glued to it\n 12/* too */ }; }\n"
        "variable c { type discrete [ 1 ] { not known }; }\n"
        'variable d { type discrete [ 2 ] { "x, y" "//" }; }\n'
        "probability (a | d, c) { (x, y, not known) .1 .2 .3 .4;\n"
        '("//", not known) .4, .3, .2, .1; }\n'
        "probability (b | a) { (<4) .2, .3, .5; (in use) 0, 0, 1; default 1, 0, 0; }\n"
        "probability (c) { table 1; }\nprobability (d) { table 0.25 0.75; }\n".replace(
            "(x, y,", '("x, y",'
        )
    )
    network = load_model(path)
    assert [variable.states for variable in network.schema] == [
        ("<4", ">=7.5", "Asy/Patch", "in use"), (0, 1, 12), ("not known",), ("x, y", "//"),
    ]  # fmt: skip
    assert network.table(0).parents == (3, 2)
    np.testing.assert_array_equal(network.table(0).prob[1, 0], [0.4, 0.3, 0.2, 0.1])
    np.testing.assert_array_equal(network.table(1).prob[3], [0, 0, 1])
    save_model(network, tmp_path / "b.bif")
    again = load_model(tmp_path / "b.bif")
    assert again.schema == network.schema
    for v in range(4):
        np.testing.assert_array_equal(again.table(v).prob, network.table(v).prob)


def test_dialects(tmp_path):
    """Keywords in capitals, blocks in any order, no name of the network, JavaBayes' heads."""
    path = tmp_path / "wet.bif"
    path.write_text(WET)
    expected = load_model(path)
    blocks = WET.split("/* tables and\n   entries */\n")[1]
    text = WET.replace(blocks, "").replace("network", blocks + "NETWORK", 1)
    for word in ("variable", "type", "discrete", "probability", "table", "default", "property"):
        text = text.replace(f"{word} ", f"{word.upper()} ")
    text = text.replace('"wet grass"', "").replace(
        "( Wet | Sprinkler, Rain )", "(Wet Sprinkler Rain)"
    )
    text = text.replace("author = nobody", "url = http://a.b/c")
    for content in (text.encode("utf-8-sig"), text.encode("utf-16"), text.encode("utf-32")):
        path.write_bytes(content)
        found = load_model(path)
        assert found.schema == expected.schema
        for v in range(4):
            np.testing.assert_array_equal(found.table(v).prob, expected.table(v).prob)


XML = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ANY> ]>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>a b</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE><NAME>c</NAME><OUTCOME>0</OUTCOME><OUTCOME>1</OUTCOME><OUTCOME>2</OUTCOME>
<PROPERTY>p</PROPERTY></VARIABLE>
<DEFINITION><FOR>c</FOR><GIVEN>a b</GIVEN>
<TABLE>0.1 0.2 0.7 <!-- given x --> 0.33 0.33 0.33</TABLE></DEFINITION>
<DEFINITION><FOR>a b</FOR><TABLE>0.4, 0.6</TABLE></DEFINITION>
</NETWORK></BIF>
"""


@pytest.mark.parametrize("name", ["a.xml", "a.xmlbif", "a.bifxml.gz", "a.bif"])
@pytest.mark.parametrize("begin", ["<BIF", '<BIF xmlns="http://x.org/XMLBIFv0_3"'])
def test_xml(tmp_path, name, begin):
    text = XML.replace("<BIF", begin)
    write_text(tmp_path / name, text.replace("GIVEN", "given") if begin == "<BIF" else text)
    network = load_model(tmp_path / name)
    assert [(v.name, v.states) for v in network.schema] == [("a b", ("x", "y")), ("c", (0, 1, 2))]
    np.testing.assert_allclose(network.table(1).prob, [[0.1, 0.2, 0.7], [1 / 3] * 3])
    assert network.table(1).parents == (0,)
    np.testing.assert_array_equal(network.table(0).prob, [0.4, 0.6])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<BIF", "<XIF", "is not XML: mismatched tag"),
        ("VARIABLE", "NODE", "expected XMLBIF, which has VARIABLE and DEFINITION in BIF; other"),
        ("<NAME>c", "<NAME>a b", "two variables are called 'a b'"),
        ('"nature"', '"utility"', "expected variables of nature, a b is one of utility"),
        ("<FOR>c", "<FOR>d", "'d' is no variable; there are a b, c"),
        ("<GIVEN>a b", "<GIVEN>c", "c: expected different variables"),
        ("<FOR>a b", "<FOR>c", "expected 3 probabilities, not 2"),
        ("0.4, 0.6", "0.4", "a b: expected 2 probabilities, not 1"),
        ("0.4, 0.6", "0.4, x", "a b: expected a probability, got 'x'"),
        ("0.1 0.2", "0.1 0.1", "expected probabilities of c given a b=x that add up to 1, got 0.9"),
        ("<DEFINITION><FOR>a b</FOR><TABLE>0.4, 0.6</TABLE></DEFINITION>", "", "a b has no DEFIN"),
        ("<FOR>c", "<FOR>a b</FOR><TABLE>1 0</TABLE></DEFINITION><DEFINITION><FOR>c", "a second"),
    ],
)
def test_what_is_wrong_in_xml(tmp_path, old, new, message):
    path = tmp_path / "a.xml"
    path.write_text(XML.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_model(path)


@pytest.mark.parametrize("state", ["property", "real.property", "no property"])
def test_a_state_may_be_called_property(tmp_path, state):
    table = pd.DataFrame({"assets": ["car", state, "none"] * 4, "good": ["no", "yes"] * 6})
    model = mn.ChowLiu().fit(table).model_
    save_model(model, tmp_path / "p.bif")
    assert load_model(tmp_path / "p.bif").schema == model.schema
