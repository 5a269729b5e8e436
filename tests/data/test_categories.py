"""CSV files with categorical columns: their encoding as binary data, and what is refused."""

import gzip
import logging

import pytest

from made_data import examples, write
from mnlearn.data.categories import encode, find_encoding, load_encoding, read_one_hot
from mnlearn.data.own_files import load_local
from mnlearn.data.reading import Reading
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json

CATEGORICAL = "colour,size,smoker,flag,unit\nred,10,no,1,cm\nblue,9,yes,0,cm\ngreen,10,no,0,cm\n"


def test_one_hot(tmp_path):
    data, encoding = read_one_hot(write(tmp_path / "a.csv", CATEGORICAL))
    assert data.names == (
        "colour=blue",
        "colour=green",
        "colour=red",
        "size=10",
        "smoker=yes",
        "flag",
        "unit=cm",
    )
    assert examples(data).tolist() == [
        [0, 0, 1, 1, 0, 1, 1],
        [1, 0, 0, 0, 1, 0, 1],
        [0, 1, 0, 1, 0, 0, 1],
    ]
    assert encoding["columns"][1] == {
        "column": "size",
        "categories": ["9", "10"],
        "variables": ["size=10"],
        "indicated": ["10"],
    }


def test_encoding_survives_json_and_applies_to_other_files(tmp_path):
    data, encoding = read_one_hot(write(tmp_path / "a.csv", CATEGORICAL))
    write_json(tmp_path / "encoding.json", encoding)
    again = load_encoding(tmp_path / "encoding.json")
    assert again == encoding
    other = write(tmp_path / "b.csv", "colour,size,smoker,flag,unit\r\n\r\n red ,9,yes,1,cm\r\n")
    encoded = encode(other, again)
    assert encoded.names == data.names
    assert encoded.rows.tolist() == [[0, 0, 1, 0, 1, 1, 1]]


def test_encoding_of_three_files_covers_the_values_of_all(tmp_path):
    train = write(tmp_path / "train.csv", "c,d\na,0\nb,0\n")
    valid = write(tmp_path / "valid.csv", "c,d\nc,0\n")
    test = write(tmp_path / "test.csv", 'c,d\n"x, y",1\n')
    encoding = find_encoding([train, valid, test])
    parts = load_local(train, valid, test, encoding=encoding)
    assert parts[2].names == ("c=a", "c=b", "c=c", "c=x, y", "d")
    assert [part.rows.tolist() for part in parts[1:]] == [[[0, 0, 1, 0, 0]], [[0, 0, 0, 1, 1]]]


def test_constant_categorical_columns_are_kept(tmp_path):
    data, _ = read_one_hot(write(tmp_path / "a.csv", "zero,one,word\n0,1,w\n0,1,w\n"))
    assert data.names == ("zero", "one", "word=w")
    assert data.rows.tolist() == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\nx,y\nz,\n", "line 3, column 'b': is missing"),
        ("a,b\nx,NA\n", "line 2, column 'b': is missing"),
        ('a,b\n"two\nlines",y\n?,y\n', "line 4, column 'a': is missing"),
        ("a,b\nx,y,z\n", "line 2: expected 2 values as in the header, got 3"),
        ("a,b\nx\n", "line 2: expected 2 values as in the header, got 1"),
        ("a,a\nx,y\n", "line 1: two columns are called 'a'"),
        ("a,\nx,y\n", "line 1, column 2: has no name"),
        ("a,b\n", "holds no examples"),
        ("", "holds no examples"),
        ('a,b\n"x,y\n', "is not CSV"),
        ("a,a=x\nx,0\ny,1\nz,1\n", "2 variables would be called 'a=x'"),
        ("a\n" + "".join(f"{i}.5\n" for i in range(101)), "101 different values, more than 100"),
    ],
)
def test_malformed_categorical_file_is_refused(tmp_path, content, message):
    path = write(tmp_path / "bad.csv", content)
    with pytest.raises(InputError) as caught:
        read_one_hot(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_values_and_columns_outside_the_encoding_are_refused(tmp_path):
    _, encoding = read_one_hot(write(tmp_path / "a.csv", "c,d\na,0\nb,1\n"))
    other = write(tmp_path / "b.csv", "c,d\na,0\nz,1\n")
    with pytest.raises(InputError, match=r"line 3, column 'c': expected one of .* a, b; got 'z'"):
        encode(other, encoding)
    with pytest.raises(InputError, match="line 1: expected the columns c, d; got c, e"):
        encode(write(tmp_path / "c.csv", "c,e\na,0\n"), encoding)


def test_files_with_other_columns_have_no_common_encoding(tmp_path):
    paths = [write(tmp_path / "a.csv", "c,d\na,0\nb,1\n"), write(tmp_path / "b.csv", "c,e\na,0\n")]
    with pytest.raises(InputError, match=r"b\.csv, line 1: expected the columns c, d; got c, e"):
        find_encoding(paths)


@pytest.mark.parametrize(
    "value", [[], {"kind": "one-hot"}, {"kind": "x"}, {"kind": "one-hot", "columns": []}]
)
def test_other_json_is_not_an_encoding(tmp_path, value):
    write_json(tmp_path / "a.json", value)
    with pytest.raises(InputError, match="expected the encoding"):
        load_encoding(tmp_path / "a.json")


def test_encoding_with_other_keys_is_refused(tmp_path):
    write_json(tmp_path / "a.json", {"kind": "one-hot", "columns": [{"column": "a"}]})
    with pytest.raises(InputError, match="column 1: expected the keys"):
        load_encoding(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"column": 1}, "expected a text as column and lists of texts"),
        ({"categories": "ab"}, "expected a text as column and lists of texts"),
        ({"indicated": [["b"]]}, "expected a text as column and lists of texts"),
        ({"indicated": ["a", "b"]}, "expected as many variables as indicated values"),
    ],
)
def test_encoding_with_other_values_is_refused(tmp_path, changed, message):
    _, encoding = read_one_hot(write(tmp_path / "a.csv", "c\na\nb\n"))
    write_json(tmp_path / "a.json", {**encoding, "columns": [encoding["columns"][0] | changed]})
    with pytest.raises(InputError, match=f"column 1: {message}"):
        load_encoding(tmp_path / "a.json")


