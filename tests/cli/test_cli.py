"""The command `mnlearn` as a person uses it: what it writes, prints and refuses."""

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import mean, numbers, refuse, run, succeed
from conftest import random_data, random_dependency_network, random_network
from mnlearn.cli import main
from mnlearn.data.dataset import merge_rows
from mnlearn.data.text import load_dataset, save_text
from mnlearn.methods import learner_names, load_learner
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.study.datasets.embedded import EMBEDDED, embedded
from mnlearn.study.datasets.registry import load_registry
from mnlearn.study.planning import KINDS

ROOT = Path(__file__).parents[2]
N_EXAMPLES = 300


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data (`d*`), models (`m*`, `dn*`) and broken files, as current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MNLEARN_DATA_MIRROR", raising=False)
    save_text(random_data(0), "d.data")
    save_text(random_data(1), "v.data")
    random_data(0).save("d.npz")
    save_text(random_data(0, n_vars=5), "d5.data")
    random_data(0, n_vars=5).save("d5.npz")
    named = random_data(0)
    save_text(merge_rows(named.rows[named.row_of], names=tuple("abcdef")), "named.csv")
    save_model(random_network(0), "m.npz")
    save_model(random_network(0), "m.mn")
    save_model(random_dependency_network(0, n_vars=6), "dn.npz")
    (tmp_path / "folder").mkdir()
    texts = {
        "file": "x",
        "empty": "",
        "ragged": "0,1\n0,1\n0\n",
        "ternary": "0,1\n0,2\n",
        "gap": "0,1\n\n0,1\n",
        "evidence": "*,0,1,0,1,0\n0,0,1,0,1,0\n*,*,1,0,1,*\n*,0,1,0,1,0\n",
        "evidence5": "*,0,1,0,1\n",
        "evidence3": "*,0,1,0,1,0\n*,0,3,0,1,0\n",
        "evidence_gap": "*,0,1,0,1,0\n\n",
        "evidence_first": "2,2,2,2,2,2\n*,0,1,0,1,0\n",
        "grid.yaml": "kappa: [0.01, 0.1]\nfeature_mode: [prune, nonzero]\nsd: [0.5, 1]\n",
        "list.yaml": "[1]\n",
        "broken.yaml": "a: [1\nb: {\n",
        "infinite.yaml": "max_iterations: .inf\n",
        "none.yaml": "kappa: []\n",
        "unknown.yaml": "kapa: [0.1]\n",
        "groups.json": "[[0, 1, 2], [3, 4, 5]]",
        "overlap.json": "[[0, 1], [1]]",
        "range.json": "[[9]]",
        "flat.json": "[1, 2]",
        "object.json": "{}",
        "nothing.json": "[]",
        "string.json": '"ab"',
        "letters.json": '[["a"]]',
        "halves.json": "[[1.5], [2]]",
        "broken.json": "{",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    return tmp_path


# --- fit --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", learner_names())
def test_fit_with_defaults(method):
    network = ""
    if load_learner(method).network == "required":
        succeed("fit dn_tree --train d.data --out dn.npz")
        network = " --network dn.npz"
    result = succeed(f"fit {method} --train d.data --out a.npz{network}")
    assert result.stdout == ""
    assert f"a.npz: {method} with " in result.stderr
    model = load_model("a.npz")
    assert isinstance(model, DependencyNetwork) == method.startswith("dn_")
    assert model.n_vars == 6
    best = mean("a.npz d.data")
    succeed("fit atomic --train d.data --out base.npz")
    assert best >= mean("base.npz d.data")


def test_fit_takes_parameters_and_keeps_names():
    plain = "fit dtsl --train named.csv --out"
    succeed(f"{plain} a.npz --set kappa=0.1 --set feature_mode=nonzero --set ' sd = none '")
    weak = succeed(f"{plain} b.npz --set sd=0.01")
    assert "sd=0.01" in weak.stderr
    a, b = load_model("a.npz"), load_model("b.npz")
    assert a.names == tuple("abcdef")
    assert np.abs(b.weight).max() < np.abs(a.weight).max()


def test_fit_searches_a_grid_on_validation_data():
    result = succeed(
        "fit dtsl --train d.data --valid v.data --grid grid.yaml --out a.npz --trace t.csv"
    )
    trace = pd.read_csv("t.csv")
    assert len(trace) == 2 + 2 * 2
    last = trace[trace["stage"] == trace["stage"].max()]
    best = last.loc[last["validation"].idxmax()]
    assert f"feature_mode={best['feature_mode']}, sd={best['sd']:g}" in result.stderr.replace(
        "sd=1.0", "sd=1"
    )
    assert mean("a.npz v.data") == pytest.approx(best["validation"], abs=1e-12)


def test_fit_without_validation_data_shows_no_score():
    result = succeed("fit atomic --train d.data --out a.npz --trace t.csv")
    assert "learned" in result.stderr
    assert "validation" not in result.stderr
    assert pd.read_csv("t.csv")["validation"].isna().all()


def test_set_overrides_the_grid():
    succeed(
        "fit dtsl --train d.data --valid v.data --grid grid.yaml --set kappa=0.5 "
        "--set feature_mode=prune --out a.npz --trace t.csv"
    )
    trace = pd.read_csv("t.csv")
    assert set(trace["kappa"]) == {0.5}
    assert set(trace["feature_mode"]) == {"prune"}
    assert len(trace) == 2


@pytest.mark.parametrize(
    ("method", "suffix"),
    [("dtsl", s) for s in (".npz", ".mn", ".graphml", ".csv")]
    + [("dn_tree", s) for s in (".npz", ".dn", ".graphml", ".csv")],
)
def test_fit_writes_the_same_bytes_whatever_the_threads(method, suffix):
    for threads in (1, 2):
        succeed(f"fit {method} --train d.data --out {threads}{suffix} --threads {threads}")
    content = Path(f"1{suffix}").read_bytes()
    assert content == Path(f"2{suffix}").read_bytes()
    assert content


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("fit dtsl --train no.data --out a.npz", "no.data: no such file"),
        ("fit dtsl --train ragged --out a.npz", "ragged, line 3"),
        ("fit dtsl --train ternary --out a.npz", "ternary, line 2, column 2"),
        ("fit dtsl --train gap --out a.npz", "gap, line 2"),
        ("fit dtsl --train empty --out a.npz", "empty: holds no examples"),
        ("fit dtsl --train binary.csv --out a.npz", "binary.csv: is not a text file"),
        ("fit dtsl --train m.npz --out a.npz", "m.npz: expected a dataset"),
        ("fit dtsl --train d.data --valid no --grid grid.yaml --out a.npz", "no: no such file"),
        ("fit dtsl --train d.data --out a.xyz", "a.xyz: expected a model file"),
        ("fit dtsl --train d.data --out a", "a: expected a model file"),
        ("fit nope --train d.data --out a.npz", "method nope: expected one of acbn, acmn, atomic"),
        ("fit ../cli --train d.data --out a.npz", "method ../cli: expected one of"),
        ("fit atomic --train d.data --out a.dn", "a.dn"),
        ("fit dn_tree --train d.data --out a.mn", "a.mn"),
        ("fit atomic --train d.data --out file/a.npz", "file/a.npz: cannot be written"),
        ("fit dtsl --train d.data --out a.npz --set kappa", "--set kappa"),
        ("fit dtsl --train d.data --out a.npz --set kapa=1", "parameter kapa"),
        ("fit dtsl --train d.data --out a.npz --set kappa=x", "parameter kappa"),
        ("fit dtsl --train d.data --out a.npz --set kappa=7", "parameter kappa"),
        ("fit dtsl --train d.data --out a.npz --set kappa=none", "parameter kappa"),
        (
            "fit dtsl --train d.data --out a.npz --set sd=-1",
            "sd: expected a number above 0",
        ),
        ("fit dtsl --train d.data --out a.npz --set feature_mode=all", "parameter feature_mode"),
        ("fit dtsl --train d.data --out a.npz --set max_iterations=1.5", "max_iterations"),
        ("fit atomic --train d.data --out a.npz --set pseudocount=nan", "pseudocount"),
        ("fit dtsl --train d.data --out a.npz --grid grid.yaml", "--grid: expected --valid"),
        ("fit dtsl --train d.data --out a.npz --grid no.yaml", "no.yaml: no such file"),
        ("fit dtsl --train d.data --out a.npz --grid list.yaml", "list.yaml: expected"),
        ("fit dtsl --train d.data --out a.npz --grid none.yaml", "parameter kappa"),
        ("fit dtsl --train d.data --out a.npz --grid unknown.yaml", "parameter kapa"),
        ("fit dtsl --train d.data --out a.npz --grid binary.csv", "binary.csv: is not a text"),
        ("fit dtsl --train d.data --out a.npz --grid broken.yaml", "broken.yaml, line"),
        ("fit dtsl --train d.data --out a.npz --grid infinite.yaml", "parameter max_iterations"),
        ("fit atomic --train d.data --valid d5.data --out a.npz", "d5.data"),
        (
            "fit atomic --train d.data --out a.npz --trace file/t.csv",
            "file/t.csv: cannot be written",
        ),
    ],
)
def test_fit_refuses(line, names):
    refuse(line, names)


