"""Models of data in 1 and 2, or cut by a threshold: commands take and print these values."""

import csv
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import refuse, succeed
from mnlearn.data.coding import own_codes
from mnlearn.models.io.codes import read_codes
from mnlearn.runtime.arrays import read_arrays, write_arrays


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with tables of two dependent answers, as current folder."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 300)
    b = np.where(rng.random(300) < 0.8, a, 1 - a)
    plain = pd.DataFrame({"a": a, "b": b})
    plain.to_csv("plain.csv", index=False)
    (plain + 1).to_csv("twos.csv", index=False)
    (plain + 1).to_csv("bare.csv", index=False, header=False)
    plain.replace({0: "never", 1: "often"}).to_csv("words.csv", index=False)
    ratings = plain * 3 + rng.integers(0, 3, (300, 2))
    ratings.to_csv("ratings.csv", index=False)
    for name, options in (
        ("plain", ""), ("twos", ""), ("bare", ""), ("words", "--ones often"),
        ("ratings", "--ones >=3"),
    ):  # fmt: skip
        succeed(f"fit chow_liu --train {name}.csv {options} --out {name}.npz")


def table(line):
    text = succeed(line).stdout
    return {
        (r["variable"], r["state"]): r["probability"] for r in csv.DictReader(io.StringIO(text))
    }


def expected(value, states):
    """The answer of the model of 0 and 1."""
    plain = table(f"query plain.npz --evidence a={value}")
    return {("b", states[int(state)]): p for (_, state), p in plain.items()}


@pytest.mark.parametrize(
    ("model", "given", "states"),
    [
        ("twos", ("a=1", "a=2"), ("1", "2")),
        ("twos", ("a=1.0", "a=2.0"), ("1", "2")),
        ("words", ("a=never", "a=Often"), ("never", "often")),
        ("ratings", ("a=2", "a=3"), ("<3", ">=3")),
        ("ratings", ("a=0", "a=5"), ("<3", ">=3")),
        ("ratings", ("a=1", "a=4.5"), ("<3", ">=3")),
        ("ratings", ("a=<3", "a=>=3"), ("<3", ">=3")),
    ],
)
def test_evidence_has_the_values_of_the_data(model, given, states):
    for value, evidence in enumerate(given):
        assert table(f"query {model}.npz --evidence {evidence}") == expected(value, states)


def test_models_without_names_have_them_too():
    found = table("query bare.npz --evidence V0=2")
    assert found == {("V1", state): p for (_, state), p in expected(1, "12").items()}
    Path("bare_rows").write_text("2,*\n1,*\n", encoding="utf-8")
    Path("rows").write_text("1,*\n0,*\n", encoding="utf-8")
    bare = succeed("query bare.npz --evidence bare_rows").stdout
    assert bare.splitlines() == succeed("query plain.npz --evidence rows").stdout.splitlines()[1:]


@pytest.mark.parametrize(
    ("model", "item", "sentence"),
    [
        ("twos", "a=0", "--evidence, variable 'a': expected one of 1, 2, got '0'"),
        ("words", "a=1", "--evidence, variable 'a': expected one of never, often, got '1'"),
        ("ratings", "a=yes", "--evidence, variable 'a': expected one of <3, >=3, got 'yes'"),
    ],
)
def test_other_values_are_refused(model, item, sentence):
    refuse(f"query {model}.npz --evidence {item}", sentence)


def test_files_of_evidence_have_the_values_of_the_data():
    Path("e.csv").write_text("a\n1\n2\n", encoding="utf-8")
    Path("p.csv").write_text("a\n0\n1\n", encoding="utf-8")
    twos = succeed("query twos.npz --evidence e.csv").stdout.splitlines()
    assert twos[0] == "a=2,b=2"
    assert twos[1:] == succeed("query plain.npz --evidence p.csv").stdout.splitlines()[1:]
    Path("e.csv").write_text("a\n1\n0\n", encoding="utf-8")
    refuse("query twos.npz --evidence e.csv", "e.csv, line 3: expected 1, 2 or *, got '0'")


