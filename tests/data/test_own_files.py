"""A person's own files: three or one to be split, binary or categorical."""

import numpy as np
import pytest

from made_data import examples, write
from mnlearn.data.dataset import merge_rows
from mnlearn.data.own_files import encode, find_encoding, load_encoding, load_local, one_hot
from mnlearn.data.text import save_text
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json


def test_local_three_files(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", "a,b\n0,1\n") for name in ("train", "valid", "test")]
    parts = load_local(*paths)
    assert [part.names for part in parts] == [("a", "b")] * 3


def test_local_files_without_names_take_those_of_the_others(tmp_path):
    train = write(tmp_path / "train.data", "0,1\n")
    valid = write(tmp_path / "valid.data", "1,1\n")
    test = write(tmp_path / "test.csv", "a,b\n1,0\n")
    parts = load_local(train, valid, test)
    assert [part.names for part in parts] == [("a", "b")] * 3
    assert [part.rows.tolist() for part in parts] == [[[0, 1]], [[1, 1]], [[1, 0]]]


def test_local_single_file_is_split(tmp_path):
    matrix = np.random.default_rng(1).integers(0, 2, (50, 6))
    save_text(merge_rows(matrix), path := tmp_path / "all.data")
    parts = load_local(path, fractions=(0.6, 0.2, 0.2), seed=3)
    assert [part.n_examples for part in parts] == [30, 10, 10]
    again = load_local(path, fractions=(0.6, 0.2, 0.2), seed=3)
    other = load_local(path, fractions=(0.6, 0.2, 0.2), seed=4)
    np.testing.assert_array_equal(examples(parts[0]), examples(again[0]))
    assert not np.array_equal(examples(parts[0]), examples(other[0]))


def test_local_files_that_do_not_fit_are_refused(tmp_path):
    ab = write(tmp_path / "ab.csv", "a,b\n0,1\n")
    ba = write(tmp_path / "ba.csv", "b,a\n0,1\n")
    abc = write(tmp_path / "abc.csv", "a,b,c\n0,1,1\n")
    with pytest.raises(InputError, match=r"abc\.csv: expected 2 variables as in .*ab\.csv, got 3"):
        load_local(ab, ab, abc)
    with pytest.raises(InputError, match=r"ba\.csv: expected 'a' as column 1 as in .*ab\.csv"):
        load_local(ab, ba, ab)
    with pytest.raises(InputError, match="or neither"):
        load_local(ab, test=ab)
    with pytest.raises(InputError, match="or neither"):
        load_local(ab, valid=ab)


CATEGORICAL = "colour,size,smoker,flag,unit\nred,10,no,1,cm\nblue,9,yes,0,cm\ngreen,10,no,0,cm\n"


def test_one_hot(tmp_path):
    data, encoding = one_hot(write(tmp_path / "a.csv", CATEGORICAL))
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
    data, encoding = one_hot(write(tmp_path / "a.csv", CATEGORICAL))
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
    data, _ = one_hot(write(tmp_path / "a.csv", "zero,one,word\n0,1,w\n0,1,w\n"))
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
        one_hot(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)


def test_values_and_columns_outside_the_encoding_are_refused(tmp_path):
    _, encoding = one_hot(write(tmp_path / "a.csv", "c,d\na,0\nb,1\n"))
    other = write(tmp_path / "b.csv", "c,d\na,0\nz,1\n")
    with pytest.raises(InputError, match=r"line 3, column 'c': expected one of .* a, b; got 'z'"):
        encode(other, encoding)
    with pytest.raises(InputError, match="line 1: expected the columns c, d; got c, e"):
        encode(write(tmp_path / "c.csv", "c,e\na,0\n"), encoding)


@pytest.mark.parametrize("value", [[], {"kind": "one-hot"}, {"kind": "x", "columns": []}])
def test_other_json_is_not_an_encoding(tmp_path, value):
    write_json(tmp_path / "a.json", value)
    with pytest.raises(InputError, match="expected the encoding"):
        load_encoding(tmp_path / "a.json")


def test_encoding_with_other_keys_is_refused(tmp_path):
    write_json(tmp_path / "a.json", {"kind": "one-hot", "columns": [{"column": "a"}]})
    with pytest.raises(InputError, match="column 1: expected the keys"):
        load_encoding(tmp_path / "a.json")
