"""Large files of 0 and 1 are read in parts, and are the same data."""

import numpy as np
import pandas as pd
import pytest

from made_data import assert_same
from mnlearn.data import streams
from mnlearn.data.dataset import merge_rows
from mnlearn.data.examples import load_dataset, load_examples
from mnlearn.data.rows import Ones
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

NAMES = tuple(f"v{v}" for v in range(21))


@pytest.fixture
def parts(monkeypatch):
    """Small files are large ones, and have few rows in a part."""
    monkeypatch.setattr("mnlearn.data.rows.LARGE", 0)
    monkeypatch.setattr(streams, "_CELLS", 200)


def write(path, matrix, names):
    frame = pd.DataFrame(matrix, columns=names or NAMES)
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.astype({"v1": "int8"}).to_parquet(path)
    else:
        frame.to_csv(path, index=False, header=names is not None)


@pytest.mark.parametrize(
    ("suffix", "names"), [(".data", None), (".csv", NAMES), (".parquet", NAMES)]
)
@pytest.mark.parametrize("density", [0.03, 0.5])
def test_parts_are_the_whole(tmp_path, parts, suffix, names, density):
    matrix = (np.random.default_rng(2).random((97, 21)) < density).astype(int)
    path = tmp_path / f"a{suffix}"
    write(path, matrix, names)
    read = streams.stream_table(path)
    assert isinstance(read.values, Ones) == (density < 0.1)
    found = load_examples(path)
    assert_same(found.data, merge_rows(matrix, schema=binary_schema(names or 21)))
    assert found.name_row("a", 5) == {".data": "a, line 6", ".csv": "a, line 7"}.get(
        suffix, "a, row 6"
    )
    assert [v.dtype for v in found.data.schema][:2] == [
        None,
        "int8" if suffix == ".parquet" else None,
    ]
    named = binary_schema(NAMES)
    assert_same(load_dataset(path, schema=named), merge_rows(matrix, schema=named))
    with pytest.raises(InputError):
        load_dataset(path, schema=binary_schema(22))


@pytest.mark.parametrize(
    ("suffix", "names"), [(".data", None), (".csv", NAMES), (".parquet", NAMES)]
)
def test_other_files_are_read_as_before(tmp_path, parts, suffix, names):
    matrix = np.random.default_rng(2).integers(0, 2, (60, 21))
    matrix[-1, -1] = 2
    path = tmp_path / f"a{suffix}"
    write(path, matrix, names)
    assert streams.stream_table(path) is None
    assert load_dataset(path).schema[20].states == (0, 1, 2)
    assert streams.stream_table(tmp_path / "none") is None


def test_a_parquet_file_with_categories_is_read_as_a_table(tmp_path, parts):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": pd.Categorical([*"xyxy"]), "b": [0, 1, 1, 0]})
    frame.to_parquet(tmp_path / "a.parquet")
    assert streams.stream_table(tmp_path / "a.parquet") is None
    assert load_examples(tmp_path / "a.parquet").data.schema["a"].states == ("x", "y")