# --- score ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["pll", "cmll", "cll", "ll"])
def test_score_prints_one_json_object(metric):
    line = f"score m.npz d.data --metric {metric} --samples 200"
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


def test_score_per_example_is_in_the_order_of_the_file():
    record = numbers("score m.npz d.data --metric ll --per-example p.csv --json")
    rows = Path("d.data").read_text().splitlines()
    assert len(set(rows)) < len(rows)
    with Path("p.csv").open() as file:
        (head,), *lines = csv.reader(file)
    assert head == "ll"
    values = np.array([float(value) for (value,) in lines])
    assert len(values) == len(rows) == N_EXAMPLES
    assert values.mean() == pytest.approx(record["mean"], abs=1e-12)
    for k in (0, 1, 7, 299):
        Path("one.data").write_text(rows[k] + "\n")
        assert mean("m.npz one.data --metric ll") == pytest.approx(values[k], abs=1e-12)
    assert len({(row, value) for row, value in zip(rows, values, strict=True)}) == len(set(rows))


def test_score_does_not_depend_on_threads_but_on_the_seed():
    line = "m.npz d.data --metric cmll --samples 50 --threads"
    assert mean(f"{line} 1") == mean(f"{line} 2")
    assert mean(f"{line} 1") != mean(f"{line} 1 --seed 21")


