"""Reading, merging and writing datasets; a person's own files."""

import gzip
import lzma
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mnlearn.data.dataset import Dataset, load_npz, merge_rows
from mnlearn.data.own_files import encode, find_encoding, load_encoding, load_local, one_hot
from mnlearn.data.text import load_dataset, save_text
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json

PLAIN = "0,1,1\n1,0,0\n0,1,1\n"

matrices = hnp.arrays(
    np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=20), elements=st.integers(0, 1)
)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def examples(data: Dataset) -> np.ndarray:
    """The examples in the order of their source."""
    return data.rows[data.row_of]


# --- reading text -----------------------------------------------------------------------------


def test_plain_text(tmp_path):
    data = load_dataset(write(tmp_path / "a.data", PLAIN))
    assert data.rows.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert data.weight.tolist() == [2, 1]
    assert data.row_of.tolist() == [0, 1, 0]
    assert data.names is None
    assert (data.n_vars, data.n_rows, data.n_examples) == (3, 2, 3)


@pytest.mark.parametrize(
    "content",
    [
        PLAIN.replace("\n", "\r\n"),
        PLAIN.rstrip("\n"),
        PLAIN + "\n\n",
        PLAIN.replace(",", ", "),
        "\ufeff" + PLAIN,
    ],
    ids=["crlf", "no-last-newline", "blank-lines-at-end", "spaces", "byte-order-mark"],
)
def test_other_line_forms_read_the_same(tmp_path, content):
    data = load_dataset(write(tmp_path / "a.data", content))
    assert examples(data).tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
@pytest.mark.parametrize("content", [PLAIN, "a,b,c\n" + PLAIN], ids=["plain", "header"])
def test_compressed_text(tmp_path, suffix, pack, content):
    data = load_dataset(write(tmp_path / f"a.csv{suffix}", pack(content.encode())))
    assert examples(data).tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 1]]


def test_header_names_the_variables(tmp_path):
    data = load_dataset(write(tmp_path / "a.csv", 'old,"new", blue \n' + PLAIN))
    assert data.names == ("old", "new", "blue")
    assert data.n_examples == 3


def test_weights(tmp_path):
    data = load_dataset(write(tmp_path / "a.data", "2.5|0,1\n1e1|1,1\n0.5|0,1\n"))
    assert data.rows.tolist() == [[0, 1], [1, 1]]
    assert data.weight.tolist() == [3, 10]
    assert data.n_examples == 13


