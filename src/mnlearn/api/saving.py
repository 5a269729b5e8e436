"""Writing of a model to a file."""

from pathlib import Path

from mnlearn.api.user_warnings import warn_user
from mnlearn.inference.circuits.compilation import compile_for
from mnlearn.inference.split_variables import describe_split
from mnlearn.models.io.formats import Model, save_model


def save_own(model: Model, path: Path | str) -> None:
    """Write a model, compiled if the file holds circuits; see `mnlearn.save`.

    A warning says if the file takes variables of several states apart.
    """
    note = describe_split(model, path)
    save_model(compile_for(model, path), path)
    if note is not None:
        warn_user(note)
