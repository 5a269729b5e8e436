"""`mnlearn score`: what it writes, prints and refuses."""

import csv
import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import mean, numbers, refuse, succeed
from command_folder import save_named
from made_data import examples
from made_random import random_data, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.models.io.formats import save_model
from mnlearn.variables.schema import binary_schema

pytestmark = pytest.mark.usefixtures("folder")

N_EXAMPLES = 300
NAMED = dataclasses.replace(random_network(0), schema=binary_schema("abcdef"))


@pytest.mark.parametrize("metric", ["pll", "cmll", "cll", "ll"])
def test_score_prints_one_json_object(metric):
    how = " --inference gibbs --samples 200" if metric == "cmll" else ""
    line = f"score m.npz d.data --metric {metric.upper()}{how}"
    record = numbers(f"{line} --json")
    keys = {"metric", "mean", "standard_error", "n_examples"}
    assert set(record) == keys | ({"monte_carlo_error"} if metric == "cmll" else set())
    assert record["metric"] == metric
    assert record["n_examples"] == N_EXAMPLES
    assert record["mean"] < 0 < record["standard_error"]
    result = succeed(f"{line} --json")
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
    text = succeed(line).stdout
    assert text.startswith("metric ")
    assert f"{record['mean']:.6g}" in text


@pytest.mark.parametrize("model", ["m.npz", "dn.npz", "trees.npz", "circuit.ac"])
def test_score_uses_the_metric_and_the_seed_that_python_uses(model):
    succeed("fit chow_liu --train d.data --out trees.npz")
    mn.save(mn.load("m.npz").to_circuit(), "circuit.ac")
    rows, own = mn.read_data("d.data"), mn.load(model)
    record = numbers(f"score {model} d.data --json")
    assert (record["metric"], record["mean"]) == (mn.score(own, rows).metric, own.score(rows))
    drawn = numbers(f"score {model} d.data --metric cmll --samples 20 --json")["mean"]
    assert drawn == mn.score(own, rows, "cmll", samples=20).mean


def test_score_per_example_is_in_the_order_of_the_file():
    record = numbers("score m.npz d.data --metric ll --per-example p.csv --json")
    rows = Path("d.data").read_text(encoding="utf-8").splitlines()
    assert len(set(rows)) < len(rows)
    with Path("p.csv").open(encoding="utf-8") as file:
        (head,), *lines = csv.reader(file)
    assert head == "ll"
    values = np.array([float(value) for (value,) in lines])
    assert len(values) == len(rows) == N_EXAMPLES
    assert values.mean() == pytest.approx(record["mean"], abs=1e-12)
    for k in (0, 1, 7, 299):
        Path("one.data").write_text(rows[k] + "\n", encoding="utf-8")
        assert mean("m.npz one.data --metric ll") == pytest.approx(values[k], abs=1e-12)
    assert len({(row, value) for row, value in zip(rows, values, strict=True)}) == len(set(rows))


GROUPS = [[0, 1, 2], [3, 4, 5]]


BP = {"inference": "bp", "iterations": 1, "damping": 0.2, "schedule": "parallel"}


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ("cmll --groups groups.json --inference exact", {"groups": GROUPS, "inference": "exact"}),
        ("cll --groups groups.json", {"groups": GROUPS}),
        ("cmll --folds 1 --samples 50 --burn-in 5", {"folds": 1, "samples": 50, "burn_in": 5}),
        ("cmll --inference mcsat --samples 20", {"inference": "mcsat", "samples": 20}),
        (
            "cmll --inference meanfield --tolerance 0.1",
            {"inference": "meanfield", "tolerance": 0.1},
        ),
        ("cmll --inference bp --iterations 1 --damping 0.2 --schedule parallel", BP),
        ("ll --inference bp", {"inference": "bp"}),
        ("ll --inference meanfield", {"inference": "meanfield"}),
        ("ll --ais 3 --samples 5", {"inference": "ais", "chains": 3, "samples": 5}),
    ],
)
def test_options_are_the_arguments_of_python(options, arguments):
    metric = options.split()[0]
    record = numbers(f"score m.npz d.data --metric {options} --json")
    found = mn.score(mn.load("m.npz"), mn.read_data("d.data"), metric, **arguments)
    assert (record["mean"], record["standard_error"]) == (found.mean, found.stderr)
    assert record.get("monte_carlo_error", 0.0) == found.monte_carlo_error
    assert record.get("converged") == found.converged


