"""Small data files and datasets that tests of data share."""

from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mnlearn.data.dataset import Dataset

PLAIN = "0,1,1\n1,0,0\n0,1,1\n"

matrices = hnp.arrays(
    np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=20), elements=st.integers(0, 1)
)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def examples(data: Dataset) -> np.ndarray:
    """Return the examples in the order in which they were given."""
    return data.rows[data.row_of]


def assert_same(one: Dataset, other: Dataset) -> None:
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.weight, other.weight)
    np.testing.assert_array_equal(one.row_of, other.row_of)
    assert one.schema == other.schema
    assert one.schema.is_named == other.schema.is_named
