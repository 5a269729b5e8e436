"""`mnlearn query` and `sample`: what they write, print and refuse."""

import csv
import re
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import mean, numbers, refuse, run, succeed
from made_random import random_dependency_network, random_network
from mnlearn.data.examples import load_dataset
from mnlearn.inference import forms, queries
from mnlearn.models.features import features_of
from mnlearn.models.io.formats import save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.files import read_text, write_text
from mnlearn.runtime.memory import limit_memory
from mnlearn.variables.schema import Schema, Variable

pytestmark = pytest.mark.usefixtures("folder")


def answers(line):
    """What a query prints: the probability of each (row, variable, state)."""
    header, *lines = csv.reader(succeed(line).stdout.splitlines())
    place = header.index("probability")
    assert header[place - 2 : place] == ["variable", "state"]
    return {tuple(line[:place]): float(line[place]) for line in lines}


def test_query_prints_and_writes_the_same():
    line = "query m.npz --evidence evidence --samples 4000"
    result = succeed(line)
    assert "--samples: not used, because the answer is exact." in result.stderr
    assert succeed(f"{line} --out q.csv").stdout == ""
    assert Path("q.csv").read_text(encoding="utf-8") == result.stdout
    found, exact = answers(line), answers("query m.npz --evidence evidence --inference exact")
    assert found.keys() == exact.keys()
    # Rows 1 and 4 ask for V0, row 2 for nothing, and row 3 for V0, V1 and V5.
    asked = [("1", "V0"), *(("3", f"V{v}") for v in (0, 1, 5)), ("4", "V0")]
    assert [key[:2] for key in found if key[2] == "1"] == asked
    np.testing.assert_allclose(list(found.values()), list(exact.values()), atol=0.05)
    for row, name in asked:
        assert found[row, name, "0"] + found[row, name, "1"] == pytest.approx(1, abs=2e-6)
    assert found["1", "V0", "1"] == found["4", "V0", "1"]


def test_query_without_evidence_prints_all_marginals():
    """The same as `model.query()`, and as a row of evidence in which nothing is known."""
    result = succeed("query m.npz --inference exact")
    assert result.stderr == ""
    lines = [line.split(",") for line in result.stdout.splitlines()]
    assert lines[0] == ["variable", "state", "probability"]
    model = mn.load("m.npz")
    expected = [
        [name, str(state), f"{p:.6f}"]
        for (name, state), p in model.query(inference="exact").items()
    ]
    assert lines[1:] == expected
    Path("nothing").write_text(",".join("*" * model.n_vars) + "\n", encoding="utf-8")
    rows = answers("query m.npz --evidence nothing --inference exact")
    assert rows == {("1", name, state): float(p) for name, state, p in expected}
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
    assert sampled[0] == "variable,state,probability,error,converged"
    for a, b in zip(sampled[1:], exact[1:], strict=True):
        _, _, p, error, converged = a.split(",")
        assert abs(float(p) - float(b.rpartition(",")[2])) < 5 * float(error) < 0.2
        assert converged == "yes"


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
    found, exact = answers(f"{line} {method}"), answers(f"{line} exact")
    known = "" if method == "mcsat" else ", whose error is not known"
    said = f"m.npz: the probabilities are estimates by {method}{known}."
    assert succeed(f"{line} {method}").stderr.splitlines() == [said]
    np.testing.assert_allclose(list(found.values()), list(exact.values()), atol=0.05)


