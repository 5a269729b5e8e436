"""Evidence in mappings, rows, texts and files, in states of variables."""

import numpy as np
import pandas as pd
import pytest

from made_data import write
from mnlearn.inference.evidence import parse_evidence, read_evidence, read_mapping, read_rows
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE, Schema, Variable, binary_schema

SCHEMA = Schema(
    (
        Variable("ill", ("no", "yes")),
        Variable("age", ("young", "middle", "old")),
        Variable("sex", (0, 1)),
        Variable("kind", ("only",)),
    )
)


def shown(values):
    """Numbers of states, with None for what is not known."""
    return [[None if x == NO_STATE else x for x in row] for row in values.tolist()]


def read(tmp_path, content, schema=SCHEMA):
    found, note = read_evidence(write(tmp_path / "e.csv", content), schema)
    assert (note is None) or note.startswith(f"{tmp_path / 'e.csv'}, line 1: the model has no")
    return shown(found.values), found.name_row(0).rpartition(" ")[2]


@pytest.mark.parametrize(
    "content",
    [
        "yes,old,*,\n",
        "1,old,,NA\n",
        "True,OLD,nan,*\n",
        "ill,age,sex,kind\nyes,old,*,*\n",
        "age;ill\nold;yes\n",
        "age;ill\nold;yes;\n",
        "ill\tage\nt\told\n",
        ",age,ill\n7,old,yes\n",
        "person_id,age,ill\np7,old,yes\n",
        "id;age;ill;;\n7;old;yes;;\n",
        "age,,ill\nold,,yes\n",
    ],
)
def test_forms_of_one_row(tmp_path, content):
    assert read(tmp_path, content)[0] == [[1, 2, None, None]]


def test_rows_with_names_may_end_in_what_is_asked(tmp_path):
    assert read(tmp_path, "ill,age\np1,yes,\np2,no,\n")[0] == [
        [v, None, None, None] for v in (1, 0)
    ]


def test_words_alone_are_no_names(tmp_path):
    assert read(tmp_path, "no,old,0,only\n") == ([[0, 2, 0, 0]], "1")
    found = read(tmp_path, "sex,age\n0,\n1,young\n")
    assert found == ([[None, None, 0, None], [None, 0, 1, None]], "2")
    short = binary_schema(2, ("y", "n"))
    assert read(tmp_path, "n,y\n1,*\n", short) == ([[None, 1]], "2")


def test_states_that_are_numbers_and_variables_that_are_called_by_numbers(tmp_path):
    numbered = Schema((Variable("a", (1, 2, 3)),))
    for text in ("2", "2.0"):
        assert read(tmp_path, f"a\n{text}\n", numbered)[0] == [[1]]
    called = binary_schema(2, ("0", "1"))
    assert read(tmp_path, "0,1\n1,*\n", called) == ([[0, 1], [1, None]], "1")
    assert shown(read_mapping(called, {1: 0}, "evidence").values) == [[None, 0]]


def test_variables_without_names_take_any(tmp_path):
    assert read(tmp_path, "b,a\n1,*\n", binary_schema(2)) == ([[1, None]], "2")
    assert read(tmp_path, "V1,V0\n1,*\n", binary_schema(2)) == ([[None, 1]], "2")
    with pytest.raises(InputError, match="line 1: expected 2 values, got 1"):
        read(tmp_path, "b\n1\n", binary_schema(2))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("ill,sax\n1,1\n", "e.csv, line 1: there is no variable 'sax'; the most similar"),
        ("ill,ill\n1,1\n", "line 1: names the variable 'ill' twice"),
        ("age\nolder\n", "line 2, column 'age': expected 'young', 'middle' or 'old', got 'older'"),
        ("1,old,2,only\n", "line 1, column 'sex': expected '0' or '1', got '2'"),
        ("1,old,0,only\n1,old,0\n", "line 2: expected 4 values, got 3; write \\* for"),
        ("ill,sex\n", "e.csv: holds no evidence"),
        ("", "e.csv: holds no evidence"),
        ('1,"0,0,1\n', "line 1: is not CSV"),
    ],
)
def test_files_that_mean_nothing(tmp_path, content, sentence):
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, content)


def test_mappings_rows_and_texts_say_the_same():
    expected = [[1, 2, 0, None]]
    texts = ("ill=yes,age=old,sex=0", " ill = True, age=OLD, sex=0.0", '"ill=yes",age=old,sex=no')
    for text in texts:
        assert shown(parse_evidence(text, SCHEMA, "--evidence").values) == expected
    given = {"ill": True, 1: "old", "sex": np.int64(0), "kind": None}
    assert shown(read_mapping(SCHEMA, given, "evidence").values) == expected
    table = pd.DataFrame({"sex": [0.0], "age": ["old"], "ill": ["yes"]})
    for rows in (table, [["yes", "old", 0, None]], np.array([[1, "old", 0, None]], object)):
        assert shown(read_rows(SCHEMA, rows, "evidence").values) == expected


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"ill": "maybe"}, "evidence, variable 'ill': expected 'no' or 'yes', got 'maybe'"),
        ({"il": 1}, "evidence: there is no variable 'il'; the most similar names are 'ill'"),
        ({"ill": 1, 0: 1}, "evidence: names the variable 'ill' twice"),
        ({7: 1}, "evidence: expected a name or a number from 0 to 3, got 7"),
    ],
)
def test_mappings_that_mean_nothing(given, sentence):
    with pytest.raises(InputError, match=sentence):
        read_mapping(SCHEMA, given, "evidence")


def test_names_may_have_an_equals_sign():
    schema = Schema((Variable("a=b", ("x", "y=z")), Variable("a", ("b", "c"))))
    assert shown(parse_evidence("a=b=y=z", schema, "e").values) == [[1, None]]
    assert shown(parse_evidence("a=b", schema, "e").values) == [[None, 0]]
    with pytest.raises(InputError, match="e: names the variable 'a' twice"):
        parse_evidence("a=b,a=c", schema, "e")


def test_states_with_commas_need_quotes():
    schema = Schema((Variable("age", ("[18,30)", "[30,50)")),))
    assert shown(parse_evidence('"age=[30,50)"', schema, "e").values) == [[1]]
    sentence = r"e: expected variable=state, got '50\)'; an item with a comma in it needs quotes"
    with pytest.raises(InputError, match=sentence):
        parse_evidence("age=[30,50)", schema, "e")
