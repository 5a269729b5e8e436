"""Datasets in memory: merging equal rows, subsets, resamples, names and weights."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

import mnlearn
from made_data import PLAIN, assert_same, examples, matrices, write
from mnlearn.data.dataset import Dataset, load_npz, merge_rows
from mnlearn.data.examples import load_dataset
from mnlearn.data.rows import Ones, list_ones
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema


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


@settings(max_examples=30, deadline=None)
@given(matrices)
def test_frequency_and_density_count_examples_not_rows(matrix):
    data = merge_rows(matrix)
    np.testing.assert_allclose(data.frequency, matrix.mean(axis=0), rtol=1e-12)
    assert data.density == pytest.approx(matrix.mean())


def test_arrays_are_read_only():
    data = merge_rows(np.array([[0, 1], [1, 1]]))
    for array in (data.rows, data.weight, data.row_of, data.columns, data.frequency):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


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


def test_tables_keep_their_names_and_sparse_matrices_are_read():
    rows = np.array([[0, 1], [1, 1]])
    named = Dataset.from_arrays(pd.DataFrame(rows, columns=["a", "b"]))
    assert named.schema.names == ("a", "b")
    assert not Dataset.from_arrays(pd.DataFrame(rows)).schema.is_named
    assert_same(Dataset.from_arrays(sparse.csr_array(rows), names=["a", "b"]), named)
    assert repr(named) == "<Dataset: 2 examples, 2 distinct, 2 variables>"


def test_take_returns_examples_by_their_position(tmp_path):
    data = load_dataset(write(tmp_path / "a.csv", "a,b,c\n" + PLAIN))
    taken = data.take(np.array([2, 1]))
    assert examples(taken).tolist() == [[0, 1, 1], [1, 0, 0]]
    assert taken.schema.names == data.schema.names


# --- the promises of a dataset ----------------------------------------------------------------


def check_promises(data: Dataset) -> None:
    """Check what the attributes of a dataset promise."""
    assert (data.rows.dtype, data.weight.dtype, data.row_of.dtype) == (np.uint8, float, np.int32)
    rows = [tuple(row) for row in data.rows.tolist()]
    assert rows == sorted(set(rows))
    assert data.weight.shape == (data.n_rows,)
    assert np.isfinite(data.weight).all()
    assert (data.weight > 0).all()
    assert sorted(set(data.row_of.tolist())) == list(range(data.n_rows))
    for array in (data.rows, data.weight, data.row_of):
        assert not array.flags.writeable


weights = st.one_of(st.none(), st.integers(0, 2**32))


def draw_weight(seed: int | None, n: int) -> np.ndarray | None:
    return None if seed is None else np.random.default_rng(seed).uniform(0.01, 5.0, n)


@settings(max_examples=60, deadline=None)
@given(matrices, weights, st.data())
def test_subset_keeps_the_examples_of_its_rows(matrix, seed, draw):
    names = tuple(f"v{v}" for v in range(matrix.shape[1]))
    data = Dataset.from_arrays(matrix, draw_weight(seed, len(matrix)), names)
    check_promises(data)
    chosen = draw.draw(st.lists(st.integers(0, data.n_rows - 1), min_size=1))
    part = data.subset(np.array(chosen))
    check_promises(part)
    kept = sorted(set(chosen))
    np.testing.assert_array_equal(part.rows, data.rows[kept])
    np.testing.assert_array_equal(part.weight, data.weight[kept])
    np.testing.assert_array_equal(examples(part), matrix[np.isin(data.row_of, kept)])
    assert (part.schema.names if part.schema.is_named else None) == names
    assert seed is not None or not part.is_weighted


@settings(max_examples=60, deadline=None)
@given(matrices, weights, st.integers(0, 2**32))
def test_resample_draws_as_many_examples(matrix, seed, draw_seed):
    weight = draw_weight(seed, len(matrix))
    data = Dataset.from_arrays(matrix, weight)
    if data.n_examples <= 0.5:
        return
    sample = data.resample(np.random.default_rng(draw_seed))
    check_promises(sample)
    assert sample.n_examples == round(data.n_examples)
    assert {tuple(row) for row in sample.rows} <= {tuple(row) for row in data.rows}
    np.testing.assert_array_equal(sample.weight, np.round(sample.weight))
    if weight is None:
        assert not sample.is_weighted
        assert len(sample.row_of) == len(matrix)


@pytest.mark.parametrize(("weight", "total"), [(0.1, "0.3"), (1 / 6, "0.5"), (1e300, "3e+300")])
def test_resample_of_weights_that_are_no_counts_is_refused(weight, total):
    data = Dataset.from_arrays([[0, 1], [1, 0], [1, 1]], [weight] * 3)
    with pytest.raises(InputError) as caught:
        data.resample(np.random.default_rng(1))
    assert str(caught.value) == (
        "data: cannot be resampled: expected weights that sum to 1 to 9007199254740992 examples, "
        f"got {total}."
    )


@pytest.mark.parametrize("total", [0.6, 1.0, 2.0**53])
def test_resample_of_the_least_and_the_most_examples(total):
    data = Dataset.from_arrays([[0, 1], [1, 0]], [total / 2] * 2)
    assert data.resample(np.random.default_rng(1)).n_examples == max(total, 1)
    if total > 1:
        more = Dataset.from_arrays([[0, 1], [1, 0]], [total / 2, total / 2 + 2])
        with pytest.raises(InputError, match="cannot be resampled"):
            more.resample(np.random.default_rng(1))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.array([], int), "expected at least one row to keep, got none"),
        (np.array([0, 3]), "expected rows from 0 to 2, got"),
        (np.array([-1]), "expected rows from 0 to 2, got"),
        (np.array([0.0]), "expected rows from 0 to 2, got"),
    ],
)
def test_subset_of_no_or_other_rows_is_refused(rows, message):
    with pytest.raises(InputError, match=message):
        merge_rows(np.array([[0, 1], [1, 0], [1, 1]])).subset(rows)


def test_rename():
    data = merge_rows(np.eye(2), schema=binary_schema(("a", "b")))
    assert data.rename(["c", "d"]).schema.names == ("c", "d")
    assert not data.rename(None).schema.is_named
    with pytest.raises(InputError, match="expected 2 names, got 1"):
        data.rename(["c"])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (["1", "2"], "data: expected numbers as weights, got <U1."),
        ([1e308, 1e308], "data: expected weights with a finite sum."),
        ([1, 0], "data, row 2: expected a positive weight, got 0.0."),
        ([[1, 2]], "data: expected 2 weights, got shape (1, 2)."),
        (3.0, "data: expected 2 weights, got shape (1,)."),
    ],
)
def test_weights_that_are_none_are_refused(weight, message):
    with pytest.raises(InputError) as caught:
        Dataset.from_arrays(np.eye(2), weight)
    assert str(caught.value) == message


def test_only_the_class_itself_builds_a_dataset_by_hand():
    """Whoever builds one elsewhere must keep every promise; so no one does."""
    package = Path(mnlearn.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"\bDataset\(", path.read_text(encoding="utf-8"))
    }
    assert found == {"data/dataset.py"}


def test_ones_of_many_rows_are_added_up_in_parts():
    rng = np.random.default_rng(0)
    rows, weight = rng.integers(0, 2, (150_000, 18)), rng.uniform(0.1, 3, 150_000)
    data = merge_rows(rows, weight)
    assert data.n_rows > 2**16
    np.testing.assert_allclose(data.ones, weight @ rows, rtol=1e-12)
    np.testing.assert_allclose(data.frequency, weight @ rows / weight.sum(), rtol=1e-12)


def test_the_bits_in_use_of_the_last_word():
    for n_rows in (1, 63, 64, 65, 130):
        rows = (np.arange(n_rows)[:, None] >> np.arange(8)) & 1
        data = merge_rows(rows)
        everything = np.zeros(-(-n_rows // 64) * 64, np.uint8)
        everything[:n_rows] = 1
        expected = np.packbits(everything, bitorder="little").view(np.uint64)[-1]
        assert data.last_word == expected


@pytest.mark.parametrize("density", [0.03, 0.3])
def test_lists_of_ones_are_the_same_data(monkeypatch, density):
    """Rows kept as lists answer as the matrix does, whichever matrix they were made of."""
    rng = np.random.default_rng(4)
    matrix = (rng.random((300, 11)) < density).astype(np.uint8)
    weight = rng.integers(1, 4, 300).astype(float)
    dense = merge_rows(matrix, weight)
    monkeypatch.setattr("mnlearn.data.rows.LARGE", 0)
    monkeypatch.setattr("mnlearn.data.dataset._CELLS", 1000)
    for table in (list_ones([matrix[:7], matrix[7:]]), sparse.csr_array(matrix)):
        data = merge_rows(table, weight)
        assert isinstance(data.stored, Ones) == (isinstance(table, Ones) or density < 0.1)
        for name in ("rows", "weight", "row_of", "columns", "ones"):
            np.testing.assert_array_equal(getattr(data, name), getattr(dense, name))
        parts = list(data.parts())
        np.testing.assert_array_equal(np.vstack([part.rows for part in parts]), dense.rows)
        np.testing.assert_array_equal(np.concatenate([part.weight for part in parts]), dense.weight)
        order, negated = rng.permutation(11), rng.random(11) < 0.5
        np.testing.assert_array_equal(
            data.lists(order, negated).dense(), dense.rows[:, order] ^ negated
        )
        kept = rng.integers(0, dense.n_rows, 9)
        np.testing.assert_array_equal(data.subset(kept).rows, dense.subset(kept).rows)
        np.testing.assert_array_equal(data.take(kept).rows, dense.take(kept).rows)
        np.testing.assert_array_equal(data.column(3), dense.rows[:, 3])


def test_lists_of_ones_are_saved_as_rows(monkeypatch, tmp_path):
    matrix = (np.random.default_rng(5).random((90, 21)) < 0.05).astype(np.uint8)
    monkeypatch.setattr("mnlearn.data.rows.LARGE", 0)
    data = merge_rows(sparse.csr_array(matrix))
    data.save(tmp_path / "own.npz")
    read = load_npz(tmp_path / "own.npz")
    assert isinstance(read.stored, Ones)
    np.testing.assert_array_equal(read.rows, data.rows)
    np.testing.assert_array_equal(read.row_of, data.row_of)


@pytest.mark.parametrize("name", ["ChowLiu", "L1", "DNLR", "DTSL", "ACMN"])
def test_learners_and_scores_take_sparse_matrices_as_they_are(monkeypatch, name):
    matrix = (np.random.default_rng(6).random((200, 17)) < 0.08).astype(np.uint8)
    matrix[:, 3] |= matrix[:, 2]
    expected = getattr(mnlearn, name)().fit(matrix)
    monkeypatch.setattr("mnlearn.data.rows.LARGE", 0)
    monkeypatch.setattr("mnlearn.data.dataset._CELLS", 1000)
    read = mnlearn.read_data(sparse.csr_array(matrix))
    found = getattr(mnlearn, name)().fit(sparse.csr_array(matrix))
    assert found.score(sparse.csr_array(matrix)) == pytest.approx(expected.score(matrix), 1e-12)
    for metric in ("pll", "ll"):
        if metric == "pll" or expected.model_.has_joint:
            mean = mnlearn.score(found.model_, read, metric=metric).mean
            wanted = mnlearn.score(expected.model_, matrix, metric=metric).mean
            assert mean == pytest.approx(wanted, 1e-12)
