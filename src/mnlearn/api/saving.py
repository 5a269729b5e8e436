"""Writing of a model to a file."""

from collections.abc import Callable
from pathlib import Path

from mnlearn.api.user_warnings import warn_user
from mnlearn.inference.circuits.compilation import compile_for
from mnlearn.models.io.formats import save_model
from mnlearn.models.io.suffixes import form_of
from mnlearn.models.model import Model

# Forms that have numbers in the place of names and states.
_NUMBERED = (".mn", ".dn", ".bn", ".uai", ".nnf")


def save_own(
    model: Model,
    path: Path | str,
    tell: Callable[[str], None] = warn_user,
    of_names: bool = False,
) -> None:
    """Write a model, compiled if the file holds circuits; see `mnlearn.save`.

    tell : Takes what a person should know: the file keeps no words for the states.
    of_names : Whether to tell of names that are lost, too.
    """
    save_model(compile_for(model, path), path)
    lost = _lost_states(model, path)
    if lost is None and of_names and form_of(path) in _NUMBERED:
        lost = _lost_names(model, path)
    if lost is not None:
        tell(lost)


def _lost_names(model: Model, path: Path | str) -> str | None:
    """Return what to know of a file that has numbers in the place of names; None if nothing."""
    for v, name in enumerate(model.schema.names):
        if name != f"V{v}":
            return f"{path}: keeps no names, {name!r} is V{v}; .npz, .ac and .bif keep them."
    return None


def _lost_states(model: Model, path: Path | str) -> str | None:
    """Return what to know of a file that has numbers in the place of states; None if nothing."""
    if form_of(path) not in _NUMBERED:
        return None
    for v in model.schema:
        if v.texts != tuple(map(str, range(v.arity))):
            return (
                f"{path}: has 0 for {v.texts[0]} of {v.name!r}, and numbers for other states too; "
                ".npz, .ac and .bif keep the states."
            )
    return None
