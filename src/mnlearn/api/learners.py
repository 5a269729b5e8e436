"""The estimators of all learners, made when they are asked for.

The file `learners.pyi` beside this one declares them for type checkers; `make readme` writes it.
"""

from typing import Any

from mnlearn.api.learner_estimators import make_estimator
from mnlearn.methods import class_names


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return list(class_names())
    if name.startswith("_") or name not in class_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return make_estimator(class_names()[name])


def __dir__() -> list[str]:
    return list(class_names())
