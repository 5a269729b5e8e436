"""`mnlearn query` and `sample`: what they write, print and refuse."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import mean, numbers, refuse, succeed
from command_folder import fill_folder
from conftest import random_data
from mnlearn.data.dataset import merge_rows
from mnlearn.data.examples import load_dataset
from mnlearn.data.text import save_text


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with data, models and broken files, as current folder."""
    return fill_folder(tmp_path, monkeypatch)


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


@pytest.mark.parametrize("method", ["bp", "mcsat"])
def test_query_by_other_methods(method):
    line = "query m.npz --evidence evidence --inference"
    result = succeed(f"{line} {method}")
    assert result.stderr == ""
    for a, b in zip(result.stdout.split(), succeed(f"{line} exact").stdout.split(), strict=True):
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
