"""Filling in missing cells of a table."""

from typing import Any

from mnlearn.api.inputs import IncompleteData, to_count, to_dataset, to_threads, to_whole_seed
from mnlearn.learning.imputation import Imputation
from mnlearn.learning.imputation import impute as impute_cells
from mnlearn.runtime.random_streams import SEED
from mnlearn.variables.frames import as_frame, is_frame


def impute(
    X: Any,
    *,
    fill: str = "sample",
    iterations: int = 10,
    random_state: Any = SEED,
    n_jobs: int | None = None,
) -> Any:
    """Return a table whose missing cells (NaN) are filled in with states.

    A dependency network is learned from the completed table and draws the missing cells given the
    rest of their rows, several times.

    Parameters
    ----------
    X : array-like or DataFrame, shape (n_samples, n_features)
        States and NaN; see `mnlearn.read_data`.
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
    DataFrame or ndarray, shape (n_samples, n_features)
        Columns that number the rows are left out.

    Examples
    --------
    >>> import mnlearn as mn
    >>> X = [[0, 0], [1, 1]] * 20 + [[float("nan"), 1], [0, float("nan")]]
    >>> mn.impute(X, fill="likely")[-2:].tolist()
    [[1, 1], [0, 0]]
    """
    how = Imputation(to_count(iterations, "iterations"), fill)
    X = as_frame(X)
    data = to_dataset(X, missing=True)
    if isinstance(data, IncompleteData):
        seed, threads = to_whole_seed(random_state), to_threads(n_jobs)
        data = impute_cells(data, how, seed=seed, threads=threads)
    table = data.schema.decode(data.rows[data.row_of])
    return table.set_axis(X.index) if is_frame(X) else table.to_numpy()
