"""Examples of which some cells are missing."""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.data.dataset import Dataset, Merged, merge_rows
from mnlearn.data.rows import Ones, Rows, check_weights
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.variables.schema import MISSING, Schema, binary_schema


class IncompleteData(Merged):
    """Examples with missing cells; it has what circuits read of a `Dataset`.

    All columns of a variable are missing, or none; distinct rows are in lexicographic order.
    """

    @cached_property
    def given_weight(self) -> NDArray[np.float64]:
        """Weight of each example, shape (n_given,): equal examples share the weight of a row."""
        counts = np.bincount(self.row_of, minlength=self.n_rows)
        return read_only((self.weight / counts)[self.row_of])

    @property
    def values(self) -> NDArray[np.uint8]:
        """The examples in the order in which they were given, shape (n_given, n_columns)."""
        return self.rows[self.row_of]

    @property
    def n_with_missing(self) -> int:
        """Number of examples that have a missing cell."""
        return int((self.values == MISSING).any(axis=1).sum())

    def complete_examples(self) -> Dataset:
        """Return the examples without a missing cell."""
        complete = (self.values != MISSING).all(axis=1)
        if not complete.any():
            raise InputError(
                "each row has a missing cell; expected complete rows to keep.", where=DATA
            )
        return merge_rows(self.values[complete], self.given_weight[complete], self.schema)

    def filled(self, values: NDArray[np.uint8]) -> Dataset:
        """Return the examples with other values, shape (n_given, n_columns), none missing."""
        return merge_rows(values, self.given_weight, self.schema)

    def frequency(self) -> NDArray[np.float64]:
        """Return the share of ones among the known cells of each column, shape (n_columns,)."""
        known = self.weight @ (self.rows != MISSING)
        if not known.all():
            v = int(self.schema.variable_of[np.argmin(known)])
            name = repr(self.schema.names[v]) if self.schema.is_named else v + 1
            raise InputError(
                "all cells are missing; leave the column out.", where=DATA, column=name
            )
        return np.asarray(self.weight @ (self.rows == 1) / known)


def merge_incomplete(
    values: ArrayLike, weight: ArrayLike | None = None, schema: Schema | None = None
) -> IncompleteData:
    """Return the data of a matrix of 0, 1 and MISSING, equal rows merged; see `merge_rows`."""
    matrix = np.ascontiguousarray(values, np.uint8)
    given = np.ones(len(matrix)) if weight is None else check_weights(np.asarray(weight))
    rows, row_of = np.unique(matrix, axis=0, return_inverse=True)
    row_of = row_of.ravel()
    return IncompleteData(
        read_only(rows),
        read_only(np.bincount(row_of, weights=given, minlength=len(rows))),
        read_only(row_of.astype(np.int32)),
        binary_schema(matrix.shape[1]) if schema is None else schema,
    )


def merge_cells(
    values: Rows,
    weight: ArrayLike | None = None,
    schema: Schema | None = None,
) -> Dataset | IncompleteData:
    """Return the data of a matrix of 0, 1 and perhaps MISSING, equal rows merged."""
    if not isinstance(values, Ones) and (values == MISSING).any():
        return merge_incomplete(values, weight, schema)
    return merge_rows(values, weight, schema)


def incomplete(data: Dataset | IncompleteData) -> IncompleteData:
    """Return data, which may be complete, as data that may have missing cells."""
    if isinstance(data, IncompleteData):
        return data
    return IncompleteData(data.rows, data.weight, data.row_of, data.schema)
