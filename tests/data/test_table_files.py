"""Text files as pandas and R write them: separators, headers, quotes, damaged lines."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from made_data import examples, write
from mnlearn.data.dataset import Dataset
from mnlearn.data.examples import _labelled, load_dataset, load_examples
from mnlearn.data.rules import Rules
from mnlearn.runtime.errors import InputError


def test_native_files_are_matched_by_name_and_have_no_texts(tmp_path):
    data = Dataset.from_arrays([[0, 1, 1], [1, 0, 1], [0, 1, 1]], names=["a", "b", "c"])
    data.save(tmp_path / "x.npz")
    found = load_dataset(tmp_path / "x.npz", schema=data.rename(["c", "b", "a"]).schema)
    assert found.schema.names == ("c", "b", "a")
    assert examples(found).tolist() == [[1, 1, 0], [1, 0, 1], [1, 1, 0]]
    with pytest.raises(InputError, match="holds states; --leave-out is for tables"):
        load_dataset(tmp_path / "x.npz", rules=Rules(leave_out=("a",)))


@pytest.mark.parametrize(
    ("content", "expected", "names"),
    [
        ("?,?\n1,0\n", [["?", "?"], ["1", "0"]], None),
        ("nan,b\n1,0\n0,1\n1,1\n", [[1, 0], [0, 1], [1, 1]], ("nan", "b")),
        ("1;0\n0;1\n", [[1, 0], [0, 1]], None),
        ("a b\tc\n1.0\t0\n", [[1, 0]], ("a b", "c")),
        ('"a;b";c\n1.0;0\n', [[1, 0]], ("a;b", "c")),
        (' "a, b", c\n1.0, 0\n', [[1, 0]], ("a, b", "c")),
        ("a,b\n1.0,0\n\n\n", [[1, 0]], ("a", "b")),
        ("1.0,0\n", [[1, 0]], None),
        ('a\t "b"\n1.0\t0\n', [[1, 0]], ("a", '"b"')),
        ("x;y\n1,0;0,0\n", [[1, 0]], ("x", "y")),
        ('"a";"b"\n"r";1.0;0\n"s";0;1\n', [[1, 0], [0, 1]], ("a", "b")),
        ("a,b\n1,1.0,0\n1,0,0\n", None, None),
        ('a,b\n"1"0,0\n', None, None),
        ("a,b\n1.0,0\n1.0\n", None, None),
    ],
)
def test_forms_of_tables(tmp_path, content, expected, names):
    path = write(tmp_path / "a.csv", content)
    if expected is None:
        with pytest.raises(InputError, match=r"a\.csv"):
            load_dataset(path)
    else:
        found = load_dataset(path)
        assert (found.schema.names if found.schema.is_named else None) == names
        assert found.schema.decode(examples(found)).to_numpy().tolist() == expected


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
    assert (data.schema.names if data.schema.is_named else None) == names
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
        load_dataset(path, rules=Rules(**said))
    assert str(caught.value).startswith(f"{path}, {sentence}")


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
    assert (data.schema.names if data.schema.is_named else None) == names
    assert examples(data).tolist() == ([[1, 0], [0, 1]] if names else [[0, 1], [1, 0]])


def test_a_name_may_have_a_line_break(tmp_path):
    """As in the file that pandas writes of it."""
    frame = pd.DataFrame({"a\nx": [0, 1, 1], "b, c": [1, 0, 1]})
    frame.to_csv(tmp_path / "d.csv", index=False)
    found = load_examples(tmp_path / "d.csv")
    assert found.data.schema.names == ("a\nx", "b, c")
    assert examples(found.data).tolist() == frame.to_numpy().tolist()


def test_labels_of_spss_are_in_the_order_of_their_numbers(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"mood": [3.0, 1, 2, np.nan, 9], "sex": [2, 1, 2, 1, 2]})
    labels = {"mood": {1: "low", 2: "mid", 3: "high", 4: "never"}, "sex": {1: "m", 2: "f"}}
    pyreadstat.write_sav(frame, tmp_path / "t.sav", variable_value_labels=labels)
    data = mn.read_data(tmp_path / "t.sav", missing="drop")
    assert data.schema[0].texts == ("low", "mid", "high", "9.0")
    assert data.schema[1].states == ("m", "f")
    assert data.schema.values(data.rows[data.row_of]).tolist() == [[2, 1], [0, 0], [1, 1], [3, 1]]


def test_excel_tables_are_read(tmp_path):
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 2]})
    frame.to_excel(tmp_path / "t.xlsx", index=False)
    assert mn.read_data(tmp_path / "t.xlsx").schema.names == ("a", "b")


def test_labels_at_the_ends_of_a_scale_leave_whole_numbers_between_them():
    frame = pd.DataFrame({"q": [1.0, 2.0, np.nan, 3.0, 2.0]})
    frame.attrs["variable_value_labels"] = {"q": {1.0: "disagree", 3.0: "agree"}}
    labelled = _labelled(frame)["q"]
    assert [repr(state) for state in labelled.cat.categories] == ["'disagree'", "2", "'agree'"]
    assert labelled.isna().tolist() == [False, False, True, False, False]


def test_names_in_a_file_of_another_program_lose_blanks_at_their_ends(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"age ": ["old", "young"] * 4, "sex": ["f", "m", "m", "f"] * 2}).to_parquet(
        tmp_path / "t.parquet"
    )
    assert load_dataset(tmp_path / "t.parquet").schema.names == ("age", "sex")
