"""The estimators of all learners, made when they are asked for.

The file `learners.pyi` beside this one declares them for type checkers; `make readme` writes it.
"""

from functools import cache
from typing import Any

from mnlearn.methods import learner_names, learner_root


@cache
def class_names() -> dict[str, str]:
    """Return the name of the file of each learner by the name of its class."""
    return {learner_root(name).rpartition(".")[2]: name for name in learner_names()}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return list(class_names())
    if name.startswith("_") or name not in class_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mnlearn.api.estimators import make_estimator

    return make_estimator(class_names()[name])


def __dir__() -> list[str]:
    return [*class_names(), "class_names"]
