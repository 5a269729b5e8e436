"""The names of the learners in Python."""

from functools import cache

from mnlearn.methods import learner_names, learner_root


@cache
def class_names() -> dict[str, str]:
    """Return the name of the file of each learner by the name of its class."""
    return {learner_root(name).rpartition(".")[2]: name for name in learner_names()}
