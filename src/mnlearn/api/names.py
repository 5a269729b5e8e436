"""The names of the learners in Python."""

from functools import cache

from mnlearn.data.dataset import Dataset
from mnlearn.methods import learner_names, learner_root


@cache
def class_names() -> dict[str, str]:
    """Return the name of the file of each learner by the name of its class."""
    return {learner_root(name).rpartition(".")[2]: name for name in learner_names()}


# These take the columns of a declared group as one variable.
_GROUPED = ("junction_tree", "lem", "tree_bag")


def describe_ignored_groups(name: str, data: Dataset) -> str | None:
    """Return what to know of declared groups that a learner does not read; None if there are none.

    name : the name of the file of the learner.
    """
    if not data.groups or name in _GROUPED:
        return None
    return (
        f"{name} takes the columns of a group as separate variables, so that its model allows "
        f"several values or none; {', '.join(_GROUPED)} take a group as one variable."
    )
