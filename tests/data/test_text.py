"""Text forms of a dataset: what is read, what is refused, what comes back after writing."""

import gzip
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from made_data import PLAIN, assert_same, examples, matrices, write
from mnlearn.data.dataset import merge_rows
from mnlearn.data.examples import load_dataset
from mnlearn.data.text import load_benchmark, parse_plain
from mnlearn.data.text_tables import save_text
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no examples"),
        ("\n\n", "holds no examples"),
        ("a,b\n", "holds no examples"),
        ("0,1,1\n1,0\n", "line 2: expected 3 values as before, got 2"),
        ("0,1\n1,0,1\n", "line 2: expected 2 values as before, got 3"),
        ("a,b\n0,1\n1,0,1\n", "line 3: expected 2 values"),
        ("0,1\n1;0\n", "line 2: expected 2 values"),
        ("0,1\n\n1,0\n", "line 2: is empty"),
        ("a,a\n0,1\n", "line 1: two columns are called 'a' (1 and 2)"),
        ("0|0,1\n", "line 1: expected a positive weight before |, got '0'"),
        ("1|0,1\n-2|0,1\n", "line 2: expected a positive weight"),
        ("1|0,1\nmany|0,1\n", "line 2: expected a positive weight"),
        ("1|0,1\ninf|0,1\n", "line 2: expected a positive weight"),
        ("1|0,1\n|0,1\n", "line 2: expected a positive weight"),
        ("<html>404</html>\n", "is an XML or HTML file"),
        ('0,"1\n1,0\n', "line 1: is not CSV: unexpected end of data"),
        ('a,"b\n1,0\n', "line 1: is not CSV: unexpected end of data"),
        ("a,b\x01\n0,1\n", "line 1, column 2: 'b\\x01' has a control character"),
        ("a,\n0,1\n", "line 1, column 2: has no name"),
        ('a,b\n"0"1,1\n', "line 2: is not CSV"),
        ('0,1\n"' + "0" * 200_000 + '",1\n', "line 2: is not CSV: field larger than field limit"),
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
def test_truncated_and_altered_files_are_refused(tmp_path, suffix, pack):
    packed = bytearray(pack(PLAIN.encode() * 1000))
    altered = packed.copy()
    altered[12 if suffix == ".gz" else len(packed) // 2] ^= 0xFF
    for content in (packed[: len(packed) // 2], altered):
        with pytest.raises(InputError, match="not a complete"):
            load_dataset(write(tmp_path / f"a.data{suffix}", bytes(content)))


@settings(max_examples=50, deadline=None)
@given(matrices, st.booleans())
def test_text_round_trip(tmp_path_factory, matrix, named):
    names = tuple(f"v{v}" for v in range(matrix.shape[1])) if named else None
    data = merge_rows(matrix, schema=binary_schema(names) if named else None)
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


def test_plain_text_is_read_at_once():
    assert parse_plain(b"0\n1\n").tolist() == [[0], [1]]
    assert parse_plain(b"0,1\n1,1\n").tolist() == [[0, 1], [1, 1]]
    assert parse_plain(b"0,1,1\n").tolist() == [[0, 1, 1]]
    assert parse_plain(b"0,1,1,0\n" * 3).tolist() == [[0, 1, 1, 0]] * 3
    for other in (
        b"", b"\n", b"0,1", b"01\n01\n", b"0,1\n1\n", b"0,2\n", b"0;1\n", b"0,1,\n", b"0,1\r\n",
        b"0,1\n1,0,1\n", b"0,1\n0,1;", b"0,1,0\n0,1\n0,",
    ):  # fmt: skip
        assert parse_plain(other) is None


def test_benchmark_text_is_read_as_it_is(tmp_path):
    data = load_benchmark(write(tmp_path / "a.data", PLAIN))
    assert examples(data).tolist() == [[0, 1, 1], [1, 0, 0], [0, 1, 1]]
    data = load_benchmark(write(tmp_path / "a.data", "0,1\r\n1,1"))
    assert data.rows.tolist() == [[0, 1], [1, 1]]
    for wrong in (
        "0,1\nx,1\n",
        "0,1\n1\n",
        "0,1\n1,0,1\n",
        "0,1\n\n1,0\n",
        "0,1\n0,\n",
        "0,1\n2|1,1\n",
    ):
        with pytest.raises(InputError, match=r"a\.data, line 2: expected 0 and 1 with commas"):
            load_benchmark(write(tmp_path / "a.data", wrong))
    for wrong in ("", "\n", "a,b\n0,1\n", "0,x,1\n1,0,1\n", "\xff"):
        with pytest.raises(InputError, match=r"a\.data, line 1: expected 0 and 1 with commas"):
            load_benchmark(write(tmp_path / "a.data", wrong))
    with pytest.raises(InputError, match=r"a\.data\.gz: .* at most 1 kB"):
        load_benchmark(
            write(tmp_path / "a.data.gz", gzip.compress(PLAIN.encode() * 100)),
            ExpansionLimit(max_bytes=1000),
        )


@pytest.mark.parametrize(
    "names",
    [
        ("a\nb", "c"),
        (" a", "b"),
        (" 1", "b"),
        ("1\n", "b"),
        ("1", 'b"'),
    ],
)
def test_names_that_would_be_read_as_something_else_are_not_written(tmp_path, names):
    data = merge_rows(np.array([[0, 1], [1, 1]]), schema=binary_schema(names))
    with pytest.raises(InputError) as caught:
        save_text(data, path := tmp_path / "a.csv")
    assert str(caught.value) == f"{path}: the names of the variables cannot be written as a header."
    assert not path.exists()


@pytest.mark.parametrize("names", [("0", "1"), ("a", "1.5"), ("1,5", "2"), ("1", "b; c")])
def test_names_that_are_numbers_are_quoted(tmp_path, names):
    data = merge_rows(np.array([[0, 1], [1, 1], [0, 1]]), schema=binary_schema(names))
    save_text(data, tmp_path / "a.csv")
    assert_same(load_dataset(tmp_path / "a.csv"), data)
    weighed = merge_rows([[0, 1], [1, 1]], [0.5, 2], schema=binary_schema(names))
    save_text(weighed, tmp_path / "b.csv")
    assert_same(load_dataset(tmp_path / "b.csv"), weighed)


def test_text_of_names_and_weights(tmp_path):
    data = merge_rows(
        np.array([[1, 1], [0, 1]]),
        [0.1, 2.0],
        schema=binary_schema(("a,b", 'c"')),
    )
    save_text(data, tmp_path / "a.csv")
    text = '"a,b","c"""\n2|0,1\n0.10000000000000001|1,1\n'
    assert (tmp_path / "a.csv").read_bytes().decode() == text
