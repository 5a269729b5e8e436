"""The groups of the variables of a questionnaire, as Python gives them."""

from collections.abc import Sequence
from typing import Any

from mnlearn.runtime.errors import InputError


def to_groups(groups: Any, labels: Sequence[str]) -> list[str]:
    """Return the group of each variable.

    Parameters
    ----------
    groups : mapping of str to str, or Series
        The group of each variable by its name.
    labels : sequence of str
        The variables.

    Raises
    ------
    InputError
        It is no mapping; a variable has no group or is not known; or a group is no text.
    """
    if not hasattr(groups, "items"):
        raise InputError(
            f"groups: expected a mapping of variables to groups, got {type(groups).__name__}."
        )
    group_of = dict(groups.items())
    for name, group in group_of.items():
        if name not in labels:
            raise InputError(f"groups: there is no variable {name!r}.")
        if not isinstance(group, str):
            raise InputError(f"groups, {name!r}: expected the name of a group, got {group!r}.")
    for label in labels:
        if label not in group_of:
            raise InputError(f"groups: expected a group for each variable, lacks {label!r}.")
    return [group_of[label] for label in labels]
