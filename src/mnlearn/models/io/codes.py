"""The values of the data of a model in its file, beside the model or as names of states."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.formats import save_model
from mnlearn.models.io.native import write_npz
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_arrays, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, Variable

_ARRAY = "codes"
# Files that have names of the states of variables, and the models that they hold.
_NAMED = (".ac", ".bif")
_Named = ArithmeticCircuit | BayesianNetwork
Codes = tuple[tuple[str, str], ...]


def save_with_codes(model: Model, path: Path | str, codes: Codes | None) -> None:
    """Write a model like `save_model`; a native file keeps the values that stood for 0 and 1.

    In a file with names of states they are these names.

    codes : the two texts of each column; None if they are 0 and 1.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npz":
        write_coded(model, path, codes)
        return
    if codes is not None and suffix == ".ac" and model.is_exact:
        model = model.to_circuit()
    if codes is not None and suffix in _NAMED and isinstance(model, _Named) and not model.states:
        own = zip(model.schema, codes, strict=True)
        variables = tuple(Variable(v.name, pair) for v, pair in own)
        model = replace(model, schema=Schema(variables, model.schema.is_named))
    save_model(model, path)


def write_coded(model: Model, path: Path | str, codes: Codes | None) -> None:
    """Write a native file with the values that stood for 0 and 1; see `save_with_codes`."""
    if codes is None:
        write_npz(model, path)
        return
    with TemporaryDirectory() as folder:
        plain = Path(folder, "model.npz")
        write_npz(model, plain)
        arrays = read_arrays(plain)
    write_arrays(path, arrays | {_ARRAY: np.array(codes, np.str_)})


def read_codes(path: Path | str, n_vars: int) -> Codes | None:
    """Return the values that stood for 0 and 1 in the data of a model; None if they were 0 and 1.

    Parameters
    ----------
    path : path-like
        The file of the model; files that are not native keep no values.
    n_vars : int
        Number of columns of the model.

    Raises
    ------
    InputError
        The file is damaged.
    """
    if Path(path).suffix.lower() != ".npz":
        return None
    codes = read_arrays(path).get(_ARRAY)
    if codes is None:
        return None
    if codes.shape != (n_vars, 2) or codes.dtype.kind != "U":
        raise InputError(f"{path}: is damaged: its array {_ARRAY!r} is missing or not a valid one.")
    return tuple((zero, one) for zero, one in codes.tolist())
