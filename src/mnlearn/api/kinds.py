"""Models with methods are subclasses of the kinds that the rest of the package knows."""

from typing import Any, TypeVar

from mnlearn.models.io.native import KINDS
from mnlearn.runtime.errors import InputError

M = TypeVar("M")


def as_model(model: Any) -> Any:
    """Return a model as it is; an InputError says if it is none."""
    kind_of(model)
    return model


def shared(model: Any, kind: type[M]) -> M:
    """Return the same model as an instance of another class with the same attributes."""
    made = object.__new__(kind)
    vars(made).update(vars(model))
    return made


def kind_of(model: Any) -> type:
    """Return the kind of a model, which its class may be a subclass of; refuse what is none."""
    for kind in type(model).__mro__:
        if kind in KINDS:
            return kind
    name = type(model).__name__
    if hasattr(model, "fit"):
        raise InputError(f"model: expected a model, or a learner after `fit`, got {name}.")
    raise InputError(f"model: expected a model of mnlearn, got {name}.")
