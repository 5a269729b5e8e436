"""The arrays of a tree of hidden variables in its native file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.io.checks import damaged
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# The dtypes of the file, which do not depend on the machine.
_DTYPE = {"parent": "<i4", "transition": "<f8", "emission": "<f8"}


def arrays_of_tree(tree: HiddenTree) -> dict[str, NDArray]:
    """Return the arrays of a tree by name."""
    return {name: np.ascontiguousarray(getattr(tree, name), _DTYPE[name]) for name in _DTYPE}


def tree_of_arrays(path: Path | str, arrays: Mapping[str, NDArray], schema: Schema) -> HiddenTree:
    """Return the tree of a file.

    Raises
    ------
    InputError
        An array is missing, or the arrays are not those of such a tree.
    """
    for name, n_axes in (("parent", 1), ("transition", 3), ("emission", 2)):
        array = arrays.get(name)
        if array is None or array.dtype != _DTYPE[name] or array.ndim != n_axes:
            raise damaged(path, name)
    if len(arrays["parent"]) != len(schema):
        raise damaged(path, "parent")
    try:
        return HiddenTree(arrays["parent"], arrays["transition"], arrays["emission"], schema)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