def test_an_encoding_with_two_variables_of_a_name_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "c,d\na,x\nb,y\nb,z\na,x\n")
    _, encoding = read_one_hot(path)
    encoding["columns"][1]["variables"] = ["c=b", "c=b", "e"]
    write_json(tmp_path / "a.json", encoding)
    with pytest.raises(InputError, match=r"c=b"):
        encode(path, load_encoding(tmp_path / "a.json"))


def test_cells_that_differ_in_blanks_have_one_value(tmp_path):
    data, encoding = read_one_hot(write(tmp_path / "a.csv", 'c\na\n"a "\nb\n a\n'))
    assert encoding["columns"][0]["categories"] == ["a", "b"]
    assert examples(data).ravel().tolist() == [0, 0, 1, 0]


def test_other_text_forms_read_the_same(tmp_path):
    plain, _ = read_one_hot(write(tmp_path / "a.csv", CATEGORICAL))
    for content in (CATEGORICAL.replace("\n", "\r\n"), "\ufeff" + CATEGORICAL):
        other, _ = read_one_hot(write(tmp_path / "b.csv", content))
        assert examples(other).tolist() == examples(plain).tolist()
    packed = write(tmp_path / "a.csv.gz", gzip.compress(CATEGORICAL.encode()))
    assert examples(read_one_hot(packed)[0]).tolist() == examples(plain).tolist()


def test_bytes_that_are_no_text_are_refused_with_their_place(tmp_path):
    path = write(tmp_path / "a.csv", b"c\n" + b"a\n" * 20_000 + b"\xff\n")
    with pytest.raises(InputError, match=r"a\.csv: is not a text file \(byte 40002\)"):
        read_one_hot(path)
    packed = write(tmp_path / "a.csv.gz", gzip.compress(path.read_bytes()))
    with pytest.raises(InputError, match=r"a\.csv\.gz: is not a text file\.$"):
        read_one_hot(packed)


def test_cell_of_too_many_characters_is_refused(tmp_path):
    path = write(tmp_path / "a.csv", "c\n" + "a" * 200_000 + "\n")
    with pytest.raises(InputError, match="line 2: is not CSV: field larger than field limit"):
        read_one_hot(path)


def test_table_that_expands_beyond_the_limit_is_refused(tmp_path):
    path = write(tmp_path / "a.csv.gz", gzip.compress(b"c\n" + b"a\n" * 1_000_000))
    with pytest.raises(InputError, match=r"kB expand to .* MB or more; expected at most 1 MB"):
        read_one_hot(path, limit=ExpansionLimit(max_bytes=10**6))


@pytest.mark.parametrize("text", ["", "?", "NA", "n/a", "NaN", "null"])
def test_texts_of_missing_cells(tmp_path, text):
    path = write(tmp_path / "a.csv", f"a,b\nx,y\nz, {text} \n")
    with pytest.raises(InputError) as caught:
        read_one_hot(path)
    assert str(caught.value) == (
        f"{path}, line 3, column 'b': is missing ({text!r}); fill it in, leave the line out or "
        "give missing values a name of their own."
    )


def test_as_many_categories_as_are_read(tmp_path):
    path = write(tmp_path / "a.csv", "a\n" + "".join(f"{i}.5\n" for i in range(100)))
    data, encoding = read_one_hot(path)
    assert data.n_vars == 100
    assert encoding["kind"] == "one-hot"
    with pytest.raises(InputError) as caught:
        find_encoding([path], 99)
    assert str(caught.value) == (
        f"{path}, column 'a': has 100 different values, more than 99; group them or leave it out "
        "with --leave-out."
    )


