"""Filling in missing cells of a table."""

from typing import Any

import numpy as np

from mnlearn.api.frames import is_frame, read_frame
from mnlearn.api.inputs import IncompleteData, to_count, to_dataset, to_threads, to_whole_seed
from mnlearn.learning.imputation import Imputation
from mnlearn.learning.imputation import impute as impute_cells
from mnlearn.runtime.random_streams import SEED


def impute(
    X: Any,
    *,
    fill: str = "sample",
    iterations: int = 10,
    random_state: Any = SEED,
    n_jobs: int | None = None,
) -> Any:
    """Return a table whose missing cells (NaN) are filled in with 0 and 1.

    A dependency network is learned from the completed table and draws the missing cells given the
    rest of their rows, several times.

    Parameters
    ----------
    X : array-like or DataFrame, shape (n_samples, n_features)
        0, 1 and NaN; a DataFrame may have words and codes, see `mnlearn.read_data`.
    fill : {"sample", "likely"}
        "sample" keeps the last values that were drawn, which have the spread of the data. "likely"
        takes the more probable value of each cell.
    iterations : int
        How often the network is learned.
    random_state : int, generator or None
        Seed of all draws, by default that of the command line (20); None draws another seed each
        time.
    n_jobs : int, optional
        Number of threads; the result does not depend on it.

    Returns
    -------
    DataFrame or ndarray of uint8, shape (n_samples, n_features)
        Columns that number the rows are left out.

    Examples
    --------
    >>> import mnlearn as mn
    >>> X = [[0, 0], [1, 1]] * 20 + [[float("nan"), 1], [0, float("nan")]]
    >>> mn.impute(X, fill="likely")[-2:].tolist()
    [[1, 1], [0, 0]]
    """
    how = Imputation(to_count(iterations, "iterations"), fill)
    if is_frame(X):
        X, _ = read_frame(X)
    data = to_dataset(X, missing=True)
    if isinstance(data, IncompleteData):
        seed, threads = to_whole_seed(random_state), to_threads(n_jobs)
        data = impute_cells(data, how, seed=seed, threads=threads)
    values = data.rows[data.row_of]
    if not is_frame(X):
        return np.array(values)
    return type(X)(values, index=X.index, columns=X.columns)
