"""Reading and writing models and data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.api.frames import is_frame, keep_reading, read_frame
from mnlearn.api.inputs import Dataset, IncompleteData, to_dataset, to_whole_seed
from mnlearn.api.kinds import model_of
from mnlearn.api.model_data import arrange_table
from mnlearn.api.saving import codes_of, keep_codes, save_own
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.coding import codes_by_column, describe_values
from mnlearn.data.examples import load_examples
from mnlearn.data.incomplete import MISSING
from mnlearn.data.own_files import declare_groups
from mnlearn.data.reading import Reading
from mnlearn.learning.imputation import complete
from mnlearn.learning.missing_cells import TREATMENTS
from mnlearn.models.io.codes import read_codes
from mnlearn.models.io.formats import check_writable, load_model
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.names import labels_of
from mnlearn.runtime.random_streams import SEED

# Missing cells stay in a table.
_KEEP = "keep"


def load(path: Path | str) -> Model:
    """Read a model; the suffix names the format.

    A model takes 0 and 1, or the names of its states. An estimator and `mnlearn query` take the
    values of the data too, such as 1 and 2; a warning says if the file has such values, and
    `read_data(model=)` reads data by them.

    Parameters
    ----------
    path : path-like
        `.npz` (native); `.mn`, `.dn`, `.bn` or `.ac` (Libra); `.bif` or `.uai`.

    Returns
    -------
    model
        A MarkovNetwork, DependencyNetwork, BayesianNetwork, ArithmeticCircuit, FeatureTree,
        JunctionTree (`mnlearn.JunctionTreeModel`) or HiddenTree.

    Raises
    ------
    InputError
        The file is missing or damaged, or is not a model.
    """
    model = load_model(path)
    codes = read_codes(path, model.n_vars)
    note = describe_values(model, path, codes)
    if note is not None:
        warn_user(note)
    keep_codes(model, codes)
    return model


def save(model: Any, path: Path | str) -> None:
    """Write a model; the suffix names the format. Equal models are written to equal bytes.

    Parameters
    ----------
    model : model or estimator
        A model, or an estimator that learned one.
    path : path-like
        `.npz` keeps all of any model, and for `mnlearn query` the values of the data, such as 1
        and 2, of an estimator or of a model that `load` read. `.mn`, `.dn`, `.bn` and `.ac` are
        for Libra. `.bif` holds a Bayesian network, `.uai` a Markov or Bayesian network without
        names, and `.nnf` a circuit as d-DNNF, with its weights in a second file. `.csv` and
        `.graphml` hold the edges. A Markov or Bayesian network is compiled for `.ac` and `.nnf`, as
        by `compile()`.

    Raises
    ------
    InputError
        The suffix does not fit the model, its circuit would be too large, or the file cannot be
        written.
    """
    own = model_of(model)
    check_writable(path)
    save_own(own, path, codes_of(model, own))


def read_data(
    source: Any,
    *,
    ones: str | Sequence[str] = (),
    leave_out: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    na: str | Sequence[str] = (),
    model: Any = None,
    missing: str | None = None,
    groups: str | None = None,
    as_frame: bool = False,
    random_state: Any = SEED,
) -> Any:
    """Read examples from a file or a DataFrame, as pandas, R and people write them.

    A value may be 0 or 1, 0.0 or 1.0, True or False, yes or no, 1 or 2 (2 counts as 1). A column of
    row numbers or ids is left out. What was not read as written is told: in a warning, or for files
    to the logger "mnlearn".

    Parameters
    ----------
    source : path-like or DataFrame
        A file `.csv`, `.data` or `.txt`, also with `.gz` or `.xz`, or `.npz`; or a table.
    ones : str or sequence of str
        VALUE or COLUMN=VALUE: the value that counts as 1; the other value of the column is 0.
        ">=NUMBER" or "COLUMN>=NUMBER": numbers from this one on count as 1, smaller ones as 0.
    leave_out, keep : str or sequence of str
        Columns that are no variables, and columns that are, though they look like row numbers.
    na : str or sequence of str
        Texts of missing cells, beside empty cells, NA and NaN.
    model : Model or estimator, optional
        A model of these variables: the names and the values of its data are those of `source`.
    missing : {"drop", "impute", "keep"}, optional
        Rows with missing cells are dropped, filled in, or kept for `as_frame`; default: refused.
    groups : str, optional
        "names" or ranges such as "1-3,7-10": columns that are one variable; see `--groups`.
    as_frame : bool
        Whether a DataFrame is returned, as scikit-learn's `cross_val_score` needs it.
    random_state : int or generator
        Seed of the cells that are filled in.

    Returns
    -------
    Dataset or DataFrame
        The examples as 0 and 1.

    Raises
    ------
    InputError
        The message names the file, line or column, and the argument that decides how it is read.
    """
    _check_treatment(missing, as_frame, groups)
    said = {"ones": ones, "leave_out": leave_out, "keep": keep, "na": na}
    cells, reading = _read_cells(source, Reading.said(said, "{}="), model, missing is None)
    place = "source" if is_frame(source) else str(source)
    data = _treat(cells, missing, to_whole_seed(random_state), place)
    if isinstance(data, Dataset):
        data = data if groups is None else declare_groups(data, groups, place)
        keep_reading(data, reading)
    return _make_frame(data, _index_of(source, cells, missing)) if as_frame else data


def _treat(
    cells: Dataset | IncompleteData, missing: str | None, seed: int, place: str
) -> Dataset | IncompleteData:
    """Return examples whose missing cells are dropped, filled in or left, as `missing` says."""
    if missing not in TREATMENTS:
        return cells
    with name_data(place):
        return complete(cells, missing, seed=seed)


def _check_treatment(missing: str | None, as_frame: bool, groups: str | None) -> None:
    """Refuse what cannot be done about missing cells, and groups that a table cannot keep."""
    if groups is not None and as_frame:
        raise InputError("groups: expected no as_frame; a DataFrame keeps no groups.")
    if missing not in (None, *TREATMENTS, _KEEP):
        expected = ", ".join((*TREATMENTS, _KEEP))
        raise InputError(f"missing: expected {expected} or None, got {missing!r}.")
    if missing == _KEEP and not as_frame:
        raise InputError("missing: keep needs as_frame=True; a Dataset has no missing cells.")


def _index_of(source: Any, cells: Dataset | IncompleteData, missing: str | None) -> Any:
    """Return the index of the rows of a table that are not dropped; None for a file."""
    index = source.index if is_frame(source) else None
    if missing == "drop" and isinstance(cells, IncompleteData) and index is not None:
        index = index[(cells.values != MISSING).all(axis=1)]
    return index


def _read_cells(
    source: Any, reading: Reading, model: Any, refuse_missing: bool
) -> tuple[Dataset | IncompleteData, Reading]:
    """Return what `read_data` reads, perhaps with missing cells, and how it was read."""
    if model is not None:
        own = model_of(model)
        reading = reading.for_model(own, codes_by_column(own, codes_of(model, own)))
    if is_frame(source):
        table = source if model is None else arrange_table(own, source, "source")
        table, reading = read_frame(table, reading, "source")
        data = to_dataset(table, argument="source", missing=True)
        if refuse_missing and isinstance(data, IncompleteData):
            row, v = np.argwhere(data.values == MISSING)[0]
            name = labels_of(data.names, data.n_vars)[v]
            raise InputError(
                f"source, row {row}, column {name!r}: is missing, and {data.n_with_missing} of "
                f"{len(data.row_of)} examples have missing cells; missing= says what is done "
                "about them."
            )
        return data, reading
    if not isinstance(source, str | Path):
        raise InputError(f"source: expected a file or a DataFrame, got {type(source).__name__}.")
    found = load_examples(source, reading=reading)
    return (found.complete(source) if refuse_missing else found.data), found.reading


def _make_frame(data: Dataset | IncompleteData, index: Any) -> Any:
    """Return examples as a DataFrame, missing cells as NaN."""
    import pandas as pd

    if isinstance(data, Dataset) and data.is_weighted:
        raise InputError("as_frame: expected examples without weights, which a table cannot keep.")
    values = data.rows[data.row_of]
    names = list(labels_of(data.names, data.n_vars))
    table = pd.DataFrame(values, index=index, columns=names)
    return table.mask(values == MISSING) if isinstance(data, IncompleteData) else table
