"""How columns become 0 and 1: every text, every sentence, and what is told."""

import logging

import pandas as pd
import pytest

import mnlearn as mn
from made_data import examples, write
from mnlearn.data.examples import load_dataset, load_examples
from mnlearn.data.group_column import load_groups
from mnlearn.data.incomplete import MISSING, IncompleteData
from mnlearn.data.reading import OPTIONS, Reading
from mnlearn.runtime.errors import InputError

LONG = "x" * 41


def read(tmp_path, content, **said):
    return load_examples(write(tmp_path / "a.csv", content), reading=Reading(**said))


def values(found):
    data = found.data
    return (data.values if isinstance(data, IncompleteData) else examples(data)).tolist()


@pytest.mark.parametrize("text", ["", "NA", "na", "NaN", "n/a", "N/A", "<NA>", "NULL"])
def test_texts_of_missing_cells(tmp_path, text):
    found = read(tmp_path, f"a,b\n1,0\n0,{text}\n1,1\n")
    assert values(found) == [[1, 0], [0, MISSING], [1, 1]]


@pytest.mark.parametrize(
    ("zero", "one"), [("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"), ("F", "T")]
)
def test_words_for_0_and_1(tmp_path, zero, one):
    found = read(tmp_path, f"a,b\n{zero},{one}\n{one},{one}\n{one},{zero}\n")
    assert values(found) == [[0, 1], [1, 1], [1, 0]]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index", "rownames", "row.names"])
def test_names_of_row_numbers(tmp_path, name):
    assert values(read(tmp_path, f"{name},b\n7,0\n8,1\n9,1\n")) == [[0], [1], [1]]
    # Only the first column numbers the rows, and it has to be different in each.
    with pytest.raises(InputError, match=f"line 2, column '{name}': expected 0 or 1|has no name"):
        read(tmp_path, f"b,{name}\n0,7\n1,8\n1,9\n")
    with pytest.raises(InputError, match=f"line 2, column '{name}': expected 0 or 1|has no name"):
        read(tmp_path, f"{name},b\n7,0\n7,1\n9,1\n")


@pytest.mark.parametrize(
    "name",
    ["id", "NO", "nr", "number", "case", "subject", "participant", "respondent", "person_id",
     "my.case", "row number", "userID"],
)  # fmt: skip
def test_names_of_columns_that_name_people(tmp_path, name):
    assert values(read(tmp_path, f"b,{name}\n0,x\n1,y\n")) == [[0], [1]]


def test_a_first_column_of_names_is_no_variable(tmp_path):
    names = [f"TCGA-{k}" for k in range(10)]

    def table(names, form="{name},{x}"):
        lines = [form.format(name=name, x=k % 2) for k, name in enumerate(names)]
        return "\n".join([form.format(name="Tumor_Sample_Barcode", x="b"), *lines]) + "\n"

    assert values(read(tmp_path, table(names))) == [[k % 2] for k in range(10)]
    # Fewer rows do not show it, nor do numbers, a name that comes twice, or a column alone.
    for other in (
        table(names[:9]),
        table(range(10)),
        table([*names, names[0]]),
        table(names, "{name}"),
        table(names, "{x},{name}"),
    ):
        with pytest.raises(InputError, match=r"expected 0 or 1, got"):
            read(tmp_path, other)


@pytest.mark.parametrize("name", ["ids", "casework", "a", "valid", "paid", "AIDS"])
def test_other_names_are_variables(tmp_path, name):
    with pytest.raises(InputError, match=f"line 2, column '{name}': expected 0 or 1, got 'x'"):
        read(tmp_path, f"b,{name}\n0,x\n1,y\n1,z\n")


# The end of sentences on a column of two values, and of more.
ONES = "--ones says which value counts as 1, or --leave-out leaves it out."
SEVERAL = (
    "say with --na which are missing, leave the column out with --leave-out, or encode it (mnlearn "
    "convert --categories)."
)


