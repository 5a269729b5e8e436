"""Large files of 0 and 1 (text, Parquet), read in parts, of which only the ones are kept."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.data import rows
from mnlearn.data.rows import Ones, is_smaller, list_ones
from mnlearn.data.tables import Table
from mnlearn.data.text import parse_plain
from mnlearn.data.text_tables import names_of_line
from mnlearn.runtime.decompression import COMPRESSED
from mnlearn.variables.schema import BINARY, Schema, Variable, binary_schema

# Cells that are read together.
_CELLS = 1 << 24


def stream_table(path: Path) -> Table | None:
    """Return the table of a large file of 0 and 1; None if it is small, compressed or another."""
    suffix = path.suffix.lower()
    if suffix in COMPRESSED or not path.is_file():
        return None
    # A file of another form is read by those who say what is wrong with it.
    with suppress(ValueError, ImportError, OSError):
        schema, ones = (_read_parquet if suffix in (".parquet", ".pq") else _read_text)(path)
        is_sparse = is_smaller(ones.shape, len(ones.column))
        return Table(schema, ones if is_sparse else ones.dense())
    return None


def _read_text(path: Path) -> tuple[Schema, Ones]:
    """Return the table of a text `0,1,…`, perhaps with names; ValueError if it is none."""
    with path.open("rb") as file:
        if path.stat().st_size < 2 * rows.LARGE:
            raise ValueError
        first = file.readline(_CELLS)
        names = None
        if parse_plain(first) is None:
            names = names_of_line(first)
        else:
            file.seek(0)
        n_columns = len(first) // 2 if names is None else len(names)

        def parts() -> Iterator[NDArray[np.uint8]]:
            while content := file.read(2 * n_columns * max(1, _CELLS // n_columns)):
                matrix = parse_plain(content if content.endswith(b"\n") else content + b"\n")
                if matrix is None or matrix.shape[1] != n_columns:
                    raise ValueError
                yield matrix

        return binary_schema(n_columns, names), list_ones(parts())


def _read_parquet(path: Path) -> tuple[Schema, Ones]:
    """Return the table of a Parquet file whose columns are numbers; ValueError if it is none."""
    from pyarrow.parquet import ParquetFile
    from pyarrow.types import is_dictionary, is_nested

    with ParquetFile(path) as file:
        n_rows, fields = file.metadata.num_rows, file.schema_arrow
        if any(is_nested(field.type) or is_dictionary(field.type) for field in fields):
            raise ValueError
        kinds = [np.dtype(field.type.to_pandas_dtype()) for field in fields]
        has_index = any(name.startswith("__index_level_") for name in fields.names)
        if n_rows * len(kinds) < rows.LARGE or has_index or any(k.kind not in "iuf" for k in kinds):
            raise ValueError

        def parts() -> Iterator[NDArray[np.uint8]]:
            for batch in file.iter_batches(max(1, _CELLS // len(kinds))):
                matrix = np.empty((batch.num_rows, len(kinds)), np.uint8)
                for v, column in enumerate(batch.columns):
                    values = column.to_numpy(zero_copy_only=False)
                    matrix[:, v] = values == 1
                    if (values != matrix[:, v]).any():
                        raise ValueError
                yield matrix

        ones = list_ones(parts())
    pairs = zip(fields.names, map(str, kinds), strict=True)
    variables = (Variable(n, BINARY, dtype=None if k == "int64" else k) for n, k in pairs)
    return Schema(tuple(variables)), ones
