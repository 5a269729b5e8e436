"""A dataset of discrete variables whose equal rows are stored once, with a weight."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.data.rows import (
    Ones,
    Rows,
    check_rows,
    check_states,
    check_weights,
    list_ones,
    merge_equal,
    pack_columns,
    row_keys,
    smaller,
    take_rows,
)
from mnlearn.runtime.arrays import read_arrays, read_only, write_arrays
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit
from mnlearn.runtime.errors import DATA, InputError, name_data
from mnlearn.runtime.names import frame_names
from mnlearn.variables.arrays import schema_arrays, schema_of_arrays
from mnlearn.variables.schema import Schema, binary_schema

# Files of variables whose states are 0 and 1 have version 1, so that older programs read them.
VERSION, BINARY_VERSION = 3, 1
# Counts of examples are exact as float64 up to here.
_MOST_EXAMPLES = 2**53
# Rows that are summed up together: a product takes them as float64, eight times their memory.
_ROWS = 2**16
# Cells of lists of ones that are made dense together.
_CELLS = 2**24


@dataclass(frozen=True, eq=False)
class Merged:
    """Examples whose equal rows are stored once; see `Dataset` for the attributes."""

    stored: Rows
    weight: NDArray[np.float64]
    row_of: NDArray[np.int32]
    schema: Schema

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return len(self.stored)

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.schema)

    @property
    def n_columns(self) -> int:
        """Number of indicator columns."""
        return self.stored.shape[1]

    @cached_property
    def rows(self) -> NDArray[np.uint8]:
        """The distinct rows, shape (n_rows, n_columns)."""
        return read_only(self.stored.dense()) if isinstance(self.stored, Ones) else self.stored

    @cached_property
    def n_examples(self) -> float:
        """Total weight; the number of examples unless they carried weights."""
        return float(self.weight.sum())


class Dataset(Merged):
    """Examples over discrete variables.

    Outside this file only `merge_rows`, `from_arrays`, `subset`, `resample`, `take` and `rename`
    make a dataset: they keep what the attributes promise.

    Attributes
    ----------
    stored : ndarray of uint8, shape (n_rows, n_columns), or Ones
        The distinct rows of indicator columns (see `Schema`), in lexicographic order; as lists of
        their ones where the matrix is large and takes more memory. `rows` has them as a matrix.
    weight : ndarray of float64, shape (n_rows,)
        Total weight of the examples equal to each row, positive and finite.
    row_of : ndarray of int32, shape (n_given,)
        The row of each example, in the order in which the examples were given. Every row has an
        example. Where no example was given a weight, `weight` is the number of examples of a row.
    schema : Schema
        The variables.
    """

    @classmethod
    def from_arrays(
        cls,
        rows: ArrayLike,
        weight: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        schema: Schema | None = None,
    ) -> "Dataset":
        """Return the dataset of a matrix of examples, in which equal rows may occur.

        Parameters
        ----------
        rows : array_like, DataFrame or sparse matrix, shape (n_given, n_columns)
            Values 0 and 1 of the indicator columns, of any integer, boolean or float dtype.
        weight : array_like, shape (n_given,), optional
            Positive, finite numbers; one each if not given. An example of weight 0 is refused:
            leave it out, or `row_of` would have to skip it.
        names : sequence of str, length n_vars, optional
            Names of binary variables; default: those of a DataFrame.
        schema : Schema, optional
            The variables. Default: one with the states 0 and 1 for each column.

        Raises
        ------
        InputError
            The matrix is empty or not binary, a weight is not a positive number, the names are not
            different and printable, or a row gives a variable none of its states, or several.
        """
        names = frame_names(rows) if names is None else names
        table = rows if hasattr(rows, "shape") else np.asarray(rows)
        if names is not None and schema is None:
            schema = binary_schema(table.shape[1], names)
        return merge_rows(table, weight, schema)

    def __repr__(self) -> str:
        examples = f"{self.n_examples:,g} examples"
        return f"<Dataset: {examples}, {self.n_rows:,} distinct, {self.n_vars:,} variables>"

    def parts(self) -> Iterator["Dataset"]:
        """Yield the dataset, or, if its rows are stored as lists, datasets of a few rows each."""
        if not isinstance(self.stored, Ones):
            yield self
            return
        # Whole words of packed columns.
        n = max(64, _CELLS // self.n_columns // 64 * 64)
        for begin in range(0, self.n_rows, n):
            weight = self.weight[begin : begin + n]
            row_of = np.arange(len(weight), dtype=np.int32)
            yield Dataset(self.stored[begin : begin + n].dense(), weight, row_of, self.schema)

    def lists(
        self,
        order: NDArray[np.int64] | slice = slice(None),
        negated: NDArray[np.bool_] | None = None,
    ) -> Ones:
        """Return the rows as lists of their ones, the columns in some order, some negated."""
        if isinstance(self.stored, Ones) and isinstance(order, slice) and negated is None:
            return self.stored
        flips = np.zeros(1, np.uint8) if negated is None else negated.astype(np.uint8)
        return list_ones(part.rows[:, order] ^ flips for part in self.parts())

    @cached_property
    def is_weighted(self) -> bool:
        """Whether the weight of some row is not its number of examples."""
        counts = np.bincount(self.row_of, minlength=self.n_rows)
        return not np.array_equal(counts, self.weight)

    @cached_property
    def columns(self) -> NDArray[np.uint64]:
        """Packed columns, shape (n_columns, n_words): bit i % 64 of word i // 64 is row i."""
        return read_only(np.hstack([pack_columns(part.rows) for part in self.parts()]))

    @property
    def last_word(self) -> np.uint64:
        """Bits in use of the last word of a packed column."""
        used = self.n_rows % 64
        return np.uint64((1 << used) - 1 if used else 0xFFFFFFFFFFFFFFFF)

    @cached_property
    def ones(self) -> NDArray[np.float64]:
        """Total weight of the examples in which each column is 1, shape (n_columns,)."""
        if isinstance(self.stored, Ones):
            of_one = np.repeat(self.weight, np.diff(self.stored.start))
            return read_only(np.bincount(self.stored.column, of_one, self.n_columns))
        parts = [slice(k, k + _ROWS) for k in range(0, self.n_rows, _ROWS)]
        return read_only(np.sum([self.weight[p] @ self.rows[p] for p in parts], axis=0))

    @cached_property
    def frequency(self) -> NDArray[np.float64]:
        """Share of ones of each column, shape (n_columns,)."""
        return read_only(self.ones / self.n_examples)

    def column(self, c: int) -> NDArray[np.uint8]:
        """Return the values of a column, shape (n_rows,)."""
        bits = np.unpackbits(self.columns[c].view(np.uint8), bitorder="little")
        return bits[: self.n_rows]

    def counts(self, v: int) -> NDArray[np.float64]:
        """Return the total weight of the examples in each state of a variable, shape (arity,)."""
        first, last = self.schema.start[v : v + 2]
        ones = self.ones[first:last]
        rest = self.n_examples - ones.sum()
        return ones if len(ones) > 1 else np.append(rest, ones)

    @cached_property
    def density(self) -> float:
        """Share of ones in the whole matrix."""
        return float(self.frequency.mean())

    def subset(self, rows: NDArray[np.integer]) -> "Dataset":
        """Return the dataset of all examples of some distinct rows, with their weights.

        Parameters
        ----------
        rows : ndarray of int
            Positions in `self.rows`. Their order, and that a position occurs twice, is without
            meaning.

        Raises
        ------
        InputError
            There is no position, or one is not that of a row.
        """
        kept = np.unique(rows)
        if not len(kept):
            raise InputError("expected at least one row to keep, got none.", where=DATA)
        if kept.dtype.kind not in "iu" or kept[0] < 0 or kept[-1] >= self.n_rows:
            raise InputError(f"expected rows from 0 to {self.n_rows - 1}, got {kept}.", where=DATA)
        place = np.full(self.n_rows, -1, np.int32)
        place[kept] = np.arange(len(kept))
        row_of = place[self.row_of]
        return Dataset(
            take_rows(self.stored, kept),
            read_only(self.weight[kept]),
            read_only(row_of[row_of >= 0]),
            self.schema,
        )

    def resample(self, rng: np.random.Generator) -> "Dataset":
        """Return a bootstrap sample: as many examples, drawn with replacement by their weights.

        Rows that are not drawn are left out. The sample of weighted data has one example for
        each of its rows, with the number of draws as weight.

        Parameters
        ----------
        rng : numpy.random.Generator
            One multinomial draw is taken from it.

        Raises
        ------
        InputError
            The weights sum to less than one example (rounded), or to more than can be counted.
        """
        if not 0.5 < self.n_examples <= _MOST_EXAMPLES:
            raise InputError(
                f"cannot be resampled: expected weights that sum to 1 to {_MOST_EXAMPLES} "
                f"examples, got {self.n_examples:g}.",
                where=DATA,
            )
        drawn = rng.multinomial(round(self.n_examples), self.weight / self.n_examples)
        kept = np.flatnonzero(drawn)
        row_of = np.arange(len(kept), dtype=np.int32)
        return Dataset(
            take_rows(self.stored, kept),
            read_only(drawn[kept].astype(np.float64)),
            read_only(row_of if self.is_weighted else np.repeat(row_of, drawn[kept])),
            self.schema,
        )

    def take(self, examples: NDArray[np.intp]) -> "Dataset":
        """Return the dataset of some examples, by their positions in `row_of`, with weights 1."""
        return merge_rows(self.stored[self.row_of[examples]], schema=self.schema)

    def rename(self, names: Sequence[str] | None) -> "Dataset":
        """Return the same examples with other names of the variables, or with none.

        Raises
        ------
        InputError
            There are too few or too many names, or they are not different and printable.
        """
        return replace(self, schema=self.schema.rename(names))

    def save(self, path: Path | str) -> None:
        """Write the native form (`.npz`, no pickle)."""
        of_schema = schema_arrays(self.schema)
        arrays = {
            "kind": np.array("dataset"),
            "version": np.array(VERSION if "schema" in of_schema else BINARY_VERSION),
            "n_vars": np.array(self.n_vars),
            "packed_rows": np.vstack([np.packbits(part.rows, axis=1) for part in self.parts()]),
            "weight": self.weight,
            "row_of": self.row_of,
        }
        write_arrays(path, arrays | of_schema)


