"""Reading and writing models and data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mnlearn.api.inputs import (
    Dataset,
    IncompleteData,
    make_dataset,
    model_of,
    to_count,
    to_dataset,
    to_threads,
    to_whole_seed,
    warn_user,
)
from mnlearn.data.examples import MISSING_ADVICE, load_examples
from mnlearn.data.frames import read_table
from mnlearn.data.rules import ARGUMENT, Rules
from mnlearn.inference.circuits.compilation import compile_for
from mnlearn.learning.missing_cells import TREATMENTS
from mnlearn.models.io.formats import check_writable, load_model, save_model
from mnlearn.models.io.suffixes import BY_SUFFIX, form_of
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.random_streams import SEED
from mnlearn.variables.frames import as_frame as as_frame_of
from mnlearn.variables.frames import is_frame, states_table
from mnlearn.variables.schema import BINARY, NO_STATE

# Missing cells stay in a table.
_KEEP = "keep"


def load(path: Path | str) -> Model:
    """Read a model; the suffix names the format.

    Parameters
    ----------
    path : path-like
        `.npz` (native); `.mn`, `.dn`, `.bn` or `.ac` (Libra); `.bif`, `.uai`, or XMLBIF (`.xmlbif`,
        `.bifxml`, `.xml`). Text forms may be compressed by gzip, xz or bzip2.

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
    return load_model(path)


def save(model: Any, path: Path | str) -> None:
    """Write a model; the suffix names the format. Equal models are written to equal bytes.

    Parameters
    ----------
    model : model or estimator
        A model, or an estimator that learned one.
    path : path-like
        `.npz` keeps all of any model. `.mn`, `.dn`, `.bn` and `.ac` are for Libra. `.bif` holds a
        Bayesian network, `.uai` a Markov or Bayesian network without names, and `.nnf` a circuit as
        d-DNNF, with its weights in a second file. `.csv` and `.graphml` hold the edges. A Markov or
        Bayesian network is compiled for `.ac` and `.nnf`, as by `compile()`.

    Raises
    ------
    InputError
        The suffix does not fit the model, its circuit would be too large, or the file cannot be
        written.
    """
    check_writable(path)
    save_own(model_of(model), path)


def read_data(
    source: Any,
    *,
    states: Mapping[str, Sequence[Any]] | str | Path | None = None,
    cut: Any = None,
    columns: str | Sequence[str] = (),
    leave_out: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    na: str | Sequence[str] = (),
    empty: Any = None,
    weights: str | None = None,
    baskets: bool = False,
    model: Any = None,
    missing: str | None = None,
    as_frame: bool = False,
    random_state: Any = SEED,
) -> Any:
    """Read examples from a file or a table, of words, whole numbers, booleans or categories.

    Parameters
    ----------
    source : path-like, DataFrame, array-like or sparse matrix
        A file: text (also `.gz`, `.xz` or `.bz2`), `.npz`, `.parquet`, `.feather`, `.sav`, `.dta`
        or `.xlsx`; or a table of pandas, Polars or Arrow, or a matrix.
    states : mapping of str to sequence, or path-like, optional
        All states of columns, in order: {"sex": ["f", "m"]}; or a `.schema` file of Libra.
    cut : mapping of str to sequence of float or "median", optional
        Where numbers are cut: {"age": [30, 50]}; one cut for all columns of more than two numbers.
    columns, leave_out, keep : str or sequence of str
        The columns that are variables; or those that are none; or those that are, though they
        look like row numbers.
    na : str or sequence of str
        Texts of missing cells, beside empty cells, NA and NaN.
    empty : mapping of str to str, or str or int, optional
        What missing cells mean where only ticks were written: {"smokes": "no"}, or 0 in all
        columns.
    weights, baskets : str and bool, optional
        The column of the weights of rows; and whether each line of a text lists a row's items.
    model : Model or estimator, optional
        Says the variables and their states.
    missing : {"drop", "impute", "keep"}, optional
        Rows with missing cells are dropped, filled in, or kept for `as_frame`; default: refused.
    as_frame : bool
        Whether a DataFrame is returned, whose columns know also states that some rows lack.
    random_state : int or generator
        Seed of the cells that are filled in.

    Returns
    -------
    Dataset or DataFrame

    Raises
    ------
    InputError
        The message names the line or column, and the argument that decides how it is read.
    """
    said = {"states": states, "cut": cut, "columns": columns, "leave_out": leave_out}
    said |= {"keep": keep, "na": na, "empty": empty, "weights": weights, "baskets": baskets}
    return _read_data(source, said, model, missing, as_frame, random_state)