@pytest.mark.parametrize(
    ("content", "said", "sentence"),
    [
        (",b\nNA,1\n,0\n", {}, ", column 1: all cells are missing; leave it out with --leave-out."),
        ("a,b\n1,NA\n0,\n", {}, ", column 'b': all cells are missing; leave it out with "
                                "--leave-out."),
        (",b\n1,0\n1,1\n0,1\n", {}, ", line 1, column 1: has no name."),
        ("a,\n1,0\n1,1\nx,1\n", {}, ", line 1, column 2: has no name."),
        ("no,b\n1,0\n0,1\n", {}, ", column 'no': may number the rows or be a variable; say "
                                 "--leave-out or --keep."),
        ("a,b\nm,0\nf,1\nm,1\n", {},
         f", line 2, column 'a': expected 0 or 1, got 'm'; {ONES}"),
        ("a,b\nm,0\nf,1\nx,1\n", {},
         ", line 2, column 'a': expected 0 or 1, got 'm'; the column has 3 different values ('m', "
         f"'f', 'x'): {SEVERAL}"),
        (f"a,b\n0,0\n{LONG},1\n", {},
         f", line 3, column 'a': expected 0 or 1, got '{'x' * 40}' and 1 more characters; {ONES}"),
        (f"a,b\n0,0\n{LONG[1:]},1\n", {},
         f", line 3, column 'a': expected 0 or 1, got '{LONG[1:]}'; {ONES}"),
        ("a,b\ninf,0\n0,1\n", {}, f", line 2, column 'a': expected 0 or 1, got 'inf'; {ONES}"),
        ("a,b\n1,0\n2|1,x\n", {}, f", line 3, column 'a': expected 0 or 1, got '2|1'; {ONES}"),
        ("a,b\n2|1.0,0\n1,0\n", {}, ", line 2, column 1: expected 0 or 1, got '1.0'."),
        ("a,b\n1,0\n2,1\n", {}, ", column 'a': has 1 and 2, but 'b' has 0 and 1; --ones says which "
                                "value counts as 1 in the first."),
        ("a,b\n1,1\n2,1\n", {}, ", column 'b': has only 1, which could be 0 or 1, because other "
                                "columns have 1 and 2; --ones says which value counts as 1."),
        ("a,b\n1,0\n3,1\n4,1\n5,1\n6,1\n7,1\n", {"ones": ("a=9",)},
         ", column 'a': expected 9 and one other value, the column has 1, 3, 4, 5, 6, ...."),
        ("a,b\n1,0\n3,1\n4,1\n5,1\n6,1\n", {"ones": ("a=9",)},
         ", column 'a': expected 9 and one other value, the column has 1, 3, 4, 5, 6."),
    ],
)  # fmt: skip
def test_sentences_on_columns(tmp_path, content, said, sentence):
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, **said)
    found = str(caught.value).removeprefix(str(tmp_path / "a.csv")).removeprefix("--ones")
    assert found == sentence


def test_what_is_told(tmp_path, caplog):
    caplog.set_level(logging.INFO, "mnlearn")
    path = tmp_path / "a.csv"

    def told(content, reading=None):
        caplog.clear()
        found = load_examples(write(path, content), reading=reading)
        return found, [message.removeprefix(f"{path}: ") for message in caplog.messages]

    people = "id,a,b,c,d,e,f,g\nx,1,y,n,y,n,y,n\ny,2,n,y,y,y,y,y\nz,2,n,y,y,y,y,y\n"
    found, lines = told(people)
    assert lines == [
        "left out 'id', which numbers the rows; 2 counts as 1 in 1 columns (a); y counts as 1 in 6 "
        "columns (b, c, d, e, f, ...)."
    ]
    # What is known from other data, or said by a person, is not told again.
    assert told(people, found.reading)[1] == ["left out 'id', which is not needed."]
    assert told("a,b\n1,x\n0,y\n", Reading(ones=("b=x",)))[1] == []
    assert told("a,b\n1,x\n0,y\n", Reading(leave_out=("b",)))[1] == []
    assert told("a,b\n1,0\n0,0\n")[1] == []


def test_an_index_of_one_or_two_rows(tmp_path):
    assert values(read(tmp_path, ",b\nx,1\n")) == [[1]]
    assert values(read(tmp_path, ",b\n0,1\n1,0\n")) == [[1], [0]]
    assert values(read(tmp_path, "id,b\nx,1\ny,0\n")) == [[1], [0]]
    # Three rows of 0 and 1 cannot be numbered by them.
    assert values(read(tmp_path, "no,b\n1,0\n0,1\n1,1\n")) == [[1, 0], [0, 1], [1, 1]]
    assert values(read(tmp_path, "no,b\n1,0\n2|0,1\n")) == [[1, 0], [0, 1]]


def test_a_column_that_was_always_1(tmp_path):
    first = read(tmp_path, "a,b\n5,0\n5,1\n", ones=("a=5",))
    again = load_examples(write(tmp_path / "b.csv", "a,b\n5,0\n3,1\n"), reading=first.reading)
    assert values(again) == [[1, 0], [0, 1]]
    path = write(tmp_path / "c.csv", "a,b\n5,0\n3,1\n4,1\n")
    with pytest.raises(InputError, match=r"line 3, column 'a': expected .*5, got '3'"):
        load_examples(path, reading=first.reading)


def test_values_of_other_data_in_another_form(tmp_path):
    first = read(tmp_path, "a,b\n1,male\n2,female\n2,male\n", ones=("female",))
    again = load_examples(
        write(tmp_path / "b.csv", "a,b\n2.0,FEMALE\n1.0,Male\n"), reading=first.reading
    )
    assert values(again) == [[1, 1], [0, 0]]
    assert again.reading.names == ("a", "b")
    assert again.reading.codes["b"] == ("male", "female")


@pytest.mark.parametrize("said", [*OPTIONS, "codes"])
def test_what_is_said_changes_how_files_are_read(said):
    given = {"b": ("0", "1")} if said == "codes" else ("b",)
    assert not Reading(**{said: given}).is_plain()
    assert Reading(names=("b",)).is_plain()


