"""Writing of a model to a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mnlearn.api.user_warnings import warn_user
from mnlearn.data.coding import Codes, codes_of_threshold, describe_lost, own_codes
from mnlearn.inference.circuits.compilation import compile_for
from mnlearn.models.io.codes import save_with_codes
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model


def save_own(
    model: Model,
    path: Path | str,
    codes: Codes | None = None,
    tell: Callable[[str], None] = warn_user,
) -> None:
    """Write a model, compiled if the file holds circuits; see `mnlearn.save`.

    Parameters
    ----------
    model : Model
        The model.
    path : path-like
        The file.
    codes : tuple of (str, str), optional
        The values of the data of an estimator; see `own_codes`.
    tell : callable
        Takes what a person should know: the file takes variables of several states apart, or it
        loses the values of the data.
    """
    note = describe_lost(model, path, codes)
    save_with_codes(compile_for(model, path), path, codes)
    if note is not None:
        tell(note)


def keep_codes(model: Any, codes: Codes | None) -> None:
    """Keep the values of the data of a model that was read from a file, for `codes_of`."""
    vars(model)["_codes"] = codes


def codes_of(source: Any, model: Model) -> Codes | None:
    """Return the values that stood for 0 and 1 in the data of a model; None if it was none.

    source : the estimator that learned the model, or the model as it was read from a file.
    """
    source = getattr(source, "best_estimator_", source)
    reading = getattr(source, "_reading", None)
    if reading is None:
        # Other models keep the names of their states themselves.
        states = getattr(source, "states", None) if isinstance(model, MarkovNetwork) else None
        kept: Codes | None = getattr(source, "_codes", None) or states
        return kept
    codes = reading.codes
    cut = getattr(source, "binarize", None)
    if cut is not None:
        codes = codes_of_threshold(model.names or [str(v) for v in range(model.n_vars)], cut)
    return own_codes(model, codes)