def test_score_with_given_groups():
    line = "m.npz d.data --groups groups.json --metric"
    exact = mean(f"{line} cmll --inference exact")
    record = numbers(f"score {line} cmll --samples 4000 --json")
    assert record["mean"] == pytest.approx(exact, abs=max(0.02, 5 * record["monte_carlo_error"]))
    assert mean(f"{line} cmll --inference exact --seed 3") == exact
    Path("singles.json").write_text("[[0],[1],[2],[3],[4],[5]]")
    pll = mean("m.npz d.data")
    line = "m.npz d.data --groups singles.json --metric"
    assert mean(f"{line} cll") == pytest.approx(pll, abs=1e-9)
    assert mean(f"{line} cmll --inference exact") == pytest.approx(pll, abs=1e-9)
    Path("all.json").write_text("[[0,1,2,3,4,5]]")
    ll = mean("m.npz d.data --metric ll")
    assert mean("m.npz d.data --groups all.json --metric cll") == pytest.approx(ll, abs=1e-9)
    assert mean("m.npz d.data --folds 1 --metric cll") == pytest.approx(ll, abs=1e-9)


def test_score_of_a_dependency_network():
    assert mean("dn.npz d.data") < 0
    exact = mean("dn.npz d.data --metric cmll --inference exact")
    assert mean("dn.npz d.data --metric cmll --samples 4000") == pytest.approx(exact, abs=0.05)


def test_score_of_impossible_data_is_json():
    Path("hard.mn").write_text("2,2\nMN {\n-inf +v0_1\n}\n")
    Path("two.data").write_text("0,0\n1,1\n")

    def refuse_constant(name):
        raise AssertionError(name)

    result = succeed("score hard.mn two.data --json")
    json.loads(result.stdout, parse_constant=refuse_constant)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("score no.npz d.data", "no.npz: no such file"),
        ("score m.npz no.data", "no.data: no such file"),
        ("score d.npz d.data", "d.npz: expected a model"),
        ("score d.data d.data", "d.data: expected a model file"),
        ("score m.npz m.npz", "m.npz: expected a dataset"),
        ("score file d.data", "file: expected a model file"),
        ("score m.npz empty", "empty: holds no examples"),
        ("score m.npz d5.data", "expected 6 variables as in the model, got 5"),
        ("score dn.npz d.data --metric ll", "metric ll: expected a Markov network"),
        ("score dn.npz d.data --metric cll", "metric cll: expected a Markov network"),
        ("score m.npz d.data --per-example file/p.csv", "file/p.csv: cannot be written"),
        ("score m.npz d.data --metric cmll --samples -5", "samples"),
        ("score m.npz d.data --metric cmll --samples 0", "samples"),
        ("score m.npz d.data --metric cmll --burn-in -5", "burn_in"),
        ("score m.npz d.data --metric cmll --groups no.json", "no.json: no such file"),
        ("score m.npz d.data --metric cmll --groups broken.json", "broken.json, line 1"),
        ("score m.npz d.data --metric cmll --groups overlap.json", "variable 1 is in two"),
        ("score m.npz d.data --metric cll --groups range.json", "variables 0 to 5, got 9"),
        ("score m.npz d5.data --metric cmll", "d5.data"),
        ("score m.npz d.data --metric cmll --groups overlap.json", "overlap.json"),
        ("score m.npz d.data --metric cmll --folds 0", "--folds"),
        ("score m.npz d.data --folds -1", "--folds"),
        *(
            (f"score m.npz d.data --metric cmll --groups {name}.json", name)
            for name, reason in (
                ("flat", "TypeError"),
                ("string", "TypeError"),
                ("letters", "TypeError"),
                ("object", "scores 0"),
                ("nothing", "scores 0"),
                ("halves", "1.5 is taken for 1"),
            )
        ),
    ],
)
def test_score_refuses(line, names):
    refuse(line, names)


