"""A person's own files: three, or one to be split."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_data import assert_same, examples, write
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.own_files import load_local, split_examples
from mnlearn.data.rules import Rules
from mnlearn.data.text_tables import save_text
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream
from mnlearn.variables.schema import binary_schema


def test_local_files_that_do_not_fit_are_refused(tmp_path):
    ab = write(tmp_path / "ab.csv", "a,b\n0,1\n")
    ba = write(tmp_path / "ba.csv", "b,a\n0,1\n")
    abc = write(tmp_path / "abc.csv", "a,b,c\n0,1,1\n")
    with pytest.raises(InputError, match=r"ab\.csv: there is no column 'c'; the columns are"):
        load_local(abc, ab, abc)
    assert [examples(part).tolist() for part in load_local(ab, ba, abc)] == [
        [[0, 1]],
        [[1, 0]],
        [[0, 1]],
    ]
    with pytest.raises(InputError, match="or neither"):
        load_local(ab, test=ab)
    with pytest.raises(InputError, match="or neither"):
        load_local(ab, valid=ab)


def test_the_limit_of_expansion_holds_for_every_file(tmp_path):
    path = tmp_path / "a.csv.gz"
    save_text(merge_rows(np.zeros((500, 20), np.uint8)), path)
    plain = write(tmp_path / "a.data", "0," * 19 + "0\n")
    limit = ExpansionLimit(max_bytes=19_999, advice="so it is")
    for paths in ([path], [plain, path, plain], [plain, plain, path]):
        with pytest.raises(InputError, match=r"a\.csv\.gz: .* so it is\."):
            load_local(*paths, limit=limit)
    assert load_local(path, limit=ExpansionLimit(max_bytes=20_000))[0].n_vars == 20


def test_the_usual_shares_and_seed(tmp_path):
    matrix = np.random.default_rng(1).integers(0, 2, (100, 7))
    save_text(merge_rows(matrix), path := tmp_path / "all.data")
    parts = load_local(path)
    assert [part.n_examples for part in parts] == [70, 10, 20]
    rng = stream(0, "local", "split")
    expected = split_examples(merge_rows(matrix), (0.7, 0.1, 0.2), rng)
    for part, other in zip(parts, expected, strict=True):
        assert_same(part, other)


def test_what_is_wrong_with_a_split_names_the_file_or_the_shares(tmp_path):
    path = write(tmp_path / "a.data", "2|0,1\n1,1\n")
    with pytest.raises(InputError) as caught:
        load_local(path)
    assert str(caught.value) == (
        f"{path}: weighted examples cannot be split at random; give three files instead."
    )
    path = write(tmp_path / "a.data", "0,1\n1,1\n")
    with pytest.raises(InputError, match=r"^fractions: the test part of 2 examples would be empty"):
        load_local(path)


def test_files_are_read_like_the_first(tmp_path):
    train = write(tmp_path / "train.csv", "a,b,c\n1,m,10\n2,f,20\n3,f,90\n")
    other = write(tmp_path / "other.csv", "b,a,c\nm,1,12\nf,2,12\n")
    parts = load_local(train, other, other, rules=Rules(cut={"c": "median"}))
    assert [part.schema for part in parts] == [parts[0].schema] * 3
    assert parts[0].schema["c"].states == ("<20", ">=20")
    assert parts[1].schema.decode(examples(parts[1])).to_numpy().tolist() == [
        [1, "m", "<20"],
        [2, "f", "<20"],
    ]
    new = write(tmp_path / "new.csv", "a,b,c\n1,x,10\n")
    with pytest.raises(InputError) as caught:
        load_local(train, new, other, rules=Rules(cut={"c": "median"}))
    assert str(caught.value) == (
        f"{new}, line 2, column 'b': expected 'f' or 'm', got 'x'; --states \"b=f,m,...\" names "
        "all states where the column is first read."
    )


def numbered(n: int) -> Dataset:
    """Distinct examples: the binary digits of 0 … n - 1."""
    return merge_rows(
        np.arange(n)[:, None] >> np.arange(10) & 1,
        schema=binary_schema("abcdefghij"),
    )


@settings(max_examples=50, deadline=None)
@given(st.integers(10, 300), st.integers(0, 2**32))
def test_parts_are_disjoint_and_together_everything(n, seed):
    data = numbered(n)
    parts = split_examples(data, (0.5, 0.2, 0.3), np.random.default_rng(seed))
    numbers = [(examples(part) @ (1 << np.arange(10))).tolist() for part in parts]
    assert sorted(number for part in numbers for number in part) == list(range(n))
    assert [len(part) for part in numbers] == [
        round(0.5 * n),
        round(0.7 * n) - round(0.5 * n),
        n - round(0.7 * n),
    ]
    # The order of the examples survives.
    assert all(part == sorted(part) for part in numbers)
    assert all(part.schema.names == data.schema.names for part in parts)


def test_split_is_decided_by_the_generator():
    data = numbered(200)

    def split(seed: int) -> list[list[list[int]]]:
        parts = split_examples(data, (0.7, 0.1, 0.2), stream(seed, "split"))
        return [examples(part).tolist() for part in parts]

    assert split(1) == split(1)
    assert split(1) != split(2)


@pytest.mark.parametrize(
    ("fractions", "message"),
    [
        ((0.5, 0.5), "expected three numbers"),
        ((0.5, 0.5, 0), "expected three numbers"),
        ((1.2, -0.1, -0.1), "expected three numbers"),
        ((0.5, 0.2, 0.2), "expected a sum of 1"),
        ((0.98, 0.01, 0.01), "the valid part of 20 examples would be empty"),
        ((float("nan"), 0.5, 0.5), "expected three numbers"),
        ((1.0, 0.5, 0.5), "expected three numbers"),
        ((0.4, 0.3, 0.300001), "expected a sum of 1, got 0.4 . 0.3 . 0.300001 = 1"),
    ],
)
def test_fractions_that_make_no_split_are_refused(fractions, message):
    with pytest.raises(InputError, match=message):
        split_examples(numbered(20), fractions, np.random.default_rng(0))


def test_fractions_may_round():
    for fractions in ((1 / 3, 1 / 3, 1 / 3), (0.3333333333, 0.3333333333, 0.3333333333)):
        parts = split_examples(numbered(30), fractions, np.random.default_rng(0))
        assert [part.n_examples for part in parts] == [10, 10, 10]
