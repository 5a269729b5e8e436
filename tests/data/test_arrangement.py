"""Columns of files in the order of a model: other orders, more columns, names of states."""

import logging

import pytest

from made_data import examples, write
from mnlearn.data.examples import load_examples
from mnlearn.data.incomplete import MISSING
from mnlearn.data.reading import Reading
from mnlearn.runtime.errors import InputError

NAMES = ("ill", "age=young", "age=old", "age=0")


def read(tmp_path, content, names=NAMES, **said):
    path = write(tmp_path / "a.csv", content)
    return load_examples(path, reading=Reading(names=names, **said))


@pytest.mark.parametrize(
    "content",
    [
        "age=old,ill,age=0,age=young\n0,1,0,1\n1,0,0,0\n",
        "age,ill\nyoung,1\nold,0\n",
        "ill;age\nyes;young\nno;old\n",
        "id,age,text,ill\n7,young,hello,yes\n8,old,good bye,no\n",
    ],
)
def test_columns_are_found_by_their_names(tmp_path, content):
    found = read(tmp_path, content)
    assert examples(found.data).tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    assert found.data.names == NAMES


def test_states_that_are_called_0_and_1(tmp_path):
    names = ("n=0", "n=1", "n=2")
    found = read(tmp_path, "n\n0\n1\n", names)
    assert examples(found.data).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_other_columns_are_left_out_and_told(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="mnlearn")
    found = read(tmp_path, "x,b,note,a\n1,0,5,1\n0,0,6,1\n", ("a", "b"))
    assert examples(found.data).tolist() == [[1, 0], [1, 0]]
    assert caplog.messages == [f"{tmp_path / 'a.csv'}: left out 'x', 'note', which are not needed."]
    caplog.clear()
    read(tmp_path, "x,b,note,a\n1,0,5,1\n0,0,6,1\n", ("a", "b"), leave_out=("note", "x"))
    assert caplog.messages == []


def test_missing_cells_of_a_variable_of_several_states(tmp_path):
    found = read(tmp_path, "age,ill\n,1\n?,0\nold,1\n", na=("?",))
    assert found.data.values[0].tolist() == [1, MISSING, MISSING, MISSING]
    assert found.data.values[2].tolist() == [1, 0, 1, 0]
    assert (found.data.values[1] == MISSING).sum() == 3


def test_weights_and_rows_without_names_are_read_as_they_are(tmp_path):
    found = read(tmp_path, "3|1,0\n1|0,1\n", ("a", "b"))
    assert found.data.weight.tolist() == [1, 3]
    found = read(tmp_path, "1,\n0,1\n", ("a", "b"))
    assert found.data.values.tolist() == [[1, MISSING], [0, 1]]
    assert found.reading.names == ("a", "b")


def test_a_file_without_names_says_nothing_of_names(tmp_path):
    first = load_examples(write(tmp_path / "a.data", "1.0,\n0.0,1.0\n"))
    later = load_examples(write(tmp_path / "b.csv", "a,b\n1,0\n"), reading=first.reading)
    assert later.data.names == ("a", "b")


def test_native_data_have_names_for_later_files(tmp_path):
    first = load_examples(write(tmp_path / "a.csv", "a,b\n1,0\n0,0\n0,1\n"))
    first.data.save(tmp_path / "a.npz")
    reading = load_examples(tmp_path / "a.npz").reading
    later = load_examples(write(tmp_path / "b.csv", "b,a\n0,1\n"), reading=reading)
    assert (later.data.names, examples(later.data).tolist()) == (("a", "b"), [[1, 0]])


def test_a_column_beside_those_of_its_states_is_not_needed(tmp_path):
    content = "age=old,ill,age=0,age=young,age\n0,1,0,1,34\n1,0,0,0,72\n"
    assert examples(read(tmp_path, content).data).tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    content = "age=old,ill,age=0,age=young,age\n0,1,0,1,young\n1,0,0,0,old\n"
    assert examples(read(tmp_path, content).data).tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    names = ("age", "age=young", "age=old")
    found = read(tmp_path, "age=old,age,age=young\n0,1,1\n", names)
    assert examples(found.data).tolist() == [[1, 1, 0]]
    with pytest.raises(InputError, match="there is no column 'age=young'"):
        read(tmp_path, "age=old,age\n0,1\n", names)


def test_a_state_may_be_called_like_a_missing_cell(tmp_path):
    found = read(tmp_path, "b\nNA\n1.0\n", ("b=1", "b=NA"))
    assert examples(found.data).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("ill,ages\n1,old\n", "a.csv: there is no column 'age'; the columns are 'ill', 'ages'."),
        ("age=old,ill\n1,1\n", "a.csv: there is no column 'age'; the columns are"),
        ("ill,age\n1,old\n0,aged\n", "line 3, column 'age': expected 'young' or 'old' or '0', got"),
        ("age,ill\nold,1\nold,3\n", "line 3, column 'ill': expected 0 or 1, got '3'"),
        ("ill,age,age=old\n1,old,1\n", "a.csv: there is no column 'age'; the columns are"),
        ("ill,age,ill\n1,old,1\n", "a.csv, line 1: two columns are called 'ill'."),
    ],
)
def test_columns_that_do_not_fit(tmp_path, content, sentence):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content)
    assert sentence in str(caught.value)


def test_a_column_of_two_values_is_made_by_convert(tmp_path):
    sentence = "column 'b=y'; `mnlearn convert --categories` makes it from 'b'; the columns are"
    with pytest.raises(InputError, match=sentence):
        read(tmp_path, "a,b\n0,x\n1,y\n", ("a", "b=y"))
