"""What columns of tables become: states, their order, missing cells, and every refusal."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import mnlearn as mn
from made_data import write
from mnlearn.data.examples import load_dataset, load_examples
from mnlearn.data.frames import read_table
from mnlearn.data.rules import ARGUMENT, KEY, OPTION, READ_DATA, Rules
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE, Schema, Variable, binary_schema

NO = NO_STATE


def read(column, **said):
    """Return the variable of a column of a table, and its states, None if missing."""
    table = read_table(pd.DataFrame({"v": column, "w": [0, 1] * (len(column) // 2)}), Rules(**said))
    variable = table.schema["v"]
    states = [None if k == NO else variable.states[k] for k in table.values[:, 0].tolist()]
    return variable, states


@pytest.mark.parametrize(
    ("column", "states"),
    [
        (["m", "f", "f", "m"], ("f", "m")),
        ([10, 9, 2, 10], (2, 9, 10)),
        (["10", "9", "2", "10"], ("2", "9", "10")),
        ([3.0, 1.0, np.nan, 1.0], (1, 3)),
        ([1, 1, 1, 1], (0, 1)),
        ([2, 2, 2, 2], (2,)),
        ([True, True, True, True], (False, True)),
        (["yes", "no", "yes", "no"], ("no", "yes")),
        (["True", "False", "True", "True"], ("False", "True")),
        (["present", "absent", "absent", "absent"], ("absent", "present")),
        (["T", "F", "T", "F"], ("F", "T")),
        (["no", "yes", "maybe", "no"], ("maybe", "no", "yes")),
        (["007", "012", "007", "012"], ("007", "012")),
        ([0, "x", 1, "x"], (0, 1, "x")),
        (pd.Categorical(["b", "a", "b", "a"], ["b", "c", "a"]), ("b", "c", "a")),
        (pd.Categorical([2, 1, 2, 1], [2, 1], ordered=True), (2, 1)),
        (pd.array([1, None, 0, 1], dtype="Int64"), (0, 1)),
        (pd.array([True, None, False, True], dtype="boolean"), (False, True)),
        (pd.array(["b", None, "a", "a"], dtype="string"), ("a", "b")),
        ([" b", " a", " a", " a"], (" a", " b")),
        (
            pd.IntervalIndex.from_breaks([0, 2, 10, 11])[[2, 1, 0, 1]],
            tuple(pd.IntervalIndex.from_breaks([0, 2, 10, 11])),
        ),
    ],
)
def test_order_of_states(column, states):
    variable, values = read(column)
    assert variable.states == states
    assert [type(s) for s in variable.states] == [type(s) for s in states]
    given = [None if pd.isna(x) else x for x in column]
    assert values == given
    assert variable.ordered == (isinstance(column, pd.Categorical) and column.ordered)


@pytest.mark.parametrize("text", ["", " ", "NA", "na", "NaN", "n/a", "<NA>", "NULL", None, pd.NA])
def test_missing_cells(text):
    assert read(["a", text, "b", "a"])[1] == ["a", None, "b", "a"]
    column = pd.Categorical(["a", "b"] * 2, ["a", "b", "NA"])
    assert read(column)[0].states == ("a", "b", "NA")


@pytest.mark.parametrize("na", ["9", "9.0"])
def test_words_for_missing_cells_are_compared_as_numbers(na):
    assert read([1, 9, 2, 2], na=(na,))[1] == [1, None, 2, 2]
    assert read(["1", "9.0", "2", "2"], na=(na,))[1] == ["1", None, "2", "2"]


def test_a_state_of_the_model_is_no_missing_cell():
    table = pd.DataFrame({"v": ["NA", "x", " NA", "null"]})
    schema = Schema((Variable("v", ("NA", "x")),))
    assert read_table(table, Rules(), schema=schema).values[:, 0].tolist() == [0, 1, 0, NO]
    said = Rules(states={"v": ("NA", "x")}, empty={"": "x"})
    assert read_table(table, said).values[:, 0].tolist() == [0, 1, 0, 1]
    assert read_table(table, said, schema=schema).values[:, 0].tolist() == [0, 1, 0, 1]
    assert read_table(table, Rules(na=("NA",)), schema=schema).values[0, 0] == NO


def test_bytes_are_words():
    assert read([b"m", b"f"] * 2)[1] == ["m", "f"] * 2


def test_states_that_are_named_stand_for_0_and_1_of_a_model():
    table, schema = pd.DataFrame({"v": ["m", "f"]}), Schema((Variable("v", (0, 1)),))
    said = Rules(states={"v": ("m", "f")})
    assert read_table(table, said, schema=schema).values[:, 0].tolist() == [0, 1]
    with pytest.raises(InputError, match=r"expected '?0'? or '?1'?, got 'm'"):
        read_table(table, Rules(), schema=schema)


def test_variables_of_one_state_only_are_refused_with_the_remedy():
    table = pd.DataFrame({"v": ["x", "x"], "w": [2, 2]})
    with pytest.raises(InputError) as caught:
        read_table(table, Rules(form=READ_DATA))
    remedy = 'mn.read_data(X, states={"v": ["x", "..."]})'
    expected = f"X: each variable has a single state; {remedy} names states that the table lacks."
    assert str(caught.value) == expected
    assert mn.read_data(table, states={"v": ["x", "y"]}).schema["v"].states == ("x", "y")


def test_a_person_names_states_and_cuts():
    assert read(["m", "f"] * 2, states={"v": ("m", "f", "x")})[0].states == ("m", "f", "x")
    assert read([1, 0] * 2, states={"v": ("1", "0")})[0].states == (1, 0)
    variable, values = read([10.5, 30, 49.9, 50], cut={"v": (30.0, 50.0)})
    assert (variable.states, variable.ordered) == (("<30", "30-<50", ">=50"), True)
    assert values == ["<30", "30-<50", "30-<50", ">=50"]
    assert read([10, 20, 30, 90], cut={"": "median"})[0].states == ("<25", ">=25")
    # What is said of all columns is for numbers, and more than two of them.
    assert read([5, 6, 5, 6], cut={"": "median"})[0].states == (5, 6)
    assert read(["a", "b", "c", "c"], cut={"": (3.0,)})[0].states == ("a", "b", "c")


@pytest.mark.parametrize(
    ("column", "said", "sentence"),
    [
        (list(range(60)), {}, "row 50, column 'v': '50' is one of 60 different values, expected at "
         'most 50; cut it with --cut "v=20,40" or --cut "v=median", or leave it out with '
         "--leave-out v."),
        ([f"p{k}" for k in range(60)], {"keep": ("v",)}, "row 50, column 'v': 'p50' is one of 60 "
         "different values, expected at most 50; leave it out with --leave-out v."),
        (list(range(20)), {}, "row 0, column 'v': all 20 values are different, the first is '0'; "
         'cut it with --cut "v=6,13" or --cut "v=median", or leave it out with --leave-out v.'),
        ([1, 2.5, 3, 4], {}, "row 1, column 'v': '2.5' is a fraction; cut it with --cut \"v=2,3\" "
         'or --cut "v=median", or leave it out with --leave-out v.'),
        ([1, 1.2, 2.5, 4], {}, "row 1, column 'v': '1.2' is a fraction; cut it with --cut "
         '"v=1.2,2.5" or --cut "v=median", or leave it out with --leave-out v.'),
        (pd.date_range("2020", periods=4), {}, "row 0, column 'v': '2020-01-01 00:00:00' is a "
         "date; leave it out with --leave-out v."),
        ([["a"], ["b", "c"]] * 2, {}, "row 0, column 'v': expected a word or a number, got "
         "\"['a']\"; leave it out with --leave-out v."),
        (["2020-01-01", "2020-01-02"] * 2, {}, "row 0, column 'v': '2020-01-01' is a date; leave "
         "it out with --leave-out v."),
        ([None] * 4, {}, "column 'v': all cells are missing; leave it out with --leave-out v."),
        ([1.0, np.inf, 1, 2], {}, "row 1, column 'v': expected a number, got inf."),
        (["a", "b", "c", "d"], {"states": {"v": ("a", "b", "c")}},
         "row 3, column 'v': expected 'a', 'b' or 'c', got 'd'."),
        (["NA", "b", "NA", "d"], {"states": {"v": ("b", "NA")}},
         "row 3, column 'v': expected 'b' or 'NA', got 'd'."),
        (["1", "b", "3", "d"], {"cut": {"v": (2.0,)}}, "row 1, column 'v': expected a number, "
         "because --cut cuts the column, got 'b'."),
    ],
)  # fmt: skip
def test_refusals(column, said, sentence):
    with pytest.raises(InputError) as caught:
        read(column, **said)
    assert str(caught.value) == f"X, {sentence}"


@pytest.mark.parametrize(
    ("form", "cut", "leave_out"),
    [
        (OPTION, '--cut "my v=2,3" or --cut "my v=median"', '--leave-out "my v"'),
        (ARGUMENT, 'cut={"my v": [2, 3]} or cut={"my v": "median"}', 'leave_out="my v"'),
        (READ_DATA, 'mn.read_data(X, cut={"my v": [2, 3]}) or mn.read_data(X, cut={"my v": '
         '"median"})', 'mn.read_data(X, leave_out="my v")'),
        (KEY, 'cut: {"my v": [2, 3]} of the dataset in config.yaml or cut: {"my v": "median"} of '
         "the dataset in config.yaml", 'leave_out: "my v" of the dataset in config.yaml'),
    ],
)  # fmt: skip
def test_the_remedy_is_in_the_form_of_the_question(form, cut, leave_out):
    table = pd.DataFrame({"my v": [1, 2.5, 3, 4], "w": [0, 1, 0, 1]})
    with pytest.raises(InputError) as caught:
        read_table(table, Rules(form=form))
    expected = f"is a fraction; cut it with {cut}, or leave it out with {leave_out}."
    assert str(caught.value).endswith(expected)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"states": "sex"}, "--states: expected a column and its states, such as \"sex=f,m\", got"),
        ({"states": {"sex": "f"}}, "--states, column 'sex': expected a list of states, got 'f'"),
        ({"states": ["sex=f,f"]}, "--states, column 'sex': names a state twice"),
        ({"cut": ["age=50,30"]}, "--cut, column 'age': expected rising numbers or median, got"),
        ({"cut": ["age=old"]}, "--cut, column 'age': expected rising numbers or median, got"),
        ({"cut": {"age": True}}, "--cut, column 'age': expected rising numbers or median, got"),
        ({"na": {"a": 1}}, "--na: expected a text or several, got"),
    ],
)  # fmt: skip
def test_what_nobody_can_say(given, message):
    with pytest.raises(InputError, match=message):
        Rules.said(given, OPTION)


def test_what_can_be_said():
    rules = Rules.said({"states": ("a=x=f,m",), "cut": "a=30, 50", "na": 9}, OPTION)
    assert rules.states == {"a=x": ("f", "m")}
    assert (rules.cut, rules.na) == ({"a": (30.0, 50.0)}, ("9",))
    assert Rules.said({"cut": "median"}, OPTION).cut == {"": "median"}
    assert Rules.said({"cut": [2, 4]}, OPTION).cut == {"": (2.0, 4.0)}
    assert Rules.said({"cut": {"a": "median", "b": 4}}, OPTION).cut == {"a": "median", "b": (4.0,)}
    with pytest.raises(InputError, match="X, --cut: there is no column 'u'; the columns are 'v', "):
        read([1, 2, 3, 4], cut={"u": (2.0,)})


def test_columns_that_number_the_rows_are_left_out():
    n = 12
    table = pd.DataFrame(
        {"id": range(n), "a": [0, 1] * 6, "person_id": [f"p{k}" for k in range(n)]}
    )
    found = read_table(table, Rules(na=("7",)))
    assert found.left_out == ("id", "person_id")
    assert found.schema.names == ("a",)
    assert found.notes[0] == "left out 'id', 'person_id', which number the rows"
    # A word for missing cells does not make a row number missing, and is found.
    assert len(found.notes) == 1
    named = pd.DataFrame({"sample": [f"s{k}" for k in range(n)], "a": [0, 1] * 6})
    assert read_table(named, Rules()).left_out == ("sample",)
    with pytest.raises(InputError, match="all 12 values are different"):
        read_table(table[["a", "person_id"]].rename(columns={"person_id": "who"}), Rules())
    few = pd.DataFrame({"no": [1, 0], "b": [0, 1]})
    with pytest.raises(InputError, match="may number the rows or be a variable; --leave-out no or"):
        read_table(few, Rules())
    assert read_table(few, Rules(keep=("no",))).schema.names == ("no", "b")
    # A cut of all columns is none of the column of row numbers, which has no name.
    table = pd.DataFrame({"": range(n), "a": [0, 1, 2] * 4})
    assert read_table(table, Rules(cut={"": (1.0,)})).left_out == ("",)


@pytest.mark.parametrize(("code", "noted"), [(9, True), (-99, True), (5, False), (10, False)])
def test_a_code_of_missing_answers_is_noted(code, noted):
    table = pd.DataFrame({"a": [1, 2, 3, 4, code], "b": [0, 1, 0, 1, 1], "c": [*"xxyyy"]})
    sentence = f"{code} is far from the other numbers of 'a'; if it means that the answer is"
    found = read_table(table, Rules(cut={"": (3.0,)})).notes
    assert [note.startswith(sentence) for note in found] == [True] * noted
    assert not read_table(table, Rules(cut={"": (3.0,)}, na=(str(code),))).notes


def test_a_number_is_no_code_if_the_others_are_as_far_apart():
    table = pd.DataFrame({"a": [0, 5, 6, 9, 9], "b": [0, 1, 0, 1, 1]})
    assert not read_table(table, Rules(cut={"": (3.0,)})).notes


@pytest.mark.parametrize("form", [pd.DataFrame, sparse.csr_array, Path])
def test_a_binary_table_has_the_names_of_the_model(form, tmp_path):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for names, fits in ((("a", "b"), True), (("a", "c"), form is sparse.csr_array)):
        schema = binary_schema(names)
        if form is Path:
            read = partial(load_dataset, tmp_path / "t.csv", schema=schema)
        else:
            read = partial(read_table, form(frame), Rules(), schema=schema)
        if fits:
            assert read().schema == schema
        else:
            with pytest.raises(InputError, match="'c'"):
                read()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, list])
def test_matrices(form):
    rows = [[0, 3], [1, 1], [0, 2]]
    table = read_table(form(np.array(rows)) if form is sparse.csr_array else form(rows), Rules())
    assert [v.states for v in table.schema] == [(0, 1), (1, 2, 3)]
    assert not table.schema.is_named
    assert table.values.tolist() == [[0, 2], [1, 0], [0, 1]]
    words = read_table([["a", "x"], ["b", "y"]], Rules())
    assert [v.states for v in words.schema] == [("a", "b"), ("x", "y")]


def test_plain_frames_and_matrices_are_the_binary_ones(rng):
    rows = rng.integers(0, 2, (9, 4))
    for given in (rows, rows.astype(np.int8), rows * 1.0, pd.DataFrame(rows).astype("int64")):
        table = read_table(given, Rules())
        assert all(v.states is not None and v.states == (0, 1) for v in table.schema)
        np.testing.assert_array_equal(table.rows, rows)
    frame = pd.DataFrame(rows, columns=list("abcd")).astype({"b": "int8", "c": float})
    assert [v.dtype for v in read_table(frame, Rules()).schema] == [None, "int8", "float64", None]


TEXTS = [
    ("sex,n\nm,1.0\nf,2.0\nf,\n", ("f", "m"), (1, 2), [[1, 0], [0, 1], [0, NO]]),
    ("sex;n\nm;1,0\nf;2,0\nf;\n", ("f", "m"), (1, 2), [[1, 0], [0, 1], [0, NO]]),
    ("sex\tn\n m \t1\n\tNA\nf\t2\n", ("f", "m"), (1, 2), [[1, 0], [NO, NO], [0, 1]]),
    ('"sex","n"\n"m","07"\n"f","12"\n', ("f", "m"), ("07", "12"), [[1, 0], [0, 1]]),
    ("sex,n\n2|m,1\n0.5|f,2\n", ("f", "m"), (1, 2), [[1, 0], [0, 1]]),
    ("sex,n\na|b,1\nc,2\n", ("a|b", "c"), (1, 2), [[0, 0], [1, 1]]),
]


@pytest.mark.parametrize(("content", "sex", "n", "values"), TEXTS)
def test_text_files(tmp_path, content, sex, n, values):
    data = load_examples(write(tmp_path / "a.csv", content)).data
    assert [v.states for v in data.schema] == [sex, n]
    rows = data.rows[data.row_of]
    found = np.where(rows == 2, NO, rows)
    assert found.tolist() == values
    if "2|m" in content:
        assert data.weight.sum() == 2.5


def test_files_of_other_programs(tmp_path):
    table = pd.DataFrame(
        {"sex": ["m", "f"] * 3, "mood": pd.Categorical(["low", "high"] * 3, ["low", "mid", "high"])}
    )
    table.to_stata(tmp_path / "a.dta", write_index=False)
    paths = [tmp_path / "a.dta"]
    try:
        table.to_parquet(tmp_path / "a.parquet")
        table.to_feather(tmp_path / "a.feather")
        paths += [tmp_path / "a.parquet", tmp_path / "a.feather"]
    except ImportError:
        pass
    for path in paths:
        schema = load_examples(path).data.schema
        assert schema["sex"].states == ("f", "m")
        assert schema["mood"].states[0] == "low"
    write(tmp_path / "b.dta", "no")
    with pytest.raises(InputError, match=r"b\.dta: cannot be read as \.dta: "):
        load_examples(tmp_path / "b.dta")
    with pytest.raises(InputError, match=r"c\.parquet: no such file\."):
        load_examples(tmp_path / "c.parquet")


def test_tables_of_polars_and_arrow():
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "s": ["a", None, "b"],
            "n": [1, 2, 2],
            "e": polars.Series(["u", "v", "u"], dtype=polars.Enum(["v", "u"])),
            "b": [True, False, None],
        }
    )
    for given in (frame, frame.to_arrow()):
        table = read_table(given, Rules())
        states = [v.states for v in table.schema]
        assert states == [("a", "b"), (1, 2), ("v", "u"), (False, True)]
        assert table.values.tolist() == [[0, 0, 1, 1], [NO, 1, 0, 0], [1, 1, 1, NO]]
