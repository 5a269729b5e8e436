"""Models with methods, and the plain models that the rest of the package works with."""

import typing
from typing import Any, TypeVar

from mnlearn.models.io.native import Model, words_for
from mnlearn.runtime.errors import InputError

M = TypeVar("M")

# The plain kinds of models.
KINDS: tuple[type, ...] = typing.get_args(Model)


def core(model: Any) -> Any:
    """Return a model as the rest of the package knows it; the arrays are shared.

    Raises
    ------
    InputError
        It is no model.
    """
    kind = _kind_of(model)
    return model if type(model) is kind else shared(model, kind)


def words(model: Any) -> str:
    """Return the kind of a model, with the article."""
    return words_for(_kind_of(model))


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
