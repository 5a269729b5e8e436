"""The models that people give."""

from typing import Any

from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError


def model_of(given: Any) -> Any:
    """Return a model, or that of an estimator after `fit`; refuse what is none."""
    model = getattr(given, "model_", given)
    if isinstance(model, Model):
        return model
    name = type(given).__name__
    if hasattr(given, "fit"):
        raise InputError(f"model: expected a model, or a learner after `fit`, got {name}.")
    raise InputError(f"model: expected a model of mnlearn, got {name}.")
