"""Reading and writing models and data."""

from pathlib import Path
from typing import Any

from mnlearn.api.inputs import Dataset
from mnlearn.api.kinds import core
from mnlearn.api.models import Model, public
from mnlearn.data.text import load_dataset
from mnlearn.models.io.formats import load_model, save_model


def load(path: Path | str) -> Model:
    """Read a model; the suffix names the format.

    Parameters
    ----------
    path : path-like
        `.npz` (native), `.mn`, `.dn`, `.bn` or `.ac` (Libra), or `.bif`.

    Returns
    -------
    MarkovNetwork, DependencyNetwork, BayesianNetwork, ArithmeticCircuit or FeatureTree

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
        `.npz` keeps all of any model. `.mn`, `.dn`, `.bn` and `.ac` are for Libra. `.csv` and
        `.graphml` hold the edges.

    Raises
    ------
    InputError
        The suffix does not fit the model, or the file cannot be written.
    """
    save_model(core(getattr(model, "model_", model)), path)


def read_data(path: Path | str) -> Dataset:
    """Read examples from a file of 0 and 1: `.csv`, `.data`, `.txt`, also `.gz` or `.xz`, `.npz`.

    Raises
    ------
    InputError
        The file is missing, ragged or not binary; the message names the line.
    """
    return load_dataset(path)