@pytest.mark.parametrize(
    ("content", "expected", "names"),
    [
        ("?,?\n1,0\n", None, None),
        ("nan,b\n1,0\n0,1\n1,1\n", [[1, 0], [0, 1], [1, 1]], ("nan", "b")),
        ("1.0,x\n0,1\n", None, None),
        ("1;0\n0;1\n", [[1, 0], [0, 1]], None),
        ("a b\tc\n1.0\t0\n", [[1, 0]], ("a b", "c")),
        ('"a;b";c\n1.0;0\n', [[1, 0]], ("a;b", "c")),
        (' "a, b", c\n1.0, 0\n', [[1, 0]], ("a, b", "c")),
        ("a,b\n1.0,0\n\n\n", [[1, 0]], ("a", "b")),
        ("1.0,0\n", [[1, 0]], None),
        ('a\t "b"\n1.0\t0\n', [[1, 0]], ("a", '"b"')),
        ("x;y\n1,0;0,0\n", [[1, 0]], ("x", "y")),
        ('"r";1.0;0\n"s";0;1\n', None, None),
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
        assert (examples(found).tolist(), found.names) == (expected, names)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1.0,0\n,\n0,\n", "{}, line 3, column 'a': is missing, and 2 of 3 examples have "
                                "missing cells; drop them or fill them in, with --missing or "
                                "mnlearn impute."),
        ("1,0\n0,NA\n", "{}, line 2, column 2: expected 0 or 1, got 'NA'."),
    ],
)  # fmt: skip
def test_sentences_on_missing_cells(tmp_path, content, sentence):
    path = write(tmp_path / "a.csv", content)
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    assert str(caught.value) == sentence.format(path)


def test_a_first_line_with_a_number_has_no_names(tmp_path):
    found = read(tmp_path, "nan,1\n1.0,0\n")
    assert values(found) == [[MISSING, 1], [1, 0]]
    assert found.data.names is None


def test_a_missing_cell_of_a_column_without_a_name(tmp_path):
    found = read(tmp_path, "1,?\n0,1\n", na=("?",))
    with pytest.raises(InputError, match=r"^x, line 1, column 2: is missing, and 1 of 2 exam"):
        found.complete("x")


def test_options_need_a_table_without_weights(tmp_path):
    with pytest.raises(InputError, match=r"a\.csv: expected a table without weights, got <Dataset"):
        read(tmp_path, "2|1,0\n1|0,1\n", ones=("1",))


def test_a_setting_that_is_no_text_is_refused():
    for ones in (1, [1], {"sex": "f"}):
        with pytest.raises(InputError, match="ones: expected a text or several, got"):
            Reading.said({"ones": ones}, "{}=")


@pytest.mark.parametrize("na", ["9", "9.0", "+9"])
def test_codes_of_missing_cells_are_compared_as_numbers(tmp_path, na):
    """pandas writes 9.0 where a column has an empty cell."""
    content = "i,j\n1.0,9.0\n4.0,2.0\n9,5.0\n2.0,1.0\n"
    found = read(tmp_path, content, ones=(">=4",), na=(na,))
    assert values(found) == [[0, MISSING], [1, 0], [MISSING, 1], [0, 0]]
    frame = pd.DataFrame({"i": [1, 4, 9, 2], "j": [9, 2, 5, 1]})
    for table in (frame, frame.astype(float), frame.astype(str)):
        with pytest.raises(InputError, match="row 0, column 'j': is missing"):
            mn.read_data(table, ones=">=4", na=na)


def test_names_of_states_and_of_groups_know_codes_of_missing_cells(tmp_path):
    path = write(tmp_path / "a.csv", "age,sex\nyoung,1\n9.0,0\nold,9.0\n")
    own = Reading(na=("9",), names=("age=young", "age=old"))
    assert values(load_examples(path, reading=own)) == [[1, 0], [MISSING] * 2, [0, 1]]
    with pytest.raises(InputError, match="line 4, column 'sex': the group is missing"):
        load_groups(path, "sex", reading=Reading(na=("9",), ones=("age=old",)))


def test_texts_of_missing_cells_that_no_cell_has_are_told(tmp_path, caplog):
    caplog.set_level(logging.INFO, "mnlearn")
    found = read(tmp_path, "a,b\n1,0\n0,9.0\n", na=("9", "-9", "x"))
    assert caplog.messages == [f"{tmp_path / 'a.csv'}: --na '-9', 'x' match no cell."]
    # Validation data may have none.
    load_examples(write(tmp_path / "b.csv", "a,b\n1,0\n0,1\n"), reading=found.reading)
    assert len(caplog.messages) == 1
    with pytest.warns(UserWarning, match="source: na= '8' matches no cell"):
        mn.read_data(pd.DataFrame({"a": [0, 1], "b": [1, 0]}), na="8")