def test_values_that_a_file_lacks(tmp_path):
    _, encoding = read_one_hot(write(tmp_path / "a.csv", "c,d\na,0\nb,0\nc,1\nd,1\n"))
    other = write(tmp_path / "b.csv", "c,d\nd,0\nb,0\nb,0\n")
    data = encode(other, encoding)
    assert examples(data).tolist() == [[0, 0, 0, 1, 0], [0, 1, 0, 0, 0], [0, 1, 0, 0, 0]]


def test_both_values_of_a_column_are_a_group_if_a_person_names_them(tmp_path):
    path = write(tmp_path / "a.csv", "c\na\nb\n")
    _, encoding = read_one_hot(path)
    column = encoding["columns"][0] | {"variables": ["x", "y"], "indicated": ["b", "a"]}
    data = encode(path, {"kind": "one-hot", "columns": [column]})
    assert (data.names, data.groups) == (("x", "y"), ((0, 1),))


def test_order_of_numbers_and_words(tmp_path):
    for lines, ordered in (("10 9 1.0 1", ["1", "1.0", "9", "10"]), ("10 9 x", ["10", "9", "x"])):
        path = write(tmp_path / "a.csv", "c\n" + lines.replace(" ", "\n") + "\n")
        assert find_encoding([path])["columns"][0]["categories"] == ordered


def test_an_encoding_whose_columns_are_none(tmp_path):
    write_json(tmp_path / "a.json", {"kind": "one-hot", "columns": [[]]})
    with pytest.raises(InputError, match=r"column 1: expected the keys column, categories, var"):
        load_encoding(tmp_path / "a.json")
    _, encoding = read_one_hot(write(tmp_path / "a.csv", "c,d\na,x\nb,y\n"))
    encoding["columns"][1]["variables"] = []
    write_json(tmp_path / "a.json", encoding)
    with pytest.raises(InputError, match=r"a\.json, column 2: expected as many variables as ind"):
        load_encoding(tmp_path / "a.json")


def test_quotes_within_a_cell_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"a\.csv, line 3: is not CSV"):
        read_one_hot(write(tmp_path / "a.csv", 'c\na\n"a"b\n'))
    data, _ = read_one_hot(write(tmp_path / "a.csv", 'c, d\na, "x, y"\nb, z\n'))
    assert data.names == ("c=b", "d=z")


@pytest.mark.parametrize("separator", [";", "\t"])
def test_cells_may_be_separated_otherwise(tmp_path, separator):
    content = CATEGORICAL.replace(",", separator).replace("colour", "colour, main")
    data, encoding = read_one_hot(write(tmp_path / "a.csv", content))
    expected, _ = read_one_hot(write(tmp_path / "b.csv", CATEGORICAL))
    assert examples(data).tolist() == examples(expected).tolist()
    assert data.names[0] == "colour, main=blue"
    assert examples(encode(tmp_path / "a.csv", encoding)).tolist() == examples(data).tolist()


def test_ids_are_no_variables_and_many_values_are_told(tmp_path, caplog):
    caplog.set_level(logging.INFO, "mnlearn")
    lines = [f"{k},p{k},2024-01-{k:02},{'xyz'[k % 3]}" for k in range(1, 13)]
    path = write(tmp_path / "a.csv", "\n".join([",person_id,date,c", *lines]) + "\n")
    data, encoding = read_one_hot(path)
    assert (data.n_vars, [len(group) for group in data.groups]) == (15, [12, 3])
    assert caplog.messages == [
        f"{path}: left out '', 'person_id', which numbers the rows.",
        f"{path}: a column for each value of 'date' (12); --leave-out leaves out what is no "
        "variable, such as dates.",
    ]
    data, _ = read_one_hot(path, reading=Reading(leave_out=("date",), keep=("person_id",)))
    assert [len(group) for group in data.groups] == [12, 3]
    assert data.names[0] == "person_id=p1"
    assert encode(path, encoding).names[-1] == "c=z"
    for option in ("leave_out", "keep"):
        with pytest.raises(InputError, match=r"a\.csv, --.*: there is no column 'x'"):
            read_one_hot(path, reading=Reading(**{option: ("x",)}))
    with pytest.raises(InputError, match=r"a\.csv: holds no variables"):
        read_one_hot(write(path, "id\nx\ny\n"))
    with pytest.raises(InputError, match="line 1, column 1: has no name"):
        read_one_hot(write(path, ",c\nx,y\nx,z\n"))


def test_columns_of_other_files_have_any_order(tmp_path, caplog):
    caplog.set_level(logging.INFO, "mnlearn")
    a = write(tmp_path / "a.csv", "c,d\na,0\nb,1\nx,1\n")
    b = write(tmp_path / "b.csv", "more,d,c\n,0,a\n,1,b\n,1,x\n")
    data, encoding = read_one_hot(a)
    assert examples(encode(b, encoding)).tolist() == examples(data).tolist()
    assert caplog.messages == [f"{b}: left out 'more', which is not needed."]
    assert find_encoding([a, b]) == encoding