# --- query and sample -------------------------------------------------------------------------


def test_query_prints_and_writes_the_same():
    line = "query m.npz --evidence evidence --samples 4000"
    result = succeed(line)
    assert result.stderr == ""
    assert succeed(f"{line} --out q.csv").stdout == ""
    assert Path("q.csv").read_text() == result.stdout
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


def test_query_is_the_ratio_of_likelihoods():
    Path("zero.data").write_text("0,0,1,0,1,0\n")
    Path("one.data").write_text("1,0,1,0,1,0\n")
    odds = mean("m.npz one.data --metric ll") - mean("m.npz zero.data --metric ll")
    text = succeed("query m.npz --evidence evidence --inference exact").stdout
    found = float(text.partition(",")[0])
    assert found == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-6)


def test_query_of_a_named_model_has_a_header():
    succeed("fit atomic --train named.csv --out a.npz")
    Path("e.csv").write_text("a,b,c,d,e,f\n*,0,1,0,1,0\n")
    lines = succeed("query a.npz --evidence e.csv").stdout.splitlines()
    assert lines[0] == "a,b,c,d,e,f"
    assert len(lines) == 2


def test_query_quotes_names():
    names = ("x,1", "b", "c", "d", "e", "f")
    data = random_data(0)
    save_text(merge_rows(data.rows[data.row_of], names=names), "q.csv")
    succeed("fit atomic --train q.csv --out a.npz")
    lines = list(csv.reader(succeed("query a.npz --evidence evidence").stdout.splitlines()))
    assert tuple(lines[0]) == names


def test_query_takes_an_empty_last_line():
    assert len(succeed("query m.npz --evidence evidence_gap").stdout.splitlines()) == 1


def test_query_refuses_columns_in_another_order():
    succeed("fit atomic --train named.csv --out a.npz")
    Path("e.csv").write_text("b,a,c,d,e,f\n*,0,1,0,1,0\n")
    refuse("query a.npz --evidence e.csv", "e.csv, line 1")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("query no.npz --evidence evidence", "no.npz: no such file"),
        ("query m.npz --evidence no", "no: no such file"),
        ("query m.npz --evidence empty", "empty: holds no evidence"),
        ("query m.npz --evidence evidence5", "evidence5, line 1: expected 6 values"),
        ("query m.npz --evidence evidence3", "evidence3, line 2"),
        ("query m.npz --evidence binary.csv", "binary.csv: is not a text file"),
        ("query m.npz --evidence evidence --samples 0", "samples"),
        ("query m.npz --evidence evidence --burn-in -1", "burn_in"),
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


# --- convert and info -------------------------------------------------------------------------


def test_convert_a_markov_network_and_back():
    for line in ("m.npz a.mn", "a.mn b.npz", "b.npz c.mn", "m.npz e.csv", "a.mn e.graphml"):
        assert succeed(f"convert {line}").output == ""
    assert Path("a.mn").read_bytes() == Path("c.mn").read_bytes()
    for metric in ("pll", "ll"):
        scores = {mean(f"{m} d.data --metric {metric}") for m in ("m.npz", "a.mn", "b.npz")}
        assert len(scores) == 1
    assert Path("e.csv").read_text().startswith("source,target,weight\n")
    assert "<graphml" in Path("e.graphml").read_text()


def test_convert_a_dependency_network_and_back():
    for line in ("dn.npz a.dn", "a.dn b.npz", "b.npz c.dn", "dn.npz e.csv", "a.dn e.graphml"):
        assert succeed(f"convert {line}").output == ""
    assert Path("a.dn").read_bytes() == Path("c.dn").read_bytes()
    assert mean("a.dn d.data") == mean("b.npz d.data")
    assert mean("a.dn d.data") == pytest.approx(mean("dn.npz d.data"), abs=1e-12)
    assert 'edgedefault="directed"' in Path("e.graphml").read_text()