def test_the_most_probable_values_are_those_of_the_data():
    assert (
        succeed("query twos.npz --evidence a=2 --most-probable").stdout == "variable,state\nb,2\n"
    )
    assert "b,<3\n" in succeed("query ratings.npz --evidence a=1 --most-probable").stdout


def test_convert_keeps_the_values_or_says_that_it_does_not():
    succeed("convert twos.npz again.npz")
    assert Path("again.npz").read_bytes() == Path("twos.npz").read_bytes()
    assert succeed("convert twos.npz given.npz --given a=1").exit_code == 0
    assert table("query given.npz")["b", "2"] == expected(0, "12")["b", "2"]
    refuse("convert twos.npz given.npz --given a=0", "--given, variable 'a': expected one of 1, 2")
    lost = (
        "t.mn: variables have the values 0 and 1, for 1 and 2 in column 'a' of the data; .npz "
        "keeps the values of the data."
    )
    assert lost in succeed("convert twos.npz t.mn").stderr
    assert "values of the data" not in succeed("convert twos.npz t.csv").stderr
    assert "values of the data" not in succeed("convert plain.npz t.mn").stderr
    assert "t.bn" in succeed("fit chow_liu --train twos.csv --out t.bn").stderr
    assert "values of the data" in succeed("fit chow_liu --train twos.csv --out t.bn").stderr


def test_weights_and_ising_keep_the_values():
    succeed("weights twos.npz twos.csv --out w.npz")
    assert read_codes("w.npz", 2) == (("1", "2"),) * 2
    succeed("ising twos.csv --out network")
    assert set(table("query network/model.npz --evidence a=1")) == {("b", "1"), ("b", "2")}


@pytest.mark.parametrize("cut", [None, 2.5])
def test_an_estimator_is_saved_with_its_values(cut):
    name, low, high = ("twos", 1, 2) if cut is None else ("ratings", 2, 3)
    with warnings.catch_warnings():
        # That 2 counts as 1.
        warnings.simplefilter("ignore")
        learner = mn.ChowLiu(binarize=cut).fit(pd.read_csv(f"{name}.csv"))
    mn.save(learner, "p.npz")
    for value in (low, high):
        found = list(table(f"query p.npz --evidence a={value}").values())
        assert float(found[1]) == pytest.approx(learner.query({"a": value})["b"], abs=1e-6)
    # The model takes 0 and 1, also when it is read again.
    with pytest.warns(UserWarning, match="values 0 and 1"):
        own = mn.load("p.npz").query({"a": 1})["b"]
    assert own == learner.model_.query({"a": 1})["b"] == learner.query({"a": high})["b"]


def test_models_of_0_and_1_have_the_bytes_that_they_had():
    assert "codes" not in read_arrays("plain.npz")
    own = pd.read_csv("plain.csv")
    own.replace({0: "no", 1: "yes"}).to_csv("yes.csv", index=False)
    succeed("fit chow_liu --train yes.csv --out yes.npz")
    assert Path("yes.npz").read_bytes() == Path("plain.npz").read_bytes()


def test_damaged_values_are_refused():
    arrays = read_arrays("twos.npz")
    write_arrays("bad.npz", {**arrays, "codes": arrays["codes"][:1]})
    refuse("query bad.npz --evidence a=1", "bad.npz: is damaged: its array 'codes' is")


def test_columns_of_one_value_and_states_of_one_variable():
    model = mn.MarkovNetwork.from_features([{0: 1}], [0.5], ["c", "age=old", "age=young"])
    twos = ("1", "2")
    assert own_codes(model, {"c": ("", "2"), "age=old": twos, "age=young": twos}) == (
        ("not 2", "2"), ("0", "1"), ("0", "1"),
    )  # fmt: skip
    assert own_codes(model, {"age=old": twos}) is None


def test_a_model_in_python_says_that_it_takes_0_and_1():
    with pytest.warns(UserWarning, match="values 0 and 1") as caught:
        model = mn.load("words.npz")
    assert str(caught[0].message) == (
        "words.npz: variables have the values 0 and 1, for never and often in column 'a' of the "
        "data; give 0 and 1 to this model."
    )
    assert Path(caught[0].filename).name == Path(__file__).name
    assert model.query({"a": 1})["b"] > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mn.load("plain.npz")
