"""How many examples satisfy a conjunction, alone and with each variable at 1."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.circuits.candidates import count_ones


class ExtensionCounts:
    """Counts of conjunctions in one dataset."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._everything = np.full(data.columns.shape[1], ~np.uint64(0))
        self._everything[-1] = data.last_word
        self._start = np.concatenate([[0], np.cumsum(data.rows.sum(axis=1, dtype=np.int64))])
        self._ones = np.nonzero(data.rows)[1].astype(np.int32)

    def count(self, literals: Iterable[tuple[int, int]]) -> tuple[float, NDArray[np.float64]]:
        """Return the weight of the examples with all literals, and of those with X_v = 1 as well.

        The second value is float64 of shape (n_vars,).
        """
        satisfied = self._everything.copy()
        for var, value in literals:
            column = self.data.columns[var]
            satisfied &= column if value else ~column
        ones = np.empty(self.data.n_vars)
        total = count_ones(satisfied, self._start, self._ones, self.data.weight, ones)
        return total, ones