def test_convert_data_and_back():
    for a, b in (("d.data", "a.npz"), ("a.npz", "b.csv"), ("b.csv", "c.data.xz")):
        assert succeed(f"convert {a} {b}").output == ""
    succeed("convert c.data.xz e.data")
    assert Path("e.data").read_bytes() == Path("d.data").read_bytes()
    succeed("convert named.csv n.npz")
    succeed("convert n.npz n.csv.gz")
    succeed("convert n.csv.gz n.csv")
    assert Path("n.csv").read_bytes() == Path("named.csv").read_bytes()
    Path("w.data").write_text("0.5|0,1\n2|1,1\n")
    succeed("convert w.data w.npz")
    succeed("convert w.npz v2.data")
    assert load_dataset("v2.data").weight.tolist() == [0.5, 2]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("convert no.mn a.npz", "no.mn: no such file"),
        ("convert no.npz a.mn", "no.npz: no such file"),
        ("convert no.data a.npz", "no.data: no such file"),
        ("convert m.npz a.foo", "a.foo: expected a model file"),
        ("convert m.npz a.data", "a.data: expected a model file"),
        ("convert m.npz a.dn", "a.dn: a .dn file holds"),
        ("convert dn.npz a.mn", "a.mn: a .mn file holds"),
        ("convert empty a.npz", "empty: holds no examples"),
        ("convert binary.csv a.npz", "binary.csv: is not a text file"),
        ("convert m.npz file/a.mn", "file/a.mn: cannot be written"),
        ("convert d.data file/a.npz", "file/a.npz: cannot be written"),
        ("convert d.data a.mn", "a.mn"),
        ("convert d.npz a.dn", "a.dn"),
        ("convert d.data a.graphml", "a.graphml"),
        ("convert d.data a.pdf", "a.pdf"),
    ],
)
def test_convert_refuses(line, names):
    refuse(line, names)


def test_convert_refuses_damaged_files():
    Path("cut.npz").write_bytes(Path("m.npz").read_bytes()[:200])
    refuse("convert cut.npz a.mn", "cut.npz: is not a readable .npz file")
    Path("cut.mn").write_bytes(Path("m.mn").read_bytes()[:-20])
    refuse("convert cut.mn a.npz", "cut.mn, line")


def test_info():
    record = numbers("info m.npz --json")
    assert record["kind"] == "Markov network"
    assert record["n_vars"] == 6
    assert sum(record["features_by_length"].values()) == record["n_features"]
    assert record["bytes"] == Path("m.npz").stat().st_size
    text = succeed("info m.mn").stdout
    assert "Markov network" in text
    record = numbers("info dn.npz --json")
    assert record["kind"] == "dependency network"
    assert record["n_leaves"] >= 6
    assert "n leaves" in succeed("info dn.npz").stdout


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("info no.mn", "no.mn: no such file"),
        ("info d.npz", "d.npz: expected a model"),
        ("info file", "file: expected a model file"),
        ("info no.graphml", "no.graphml: .graphml files of models can only be written"),
    ],
)
def test_info_refuses(line, names):
    refuse(line, names)


# --- datasets, methods, fetch, study ----------------------------------------------------------


def test_datasets():
    rows = {row["name"]: row for row in numbers("datasets --json --folder here")["datasets"]}
    assert list(rows) == [*load_registry(), *EMBEDDED]
    assert rows["nltcs"]["state"] == "absent"
    assert rows["triples"]["state"] == "embedded"
    assert (rows["nltcs"]["n_vars"], rows["nltcs"]["n_train"]) == (16, 16181)
    lines = succeed("datasets --folder here").stdout.splitlines()
    assert lines[0].split()[:4] == ["name", "label", "vars", "train"]
    assert len(lines) >= 1 + len(rows)
    assert not Path("here").exists()


def test_datasets_estimates_from_recorded_costs():
    rows = numbers("datasets --json")["datasets"]
    assert all(row["estimates"]["dtsl"]["seconds"] > 0 for row in rows)
    assert "Estimates: one thread" in succeed("datasets").stdout


def test_datasets_without_recorded_costs(folder):
    (folder / "workflow").mkdir()
    text = (ROOT / "workflow" / "datasets.tsv").read_text()
    (folder / "workflow" / "datasets.tsv").write_text(text)
    rows = numbers("datasets --json")["datasets"]
    assert all(row["estimates"] == {} for row in rows)
    assert "Estimates" not in succeed("datasets").stdout


def test_methods():
    text = succeed("methods").stdout
    for name in learner_names():
        assert f"{name}: " in text
    assert "    kappa=0.01    " in text


def test_fetch_from_an_empty_mirror():
    progress = refuse(
        "fetch nltcs --mirror folder --folder here",
        "nltcs: mirror folder: has neither nltcs/nltcs.train.data",
        leaves=("here",),
    )
    assert len(progress) == 1
    assert progress[0].startswith("nltcs: ")
    left = {path.name for path in Path("here").rglob("*") if path.is_file()}
    assert not any(name.endswith((".data", ".npz", ".xz")) for name in left)
    refuse("fetch nltcs msnbc --mirror none --folder here", "nltcs, msnbc", leaves=("here",))