def _read_data(
    source: Any,
    said: Mapping[str, Any],
    model: Any,
    missing: str | None,
    as_frame: bool,
    random_state: Any,
) -> Any:
    _check_treatment(missing, as_frame)
    schema = None if model is None else model_of(model).schema
    cells, index, place = _read_cells(source, Rules.said(said, ARGUMENT), schema, missing is None)
    data: Dataset | IncompleteData = cells
    if missing in TREATMENTS:
        # Commands that save a model need not wait for this import.
        from mnlearn.learning.imputation import complete

        with name_data(place):
            data = complete(cells, str(missing), seed=to_whole_seed(random_state))
    return _make_frame(data, _kept_index(index, cells, missing)) if as_frame else data


def _kept_index(index: Any, cells: Dataset | IncompleteData, missing: str | None) -> Any:
    """Return the index of the rows that are not dropped."""
    if missing != "drop" or isinstance(cells, Dataset) or index is None:
        return index
    return index[(cells.schema.known_values(cells.values) != NO_STATE).all(axis=1)]


def _check_treatment(missing: str | None, as_frame: bool) -> None:
    """Refuse what cannot be done about missing cells."""
    if missing not in (None, *TREATMENTS, _KEEP):
        expected = ", ".join((*TREATMENTS, _KEEP))
        raise InputError(f"missing: expected {expected} or None, got {missing!r}.")
    if missing == _KEEP and not as_frame:
        raise InputError("missing: keep needs as_frame=True; a Dataset has no missing cells.")


def _read_cells(
    source: Any, rules: Rules, schema: Any, refuse_missing: bool
) -> tuple[Dataset | IncompleteData, Any, str]:
    """Return the examples, the index of their rows if they have one, and the name of the source."""
    if isinstance(source, str | Path):
        found = load_examples(source, rules=rules, schema=schema)
        data = found.complete(source) if refuse_missing else found.data
        return data, None, str(source)
    place, given = "source", as_frame_of(source)
    table = read_table(given, rules, place, schema)
    for note in table.notes:
        warn_user(f"{place}: {note}.")
    if refuse_missing and (table.values == NO_STATE).any():
        n = int((table.values == NO_STATE).any(axis=1).sum())
        row, v = (int(k[0]) for k in (table.values == NO_STATE).nonzero())
        raise InputError(
            f"{place}, row {row}, column {table.schema.names[v]!r}: is missing, and {n} of "
            f"{len(table.values)} examples have missing cells; {MISSING_ADVICE[ARGUMENT]}."
        )
    data = make_dataset(table, table.weight, place, repeat=False, missing=True)
    return data, given.index if is_frame(given) else None, place


def _make_frame(data: Dataset | IncompleteData, index: Any) -> Any:
    """Return examples as a DataFrame of categories, missing cells as NaN."""
    if isinstance(data, Dataset) and data.is_weighted:
        raise InputError("as_frame: expected examples without weights, which a table cannot keep.")
    values = data.schema.known_values(data.rows[data.row_of])
    variables = [replace(v, dtype=None) if v.states != BINARY else v for v in data.schema]
    return states_table(variables, values, index)


def save_own(
    model: Model,
    path: Path | str,
    tell: Callable[[str], None] = warn_user,
    of_names: bool = False,
) -> None:
    """Write a model, compiled if need be; `tell` takes what the file does not keep."""
    save_model(compile_for(model, path), path)
    is_numbered = BY_SUFFIX[form_of(path)].is_numbered
    if is_numbered and (lost := _lost(model, path, of_names)):
        tell(lost)


def _lost(model: Model, path: Path | str, of_names: bool) -> str:
    """Return what to know of a file with numbers in the place of states and names, if anything."""
    for v in model.schema:
        if v.texts != tuple(map(str, range(v.arity))):
            return (
                f"{path}: has 0 for {v.texts[0]} of {v.name!r}, and numbers for other states too; "
                ".npz, .ac and .bif keep the states."
            )
    for k, name in enumerate(model.schema.names if of_names else ()):
        if name != f"V{k}":
            return f"{path}: keeps no names, {name!r} is V{k}; .npz, .ac and .bif keep them."
    return ""


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
    from mnlearn.learning.imputation import Imputation
    from mnlearn.learning.imputation import impute as impute_cells

    how = Imputation(to_count(iterations, "iterations"), fill)
    X = as_frame_of(X)
    data = to_dataset(X, missing=True)
    if isinstance(data, IncompleteData):
        seed, threads = to_whole_seed(random_state), to_threads(n_jobs)
        data = impute_cells(data, how, seed=seed, threads=threads)
    table = data.schema.decode(data.rows[data.row_of])
    return table.set_axis(X.index) if is_frame(X) else table.to_numpy()
