"""What people give in Python: arrays, tables, sparse matrices, weights, seeds, threads."""

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.api.frames import column_names, is_frame, read_frame
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.dataset import Dataset
from mnlearn.data.incomplete import MISSING, IncompleteData, merge_incomplete
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.runtime.threads import available_threads
from mnlearn.variables.schema import binary_schema

__all__ = ["Dataset", "IncompleteData", "is_frame"]

# Rows are repeated up to so many cells.
_REPEATED = 100_000_000
# Seeds that are drawn are below this number: hyperparameters take whole numbers that floats hold,
# and `RandomState` draws no larger ones.
_SEEDS = 2**31
# A cell of a matrix by its place, for messages: (row, column).
_Place = tuple[int, int]


def to_dataset(
    X: Any,
    *,
    names: Sequence[str] | None = None,
    sample_weight: Any = None,
    binarize: float | None = None,
    argument: str = "X",
    repeat: bool = False,
    missing: bool = False,
) -> Dataset | IncompleteData:
    """Return data as a dataset.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame or Dataset, shape (n_samples, n_features)
        Values 0 and 1; any numbers with a threshold.
    names : sequence of str, optional
        Names of the variables; those of a DataFrame if not given.
    sample_weight : array-like of float, shape (n_samples,), optional
        Weights of the rows. Rows of weight 0 are left out.
    binarize : float, optional
        Threshold above which a number counts as 1.
    argument : str
        Name of the argument, for messages.
    repeat : bool
        Whether rows are repeated if all weights are whole numbers.
    missing : bool
        Whether cells may be missing (NaN).

    Raises
    ------
    InputError
        A value is missing or not 0 or 1, or a weight is not a number of at least 0.
    """
    if isinstance(X, Dataset):
        if sample_weight is not None:
            raise InputError("sample_weight: expected none with a Dataset, which has its own.")
        return X
    if is_frame(X) and binarize is None:
        X, _ = read_frame(X, argument=argument)
    names = column_names(X) if names is None else tuple(names)
    rows = to_binary(X, names=names, binarize=binarize, argument=argument, missing=missing)
    weight = to_weights(sample_weight, len(rows))
    if weight is not None and not weight.all():
        rows, weight = rows[weight > 0], weight[weight > 0]
    if weight is not None and repeat and _are_counts(weight, rows.shape[1]):
        # Learners that count examples, or resample them, take no weights.
        rows, weight = np.repeat(rows, weight.astype(int), axis=0), None
    if (rows == MISSING).any():
        return merge_incomplete(rows, weight, binary_schema(rows.shape[1], names))
    return Dataset.from_arrays(rows, weight, names)


def to_complete_dataset(X: Any, **how: Any) -> Dataset:
    """Return data as a dataset, in which no cell is missing; see `to_dataset`."""
    data = to_dataset(X, **how)
    assert isinstance(data, Dataset)
    return data


def _are_counts(weight: NDArray[np.float64], n_vars: int) -> bool:
    """Tell whether weights are numbers of examples, and few enough to repeat the rows."""
    return bool((weight == np.rint(weight)).all() and weight.sum() * n_vars <= _REPEATED)


def to_binary(
    X: Any,
    *,
    names: Sequence[str] | None,
    binarize: float | None,
    argument: str = "X",
    missing: bool = False,
) -> NDArray[np.uint8]:
    """Return data as a matrix of 0, 1 and MISSING; see `to_dataset`."""
    check_columns(X, argument)
    if sparse.issparse(X):
        # Only the numbers that are stored can be wrong; one cell may be stored in several parts.
        stored = X.tocoo(copy=True)
        stored.sum_duplicates()
        unknown = missing & np.isnan(stored.data)
        _check_numbers(
            np.where(unknown, 0, stored.data)[None, :],
            binarize,
            lambda place: (int(stored.row[place[1]]), int(stored.col[place[1]])),
            (names, argument),
        )
        X = X.toarray()
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise InputError(
            f"{argument}: expected a matrix with a row for each example, got {matrix.ndim} "
            "axes; one example is X.reshape(1, -1)."
        )
    if matrix.dtype.kind not in "biuf":
        matrix = to_numbers(matrix, names, argument)
    unknown = np.isnan(matrix) if missing and matrix.dtype.kind == "f" else np.zeros(1, bool)
    known = np.where(unknown, 0, matrix) if unknown.any() else matrix
    _check_numbers(known, binarize, lambda place: place, (names, argument))
    ones = np.asarray(known != 0 if binarize is None else known > binarize, np.uint8)
    return np.where(unknown, MISSING, ones).astype(np.uint8) if unknown.any() else ones


