"""Models with methods, and the plain models that the rest of the package works with."""

from typing import Any, TypeVar

from mnlearn.models.io.native import KINDS
from mnlearn.runtime.errors import InputError

M = TypeVar("M")


def core(model: Any) -> Any:
    """Return a model as the rest of the package knows it; the arrays are shared.

    Raises
    ------
    InputError
        It is no model.
    """
    kind = _kind_of(model)
    return model if type(model) is kind else shared(model, kind)


def shared(model: Any, kind: type[M]) -> M:
    """Return the same model as an instance of another class with the same attributes."""
    made = object.__new__(kind)
    vars(made).update(vars(model))
    return made


def _kind_of(model: Any) -> type:
    for kind in type(model).__mro__:
        if kind in KINDS:
            return kind
    name = type(model).__name__
    if hasattr(model, "fit"):
        raise InputError(f"model: expected a model, or a learner after `fit`, got {name}.")
    raise InputError(f"model: expected a model of mnlearn, got {name}.")