def test_fetch_of_wrong_files():
    Path("mirror/nltcs").mkdir(parents=True)
    Path("mirror/nltcs/nltcs.train.data").write_text("0,1\n")
    refuse("fetch nltcs --mirror mirror --folder here", "nltcs.train.data", leaves=("here",))
    assert not list(Path("here").rglob("nltcs*.data"))


def test_fetch_from_the_mirror(mirror):
    succeed(f"fetch nltcs --folder here --mirror {mirror}")
    before = {p: p.stat().st_mtime_ns for p in Path("here").rglob("*.data")}
    assert len(before) == 3
    again = succeed(f"fetch nltcs --folder here --mirror {mirror}")
    assert "was already here" in again.stderr
    assert before == {p: p.stat().st_mtime_ns for p in Path("here").rglob("*.data")}
    rows = {row["name"]: row for row in numbers("datasets --json --folder here")["datasets"]}
    assert rows["nltcs"]["state"] == "verified"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("fetch nltc", "no dataset 'nltc'; did you mean 'nltcs'?"),
        ("fetch nltcs zzz --mirror folder", "no dataset 'zzz'"),
        ("study zzz", "study zzz: expected one of acmn, demo"),
        ("study zzz --stale", "study zzz: expected one of acmn, demo"),
        ("study dtsl --datasets zzz", "--datasets zzz: expected some of nltcs"),
        ("write zzz tables", "study zzz: expected one of acmn, demo"),
        ("write dtsl tables", "nowhere/dtsl/scores.csv"),
    ],
)
def test_fetch_study_and_write_refuse(line, names, monkeypatch):
    monkeypatch.setattr("mnlearn.cli.reproduce.RESULTS", "nowhere")
    refuse(line, names)


def test_stale_cells_of_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)
    result = succeed("study dtsl --stale")
    known = set(load_registry())
    for line in result.stdout.splitlines():
        record, changed = line.split(": ")
        dataset, _, kind = record.split()
        assert dataset in known
        assert kind in KINDS
        assert changed
    assert result.stderr == ""


# --- the steps of the pipeline ----------------------------------------------------------------


def test_prepare_embedded_and_own_data():
    for place in ("here", "there"):
        succeed(f"prepare triples --folder {place} --seed 0")
    for split, data in zip(("train", "valid", "test"), embedded("triples", 0), strict=True):
        path = Path("here/triples") / f"{split}.npz"
        assert path.read_bytes() == Path("there/triples", f"{split}.npz").read_bytes()
        np.testing.assert_array_equal(load_dataset(path).row_of, data.row_of)
    own = '{"train": "d.data", "fractions": [0.5, 0.25, 0.25]}'
    succeed("prepare mine --folder here --local", own)
    sizes = [len(load_dataset(f"here/mine/{s}.npz").row_of) for s in ("train", "valid", "test")]
    assert sizes == [150, 75, 75]
    three = '{"train": "d.data", "valid": "v.data", "test": "named.csv"}'
    succeed("prepare three --folder here --local", three)
    assert load_dataset("here/three/train.npz").names == tuple("abcdef")


def test_partition():
    line = "partition d.npz --dataset x --groups 4 --number"
    succeed(f"{line} 3 --out p.json")
    succeed(f"{line} 1 --out q.json")
    drawn = json.loads(Path("p.json").read_text())
    assert len(drawn) == 3
    for groups in drawn:
        assert sorted(v for group in groups for v in group) == list(range(6))
        assert sorted(map(len, groups)) == [1, 1, 2, 2]
    assert json.loads(Path("q.json").read_text()) == drawn[:1]


CELL = (
    "--study s --dataset triples --train data/triples/train.npz --valid data/triples/valid.npz "
    "--threads 1"
)


def learn(method, grid, *more):
    return run(
        f"tune {method} --label {method} {CELL} --models models/{method}",
        "--grid",
        grid,
        *more,
    )