def warn_of_binary_columns(X: Any, names: Sequence[str] | None, binarize: float | None) -> None:
    """Warn of columns of 0 and 1 of which a threshold for other columns makes constants."""
    if binarize is None or 0 <= binarize < 1 or sparse.issparse(X):
        return
    matrix = np.asarray(X)
    varying = (matrix == 0).any(axis=0) & (matrix == 1).any(axis=0)
    lost = np.flatnonzero(varying & ((matrix == 0) | (matrix == 1)).all(axis=0))
    if len(lost):
        labels = labels_of(names, matrix.shape[1])
        listed = ", ".join(labels[v] for v in lost[:8]) + (", ..." if len(lost) > 8 else "")
        value = int(binarize < 0)
        warn_user(
            f"X: binarize={binarize:g} makes all values {value} in columns of 0 and 1, {listed}; "
            'mn.read_data(X, ones=">=NUMBER") leaves such columns as they are.'
        )


def warn_of_cut_again(X: Any, binarize: float | None, argument: str) -> None:
    """Warn of data that are 0 and 1 already, of which a threshold makes one value."""
    if binarize is None or 0 <= binarize < 1 or sparse.issparse(X):
        return
    matrix = np.asarray(X)
    if ((matrix == 0) | (matrix == 1) | np.isnan(matrix)).all():
        warn_user(
            f"{argument}: all values are 0 and 1, and binarize={binarize:g} makes them "
            f"{int(binarize < 0)}; `model_` takes 0 and 1."
        )


def refuse_mask(X: Any, argument: str) -> None:
    """Refuse a masked array, because NumPy would take its hidden values for known ones."""
    if hasattr(X, "filled") and np.any(X.mask):
        raise InputError(
            f"{argument}: expected NaN in missing cells, got a mask; X.astype(float).filled(NaN) "
            "has them."
        )


def check_columns(X: Any, argument: str = "X") -> None:
    """Refuse what is no matrix or is empty, and a DataFrame with a column of texts, by its name."""
    if isinstance(X, str | PathLike):
        raise InputError(f"{argument}: expected data, got a path; mnlearn.read_data reads a file.")
    refuse_mask(X, argument)
    if isinstance(X, Mapping) and not sparse.issparse(X):
        raise InputError(f"{argument}: expected a matrix, got a mapping; use pandas.DataFrame(X).")
    _check_not_empty(X, argument)
    if not is_frame(X):
        return
    twice = [name for name, n in Counter(X.columns).items() if n > 1]
    if twice:
        raise InputError(f"{argument}: two columns are called {twice[0]!r}.")
    for v, name in enumerate(X.columns):
        column = X.iloc[:, v]
        if getattr(column.dtype, "kind", "O") not in "biuf":
            to_numbers(np.asarray(column, object)[:, None], [str(name)], argument)


def _check_not_empty(X: Any, argument: str) -> None:
    """Refuse data without rows or without columns, in the words of scikit-learn."""
    try:
        shape = tuple(X.shape) if hasattr(X, "shape") else np.asarray(X).shape
    except ValueError:
        raise InputError(
            f"{argument}: expected rows of equal length; lists of items become rows by "
            "scikit-learn's MultiLabelBinarizer."
        ) from None
    for missing, n in zip(("sample", "feature"), shape[:2], strict=False):
        if n == 0:
            raise InputError(
                f"{argument}: has 0 {missing}(s) (shape={shape}) while a minimum of 1 is required."
            )


def to_numbers(
    matrix: NDArray[Any], names: Sequence[str] | None, argument: str = "X"
) -> NDArray[np.float64]:
    """Return a matrix of objects as numbers, missing cells as NaN."""
    out = np.empty(matrix.shape)
    for row, values in enumerate(matrix.tolist()):
        for v, value in enumerate(values):
            try:
                # pandas.NA cannot be a float, and says its name.
                out[row, v] = np.nan if value is None or repr(value) == "<NA>" else float(value)
            except (TypeError, ValueError, OverflowError) as error:
                raise InputError(
                    f"{_where(argument, (row, v), names)}: expected 0 or 1, got {value!r}; "
                    "write the values as 0 and 1 first."
                ) from error
    return out


