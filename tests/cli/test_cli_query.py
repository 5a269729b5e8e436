"""`mnlearn query` and `sample`: what they write, print and refuse."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import mean, numbers, refuse, succeed
from made_random import random_data, random_dependency_network, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.data.examples import load_dataset
from mnlearn.data.text import save_text
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.variables.schema import binary_schema

pytestmark = pytest.mark.usefixtures("folder")


def test_query_prints_and_writes_the_same():
    line = "query m.npz --evidence evidence --samples 4000"
    result = succeed(line)
    assert result.stderr == ""
    assert succeed(f"{line} --out q.csv").stdout == ""
    assert Path("q.csv").read_text(encoding="utf-8") == result.stdout
    first, second, third, fourth = (x.split(",") for x in result.stdout.splitlines())
    assert first == fourth
    assert first[1:] == list("01010")
    assert second == list("001010")
    assert third[2:5] == list("101")
    exact = succeed("query m.npz --evidence evidence --inference exact").stdout
    for a, b in zip(result.stdout.splitlines(), exact.splitlines(), strict=True):
        np.testing.assert_allclose(
            np.array(a.split(","), float), np.array(b.split(","), float), atol=0.05
        )


def test_query_without_evidence_prints_all_marginals():
    """The same as `model.query()`, and as a row of evidence in which nothing is known."""
    result = succeed("query m.npz --inference exact")
    assert result.stderr == ""
    lines = [line.split(",") for line in result.stdout.splitlines()]
    assert lines[0] == ["variable", "state", "probability"]
    model = mn.load("m.npz")
    expected = [
        [label, state, f"{abs(1 - int(state) - p):.6f}"]
        for label, p in zip(model.labels, model.query(inference="exact"), strict=True)
        for state in "01"
    ]
    assert lines[1:] == expected
    Path("nothing").write_text(",".join("*" * model.n_vars) + "\n", encoding="utf-8")
    row = succeed("query m.npz --evidence nothing --inference exact").stdout.splitlines()[-1]
    assert row.split(",") == [p for _, state, p in lines[1:] if state == "1"]
    succeed("query m.npz --inference exact --out q.csv")
    assert Path("q.csv").read_text(encoding="utf-8") == result.stdout


def test_query_without_evidence_explains_and_samples():
    Path("one.bif").write_text(
        "network n {} variable b { type discrete [ 3 ] { low, mid, high }; } "
        "variable a { type discrete [ 2 ] { yes, no }; } "
        "probability ( b ) { table 0.3, 0.2, 0.5; } probability ( a ) { table 0.6, 0.4; }",
        encoding="utf-8",
    )
    assert succeed("query one.bif").stdout.splitlines()[1:] == [
        "b,low,0.300000", "b,mid,0.200000", "b,high,0.500000", "a,yes,0.600000", "a,no,0.400000",
    ]  # fmt: skip
    assert succeed("query one.bif --most-probable").stdout.splitlines()[1:] == ["b,high", "a,yes"]
    sampled = succeed("query m.npz --inference gibbs --samples 4000").stdout.splitlines()
    exact = succeed("query m.npz --inference exact").stdout.splitlines()
    for a, b in zip(sampled[1:], exact[1:], strict=True):
        assert float(a.rpartition(",")[2]) == pytest.approx(float(b.rpartition(",")[2]), abs=0.05)


def test_query_prints_the_most_probable_states():
    Path("two.bif").write_text(
        "network n {} variable a { type discrete [ 2 ] { yes, no }; } "
        "variable b { type discrete [ 3 ] { low, mid, high }; } "
        "probability ( a ) { table 0.6, 0.4; } "
        "probability ( b | a ) { (yes) 0.3, 0.3, 0.4; (no) 0.9, 0.1, 0.0; }",
        encoding="utf-8",
    )
    # The best value of each variable alone is a=yes and b=low.
    for line, expected in (
        ("b=mid", [("a", "yes")]),
        ("a=no", [("b", "low")]),
        ("a=yes", [("b", "high")]),
    ):
        out = succeed(f"query two.bif --evidence {line} --most-probable").stdout
        assert list(csv.reader(out.splitlines()))[1:] == [list(row) for row in expected]
    Path("asked.csv").write_text("a,b\n*,*\nyes,*\n*,mid\n", encoding="utf-8")
    succeed("query two.bif --evidence asked.csv --most-probable --out states.csv")
    assert Path("states.csv").read_text(encoding="utf-8") == "a,b\nno,low\nyes,high\nyes,mid\n"
    line = "query two.bif --evidence asked.csv --most-probable"
    refuse(f"{line} --inference bp", "--inference: is not read with --most-probable")
    Path("asked.csv").write_text("a,b\n*,*\nno,high\n", encoding="utf-8")
    refuse(line, "asked.csv, line 3: has probability 0")
    refuse("query dn.npz --evidence evidence --most-probable", "no joint distribution")


@pytest.mark.parametrize("method", ["bp", "mcsat"])
def test_query_by_other_methods(method):
    line = "query m.npz --evidence evidence --inference"
    result = succeed(f"{line} {method}")
    assert result.stderr == ""
    for a, b in zip(result.stdout.split(), succeed(f"{line} exact").stdout.split(), strict=True):
        np.testing.assert_allclose(
            np.array(a.split(","), float), np.array(b.split(","), float), atol=0.05
        )


def test_query_is_exact_where_that_is_quick():
    """Few unknown variables are enumerated; a network that is narrow is compiled."""
    line = "query m.npz --evidence evidence"
    assert succeed(line).stdout == succeed(f"{line} --inference exact").stdout
    chain = [(v, 1, v + 1, 1) for v in range(24)]
    features = features_of([[(u, a), (v, b)] for u, a, v, b in chain])
    save_model(markov_network(25, features, np.linspace(-1, 1, 24)), "chain.npz")
    succeed("convert chain.npz chain.ac")
    result = succeed("query chain.npz --evidence V3=1")
    assert result.stdout == succeed("query chain.ac --evidence V3=1").stdout
    assert result.stderr == ""
    assert mn.load("chain.npz").query({3: 1}).attrs["inference"] == "exact"


def test_query_says_that_it_samples():
    model = random_dependency_network(0, n_vars=14)
    save_model(model, "wide.npz")
    line = "query wide.npz --evidence V0=1"
    result = succeed(f"{line} --samples 500 --seed 3")
    assert result.stderr.splitlines() == [
        "wide.npz: an exact answer would take too long, so the probabilities are estimated from "
        "500 Gibbs samples; --samples takes more, --seed others, and --inference another method."
    ]
    gibbs = succeed(f"{line} --samples 500 --seed 3 --inference gibbs")
    assert (gibbs.stdout, gibbs.stderr) == (result.stdout, "")
    # 12 unknown variables are enumerated.
    assert succeed(f"{line},V1=0").stderr == ""


NETWORK = """network n { }
variable x { type discrete [ 2 ] { no, yes }; }
variable y { type discrete [ 2 ] { no, yes }; }
probability ( x ) { table 1.0, 0.0; }
probability ( y | x ) { (no) 0.3, 0.7; (yes) 0.5, 0.5; }
"""


@pytest.mark.parametrize("model", ["zero.bif", "zero.ac"])
def test_evidence_of_probability_0_is_named_by_its_line(model):
    Path("zero.bif").write_text(NETWORK, encoding="utf-8")
    succeed("convert zero.bif zero.ac")
    rows = "*,1\nyes,*\n"
    for text, line in ((rows, 2), (f"x,y\n{rows}", 3)):
        Path("e.csv").write_text(text, encoding="utf-8")
        refuse(f"query {model} --evidence e.csv", f"e.csv, line {line}: has probability 0.")
    refuse(f"query {model} --evidence x=yes", "--evidence: has probability 0.")


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        ("''", "--evidence: has no text; expected a file of evidence, or variable=state such as "
               "a=0."),
        ("a", "a: no such file; expected a file of evidence, or variable=state such as a=0."),
        ("a=", "--evidence, variable 'a': expected one of 0, 1, got nothing."),
        ("=1", "--evidence: expected variable=state, got '=1'."),
        ("a=1,", "--evidence: expected variable=state, got nothing."),
        ("a=1,,b=0", "--evidence: expected variable=state, got nothing."),
        ("a=1,5", "--evidence: expected variable=state, got '5'; an item with a comma in it needs "
                  "quotes around it."),
        (f"a={'1' * 3000}", f"expected one of 0, 1, got '{'1' * 3000}'."),
    ],
)  # fmt: skip
def test_evidence_that_is_none(evidence, sentence):
    succeed("fit atomic --train named.csv --out a.npz")
    refuse(f"query a.npz --evidence {evidence}", sentence)


def test_a_state_with_a_comma_is_quoted():
    model = random_network(0)
    states = (("no", "yes, often"), *(("0", "1"),) * 5)
    save_model(replace(compile_network(model), states=states), "a.npz")
    found = succeed("""query a.npz --evidence '"V0=yes, often",V1=0'""").stdout
    assert found == succeed("query a.npz --evidence V0=1,V1=0").stdout


def test_query_is_the_ratio_of_likelihoods():
    Path("zero.data").write_text("0,0,1,0,1,0\n", encoding="utf-8")
    Path("one.data").write_text("1,0,1,0,1,0\n", encoding="utf-8")
    odds = mean("m.npz one.data --metric ll") - mean("m.npz zero.data --metric ll")
    text = succeed("query m.npz --evidence evidence --inference exact").stdout
    found = float(text.partition(",")[0])
    assert found == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-6)


def test_query_of_a_named_model_has_a_header():
    succeed("fit atomic --train named.csv --out a.npz")
    Path("e.csv").write_text("a,b,c,d,e,f\n*,0,1,0,1,0\n", encoding="utf-8")
    lines = succeed("query a.npz --evidence e.csv").stdout.splitlines()
    assert lines[0] == "a,b,c,d,e,f"
    assert len(lines) == 2


def test_query_quotes_names():
    names = ("x,1", "b", "c", "d", "e", "f")
    data = random_data(0)
    save_text(merge_rows(data.rows[data.row_of], schema=binary_schema(names)), "q.csv")
    succeed("fit atomic --train q.csv --out a.npz")
    lines = list(csv.reader(succeed("query a.npz --evidence evidence").stdout.splitlines()))
    assert tuple(lines[0]) == names


def test_query_takes_an_empty_last_line():
    assert len(succeed("query m.npz --evidence evidence_gap").stdout.splitlines()) == 1


def test_query_finds_columns_by_name():
    succeed("fit chow_liu --train named.csv --out a.npz")
    Path("ordered.csv").write_text("a,b,c,d,e,f\n0,*,1,0,1,0\n", encoding="utf-8")
    for content in ("b,a,c,d,e,f\n*,0,1,0,1,0\n", "f,e,d,c,a\nno,yes,0,1.0,0\n"):
        Path("e.csv").write_text(content, encoding="utf-8")
        found = succeed("query a.npz --evidence e.csv").stdout
        assert found == succeed("query a.npz --evidence ordered.csv").stdout
    Path("e.csv").write_text("b,a,c,d,e,g\n*,0,1,0,1,0\n", encoding="utf-8")
    refuse("query a.npz --evidence e.csv", "e.csv, line 1: there is no variable 'g'")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("query no.npz --evidence evidence", "no.npz: no such file"),
        ("query m.npz --evidence no", "no: no such file"),
        ("query m.npz --evidence empty", "empty: holds no evidence"),
        ("query m.npz --evidence evidence5", "evidence5, line 1: expected 6 values"),
        ("query m.npz --evidence evidence3", "evidence3, line 2"),
        ("query m.npz --evidence binary.csv", "binary.csv: is not a text file"),
        ("query m.npz --evidence evidence --samples 0", "--samples"),
        ("query m.npz --evidence evidence --burn-in -1", "--burn-in"),
        ("query m.npz --evidence evidence --out file/q.csv", "file/q.csv: cannot be written"),
        ("query m.npz --evidence evidence_first", "evidence_first, line 1"),
    ],
)
def test_query_refuses(line, names):
    refuse(line, names)


@pytest.mark.parametrize("model", ["m.npz", "m.mn", "dn.npz"])
def test_sample(model):
    for out, more in (("1", "--threads 1"), ("2", "--threads 2"), ("3", "--seed 21")):
        result = succeed(f"sample {model} --rows 500 --out {out}.data --burn-in 50 {more}")
        assert result.stdout == ""
    assert Path("1.data").read_bytes() == Path("2.data").read_bytes()
    assert Path("1.data").read_bytes() != Path("3.data").read_bytes()
    data = load_dataset("1.data")
    assert (len(data.row_of), data.n_vars) == (500, 6)


def test_burn_in_is_the_sweeps_before_an_example():
    """Each variable is like the one before it, but not where the chains begin."""
    pairs = features_of([[(v, x), (v + 1, x)] for v in range(23) for x in (0, 1)])
    save_model(markov_network(24, pairs, np.full(len(pairs), 1.5)), "chain.npz")
    model, alike = mn.load("chain.npz"), {}
    for burn_in in (0, 100):
        succeed(f"sample chain.npz --rows 200 --out s.data --seed 3 --burn-in {burn_in}")
        data = load_dataset("s.data")
        rows = data.rows[data.row_of]
        expected = model.sample(200, random_state=3, burn_in=burn_in)
        np.testing.assert_array_equal(rows, expected)
        alike[burn_in] = (rows[:, 1:] == rows[:, :-1]).mean()
    # The share in the network is 1 / (1 + exp(-1.5)) = 0.818.
    assert alike[0] < 0.7
    assert alike[100] == pytest.approx(0.818, abs=0.03)


def test_samples_have_the_names_of_states():
    """They are read again, in any order of columns, and score as their values do."""
    Path("x.bif").write_text(
        "network x {}\nvariable rain { type discrete [ 2 ] { yes, no }; }\n"
        "variable mood { type discrete [ 3 ] { low, fair, high }; }\n"
        "probability ( rain ) { table 0.2, 0.8; }\n"
        "probability ( mood | rain ) { (yes) 0.5, 0.3, 0.2; (no) 0.1, 0.2, 0.7; }\n",
        encoding="utf-8",
    )
    succeed("sample x.bif --rows 200 --out values.csv")
    succeed("sample x.bif --rows 200 --out states.csv --states")
    named = pd.read_csv("states.csv")
    assert set(named["mood"]) == {"low", "fair", "high"}
    assert mean("x.bif states.csv --metric ll") == mean("x.bif values.csv --metric ll")
    named[["mood", "rain"]].to_csv("turned.csv")
    assert mean("x.bif turned.csv --metric ll") == mean("x.bif values.csv --metric ll")
    refuse("sample m.npz --rows 5 --out a.npz --states", "a.npz: expected a text file")
    Path("y.bif").write_text(
        "network y {}\nvariable rain { type discrete [ 2 ] { 1, 0 }; }\n"
        "probability ( rain ) { table 0.2, 0.8; }\n",
        encoding="utf-8",
    )
    refuse("sample y.bif --rows 5 --out a.csv", "0 and 1 do not say which state of 'rain' is meant")
    succeed("sample y.bif --rows 200 --out digits.csv --states")
    share = (pd.read_csv("digits.csv")["rain"] == 1).mean()
    expected = share * np.log(0.2) + (1 - share) * np.log(0.8)
    assert mean("y.bif digits.csv --metric ll") == pytest.approx(expected)


def test_states_that_are_called_yes_and_no():
    """The probability is that of the second state, which is no; 1 is no name of a state."""
    Path("z.bif").write_text(
        "network z {}\nvariable rain { type discrete [ 2 ] { yes, no }; }\n"
        "variable wet { type discrete [ 2 ] { yes, no }; }\n"
        "probability ( rain ) { table 0.2, 0.8; }\n"
        "probability ( wet | rain ) { (yes) 0.9, 0.1; (no) 0.3, 0.7; }\n",
        encoding="utf-8",
    )
    Path("e.csv").write_text("rain\nyes\n", encoding="utf-8")
    lines = succeed("query z.bif --evidence e.csv").stdout.splitlines()
    assert lines == ["rain=no,wet=no", "0,0.100000"]
    refuse("query z.bif --evidence rain=1", "variable 'rain': expected one of yes, no, got '1'")
    Path("e.csv").write_text("rain\n1\n", encoding="utf-8")
    refuse("query z.bif --evidence e.csv", "e.csv, line 2: expected yes, no or *, got '1'")


def test_states_that_are_not_ruled_out_are_told():
    Path("many.bif").write_text(
        "network n { }\nvariable a { type discrete [ 3 ] { x, y, z }; }\n"
        "variable b { type discrete [ 2 ] { no, yes }; }\nprobability ( a ) { table .2, .3, .5; }\n"
        "probability ( b | a ) { (x) .9, .1; (y) .6, .4; (z) .5, .5; }\n",
        encoding="utf-8",
    )
    found = succeed("query many.bif --evidence a=x=0").stdout.splitlines()
    assert found[1:3] == ["a,y,0.375000", "a,z,0.625000"]
    assert [line.split(",")[0] for line in found[3:]] == ["b", "b"]


def test_the_name_of_a_binary_column_is_evidence_of_1():
    features = features_of([[(0, 1), (1, 1)]])
    save_model(markov_network(binary_schema(2, ("age=young", "ill")), features, [1.0]), "a.npz")
    found = succeed("query a.npz --evidence age=young").stdout
    assert found == succeed("query a.npz --evidence age=young=1").stdout
    refuse("query a.npz --evidence ill,age=young", "--evidence: expected variable=state, got 'ill'")


def test_samples_have_the_likelihood_of_their_model():
    succeed("sample m.npz --rows 5000 --out s.data.gz")
    record = numbers("score m.npz s.data.gz --metric ll --json")
    states = np.arange(64)[:, None] >> np.arange(6) & 1
    save_text(merge_rows(states), "all.data")
    succeed("score m.npz all.data --metric ll --per-example p.csv")
    log_p = pd.read_csv("p.csv")["ll"].to_numpy()
    assert np.exp(log_p).sum() == pytest.approx(1)
    expected = float(np.exp(log_p) @ log_p)
    assert record["mean"] == pytest.approx(expected, abs=5 * record["standard_error"])


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("sample no.npz --rows 5 --out s.data", "no.npz: no such file"),
        ("sample d.npz --rows 5 --out s.data", "d.npz: expected a model"),
        ("sample m.npz --rows 5 --out file/s.data", "file/s.data: cannot be written"),
        ("sample m.npz --rows 5 --out s.npz", "s.npz"),
        ("sample dn.npz --rows 5 --out s.data --burn-in -3", "--burn-in"),
    ],
)
def test_sample_refuses(line, names):
    refuse(line, names)


def test_a_state_is_the_same_evidence_in_words_and_in_a_table():
    """The columns of the other states are then 0, in both."""
    names = ("age=young", "age=old", "ill")
    features = features_of([[(0, 1)], [(0, 1), (2, 1)], [(1, 1), (2, 1)]])
    save_model(markov_network(binary_schema(3, names), features, [0.5, 1.0, -2.0]), "a.npz")
    Path("e.csv").write_text("age,ill\nyoung,*\n", encoding="utf-8")
    by_table = succeed("query a.npz --evidence e.csv").stdout.splitlines()[1].split(",")[2]
    for text in ("age=young", '"age=young=1,age=old=0"'):
        in_words = succeed(f"query a.npz --evidence {text}").stdout
        assert f"ill,1,{by_table}" in in_words
    apart = succeed("query a.npz --evidence age=young=1").stdout
    assert f"ill,1,{by_table}" not in apart