def test_the_steps_of_a_study():
    succeed("prepare triples --folder data --seed 0")
    succeed("partition data/triples/train.npz --dataset triples --groups 4 --number 2 --out g.json")
    cmll = '{"groups": 4, "method": "gibbs", "burn_in": 10, "samples": 50}'
    grids = {"atomic": "{}", "dtsl": '{"kappa": [0.01], "feature_mode": ["prune-5", "nonzero"]}'}
    for method, grid in grids.items():
        assert learn(method, grid, "--cmll", cmll).exit_code == 0
        result = succeed(
            f"score-cell models/{method} --groups g.json --test data/triples/test.npz "
            f"--checkpoints kept --per-example {method}.pe.csv --trace {method}.csv "
            f"--cell cells/{method}.json --threads 1 --inference",
            '{"method": "gibbs", "burn_in": 10, "samples": 50}',
        )
        assert result.stdout == ""
    models = {p.stem for p in Path("models/dtsl").glob("*.npz")}
    assert models == {"chosen", "prune-5", "nonzero"}
    assert Path("dtsl.csv").read_bytes() == Path("models/dtsl/trace.csv").read_bytes()
    succeed(
        "pair --study s --dataset triples --first dtsl dtsl.pe.csv --second atomic atomic.pe.csv "
        "--out pair.json"
    )
    succeed("gather cells/atomic.json cells/dtsl.json --paired pair.json --out scores.csv")
    table = pd.read_csv("scores.csv", keep_default_na=False)
    chosen = table[table["variant"] == ""].set_index(["method", "quantity"])["value"]
    for method in grids:
        record = numbers(f"score models/{method}/chosen.npz data/triples/test.npz --json")
        assert chosen[method, "pll"] == pytest.approx(record["mean"], abs=1e-12)
        per_example = pd.read_csv(f"{method}.pe.csv")
        assert list(per_example) == ["pll", "cmll", "ll"]
        assert per_example["pll"].mean() == pytest.approx(record["mean"], abs=1e-9)
    assert chosen["dtsl", "pll"] > chosen["atomic", "pll"]
    difference = chosen["dtsl", "pll"] - chosen["atomic", "pll"]
    assert chosen["dtsl", "pll_less_atomic"] == pytest.approx(difference)
    assert chosen["dtsl", "ll"] > chosen["atomic", "ll"]
    Path("table.md").write_text("Scores with a < b.\n\n| a | b |\n| - | -: |\n| x | **1.5** |\n")
    succeed("page table.md --out page.html")
    page = Path("page.html").read_text()
    assert "a &lt; b" in page
    assert "<strong>1.5</strong>" in page
    assert page.count("<tr>") == 2


def refuse_with(line, value, names):
    refuse(f"{line} {shlex.quote(value)}", names)


LOCAL = [
    ("{", "--local: is not JSON"),
    ('{"train": "no"}', "no: no such file"),
    ('{"train": "ragged"}', "ragged, line 3"),
    ('{"train": "d.data", "valid": "v.data"}', "d.data: expected a validation and a test file"),
    ('{"train": "d.data", "valid": "v.data", "test": "d5.data"}', "d5.data: expected 6"),
    ('{"train": "d.data", "fractions": [1]}', "fractions: expected three numbers"),
    ('{"train": "d.data", "fractions": [0.5, 0.5, 0.5]}', "fractions: expected a sum of 1"),
    ("[1]", "--local"),
    ("3", "--local"),
    ('{"trian": "d.data"}', "--local"),
    ('{"train": 5}', "--local"),
    ('{"train": "d.data", "fractions": 5}', "--local"),
    ('{"train": "d.data", "fractions": ["a", "b", "c"]}', "--local"),
]


@pytest.mark.parametrize(("value", "names"), LOCAL)
def test_prepare_refuses(value, names):
    refuse_with("prepare mine --folder here --local", value, names)


def test_prepare_refuses_names_that_lead_elsewhere():
    refuse_with("prepare ../up --folder folder --local", '{"train": "d.data"}', "../up")


TUNE = "tune atomic --study s --label a --dataset d --train d.npz --models models"
SCORE = (
    "score-cell learned --groups groups.json --per-example p.csv --trace t.csv --cell c.json --test"
)