def _check_numbers(
    matrix: NDArray[Any],
    binarize: float | None,
    place_of: Any,
    where: tuple[Sequence[str] | None, str],
) -> None:
    """Refuse missing and infinite numbers and, without a threshold, others than 0 and 1."""
    names, argument = where
    if matrix.dtype.kind == "f":
        wrong = ~np.isfinite(matrix)
        if wrong.any():
            row, v = np.unravel_index(int(np.argmax(wrong)), matrix.shape)
            name = _where(argument, place_of((int(row), int(v))), names)
            if np.isnan(matrix[row, v]):
                raise InputError(f"{name}: is missing (NaN); fill it in or leave the row out.")
            raise InputError(f"{name}: expected 0 or 1, got {matrix[row, v]} (inf).")
    if binarize is None:
        wrong = (matrix != 0) & (matrix != 1)
        if wrong.any():
            row, v = np.unravel_index(int(np.argmax(wrong)), matrix.shape)
            name = _where(argument, place_of((int(row), int(v))), names)
            raise InputError(
                f"{name}: expected 0 or 1, got {matrix[row, v]}; binarize=t makes 1 of all "
                "numbers above t."
            )


def _where(argument: str, place: _Place, names: Sequence[str] | None) -> str:
    row, v = place
    column = v if names is None or v >= len(names) else repr(names[v])
    return f"{argument}, row {row}, column {column}"


def to_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights of rows.

    Raises
    ------
    InputError
        There are too few or too many; one is negative, missing or infinite; or all are 0.
    """
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError("sample_weight: expected numbers, one for each row.") from None
    if weight.shape != (n_rows,):
        raise InputError(
            f"sample_weight: expected {n_rows} numbers, one for each row, got shape {weight.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(wrong):
        k = wrong[0]
        raise InputError(f"sample_weight, row {k}: expected a number from 0, got {weight[k]}.")
    if not weight.any():
        raise InputError("sample_weight: expected a row with a weight above 0, all are zero.")
    return weight


def to_seed(random_state: Any, purpose: str) -> int:
    """Return the 64-bit seed of a purpose.

    Parameters
    ----------
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        A whole number gives the same stream as `--seed` on the command line; a generator is drawn
        from; None gives another seed each time.
    purpose : str
        Name of the stream.
    """
    return stream_seed(to_whole_seed(random_state), purpose)


def to_whole_seed(random_state: Any, argument: str = "random_state") -> int:
    """Return a seed as a whole number; see `to_seed`."""
    if random_state is None:
        return int(np.random.default_rng().integers(_SEEDS))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEEDS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_SEEDS))
    if is_whole(random_state) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"{argument}: expected a whole number from 0, a generator or None, got {random_state!r}."
    )


def to_threads(n_jobs: int | None) -> int:
    """Return the number of threads: 1 for None; -1 stands for all processors, -2 for all but one.

    Raises
    ------
    InputError
        It is 0 or not a whole number.
    """
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0:
        raise InputError(f"n_jobs: expected a whole number other than 0, or None, got {n_jobs!r}.")
    return int(n_jobs) if n_jobs > 0 else max(1, available_threads() + 1 + int(n_jobs))


def to_count(value: Any, argument: str) -> int:
    """Return a number of things; refuse what is not a whole number of at least 1."""
    if not is_whole(value) or value < 1:
        raise InputError(f"{argument}: expected a whole number from 1, got {value!r}.")
    return int(value)


def check_threshold(threshold: Any) -> None:
    """Refuse a threshold for `binarize` that is no number; None is no threshold."""
    is_number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    if threshold is not None and (not is_number or np.isnan(threshold)):
        raise InputError(f"binarize: expected a number or None, got {threshold!r}.")


def find_variable(given: Any, names: Sequence[str] | None, n_vars: int, argument: str) -> int:
    """Return the number of a variable that is given by its name or number.

    Raises
    ------
    InputError
        There is no such variable; the message names those that are like it.
    """
    if not isinstance(given, str) and names is not None and str(given) in names:
        # A column may be called by a number.
        given = str(given)
    if isinstance(given, str):
        labels = labels_of(names, n_vars)
        if given in labels:
            return labels.index(given)
        like = difflib.get_close_matches(given, labels, 3)
        expected = f"did you mean {' or '.join(map(repr, like))}?" if like else _some(labels)
        raise InputError(f"{argument}: there is no variable {given!r}; {expected}")
    if is_whole(given) and 0 <= given < n_vars:
        return int(given)
    raise InputError(
        f"{argument}: expected a name or a number from 0 to {n_vars - 1}, got {given!r}."
    )


def _some(labels: Sequence[str]) -> str:
    listed = ", ".join(labels[:8])
    return f"expected one of {listed}{', ...' if len(labels) > 8 else ''}."


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
