"""Lines and JSON are read as far as one can mean them."""

import os

import numpy as np
import pytest

from made_random import random_data, random_dependency_network, random_network
from mnlearn.data.text_tables import save_text
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.arrays import write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import (
    compress_for,
    read_json,
    read_table,
    split_lines,
    to_csv,
    write_bytes,
    write_csv,
    write_json,
    write_text,
)

DEEP = "[" * 100_000
LONG = "[" + "9" * 5000 + "]"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\nb\r\nc\rd\n", ["a", "b", "c", "d"]),
        ("\n\n", ["", ""]),
        ("a\vb\fc\x1cd\x85e\u2028f\u2029g", ["a\vb\fc\x1cd\x85e\u2028f\u2029g"]),
    ],
)
def test_lines_end_in_line_feeds_and_carriage_returns_alone(text, lines):
    assert split_lines(text) == lines


def test_a_table_does_not_end_lines_elsewhere(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("x\ty\n1\u2028\t2\n", newline="")
    assert [cells for _, cells in read_table(path, ("x", "y"))] == [{"x": "1\u2028", "y": "2"}]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (DEEP, "a.json: its brackets are nested too deeply."),
        (LONG, "a.json: expected numbers of at most 4300 digits."),
        ("[\n1,]", "a.json, line 2: is not JSON: "),
    ],
)
def test_json_that_cannot_be_read_is_said_in_a_sentence(tmp_path, text, problem):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_json(path)
    assert problem in str(caught.value)


def test_rows_as_csv():
    rows = [{"a": 1, "b": float("nan")}, {"b": None, "c": "x,y"}]
    assert to_csv(rows) == 'a,b,c\n1,,\n,,"x,y"\n'


def test_json_is_sorted_indented_and_has_no_nan(tmp_path):
    write_json(tmp_path / "a.json", {"b": 1, "a": ["é"]})
    text = '{\n  "a": [\n    "\\u00e9"\n  ],\n  "b": 1\n}\n'
    assert (tmp_path / "a.json").read_bytes().decode() == text
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "b.json", float("nan"))
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: expected the tab-separated columns x, y."),
        ("x\tz\n", "line 1: expected the tab-separated columns x, y."),
        ("x\ty\n1\t2\n1\n", "line 3: expected 2 tab-separated values, got 1."),
    ],
)
def test_a_table_with_other_columns_is_refused(tmp_path, text, problem):
    path = tmp_path / "a.tsv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        list(read_table(path, ("x", "y")))
    assert str(caught.value) == f"{path}, {problem}"


def test_compressed_bytes_do_not_depend_on_the_time():
    assert compress_for("a.gz", b"a")[4:8] == bytes(4)


def test_arrays_that_would_need_a_pickle_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="cannot be saved when allow_pickle=False"):
        write_arrays(tmp_path / "a.npz", {"a": np.array([None])})
    assert list(tmp_path.iterdir()) == []


WRITERS = {
    "bytes.txt": lambda path: write_bytes(path, b"new"),
    "bytes.gz": lambda path: write_bytes(path, b"new"),
    "text.txt": lambda path: write_text(path, "new"),
    "rows.csv": lambda path: write_csv(path, [{"a": 1}]),
    "value.json": lambda path: write_json(path, 1),
    "arrays.npz": lambda path: write_arrays(path, {"a": np.zeros(1)}),
    "data.npz": lambda path: random_data(0).save(path),
    "data.csv.xz": lambda path: save_text(random_data(0), path),
    **{
        f"model{suffix}": lambda path: save_model(random_network(0), path)
        for suffix in (".npz", ".mn", ".graphml", ".csv")
    },
    "model.dn": lambda path: save_model(random_dependency_network(0), path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_file_is_replaced_and_not_written_over(tmp_path, name):
    """A reader that has the old file open, or a power loss, must not meet a half of the new one."""
    path, kept = tmp_path / name, tmp_path / "kept"
    path.write_bytes(b"old")
    os.link(path, kept)
    WRITERS[name](path)
    assert kept.read_bytes() == b"old"
    assert path.read_bytes() != b"old"
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, "kept"])
