"""Whether a file is the benchmark's."""

from dataclasses import replace

import pytest

from made_server import N_VARS, split_content, visible
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.fetch import fetch_many, fetch_split
from mnlearn_studies.datasets.verification import compute_blob_id, find_state, verify


def test_blob_id_is_that_of_git():
    assert compute_blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert compute_blob_id(b"what is up, doc?") == "bd9dbf5aae1a3862dd1526723246b20206e5fc37"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_vars": N_VARS + 1}, "expected 40 rows of 6 values, the length differs"),
        ({"n_vars": 2 * N_VARS, "n_rows": 20}, "expected 20 rows of 10 values separated"),
    ],
)
def test_registry_of_another_shape_is_refused(server, toy, tmp_path, changed, message):
    n_rows = changed.pop("n_rows", toy.train.n_rows)
    wrong = replace(toy, train=replace(toy.train, n_rows=n_rows), **changed)
    with pytest.raises(InputError, match=message):
        fetch_split(wrong, "train", tmp_path / "a.data")
    assert visible(tmp_path) == []


def test_values_that_are_not_binary_are_refused(server, toy):
    content = split_content("toy", "train").replace(b"1", b"2")
    file = replace(toy.train, blob_id=compute_blob_id(content))
    with pytest.raises(InputError, match="expected values 0 and 1 only"):
        verify(content, replace(toy, train=file), "train")


def test_state(server, toy, tmp_path):
    assert find_state(toy, tmp_path) == "absent"
    fetch_split(toy, "train", tmp_path / toy.relative_path("train"))
    assert find_state(toy, tmp_path) == "absent"
    fetch_many(["toy"], tmp_path, registry={"toy": toy})
    assert find_state(toy, tmp_path) == "verified"
    path = tmp_path / toy.relative_path("test")
    path.write_bytes(path.read_bytes()[::-1])
    assert find_state(toy, tmp_path) == "altered"
    path.write_bytes(b"")
    assert find_state(toy, tmp_path) == "altered"
