"""Reading and writing models and data."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnlearn.api.frames import PYTHON, is_frame, read_frame
from mnlearn.api.inputs import Dataset, to_complete_dataset
from mnlearn.api.kinds import core
from mnlearn.api.model import Model
from mnlearn.api.model_data import arrange_table
from mnlearn.api.models import public
from mnlearn.data.examples import load_dataset
from mnlearn.data.reading import Reading
from mnlearn.inference.circuits.compilation import compile_for
from mnlearn.models.io.formats import check_writable, load_model, save_model
from mnlearn.runtime.errors import InputError


def load(path: Path | str) -> Model:
    """Read a model; the suffix names the format.

    Parameters
    ----------
    path : path-like
        `.npz` (native); `.mn`, `.dn`, `.bn` or `.ac` (Libra); `.bif` or `.uai`.

    Returns
    -------
    model
        A MarkovNetwork, DependencyNetwork, BayesianNetwork, ArithmeticCircuit, FeatureTree,
        JunctionTreeModel or HiddenTree.

    Raises
    ------
    InputError
        The file is missing or damaged, or is not a model.
    """
    return public(load_model(path))


def save(model: Any, path: Path | str) -> None:
    """Write a model; the suffix names the format. Equal models are written to equal bytes.

    Parameters
    ----------
    model : model or estimator
        A model, or an estimator that learned one.
    path : path-like
        `.npz` keeps all of any model. `.mn`, `.dn`, `.bn` and `.ac` are for Libra. `.bif` holds a
        Bayesian network, `.uai` a Markov or Bayesian network, and `.nnf` a circuit as d-DNNF, with
        its weights in a second file. `.csv` and `.graphml` hold the edges. A Markov or Bayesian
        network is compiled for `.ac` and `.nnf`, as by `compile()`.

    Raises
    ------
    InputError
        The suffix does not fit the model, its circuit would be too large, or the file cannot be
        written.
    """
    own = core(getattr(model, "model_", model))
    check_writable(path)
    save_model(compile_for(own, path), path)


def read_data(
    source: Any,
    *,
    ones: str | Sequence[str] = (),
    leave_out: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    na: str | Sequence[str] = (),
    model: Any = None,
) -> Dataset:
    """Read examples from a file or a DataFrame, as pandas, R and people write them.

    A value may be 0 or 1, 0.0 or 1.0, True or False, yes or no, 1 or 2 (2 counts as 1). A first
    column of row numbers and a column of ids are left out. Whatever was not read as written is told
    in a warning, or for files to the logger "mnlearn".

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
    model : Model, optional
        A model of these variables. Columns of files and tables are matched to it by name, and the
        data may have the names of its states, such as those of a `.bif` file.

    Raises
    ------
    InputError
        The file is missing or ragged, a cell is missing, or a column is not binary or could be
        read in two ways; the message names the line or column, and the argument that decides.
    """
    said = {"ones": ones, "leave_out": leave_out, "keep": keep, "na": na}
    reading = Reading.said(said, PYTHON.form)
    if model is not None:
        own = core(getattr(model, "model_", model))
        reading = reading.for_model(own)
    if is_frame(source):
        source = source if model is None else arrange_table(own, source, "source")
        return to_complete_dataset(read_frame(source, reading, "source")[0], argument="source")
    if not isinstance(source, str | Path):
        raise InputError(f"source: expected a file or a DataFrame, got {type(source).__name__}.")
    return load_dataset(source, reading=reading)
