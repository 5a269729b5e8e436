"""An array to which rows are appended."""

import numpy as np
from numpy.typing import NDArray


class GrowingRows:
    """Rows of numbers in one array that has room for more of them.

    Parameters
    ----------
    n_columns : int
        Numbers in a row.
    """

    def __init__(self, n_columns: int) -> None:
        self._rows = np.empty((16, n_columns))
        self._n_rows = 0

    def __len__(self) -> int:
        return self._n_rows

    def append(self, row: NDArray[np.float64]) -> None:
        """Append a row."""
        self.extend(row[None])

    def extend(self, rows: NDArray[np.float64]) -> None:
        """Append rows."""
        n_rows = self._n_rows + len(rows)
        if n_rows > len(self._rows):
            larger = np.empty((max(n_rows, 2 * len(self._rows)), self._rows.shape[1]))
            larger[: self._n_rows] = self.array
            self._rows = larger
        self._rows[self._n_rows : n_rows] = rows
        self._n_rows = n_rows

    def clear(self) -> None:
        """Take all rows out."""
        self._n_rows = 0

    @property
    def array(self) -> NDArray[np.float64]:
        """The rows, float64 of shape (n_rows, n_columns)."""
        return self._rows[: self._n_rows]
