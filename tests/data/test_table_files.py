"""CSV files as pandas and R write them."""

import logging

import numpy as np
import pandas as pd
import pytest

from made_data import examples, write
from mnlearn.data.dataset import Dataset
from mnlearn.data.examples import load_dataset, load_examples, load_labelled
from mnlearn.data.incomplete import IncompleteData
from mnlearn.data.reading import Reading
from mnlearn.runtime.decompression import DEFAULT_LIMIT
from mnlearn.runtime.errors import InputError

ROWS = np.array([[0, 1], [1, 1], [1, 0], [0, 0]])
FRAME = pd.DataFrame(ROWS, columns=["sleep", "mood"])
# R: write.csv(data.frame(sleep = c(1, 2, 2, 1), mood = c(2, 2, 1, 1)))
OF_R = '"","sleep","mood"\n"1",1,2\n"2",2,2\n"3",2,1\n"4",1,1\n'


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (FRAME.astype(float).to_csv(index=False), None),
        (FRAME.astype(bool).to_csv(index=False), "true counts as 1 in 2 columns (sleep, mood)."),
        (FRAME.to_csv(), "left out '', which numbers the rows."),
        (FRAME.replace({0: "No", 1: "Yes"}).to_csv(index=False), "yes counts as 1 in 2 columns"),
        (OF_R, "left out '', which numbers the rows; 2 counts as 1 in 2 columns (sleep, mood)."),
        (
            FRAME.assign(mood=FRAME["mood"] == 1, person_id=list("abcd")).to_csv(index=False),
            "left out 'person_id', which numbers the rows; true counts as 1 in 1 columns (mood).",
        ),
    ],
    ids=["floats", "booleans", "index", "words", "R", "ids"],
)
def test_files_of_other_programs(tmp_path, caplog, content, note):
    caplog.set_level(logging.INFO, "mnlearn")
    data = load_dataset(write(tmp_path / "a.csv", content))
    assert examples(data).tolist() == ROWS.tolist()
    assert data.names == ("sleep", "mood")
    assert len(caplog.messages) == (note is not None)
    assert all(note in message for message in caplog.messages)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,1\n2,1\n", "column 'b': has only 1, which could be 0 or 1"),
        ("no,b\n1,0\n0,1\n", "column 'no': may number the rows or be a variable; say --leave-out"),
        ("a,b\n1,NA\n0,\n", "column 'b': all cells are missing; leave it out with --leave-out"),
        ("a,b\n1,0\n2,1\n", "column 'a': has 1 and 2, but 'b' has 0 and 1; --ones says"),
        # A single row does not show whether a column of words numbers the rows.
        ("id,b\nx,1\n", "line 2, column 'id': expected 0 or 1, got 'x'"),
        ("a,b\n1,0\n3,1\n", "line 3, column 'a': expected 0 or 1, got '3'"),
        ("a,b\nmale,0\nfemale,1\n", "line 2, column 'a': expected 0 or 1, got 'male'"),
        ("a,b\n1.0,0\n,1\n", "line 3, column 'a': is missing, and 1 of 2 examples have"),
        ("a,b\n1.0,0\n,\n0,\n", "line 3, column 'a': is missing, and 2 of 3 examples have"),
        ("id,b\n1,0\n1,1\n7,0\n", "line 4, column 'id': expected 0 or 1, got '7'"),
        ("a,b\nyes,0\ntrue,1\n", "line 2, column 'a': expected 0 or 1, got 'yes'"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(tmp_path, content, message):
    with pytest.raises(InputError) as caught:
        load_dataset(write(tmp_path / "a.csv", content))
    assert message in str(caught.value)


def read(tmp_path, content, **said):
    found = load_examples(write(tmp_path / "a.csv", content), reading=Reading(**said))
    return found.data, found.reading


@pytest.mark.parametrize(
    ("content", "said", "values", "names"),
    [
        ("a,b\nmale,0\nfemale,1\n", {"ones": ("male",)}, [[1, 0], [0, 1]], ("a", "b")),
        ("a,b\n1,1\n2,1\n", {"ones": ("2",)}, [[0, 0], [1, 0]], ("a", "b")),
        ("a,b\n1.0,-1\n1,5\n0.0,5.0\n", {"ones": ("b=5",)}, [[1, 0], [1, 1], [0, 1]], ("a", "b")),
        ("a,b\n1,0\n2,1\n", {"ones": ("a=1",)}, [[1, 0], [0, 1]], ("a", "b")),
        ("a,b\n-1,1\n1,-1\n", {"ones": ("1",)}, [[0, 1], [1, 0]], ("a", "b")),
        ("a,b\nF,T\nt,f\n", {}, [[0, 1], [1, 0]], ("a", "b")),
        ("a,b\nn,Y\ny,n\n", {}, [[0, 1], [1, 0]], ("a", "b")),
        ("1;0\n", {}, [[1, 0]], None),
        ("no,b\n1,0\n0,1\n", {"keep": ("no",)}, [[1, 0], [0, 1]], ("no", "b")),
        ("no,b\n1,0\n0,1\n", {"leave_out": ("no",)}, [[0], [1]], ("b",)),
        ("no,b\n1,0\n0,1\n", {"names": ("b",)}, [[0], [1]], ("b",)),
        ("a,b\n1,?\n-9,1\n", {"na": ("?", "-9")}, [[1, 2], [2, 1]], ("a", "b")),
        ("1,?\nNA,0\n", {"na": ("?",)}, [[1, 2], [2, 0]], None),
        ('"a";"b c"\n"1";1,0;0,0\n"2";0,0;1,0\n', {}, [[1, 0], [0, 1]], ("a", "b c")),
        ('"a, x"\tb\n1.0\tnan\n0.0\t1.0\n', {}, [[1, 2], [0, 1]], ("a, x", "b")),
    ],
)
def test_options_decide(tmp_path, content, said, values, names):
    data, _ = read(tmp_path, content, **said)
    given = data.values if isinstance(data, IncompleteData) else examples(data)
    assert given.tolist() == values
    assert data.names == names


def test_what_is_said_in_a_configuration():
    given = {"ones": "a=1", "leave_out": ["b", "c"], "na": ("?",)}
    found = Reading.said(given, "key {}")
    assert (found.ones, found.leave_out, found.keep, found.na) == (("a=1",), ("b", "c"), (), ("?",))
    assert Reading.said({"keep": "d"}, "key {}").keep == ("d",)
    assert found.option("leave_out") == "key leave_out"
    assert Reading().option("leave_out") == "--leave-out"


def test_a_table_without_variables(tmp_path):
    with pytest.raises(InputError, match=r"a\.csv: holds no variables"):
        read(tmp_path, "no,b\n1,0\n0,1\n", leave_out=("no", "b"))


def test_other_files_are_read_in_the_way_of_the_first(tmp_path):
    _, reading = read(tmp_path, "id,a,b\nx,1,yes\ny,2,no\nz,2,no\n")
    again = load_examples(write(tmp_path / "b.csv", "id,a,b\n1,1,yes\n0,1,yes\n"), reading=reading)
    assert examples(again.data).tolist() == [[0, 1], [0, 1]]
    with pytest.raises(InputError, match="line 2, column 'a': expected 1 or 2, got '0'"):
        load_examples(write(tmp_path / "c.csv", "id,a,b\n1,0,yes\n"), reading=reading)


def test_turned_values_stay_turned(tmp_path):
    """What a person says of a column holds for the next file too."""
    _, reading = read(tmp_path, "a,b\n1,0\n0,1\n", ones=("a=0",))
    again = load_examples(write(tmp_path / "b.csv", "a,b\n1,yes\n1,no\n"), reading=reading)
    assert examples(again.data).tolist() == [[0, 1], [0, 0]]


def test_a_column_that_an_option_names_has_to_exist(tmp_path):
    with pytest.raises(InputError, match="--leave-out: there is no column 'c'"):
        read(tmp_path, "a,b\n1,0\n", leave_out=("c",))
    with pytest.raises(InputError, match="--keep: there is no column 'c'"):
        read(tmp_path, "a,b\n1,0\n", keep=("c",))
    with pytest.raises(InputError, match="--ones, column 'a': expected 5 and one other value"):
        read(tmp_path, "a,b\n1,0\n3,1\n", ones=("a=5",))
    with pytest.raises(InputError, match="--ones: there is no column 'c'; the columns are 'a', 'b"):
        read(tmp_path, "a,b\n1,0\n0,1\n", ones=("c=1",))
    header = ",".join(f"v{k}" for k in range(30))
    with pytest.raises(InputError, match=r"'c'; the columns are 'v0', .*, 'v19', \.\.\.\."):
        read(tmp_path, f"{header}\n{','.join('01' * 15)}\n", ones=("c=1",))


def test_a_value_for_all_columns_may_have_an_equals_sign(tmp_path):
    found, _ = read(tmp_path, "a,b\nx=1,0\ny=0,1\n", ones=("x=1",))
    assert examples(found).tolist() == [[1, 0], [0, 1]]
    found, _ = read(tmp_path, "a=b,c\nx,0\ny,1\n", ones=("a=b=x",))
    assert examples(found).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a b c\n0 1 1\n1 0 1\n", "separated by commas, semicolons or tabs, not by spaces"),
        ("a,b\nnot at all,0\na little,1\nvery much,0\n", "has 3 different values"),
        (
            "1,2,3\n0,1,1\n1,0,1\n",
            "got '2'; names in line 1 that are numbers have to be in quotation",
        ),
    ],
)
def test_what_may_be_meant_is_said(tmp_path, content, sentence):
    with pytest.raises(InputError, match=sentence):
        load_dataset(write(tmp_path / "a.csv", content))


