"""Lines and JSON are read as far as one can mean them."""

import json

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import decode_json, read_json, read_table, split_lines

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


def test_json_in_a_text():
    assert decode_json('{"a": [1]}', "--grid") == {"a": [1]}
    with pytest.raises(json.JSONDecodeError):
        decode_json("[", "--grid")
    with pytest.raises(InputError, match=r"^--grid: its brackets"):
        decode_json(DEEP, "--grid")