def test_groups_name_variables_of_several_states_as_in_python():
    table = pd.DataFrame({"mood": ["low", "mid", "high"] * 9, "b": [0, 1, 0] * 9})
    table.to_csv("mood.csv", index=False)
    learner = mn.ChowLiu().fit(table)
    mn.save(learner, "mood.npz")
    Path("mood.json").write_text('[["mood"], ["b"]]', encoding="utf-8")
    for metric in ("cll", "cmll"):
        expected = mn.score(learner, table, metric, groups=[["mood"], ["b"]])
        found = mean(f"mood.npz mood.csv --metric {metric} --groups mood.json")
        assert found == pytest.approx(expected.mean)


def test_score_with_groups_by_name():
    Path("named.json").write_text('[["V0", "V1", 2], ["V4"]]', encoding="utf-8")
    Path("numbers.json").write_text("[[0, 1, 2], [4]]", encoding="utf-8")
    line = "m.npz d.data --metric cll --groups"
    assert mean(f"{line} named.json") == mean(f"{line} numbers.json")
    Path("first.json").write_text("[[0, 1, 2]]", encoding="utf-8")
    Path("second.json").write_text("[[4]]", encoding="utf-8")
    # Variables in no group are evidence without a term.
    apart = mean(f"{line} first.json") + mean(f"{line} second.json")
    assert mean(f"{line} named.json") == pytest.approx(apart)


def test_impossible_examples_are_named_and_give_json():
    Path("hard.mn").write_text("2,2\nMN {\n-inf +v0_1\n}\n", encoding="utf-8")
    Path("two.csv").write_text("V0,V1\n0,0\n1,1\n0,1\n1,0\n", encoding="utf-8")

    def refuse_constant(name):
        raise AssertionError(name)

    result = succeed("score hard.mn two.csv --metric ll --per-example p.csv --json")
    record = json.loads(result.stdout, parse_constant=refuse_constant)
    assert (record["mean"], record["standard_error"], record["impossible"]) == (None, None, 2)
    text = succeed("score hard.mn two.csv --metric ll").stdout
    printed = dict(line.rsplit(None, 1) for line in text.splitlines())
    assert (printed["mean"], printed["standard error"]) == ("-inf", "nan")
    assert "two.csv: 2 examples have probability 0, lines 3, 5." in result.stderr
    assert np.flatnonzero(pd.read_csv("p.csv")["ll"] == -np.inf).tolist() == [1, 3]


WIDTHS = [
    ("score m.npz d5.npz", "d5.npz: expected 6 variables, got 5"),
    ("score m.npz d5.npz --metric cmll", "d5.npz: expected 6 variables"),
    ("fit dtsl --train d.npz --valid d5.npz --out o.npz", "d5.npz: expected 6 variables"),
    ("fit lw --train d5.npz --network dn.npz --out o.npz", "dn.npz: expected 5 variables"),
    ("query m.npz --evidence evidence5", "evidence5, line 1: expected 6 values"),
    ("score named.npz other.csv", "other.csv: there is no column 'b'; the columns are 'a', 'x'"),
    ("score named.npz other.npz", "other.npz: lacks the variable 'b' of the model"),
    ("score named.npz other.npz --metric ll", "other.npz: lacks the variable 'b' of the model"),
    ("fit dtsl --train named.csv --valid other.csv --out o.npz", "other.csv: there is no column"),
]


