"""Models of data in 1 and 2, or cut by a threshold: commands take and print these values."""

import csv
import io
import json
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
        "t.mn: variables have the values 0 and 1, for 1 and 2 in column 'a' of the data; .npz, "
        ".ac and .bif keep the values of the data."
    )
    assert lost in succeed("convert twos.npz t.mn").stderr
    assert "values of the data" not in succeed("convert twos.npz t.csv").stderr
    assert "values of the data" not in succeed("convert plain.npz t.mn").stderr
    assert "t.bn" in succeed("fit chow_liu --train twos.csv --out t.bn").stderr
    assert "values of the data" in succeed("fit chow_liu --train twos.csv --out t.bn").stderr


@pytest.mark.parametrize("learner", ["chow_liu", "ltm", "lem", "hclt", "junction_tree"])
def test_circuits_of_all_learners_have_the_values_of_the_data(learner):
    succeed(f"fit {learner} --train twos.csv --out t.ac")
    succeed(f"fit {learner} --train plain.csv --out p.ac")
    for value in (0, 1):
        found = table(f"query t.ac --evidence a={value + 1}")
        plain = table(f"query p.ac --evidence a={value}")
        assert {state: p for (_, state), p in found.items()} == {
            str(int(state) + 1): p for (_, state), p in plain.items()
        }


@pytest.mark.parametrize("suffix", ["ac", "bif"])
@pytest.mark.parametrize(
    ("name", "zero", "one"),
    [("twos", "1", "2"), ("words", "never", "often"), ("ratings", "<3", ">=3")],
)
def test_names_of_states_are_the_values_of_the_data(name, zero, one, suffix):
    said = succeed(f"convert {name}.npz t.{suffix}").stderr
    assert "values of the data" not in said
    for value, text in enumerate((zero, one)):
        found = table(f"query t.{suffix} --evidence 'a={text}'")
        assert found["b", one] == expected(value, (zero, one))["b", one]
    if name != "ratings":
        data = pd.read_csv(f"{name}.csv")
        assert mn.load(f"t.{suffix}").score(data) == pytest.approx(score_of("plain.npz plain.csv"))


@pytest.mark.usefixtures("sketched")
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
        "data; give this model 0 and 1, as read_data(model=) reads them."
    )
    assert Path(caught[0].filename).name == Path(__file__).name
    assert model.query({"a": 1})["b"] > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mn.load("plain.npz")


@pytest.mark.filterwarnings("ignore:.*the values 0 and 1", "ignore:.*2 counts as 1")
def test_a_model_that_was_read_is_written_with_the_values_of_its_data():
    model = mn.load("words.npz")
    mn.save(model, "again.npz")
    model.save("own.npz")
    original = Path("words.npz").read_bytes()
    assert Path("again.npz").read_bytes() == Path("own.npz").read_bytes() == original
    read = mn.read_data(pd.DataFrame({"a": ["never"], "b": ["never"]}), model=model)
    np.testing.assert_array_equal(read.rows, [[0, 0]])
    twos = pd.read_csv("twos.csv")
    search = mn.GridSearch(mn.ChowLiu(), {"pseudocount": [0.5, 1.0]}).fit(twos, validation=twos)
    mn.save(search, "search.npz")
    assert read_codes("search.npz", 2) == read_codes("twos.npz", 2)
    np.testing.assert_array_equal(mn.read_data(twos[:1] * 0 + 1, model=search).rows, [[0, 0]])
    mn.save(mn.load("plain.npz"), "again.npz")
    assert Path("again.npz").read_bytes() == Path("plain.npz").read_bytes()


def score_of(line):
    return json.loads(succeed(f"score {line} --json").stdout)["mean"]


