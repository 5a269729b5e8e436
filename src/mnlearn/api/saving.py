"""Writing of a model to a file."""

from pathlib import Path
from typing import Any

from mnlearn.api.user_warnings import warn_user
from mnlearn.data.coding import Codes, codes_of_threshold, own_codes
from mnlearn.inference.circuits.compilation import compile_for
from mnlearn.inference.split_variables import describe_split
from mnlearn.models.io.codes import save_with_codes
from mnlearn.models.io.formats import Model


def save_own(model: Model, path: Path | str, codes: Codes | None = None) -> None:
    """Write a model, compiled if the file holds circuits; see `mnlearn.save`.

    A warning says if the file takes variables of several states apart.

    codes : the values of the data of an estimator; see `own_codes`.
    """
    note = describe_split(model, path)
    save_with_codes(compile_for(model, path), path, codes)
    if note is not None:
        warn_user(note)


def codes_of(estimator: Any, model: Model) -> Codes | None:
    """Return the values that stood for 0 and 1 in the data of an estimator; None if it was none."""
    reading = getattr(estimator, "_reading", None)
    if reading is None:
        return None
    codes = reading.codes
    cut = getattr(estimator, "binarize", None)
    if cut is not None:
        codes = codes_of_threshold(model.names or [str(v) for v in range(model.n_vars)], cut)
    return own_codes(model, codes)
