"""Datasets in `.npz` files: the native form and plain matrices."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_data import assert_same, matrices
from mnlearn.data.dataset import load_npz, merge_rows
from mnlearn.data.examples import load_dataset
from mnlearn.runtime.decompression import ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema


@settings(max_examples=50, deadline=None)
@given(matrices, st.booleans(), st.booleans())
def test_native_round_trip(tmp_path_factory, matrix, named, weighted):
    names = tuple(f"name {v},é" for v in range(matrix.shape[1])) if named else None
    weight = np.arange(1, len(matrix) + 1) / 7 if weighted else None
    data = merge_rows(matrix, weight, schema=binary_schema(names) if named else None)
    path = tmp_path_factory.mktemp("npz") / "a.npz"
    data.save(path)
    assert_same(load_dataset(path), data)


@pytest.mark.parametrize("key", ["data", "anything"])
def test_npz_with_one_matrix(tmp_path, key):
    np.savez(tmp_path / "a.npz", **{key: np.array([[0, 1], [1, 1], [0, 1]])})
    data = load_dataset(tmp_path / "a.npz")
    assert data.weight.tolist() == [2, 1]
    np.savez(tmp_path / "b.npz", data.rows == 1)
    load_dataset(tmp_path / "b.npz").save(tmp_path / "c.npz")
    assert {v.dtype for v in load_dataset(tmp_path / "c.npz").schema} == {"bool"}


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


def test_truncated_and_altered_npz_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, data=np.eye(50, dtype=np.uint8))
    whole = path.read_bytes()
    middle = len(whole) // 2
    altered = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    for content in (b"", whole[:10], whole[:300], altered):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"not a readable \.npz"):
            load_dataset(path)


EYE = np.array([1, 0, 2], np.int32)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"version": np.array(99)}, "was written by a newer mnlearn"),
        ({"version": np.array("one")}, "version: expected a positive whole number"),
        ({"n_vars": np.array(40)}, "rows, variables and weights do not agree"),
        ({"n_vars": np.array(10**9)}, "rows, variables and weights do not agree"),
        ({"n_vars": np.array([3])}, "n_vars: expected a positive whole number"),
        ({"weight": np.ones(7)}, "rows, variables and weights do not agree"),
        ({"weight": -np.ones(3)}, "weight, row 1: expected a positive weight, got -1.0"),
        ({"weight": np.array([1, 0, 1])}, "weight, row 2: expected a positive weight, got 0.0"),
        ({"weight": np.array([1, 1, np.nan])}, "weight, row 3: expected a positive weight"),
        ({"weight": np.array([np.inf, 1, 1])}, "weight, row 1: expected a positive weight"),
        ({"weight": np.array(["1", "1", "1"])}, "weight: expected numbers as weights, got <U1"),
        ({"weight": None}, "lacks weight"),
        ({"row_of": np.array([8, 0, 0], np.int32)}, "row_of: is damaged"),
        ({"row_of": np.array([-1, 0, 1, 2])}, "row_of: is damaged"),
        ({"row_of": np.array([0, 1])}, "row_of: is damaged"),
        ({"row_of": EYE + 0.5}, "row_of: expected whole numbers, got float64"),
        ({"row_of": EYE[None]}, "row_of: expected whole numbers, got int32"),
        ({"packed_rows": np.array([[1], [2], [3]])}, "rows, variables and weights do not agree"),
        ({"packed_rows": np.array([[32], [32], [128]], np.uint8)}, "not different and in order"),
        ({"packed_rows": np.array([[128], [64], [32]], np.uint8)}, "not different and in order"),
        ({"names": np.array(["a", "b", "a"])}, r"two columns are called 'a' \(1 and 3\)"),
        ({"names": np.array(["a", "b"])}, "its array 'names' is missing or not"),
        ({"names": np.array([1, 2, 3])}, "its array 'names' is missing or not"),
        ({"names": np.array(["a", "b", "c\x0b"])}, "column 3: .* has a control character"),
    ],
)
def test_inconsistent_native_file_is_refused(tmp_path, changed, message):
    path = tmp_path / "a.npz"
    merge_rows(np.eye(3)).save(path)
    with np.load(path) as archive:
        arrays = {**archive, **changed}
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InputError, match=message) as caught:
        load_dataset(path)
    assert str(caught.value).startswith(str(path))


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_pickles_are_never_loaded(tmp_path):
    trap = tmp_path / "trap"
    bare, within = tmp_path / "bare.npz", tmp_path / "within.npz"
    bare.write_bytes(pickle.dumps(Trap(str(trap))))
    np.savez(within, data=np.array([[Trap(str(trap))]], dtype=object))
    for path in (bare, within):
        with pytest.raises(InputError, match=r"is not a readable \.npz file"):
            load_dataset(path)
    assert not trap.exists()


def test_archive_that_expands_beyond_the_limit_is_refused(tmp_path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, data=np.zeros((3000, 1000), np.uint8))
    assert load_npz(path).n_rows == 1
    with pytest.raises(InputError, match=r"kB expand to 3 MB or more; expected at most 1 MB"):
        load_dataset(path, ExpansionLimit(max_bytes=10**6))
