"""What people give in Python: arrays, tables, sparse matrices, weights, seeds, threads."""

import sys
import warnings
from collections.abc import Mapping
from os import PathLike
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.frames import as_matrix, check_shape, read_table
from mnlearn.data.incomplete import IncompleteData
from mnlearn.data.rows import Ones
from mnlearn.data.rules import READ_DATA, Rules
from mnlearn.data.tables import Table, describe_order, match_data
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.runtime.threads import available_threads
from mnlearn.variables.frames import is_frame
from mnlearn.variables.schema import NO_STATE, Schema

__all__ = ["Dataset", "IncompleteData", "is_frame"]

# Rows are repeated up to so many cells.
_REPEATED = 100_000_000
# Seeds that are drawn are below this number: hyperparameters take whole numbers that floats hold,
# and `RandomState` draws no larger ones.
_SEEDS = 2**31
# Learners and scores have no arguments on columns, and name the function that has them.
LATER = Rules(form=READ_DATA)
# The frames of these packages are passed over. scikit-learn calls estimators in pipelines and
# searches, by joblib.
_PACKAGES = ("mnlearn", "sklearn", "joblib")


def warn_user(message: str) -> None:
    """Issue a UserWarning for the line outside this package that led to the call."""
    frame: FrameType | None = sys._getframe(1)
    # Level 1 would be the line below, and 2 is the line that called this function.
    level = 2
    while frame is not None and _package(frame) in _PACKAGES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, UserWarning, stacklevel=level)


def _package(frame: FrameType) -> str:
    """Return the top package of the code that runs in a frame."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def to_dataset(
    X: Any,
    *,
    schema: Schema | None = None,
    sample_weight: Any = None,
    argument: str = "X",
    repeat: bool = False,
    missing: bool = False,
    rules: Rules = LATER,
) -> Dataset | IncompleteData:
    """Return data as a dataset, of the variables of a schema if one is given.

    repeat : rows are repeated if all weights are whole numbers. missing : cells may be missing.
    """
    if isinstance(X, Dataset):
        if sample_weight is not None:
            raise InputError("sample_weight: expected none with a Dataset, which has its own.")
        if schema is None:
            return X
        if X.schema.is_named and (note := describe_order(schema, X.schema.names)):
            warn_user(f"{argument}: {note}.")
        return match_data(X, schema, argument)
    check_data(X, argument)
    table = read_table(X, rules, argument, schema, keeps_lists=True)
    for note in table.notes:
        warn_user(f"{argument}: {note}.")
    return make_dataset(table, sample_weight, argument, repeat=repeat, missing=missing)


def make_dataset(
    table: Table, sample_weight: Any, argument: str, *, repeat: bool, missing: bool
) -> Dataset | IncompleteData:
    """Return the cells of a table, with weights, as a dataset; see `to_dataset`."""
    values = table.values
    if not missing and not isinstance(values, Ones) and (values == NO_STATE).any():
        row, v = np.argwhere(values == NO_STATE)[0].tolist()
        label = repr(table.schema.names[v]) if table.schema.is_named else v
        where = f"{argument}, row {row}, column {label}"
        raise InputError(f"{where}: is missing (NaN); fill it in or leave the row out.")
    weight = to_weights(sample_weight, len(values))
    if weight is not None and not weight.all():
        values, weight = values[weight > 0], weight[weight > 0]
    if weight is not None and repeat and _are_counts(weight, table.schema.n_columns):
        # Learners that count examples, or resample them, take no weights.
        values, weight = values[np.repeat(np.arange(len(values)), weight.astype(int))], None
    with name_data(argument):
        return table._replace(values=values).data(weight)


def data_for(
    model: Any, X: Any, sample_weight: Any = None, *, missing: bool = False
) -> Dataset | IncompleteData:
    """Return data over the variables of a model; a warning says if their order alone decides."""
    return to_dataset(X, schema=model.schema, sample_weight=sample_weight, missing=missing)


def to_complete_dataset(X: Any, **how: Any) -> Dataset:
    """Return data as a dataset, in which no cell is missing; see `to_dataset`."""
    data = to_dataset(X, **how)
    assert isinstance(data, Dataset)
    return data


def _are_counts(weight: NDArray[np.float64], n_columns: int) -> bool:
    """Tell whether weights are numbers of examples, and few enough to repeat the rows."""
    return bool((weight == np.rint(weight)).all() and weight.sum() * n_columns <= _REPEATED)


def refuse_mask(X: Any, argument: str) -> None:
    """Refuse a masked array, because NumPy would take its hidden values for known ones."""
    if hasattr(X, "filled") and np.any(X.mask):
        raise InputError(
            f"{argument}: expected NaN in missing cells, got a mask; X.astype(float).filled(NaN) "
            "has them."
        )


def check_data(X: Any, argument: str = "X") -> None:
    """Refuse what is no table: a path, a mapping, and an array with a mask."""
    if isinstance(X, str | PathLike):
        raise InputError(f"{argument}: expected data, got a path; mnlearn.read_data reads a file.")
    if hasattr(X, "collect") and not hasattr(X, "shape"):
        raise InputError(f"{argument}: expected a table, got {type(X).__name__}; use X.collect().")
    refuse_mask(X, argument)
    if isinstance(X, Mapping) and not hasattr(X, "toarray"):
        raise InputError(f"{argument}: expected a matrix, got a mapping; use pandas.DataFrame(X).")
    given = as_matrix(X, argument) if isinstance(X, list | tuple) else X
    check_shape(getattr(given, "shape", ()), argument)


def check_finite(X: Any, argument: str, missing: bool) -> None:
    """Refuse infinite numbers of an array, and NaN unless cells may be missing."""
    stored = getattr(X, "data", X) if hasattr(X, "toarray") else X
    if stored.dtype.kind != "f" or np.isfinite(stored).all():
        return
    matrix = X.toarray() if hasattr(X, "toarray") else X
    wrong = np.isinf(matrix) if missing else ~np.isfinite(matrix)
    if wrong.any():
        row, v = np.argwhere(wrong)[0].tolist()
        where = f"{argument}, row {row}, column {v}"
        if np.isnan(matrix[row, v]):
            raise InputError(f"{where}: is missing (NaN); fill it in or leave the row out.")
        raise InputError(f"{where}: expected a number, got {matrix[row, v]}.")


def to_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights of rows."""
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
    """Return the 64-bit seed of a purpose: a whole number gives the stream of `--seed`."""
    return stream_seed(to_whole_seed(random_state), purpose)


def to_whole_seed(random_state: Any) -> int:
    """Return a seed as a whole number; a generator is drawn from, and None is another each time."""
    if random_state is None:
        return int(np.random.default_rng().integers(_SEEDS))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEEDS))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_SEEDS))
    if is_whole(random_state) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"random_state: expected a whole number from 0, a generator or None, got {random_state!r}."
    )


def to_threads(n_jobs: int | None) -> int:
    """Return the number of threads: 1 for None, all processors for -1, all but one for -2."""
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


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number; True and False are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def model_of(given: Any) -> Any:
    """Return a model, or that of an estimator after `fit`; refuse what is none."""
    model = getattr(given, "model_", given)
    if isinstance(model, Model):
        return model
    name = type(given).__name__
    if hasattr(given, "fit"):
        raise InputError(f"model: expected a model, or a learner after `fit`, got {name}.")
    raise InputError(f"model: expected a model of mnlearn, got {name}.")