def by_example(line):
    succeed(f"score {line} --per-example p.csv")
    return np.loadtxt("p.csv", skiprows=1)


def test_columns_of_data_are_found_by_name():
    """Another order of columns, and more of them, change no score and no search."""
    rows = examples(random_data(0))
    save_named(rows, "abcdef", "straight.csv")
    save_named(np.column_stack([rows[:, ::-1], rows[:, 0]]), "fedcbax", "turned.csv")
    save_model(NAMED, "named.npz")
    weights = np.arange(len(rows)) % 3 + 1.0
    for end, weight in (("", None), ("_weighted", weights)):
        merge_rows(rows, weight, schema=binary_schema("abcdef")).save(f"straight{end}.npz")
        merge_rows(rows[:, ::-1], weight, schema=binary_schema("fedcba")).save(f"turned{end}.npz")
    for turned, straight in (
        ("turned.csv", "straight.csv"),
        ("turned.npz", "straight.csv"),
        ("turned_weighted.npz", "straight_weighted.npz"),
    ):
        scores = [by_example(f"named.npz {data}") for data in (turned, straight)]
        assert len(scores[0]) == len(rows)
        np.testing.assert_array_equal(*scores)
    for name in ("straight", "turned"):
        succeed(f"fit dtsl --train straight.csv --valid {name}.csv --out {name}.npz")
        succeed(f"weights named.npz {name}.csv --out {name}_weights.npz")
    for end in (".npz", "_weights.npz"):
        assert Path(f"turned{end}").read_bytes() == Path(f"straight{end}").read_bytes()


def test_a_later_file_may_lack_what_is_left_out():
    rows = examples(random_data(0))
    save_named(rows, "abcdef", "whole.csv")
    save_named(rows[:, 1:], "bcdef", "less.csv")
    succeed("fit chow_liu --train whole.csv --valid less.csv --leave-out a --out o.npz")
    assert mean("o.npz less.csv --leave-out a") == mean("o.npz whole.csv --leave-out a")
    refuse("score o.npz whole.csv --leave-out b", "--leave-out: the column 'b' is needed")


@pytest.mark.parametrize(("line", "names"), WIDTHS)
def test_data_of_other_variables_are_refused_by_name(line, names):
    data = random_data(0)
    rows = data.rows[data.row_of]
    save_named(rows, "axcdef", "other.csv")
    merge_rows(rows, schema=binary_schema("axcdef")).save("other.npz")
    save_model(NAMED, "named.npz")
    refuse(line, names)


def test_a_column_that_is_missing_throughout_is_summed_out():
    """Such as one person who left an answer out."""
    Path("train.csv").write_text("a,b,c\n1,0,1\n0,1,1\n0,0,0\n", encoding="utf-8")
    succeed("fit chow_liu --train train.csv --out tree.npz")
    Path("one.csv").write_text("a,b,c\n1,,0\n", encoding="utf-8")
    for b in (0, 1):
        Path(f"{b}.csv").write_text(f"a,b,c\n1,{b},0\n", encoding="utf-8")
    both = [mean(f"tree.npz {b}.csv --metric ll") for b in (0, 1)]
    expected = np.logaddexp(*both)
    assert mean("tree.npz one.csv --metric ll") == pytest.approx(expected)
    said = succeed("score tree.npz one.csv --metric ll").stderr
    assert said.endswith("one.csv: 1 of 1 examples have missing cells, which are summed out.\n")
    Path("words.csv").write_text("a,b,c\nyes,,no\n", encoding="utf-8")
    assert mean("tree.npz words.csv --metric ll") == pytest.approx(expected)
    refuse("score tree.npz one.csv --metric pll", "line 2, column 'b': is missing")
    # A learner needs an answer.
    refuse("fit chow_liu --train one.csv --out m.npz", "column 'b': all cells are missing")