def test_query_says_that_it_samples():
    model = random_dependency_network(0, n_vars=14)
    save_model(model, "wide.npz")
    line = "query wide.npz --evidence V0=1"
    result = succeed(f"{line} --samples 500 --seed 3")
    assert result.stderr.splitlines() == [
        "wide.npz: a dependency network has no joint distribution, so the probabilities are "
        "estimates by gibbs."
    ]
    gibbs = succeed(f"{line} --samples 500 --seed 3 --inference gibbs")
    assert gibbs.stdout == result.stdout
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
        ("a=", "--evidence, variable 'a': expected '0' or '1', got nothing."),
        ("=1", "--evidence: expected variable=state, got '=1'."),
        ("a=1,", "--evidence: expected variable=state, got nothing."),
        ("a=1,,b=0", "--evidence: expected variable=state, got nothing."),
        ("a=1,5", "--evidence: expected variable=state, got '5'; an item with a comma in it needs "
                  "quotes around it."),
        (f"a={'1' * 3000}", "expected '0' or '1', got '111"),
    ],
)  # fmt: skip
def test_evidence_that_is_none(evidence, sentence):
    succeed("fit atomic --train named.csv --out a.npz")
    refuse(f"query a.npz --evidence {evidence}", sentence)


def test_a_state_with_a_comma_is_quoted():
    model = random_network(0)
    variables = (Variable("a,b", ("no", "yes, often")), *model.schema.variables[1:])
    save_model(replace(model, schema=Schema(variables)), "a.npz")
    found = answers("""query a.npz --evidence '"a,b=yes, often",V1=0'""")
    expected = mn.load("a.npz").query({"a,b": "yes, often", "V1": 0})
    np.testing.assert_allclose(list(found.values()), expected, atol=1e-6)
    lines = succeed("query a.npz --evidence V1=0").stdout.splitlines()
    assert lines[2].startswith('"a,b","yes, often",')


def test_query_takes_an_empty_last_line():
    assert len(answers("query m.npz --evidence evidence_gap")) == 2


def test_query_finds_columns_by_name():
    succeed("fit chow_liu --train named.csv --out a.npz")
    Path("ordered.csv").write_text("a,b,c,d,e,f\n0,*,1,0,1,0\n", encoding="utf-8")
    for content in ("b,a,c,d,e,f\n*,0,1,0,1,0\n", "f,e,d,c,a\nno,yes,0,1.0,0\n"):
        Path("e.csv").write_text(content, encoding="utf-8")
        found = succeed("query a.npz --evidence e.csv").stdout
        assert found == succeed("query a.npz --evidence ordered.csv").stdout
    Path("e.csv").write_text("b,a,c,d,e,g\n*,0,1,0,1,0\n", encoding="utf-8")
    refuse("query a.npz --evidence e.csv", "e.csv, line 1: there is no variable 'g'")


def test_evidence_of_all_variables_and_of_another_form():
    said = ",".join(f"{name}=0" for name in mn.load("m.npz").schema.names)
    result = succeed(f"query m.npz --evidence {said}")
    assert result.stdout == ""
    assert "the evidence has a state for every variable" in result.stderr
    Path("e.parquet").write_bytes(b"PAR1" + bytes(8))
    refuse(
        "query m.npz --evidence e.parquet",
        "e.parquet: is a Parquet file, not a text file; evidence is written as CSV.",
    )


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
        line = "sample chain.npz --rows 200 --out s.data --inference gibbs"
        succeed(f"{line} --seed 3 --burn-in {burn_in}")
        data = load_dataset("s.data")
        rows = data.rows[data.row_of]
        expected = model.sample(200, inference="gibbs", random_state=3, burn_in=burn_in)
        np.testing.assert_array_equal(rows, expected)
        alike[burn_in] = (rows[:, 1:] == rows[:, :-1]).mean()
    # The share in the network is 1 / (1 + exp(-1.5)) = 0.818.
    assert alike[0] < 0.7
    assert alike[100] == pytest.approx(0.818, abs=0.03)


def test_samples_have_the_names_of_states():
    Path("x.bif").write_text(
        "network x {}\nvariable rain { type discrete [ 2 ] { yes, no }; }\n"
        "variable mood { type discrete [ 3 ] { low, fair, high }; }\n"
        "probability ( rain ) { table 0.2, 0.8; }\n"
        "probability ( mood | rain ) { (yes) 0.5, 0.3, 0.2; (no) 0.1, 0.2, 0.7; }\n",
        encoding="utf-8",
    )
    succeed("sample x.bif --rows 200 --out states.csv")
    named = pd.read_csv("states.csv")
    assert set(named["mood"]) == {"low", "fair", "high"}
    assert named.equals(mn.load("x.bif").sample(200).astype(named.dtypes))
    succeed("sample x.bif --rows 400 --evidence mood=low --out low.csv")
    low = pd.read_csv("low.csv")
    assert set(low["mood"]) == {"low"}
    assert (low["rain"] == "yes").mean() == pytest.approx(0.1 / 0.18, abs=0.1)
    score = mn.score(mn.load("x.bif"), named, "ll").mean
    assert mean("x.bif states.csv --metric ll") == pytest.approx(score)
    refuse("sample m.npz --rows 5 --out a.npz", "a.npz: expected a text file")


