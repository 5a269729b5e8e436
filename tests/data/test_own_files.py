"""A person's own files: three, or one to be split."""

import numpy as np
import pytest

from made_data import assert_same, examples, write
from mnlearn.data.dataset import merge_rows
from mnlearn.data.own_files import load_local, split_examples
from mnlearn.data.rules import Rules
from mnlearn.data.text_tables import save_text
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream


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
        f"{new}, line 2, column 'b': expected 'f' or 'm', got 'x'; --states names the states of a "
        "column where it is first read."
    )