@pytest.mark.parametrize(
    ("line", "value", "names"),
    [
        (f"{TUNE} --valid d.npz --grid", "{", "--grid: is not JSON"),
        (f"{TUNE} --valid d.npz --grid", '{"x": 1}', "parameter x"),
        (f"{TUNE} --valid no.npz --grid", "{}", "no.npz: no such file"),
        (f"{TUNE} --valid d5.npz --grid", "{}", "6 variables"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", "{", "--cmll: is not JSON"),
        (f"{SCORE} d.npz --inference", "{", "--inference: is not JSON"),
        (f"{SCORE} d.npz --inference", "{}", "learned/tuning.json: no such file"),
    ],
)
def test_tune_and_score_cell_refuse(line, value, names):
    refuse_with(line, value, names)


@pytest.mark.parametrize(
    ("line", "value", "names"),
    [
        (f"{TUNE} --valid d.npz --grid", "[]", "--grid"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", "[1]", "--cmll"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", '{"samples": 5}', "--cmll"),
        (f"{TUNE} --valid d.npz --grid {{}} --cmll", '{"groups": 2, "x": 1}', "--cmll"),
        (f"{SCORE} d.npz --inference", "[1]", "--inference"),
        (f"{SCORE} d.npz --inference", '{"x": 1}', "--inference"),
    ],
)
def test_tune_and_score_cell_refuse_json_of_another_shape(line, value, names):
    Path("learned").mkdir()
    Path("learned/tuning.json").write_text("{}")
    refuse_with(line, value, names)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("partition no.npz --dataset x --groups 2 --number 1 --out p.json", "no.npz: no such"),
        ("partition m.npz --dataset x --groups 2 --number 1 --out p.json", "expected a dataset"),
        ("partition d.npz --dataset x --groups 2 --number 1 --out file/p", "file/p: cannot be"),
        ("gather no.json --out s.csv", "no.json: no such file"),
        ("gather broken.json --out s.csv", "broken.json, line 1"),
        ("gather object.json --out s.csv", "object.json"),
        ("page no.csv --out p.html", "no.csv"),
        ("page binary.csv --out p.html", "binary.csv"),
    ],
)
def test_other_steps_refuse(line, names):
    refuse(line, names)


# --- usage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("nope", "nope"),
        ("fit", "METHOD"),
        ("fit dtsl --train d.data", "--out"),
        ("fit dtsl --train folder --out a.npz", "folder"),
        ("fit dtsl --train d.data --out folder", "folder"),
        ("fit dtsl --train d.data --out a.npz --seed x", "--seed"),
        ("fit dtsl --train d.data --out a.npz --threads 0", "--threads"),
        ("fit dtsl --train d.data --out a.npz --speed 3", "--speed"),
        ("score m.npz d.data --metric f1", "--metric"),
        ("score folder d.data", "folder"),
        ("score m.npz d.data extra", "extra"),
        ("query m.npz", "--evidence"),
        ("sample m.npz --rows 0 --out s.data", "--rows"),
        ("convert m.npz folder", "folder"),
        ("datasets --folder file", "file"),
        ("prepare triples --folder file", "file"),
        ("partition d.npz --dataset x --groups 0 --number 1 --out p.json", "--groups"),
        ("gather --out s.csv", "CELLS"),
        ("appendix gssl nope", "method nope: expected one of atomic, gssl"),
        ("write dtsl poems", "poems"),
    ],
)
def test_usage_errors(line, names):
    result = run(line)
    assert result.exit_code == 2
    assert names in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "line", ["nope", "fit dtsl --train d.data", "score folder d.data", "score m.npz d.data --x"]
)
def test_usage_errors_are_one_sentence(line):
    refuse(line, "")


@pytest.mark.parametrize("command", ["", *main.commands])
def test_every_command_has_help(command):
    text = succeed(f"{command} --help").stdout
    assert "Usage: " in text
    assert "\\b" not in text


# --- a real process ---------------------------------------------------------------------------


def process(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        [sys.executable, "-m", "mnlearn.cli", *arguments], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=environment, text=True, **options,
    )  # fmt: skip


def test_process_refuses_with_status_2():
    with process("score", "no.npz", "d.data", "--json") as child:
        out, err = child.communicate()
    assert (child.returncode, out, err) == (2, "", "mnlearn: no.npz: no such file.\n")


def test_process_prints_one_object():
    with process("score", "m.npz", "d.data", "--json") as child:
        out, err = child.communicate()
    assert child.returncode == 0
    assert json.loads(out)["n_examples"] == N_EXAMPLES
    assert (out.count("\n"), err) == (1, "")


def test_process_whose_reader_has_gone():
    with process("methods") as child:
        child.stdout.close()
        err = child.stderr.read()
    assert err == ""
    assert child.returncode == 0


def test_categories_become_indicators_by_a_mapping_that_is_kept():
    Path("c.csv").write_text("colour,smoker\nred,yes\nblue,no\ngreen,no\nred,no\n")
    succeed("convert c.csv c.npz --categories map.json")
    data = load_dataset("c.npz")
    assert data.names == ("colour=blue", "colour=green", "colour=red", "smoker=yes")
    assert data.rows[data.row_of].tolist() == [
        [0, 0, 1, 1],
        [1, 0, 0, 0],
        [0, 1, 0, 0],
        [0, 0, 1, 0],
    ]
    Path("d.csv").write_text("colour,smoker\nblue,yes\n")
    succeed("convert d.csv d.data --categories map.json")
    assert load_dataset("d.data").rows.tolist() == [[1, 0, 0, 1]]
    Path("e.csv").write_text("colour,smoker\npink,yes\n")
    refuse("convert e.csv e.data --categories map.json", "e.csv, line 2")
