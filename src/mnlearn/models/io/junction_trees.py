"""The arrays of a junction tree in its native file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.io.checks import (
    check_dtypes,
    check_starts,
)
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# The dtypes of the file, which do not depend on the machine.
_DTYPE = {"clique_start": "<i8", "clique_var": "<i4", "parent": "<i4", "log_prob": "<f8"}


def arrays_of_tree(tree: JunctionTree) -> dict[str, NDArray]:
    """Return the arrays of a tree by name."""
    return {name: np.ascontiguousarray(getattr(tree, name), _DTYPE[name]) for name in _DTYPE}


def tree_of_arrays(path: Path | str, arrays: Mapping[str, NDArray], schema: Schema) -> JunctionTree:
    """Return the tree of a file.

    Raises
    ------
    InputError
        An array is missing, or the arrays are not those of a junction tree.
    """
    check_dtypes(path, arrays, _DTYPE)
    check_starts(path, "clique_start", arrays["clique_start"], len(arrays["clique_var"]))
    try:
        return JunctionTree(
            schema,
            arrays["clique_start"],
            arrays["clique_var"],
            arrays["parent"],
            arrays["log_prob"],
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