def merge_rows(
    rows: ArrayLike | Ones,
    weight: ArrayLike | None = None,
    schema: Schema | None = None,
) -> Dataset:
    """Return the dataset of a 0/1 matrix, equal rows merged; see `Dataset.from_arrays`."""
    matrix = check_rows(rows)
    given = np.ones(len(matrix)) if weight is None else check_weights(np.asarray(weight))
    if given.shape != (len(matrix),):
        raise InputError(f"expected {len(matrix)} weights, got shape {given.shape}.", where=DATA)
    schema = binary_schema(matrix.shape[1]) if schema is None else schema
    if schema.n_columns != matrix.shape[1]:
        raise InputError(f"expected {schema.n_columns} columns, got {matrix.shape[1]}.", where=DATA)
    check_states(matrix, schema)
    distinct, row_of = merge_equal(matrix)
    return Dataset(
        stored=distinct,
        weight=read_only(np.bincount(row_of, weights=given, minlength=len(distinct))),
        row_of=read_only(row_of.astype(np.int32)),
        schema=schema,
    )


def load_npz(path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> Dataset:
    """Read the native form, or any `.npz` with a 0/1 matrix named `data` or alone in the file."""
    arrays = read_arrays(path, limit)
    if str(arrays.get("kind")) == "dataset":
        return _load_native(path, arrays)
    if "kind" in arrays:
        raise InputError(f"{path}: expected a dataset, this file holds a {arrays['kind']}.")
    if "data" not in arrays and len(arrays) != 1:
        raise InputError(f"{path}: expected one matrix or one named `data`, got {sorted(arrays)}.")
    matrix = arrays["data"] if "data" in arrays else next(iter(arrays.values()))
    with name_data(path):
        data = merge_rows(matrix)
    if matrix.dtype != bool:
        return data
    # An array in memory is read alike.
    return replace(data, schema=Schema(tuple(replace(v, dtype="bool") for v in data.schema), False))


def _load_native(path: Path | str, arrays: dict[str, NDArray]) -> Dataset:
    """Return the dataset in the arrays of a native file, refusing what breaks its promises."""
    missing = {"version", "n_vars", "packed_rows", "weight", "row_of"} - set(arrays)
    if missing:
        raise InputError(f"{path}: is not a complete dataset, lacks {', '.join(sorted(missing))}.")
    version, n_vars = (_read_count(path, arrays, key) for key in ("version", "n_vars"))
    if version > VERSION:
        raise InputError(
            f"{path}: was written by a newer mnlearn (format {version}, this reads up to "
            f"{VERSION})."
        )
    packed, row_of = arrays["packed_rows"], arrays["row_of"]
    weight = check_weights(arrays["weight"], f"{path}, weight")
    if row_of.dtype.kind not in "iu" or row_of.ndim != 1:
        raise InputError(f"{path}, row_of: expected whole numbers, got {row_of.dtype}.")
    # A file that declares millions of variables is refused before there are so many.
    schema, columns = (None, None) if version < VERSION else schema_of_arrays(path, arrays, n_vars)
    n_columns = n_vars if schema is None else schema.n_columns
    if packed.dtype != np.uint8 or packed.shape != (*weight.shape, -(-n_columns // 8)):
        raise InputError(f"{path}: is damaged: its rows, variables and weights do not agree.")
    if schema is None:
        schema, columns = schema_of_arrays(path, arrays, n_vars)
    rows = np.unpackbits(packed, axis=1, count=n_columns)
    keys = row_keys(rows)
    if not np.array_equal(np.unique(keys), keys):
        raise InputError(f"{path}: is damaged: its rows are not different and in order.")
    if not np.array_equal(np.unique(row_of), np.arange(len(rows))):
        raise InputError(f"{path}, row_of: is damaged: expected every row 0 to {len(rows) - 1}.")
    if columns is not None:
        # A file of 1.0: two columns of one variable have become one.
        with name_data(path):
            made = merge_rows(rows[:, columns], weight, schema)
        return replace(made, row_of=read_only(made.row_of[row_of]))
    with name_data(path):
        check_states(rows, schema, row_of)
    row_of = read_only(row_of.astype(np.int32))
    return Dataset(smaller(rows), read_only(weight), row_of, schema)


def _read_count(path: Path | str, arrays: dict[str, NDArray], key: str) -> int:
    value = arrays[key]
    if value.shape != () or value.dtype.kind not in "iu" or value < 1:
        raise InputError(f"{path}, {key}: expected a positive whole number.")
    return int(value)