def test_only_numbers_have_decimal_commas(tmp_path):
    path = write(tmp_path / "a.csv", "team;a;b\nDoe. J;1,0;0\nDoe, J;0;1,0\nRoe;1;1\n")
    found, teams = load_labelled(path, "team", DEFAULT_LIMIT, Reading())
    assert teams == ["Doe. J", "Doe, J", "Roe"]
    assert examples(found.data).tolist() == [[1, 0], [0, 1], [1, 1]]


def test_native_files_are_matched_by_name_and_have_no_texts(tmp_path):
    data = Dataset.from_arrays([[0, 1, 1], [1, 0, 1], [0, 1, 1]], names=["a", "b", "c"])
    data.with_groups([[0, 1]]).save(tmp_path / "x.npz")
    found = load_dataset(tmp_path / "x.npz", reading=Reading(names=("c", "b", "a")))
    assert found.names == ("c", "b", "a")
    assert found.groups == ((1, 2),)
    assert examples(found).tolist() == [[1, 1, 0], [1, 0, 1], [1, 1, 0]]
    with pytest.raises(InputError, match="holds 0 and 1; --leave-out is for text files"):
        load_dataset(tmp_path / "x.npz", reading=Reading(leave_out=("a",)))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("a;b, c;d\n1;0;1\n0;1;1\n", ("a", "b, c", "d")),
        ("a\tb, c\td; e\n1\t0\t1\n0\t1\t1\n", ("a", "b, c", "d; e")),
        # Rows may begin with a name or end with a separator; numbers may have decimal commas.
        ("a;b, c;d\nr;1;0;1\ns;0;1;1\n", ("a", "b, c", "d")),
        ("a;b, c;d\n1;0;1;\n0;1;1;\n", ("a", "b, c", "d")),
        ("a;b, c;d, e\n1,0;0,0;1\n0;1;1\n", ("a", "b, c", "d, e")),
        ("a,b; c,d\n1,0,1\n0,1,1\n", ("a", "b; c", "d")),
    ],
)
def test_names_may_have_other_separators(tmp_path, content, names):
    data = load_dataset(write(tmp_path / "a.csv", content))
    assert data.names == names
    assert examples(data).tolist() == [[1, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize("said", [{}, {"na": ("9",)}])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a;b\n1;0\n\n0;1\n", "line 3: is empty; expected one example a line."),
        ("a;b\n1;0\n0;1;1\n", "line 3: expected 2 values as before, separated by semicolons, got"),
        ("a\tb\n1\t0\n0\n", "line 3: expected 2 values as before, separated by tabs, got 1."),
        ("1;0\n1;0\n0;1;1\n", "line 3: expected 2 values as before, separated by semicolons, got"),
        ('a;b\n1;0\n"0"1;1\n', "line 3: is not CSV: "),
        # A number that is not written as 0 or 1 comes before the line that is wrong.
        ("a,b\n1.0,0\n\n0,1\n", "line 3: is empty; expected one example a line."),
        ("a,b\n1.0,0\n0,1,1\n", "line 3: expected 2 values as before, got 3."),
        ("a,b\n1.0,0,1,1\n", "line 2: expected 2 values as before, got 4."),
    ],
)  # fmt: skip
def test_lines_that_are_no_rows_are_named(tmp_path, content, sentence, said):
    path = write(tmp_path / "a.csv", content)
    with pytest.raises(InputError) as caught:
        load_dataset(path, reading=Reading(**said))
    assert str(caught.value).startswith(f"{path}, {sentence}")
    with pytest.raises(InputError, match=r"line [23]: "):
        load_labelled(path, "a", DEFAULT_LIMIT, Reading(**said))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('"0","1"\n1,0\n0,1\n', ("0", "1")),
        ('"0";"item 2"\n1;0\n0;1\n', ("0", "item 2")),
        ('"","0","1"\n"1",1,0\n"2",0,1\n', ("0", "1")),
        ("geneA,INF\n1,0\n0,1\n", ("geneA", "INF")),
        # Where all cells are quoted, the first line is an example.
        ('"0","1"\n"1","0"\n', None),
    ],
)
def test_quoted_numbers_and_words_for_numbers_are_names(tmp_path, content, names):
    data = load_dataset(write(tmp_path / "a.csv", content))
    assert data.names == names
    assert examples(data).tolist() == ([[1, 0], [0, 1]] if names else [[0, 1], [1, 0]])


def test_a_name_may_have_a_line_break(tmp_path):
    """As in the file that pandas writes of it."""
    frame = pd.DataFrame({"a\nx": [0, 1, 1], "b, c": [1, 0, 1]})
    frame.to_csv(tmp_path / "d.csv", index=False)
    found = load_examples(tmp_path / "d.csv")
    assert found.data.names == ("a\nx", "b, c")
    assert examples(found.data).tolist() == frame.to_numpy().tolist()