def test_examples_without_weight_have_weight_one(tmp_path):
    data = load_dataset(write(tmp_path / "a.data", "0,1\n3|1,1\n"))
    assert data.weight.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no examples"),
        ("\n\n", "holds no examples"),
        ("a,b\n", "holds no examples"),
        ("0,1,1\n1,0\n", "line 2: expected 3 values as before, got 2"),
        ("0,1,1\n1,0,", "line 2, column 3: expected 0 or 1, got ''"),
        ("0,1\n1,0,1\n", "line 2: expected 2 values as before, got 3"),
        ("a,b\n0,1\n1,0,1\n", "line 3: expected 2 values"),
        ("0,1\n1,2\n", "line 2, column 2: expected 0 or 1, got '2'"),
        ("0,1\n1,0.5\n", "line 2, column 2: expected 0 or 1, got '0.5'"),
        ("0,1\n1,x\n", "line 2, column 2: expected 0 or 1, got 'x'"),
        ("0,1\n1;0\n", "line 2: expected 2 values"),
        ("0,1\n\n1,0\n", "line 2: is empty"),
        ("a,a\n0,1\n", "line 1: two columns have the same name"),
        ("0|0,1\n", "line 1: expected a positive weight before |, got '0'"),
        ("1|0,1\n-2|0,1\n", "line 2: expected a positive weight"),
        ("1|0,1\nmany|0,1\n", "line 2: expected a positive weight"),
        ("1|0,1\ninf|0,1\n", "line 2: expected a positive weight"),
        ("1|0,1\n|0,1\n", "line 2: expected a positive weight"),
        ("<html>404</html>\n", "holds no examples"),
    ],
)
def test_malformed_text_is_refused_with_its_line(tmp_path, content, message):
    path = write(tmp_path / "bad.data", content)
    with pytest.raises(InputError) as caught:
        load_dataset(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_truncated_compressed_file_is_refused(tmp_path, suffix, pack):
    packed = pack(PLAIN.encode() * 1000)
    path = write(tmp_path / f"a.data{suffix}", packed[: len(packed) // 2])
    with pytest.raises(InputError, match="not a complete"):
        load_dataset(path)


def test_altered_xz_is_refused(tmp_path):
    packed = bytearray(lzma.compress(PLAIN.encode() * 1000))
    packed[len(packed) // 2] ^= 0xFF
    with pytest.raises(InputError, match="not a complete"):
        load_dataset(write(tmp_path / "a.data.xz", bytes(packed)))


def test_altered_gz_is_refused(tmp_path):
    packed = bytearray(gzip.compress(PLAIN.encode() * 1000, mtime=0))
    packed[12] ^= 0xFF
    with pytest.raises(InputError, match="not a complete"):
        load_dataset(write(tmp_path / "a.data.gz", bytes(packed)))


def test_binary_and_missing_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="is not a text file"):
        load_dataset(write(tmp_path / "a.data", b"\xff\xfe\x00\x01"))
    with pytest.raises(InputError, match="no such file"):
        load_dataset(tmp_path / "absent.data")
    with pytest.raises(InputError, match="no such file"):
        load_dataset(tmp_path / "absent.npz")
    with pytest.raises(InputError, match="cannot be read"):
        load_dataset(tmp_path)


@pytest.mark.parametrize("content", ["0,x,1\n1,0,1\n", "inf|0,1\n1|1,0\n"])
def test_altered_first_line_is_not_swallowed_as_a_header(tmp_path, content):
    with pytest.raises(InputError, match="line 1"):
        load_dataset(write(tmp_path / "a.data", content))


@pytest.mark.parametrize("names", ["é,ü", "e,E", "#1,#2"])
def test_header_of_other_characters(tmp_path, names):
    data = load_dataset(write(tmp_path / "a.csv", f"{names}\n0,1\n"))
    assert data.names == tuple(names.split(","))


# --- merging ----------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(matrices, st.data())
def test_merging_equals_brute_force(matrix, draw):
    weight = draw.draw(hnp.arrays(np.float64, len(matrix), elements=st.floats(0.125, 8, width=16)))
    data = merge_rows(matrix, weight)
    total: Counter[tuple[int, ...]] = Counter()
    for row, w in zip(matrix.tolist(), weight.tolist(), strict=True):
        total[tuple(row)] += w
    assert [tuple(row) for row in data.rows.tolist()] == sorted(total)
    np.testing.assert_allclose(data.weight, [total[row] for row in sorted(total)], rtol=1e-12)
    np.testing.assert_array_equal(examples(data), matrix)


@settings(max_examples=60, deadline=None)
@given(matrices)
def test_packed_columns(matrix):
    data = merge_rows(matrix)
    assert data.columns.shape == (data.n_vars, -(-data.n_rows // 64))
    for v in range(data.n_vars):
        for i in range(data.columns.shape[1] * 64):
            bit = int(data.columns[v, i // 64]) >> (i % 64) & 1
            assert bit == (data.rows[i, v] if i < data.n_rows else 0)


def test_packed_columns_of_more_rows_than_a_word():
    rng = np.random.default_rng(5)
    data = merge_rows(rng.integers(0, 2, (1000, 9)))
    assert data.n_rows > 128
    ones = np.bitwise_count(data.columns).sum(axis=1)
    np.testing.assert_array_equal(ones, data.rows.sum(axis=0))


@settings(max_examples=30, deadline=None)
@given(matrices)
def test_frequency_and_density_count_examples_not_rows(matrix):
    data = merge_rows(matrix)
    np.testing.assert_allclose(data.frequency, matrix.mean(axis=0), rtol=1e-12)
    assert data.density == pytest.approx(matrix.mean())


def test_constant_columns_are_kept():
    data = merge_rows(np.array([[0, 1, 0], [0, 1, 1]]))
    assert data.n_vars == 3
    assert data.frequency.tolist() == [0, 1, 0.5]


def test_arrays_are_read_only():
    data = merge_rows(np.array([[0, 1], [1, 1]]))
    for array in (data.rows, data.weight, data.row_of, data.columns, data.frequency):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float64])
def test_dtypes(dtype):
    assert merge_rows(np.array([[0, 1]], dtype)).rows.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((0, 3)), "rows and columns"),
        (np.zeros((3, 0)), "rows and columns"),
        (np.zeros(3), "rows and columns"),
        (np.array([[0, 1], [1, 2]]), "row 2, column 2: expected 0 or 1, got 2"),
        (np.array([[0, -1]]), "row 1, column 2: expected 0 or 1, got -1"),
        (np.array([[0, 256]]), "expected 0 or 1, got 256"),
        (np.array([[0, 0.5]]), "expected 0 or 1, got 0.5"),
        (np.array([[0, np.nan]]), "expected 0 or 1, got nan"),
    ],
)
def test_matrices_that_are_not_binary_are_refused(matrix, message):
    with pytest.raises(InputError, match=message):
        merge_rows(matrix)


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf])
def test_weights_that_are_not_positive_are_refused(weight):
    with pytest.raises(InputError, match="row 2: expected a positive weight"):
        merge_rows(np.eye(2), np.array([1, weight]))


@pytest.mark.parametrize("given", [{"weight": np.ones(1)}, {"names": ("a",)}])
def test_weights_and_names_of_another_length_are_refused(given):
    with pytest.raises(InputError):
        merge_rows(np.eye(2), **given)


def test_take_returns_examples_by_their_place_in_the_source(tmp_path):
    data = load_dataset(write(tmp_path / "a.csv", "a,b,c\n" + PLAIN))
    taken = data.take(np.array([2, 1]))
    assert examples(taken).tolist() == [[0, 1, 1], [1, 0, 0]]
    assert taken.names == data.names