def test_info_lists_names_and_states():
    states = {"mood": ["low", "fair", "high"], "rain": [0, 1]}
    mn.MarkovNetwork.from_features([{"mood": "low"}], [1.0], states).save("a.npz")
    assert numbers("info a.npz --json")["states"] == {
        "mood": ["low", "fair", "high"],
        "rain": ["0", "1"],
    }
    assert "mood: low, fair, high; rain: 0, 1" in succeed("info a.npz").stdout
    assert numbers("info a.npz --json")["names"] == ["mood", "rain"]
    assert re.search("names +mood, rain\n", succeed("info a.npz").stdout)
    assert "names" not in numbers("info m.npz --json")


@pytest.mark.parametrize(
    ("fault", "sentence", "status"),
    [
        (MemoryError(), "mnlearn: there is not enough memory for this; nothing was written.", 1),
        (KeyboardInterrupt(), "mnlearn: interrupted.", 130),
        (KeyboardInterrupt(signal.SIGTERM), "mnlearn: terminated.", 143),
    ],
)
def test_what_ends_an_elimination_is_one_sentence(fault, sentence, status, monkeypatch):
    def end(*_, **__):
        raise fault

    monkeypatch.setattr(queries, "marginals", end)
    features = features_of([[(v, 1), (v + 1, 1)] for v in range(19)])
    save_model(markov_network(20, features, np.ones(19)), "long.npz")
    result = run("query long.npz --out out.csv")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (status, sentence)
    assert not Path("out.csv").exists()


def test_memory_limits_tables_and_variables_are_maximised(monkeypatch):
    features = features_of([[(u, 1), (v, 1)] for u in range(20) for v in range(u)])
    weight = np.random.default_rng(0).normal(size=len(features))
    save_model(markov_network(20, features, weight), "dense.npz")
    line = "query dense.npz --most-probable --variables V0,V3"
    found = succeed(line).stdout.splitlines()
    model = mn.load("dense.npz")
    expected = model.most_probable(variables=["V0", "V3"])
    assert found == ["variable,state", *(f"{v},{x}" for v, x in expected.items())]
    assert expected.to_dict() == dict(zip(("V0", "V3"), model.joint([0, 3]).idxmax(), strict=True))
    # Compiling takes a minute before it is given up.
    monkeypatch.setattr(forms.circuit_of, "__defaults__", (5,))
    result = run(f"{line} --memory 0.000001")
    limit_memory(None)
    assert result.exit_code == 2
    assert "an exact answer would take tables of" in result.stderr
    record = numbers("info dense.npz --json")
    assert record["query"] == "clique tree (exact)"
    assert (record["width"], record["cells"]) == (19, 2 * 2**20)


def test_no_spreadsheet_takes_names_and_states_for_formulas():
    write_text("f.csv", "=a,b\n" + "+x,0\n@y,1\n" * 6)
    succeed("fit chow_liu --train f.csv --out f.npz")
    explained = succeed("query f.npz --most-probable --evidence b=1").stdout
    assert explained == "variable,state\n'=a,'@y\n"
    write_text("e.csv", "b\n1\n")
    explained = succeed("query f.npz --most-probable --evidence e.csv").stdout
    assert explained == "'=a,b\n'@y,1\n"
    succeed("convert f.npz f.nnf")
    names = [line.split(",")[3] for line in read_text("f.nnf.csv").splitlines()]
    assert names[1:3] == ["'=a", "b"]