@pytest.mark.parametrize("name", ["twos", "bare", "words", "ratings"])
def test_data_to_be_scored_are_read_by_the_values_of_the_model(name, folder):
    """A column that is always 2 in the data of the model, or always 1, is not 1 for that."""
    header = None if name == "bare" else 0
    table, plain = pd.read_csv(f"{name}.csv", header=header), pd.read_csv("plain.csv")
    for value in (0, 1):
        rows = plain["b"] == value
        table[rows].to_csv("some.csv", index=False, header=header == 0)
        plain[rows].to_csv("some_plain.csv", index=False)
        assert score_of(f"{name}.npz some.csv") == score_of("plain.npz some_plain.csv")
        succeed(f"weights {name}.npz some.csv --out a.npz")
        succeed("weights plain.npz some_plain.csv --out b.npz")
        np.testing.assert_array_equal(*(read_arrays(path)["weight"] for path in ("a.npz", "b.npz")))
        assert read_codes("a.npz", 2) == read_codes(f"{name}.npz", 2)


def test_columns_are_those_of_their_place_where_names_lack(folder):
    table = pd.read_csv("twos.csv")
    table.assign(b=1).to_csv("named.csv", index=False)
    table.assign(b=1).to_csv("bare_ones.csv", index=False, header=False)
    expected_score = score_of("twos.npz named.csv")
    assert score_of("twos.npz bare_ones.csv") == expected_score
    assert score_of("bare.npz named.csv") == expected_score
    assert score_of("bare.npz bare_ones.csv") == expected_score


def test_what_a_person_says_comes_before_the_values_of_the_model(folder):
    assert score_of("twos.npz plain.csv --ones 1") == score_of("plain.npz plain.csv")
    flipped = 1 - pd.read_csv("plain.csv")
    flipped.to_csv("flipped.csv", index=False)
    assert score_of("twos.npz twos.csv --ones 1") == score_of("plain.npz flipped.csv")
    refuse("score twos.npz plain.csv", "column 'a': expected 1 or 2, got '0'; --ones says")


def test_0_and_1_may_be_ratings_to_cut_or_answers(folder):
    refuse("score ratings.npz plain.csv", "--ones 'a>=3' or --ones 'a=1'")
    low = plain_score = score_of("ratings.npz plain.csv --ones a=1 --ones b=1")
    assert plain_score == score_of("plain.npz plain.csv")
    cut = score_of("ratings.npz plain.csv --ones a>=3 --ones b>=3")
    pd.DataFrame({"a": [0] * 4, "b": [0] * 4}).to_csv("zeros.csv", index=False)
    assert cut == score_of("plain.npz zeros.csv") != low


def test_samples_have_the_values_of_the_data(folder):
    for name in ("twos", "bare", "words", "ratings"):
        refuse(f"sample {name}.npz --rows 5 --out s.csv", "--states: expected")
        succeed(f"sample {name}.npz --rows 200 --out s.csv --states")
        succeed("sample plain.npz --rows 200 --out p.csv")
        assert score_of(f"{name}.npz s.csv") == score_of("plain.npz p.csv")


def test_an_estimator_reads_data_by_the_values_of_its_own(folder):
    table = pd.read_csv("twos.csv").assign(b=1)
    with warnings.catch_warnings(action="ignore"):
        own = mn.ChowLiu().fit(pd.read_csv("twos.csv"))
        cut = mn.ChowLiu(binarize=2.5).fit(pd.read_csv("ratings.csv"))
    assert not mn.read_data(table, model=own).rows[:, 1].any()
    read = mn.read_data(pd.DataFrame({"a": [2, 3], "b": [5, 0]}), model=cut)
    np.testing.assert_array_equal(read.rows[read.row_of], [[0, 1], [1, 0]])


def test_weighted_rows_are_0_and_1_for_every_model(folder):
    Path("weighted.txt").write_text("3|0,0\n1|1,1\n", encoding="utf-8")
    Path("plain_rows.txt").write_text("0,0\n0,0\n0,0\n1,1\n", encoding="utf-8")
    assert score_of("bare.npz weighted.txt") == score_of("plain.npz plain_rows.txt")