# --- writing ----------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(matrices, st.booleans())
def test_text_round_trip(tmp_path_factory, matrix, named):
    names = tuple(f"v{v}" for v in range(matrix.shape[1])) if named else None
    data = merge_rows(matrix, names=names)
    path = tmp_path_factory.mktemp("text") / "a.data"
    save_text(data, path)
    assert_same(load_dataset(path), data)


@settings(max_examples=50, deadline=None)
@given(matrices, st.data())
def test_text_round_trip_of_weights(tmp_path_factory, matrix, draw):
    weight = draw.draw(hnp.arrays(np.float64, len(matrix), elements=st.floats(0.001, 1e6)))
    data = merge_rows(matrix, weight)
    path = tmp_path_factory.mktemp("text") / "a.data"
    save_text(data, path)
    again = load_dataset(path)
    np.testing.assert_array_equal(again.rows, data.rows)
    np.testing.assert_array_equal(again.weight, data.weight)


def test_unweighted_text_is_one_line_per_example(tmp_path):
    data = load_dataset(write(tmp_path / "a.data", PLAIN))
    save_text(data, tmp_path / "b.data")
    assert (tmp_path / "b.data").read_text() == PLAIN


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_text_round_trip_through_compression(tmp_path, suffix):
    data = load_dataset(write(tmp_path / "a.data", PLAIN))
    save_text(data, tmp_path / f"b.data{suffix}")
    assert_same(load_dataset(tmp_path / f"b.data{suffix}"), data)


@pytest.mark.parametrize("names", [("a,b", "c"), ("0", "1"), ("1", "2"), ("é", "ü")])
def test_text_round_trip_of_any_names_or_refusal(tmp_path, names):
    data = merge_rows(np.array([[0, 1], [1, 1]]), names=names)
    try:
        save_text(data, tmp_path / "a.csv")
    except InputError:
        return  # refusing what cannot be read back is as good
    assert_same(load_dataset(tmp_path / "a.csv"), data)


@settings(max_examples=50, deadline=None)
@given(matrices, st.booleans(), st.booleans())
def test_native_round_trip(tmp_path_factory, matrix, named, weighted):
    names = tuple(f"name {v},é" for v in range(matrix.shape[1])) if named else None
    weight = np.arange(1, len(matrix) + 1) / 7 if weighted else None
    data = merge_rows(matrix, weight, names)
    path = tmp_path_factory.mktemp("npz") / "a.npz"
    data.save(path)
    assert_same(load_dataset(path), data)


def assert_same(one: Dataset, other: Dataset) -> None:
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.weight, other.weight)
    np.testing.assert_array_equal(one.row_of, other.row_of)
    assert one.names == other.names


# --- .npz -------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["data", "anything"])
def test_npz_with_one_matrix(tmp_path, key):
    np.savez(tmp_path / "a.npz", **{key: np.array([[0, 1], [1, 1], [0, 1]])})
    data = load_dataset(tmp_path / "a.npz")
    assert data.weight.tolist() == [2, 1]


def test_npz_with_a_matrix_named_data_beside_others(tmp_path):
    np.savez(tmp_path / "a.npz", data=np.eye(2), labels=np.arange(5))
    assert load_npz(tmp_path / "a.npz").n_vars == 2


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.eye(2), "b": np.eye(2)}, "expected one matrix or one named `data`"),
        ({"kind": np.array("markov_network")}, "expected a dataset, this file holds a markov"),
        ({"data": np.array([[0, 2]])}, "row 1, column 2: expected 0 or 1, got 2"),
        ({"data": np.array([["0", "1"]])}, "expected a matrix of 0 and 1, got entries of"),
        ({"data": np.array([[0, None]], dtype=object)}, "allow_pickle"),
    ],
)
def test_malformed_npz_is_refused(tmp_path, arrays, message):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=message) as caught:
        load_dataset(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("n_bytes", [0, 10, 300])
def test_truncated_npz_is_refused(tmp_path, n_bytes):
    path = tmp_path / "a.npz"
    merge_rows(np.eye(5)).save(path)
    path.write_bytes(path.read_bytes()[:n_bytes])
    with pytest.raises(InputError, match=r"not a readable \.npz"):
        load_dataset(path)


def test_altered_npz_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, data=np.eye(50, dtype=np.uint8))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InputError, match=r"not a readable \.npz"):
        load_dataset(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"version": np.array(99)},
        {"n_vars": np.array(40)},
        {"weight": np.ones(7)},
        {"row_of": np.array([8, 0, 0], np.int32)},
        {"weight": None},
    ],
    ids=["version", "n_vars", "weight", "row_of", "missing"],
)
def test_inconsistent_native_file_is_refused(tmp_path, changed):
    path = tmp_path / "a.npz"
    merge_rows(np.eye(3)).save(path)
    with np.load(path) as archive:
        arrays = {**archive, **changed}
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InputError):
        load_dataset(path)


# --- a person's own files ---------------------------------------------------------------------


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
