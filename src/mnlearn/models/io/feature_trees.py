"""The arrays of a feature tree in its native file."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.feature_tree import ARRAYS, FeatureTree, feature_tree
from mnlearn.models.io.checks import (
    check_dtypes,
    check_starts,
    damaged,
)
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# The dtypes of the file, which do not depend on the machine.
_DTYPE = {
    **{f"{name}_start": "<i8" for name in ("literal", "branch", "fixed", "child")},
    **{f"{name}_var": "<i4" for name in ("literal", "fixed")},
    **{f"{name}_value": "|u1" for name in ("literal", "fixed")},
    "child": "<i4",
    "log_prob": "<f8",
}


def arrays_of_tree(tree: FeatureTree) -> dict[str, NDArray]:
    """Return the arrays of a tree by name."""
    return {name: np.ascontiguousarray(getattr(tree, name), _DTYPE[name]) for name in ARRAYS}


def tree_of_arrays(path: Path | str, arrays: Mapping[str, NDArray], schema: Schema) -> FeatureTree:
    """Return the tree of a file.

    Raises
    ------
    InputError
        An array is missing, or the arrays do not fit together.
    """
    check_dtypes(path, arrays, _DTYPE)
    tree = feature_tree(schema, arrays)
    _check_tree(path, tree)
    try:
        # Every variable is fixed on every way down, and no two children share one.
        tree.to_circuit().check()
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return tree


def _check_tree(path: Path | str, tree: FeatureTree) -> None:
    """Raise InputError if a position is out of range, or a child stands before its parent."""
    n_a, n_f = len(tree.log_prob), tree.n_f_nodes
    if n_f < 1:
        raise damaged(path, "branch_start")
    check_starts(path, "branch_start", tree.branch_start - 1, n_a - 1)
    check_starts(path, "literal_start", tree.literal_start, len(tree.literal_var), n_f)
    check_starts(path, "fixed_start", tree.fixed_start, len(tree.fixed_var), n_a)
    check_starts(path, "child_start", tree.child_start, len(tree.child), n_a)
    n_branches = np.diff(tree.branch_start)
    if ((n_branches != 2) & ~tree.is_table).any() or (n_branches < 1).any():
        raise damaged(path, "branch_start")
    for name, var, value in (
        ("literal", tree.literal_var, tree.literal_value),
        ("fixed", tree.fixed_var, tree.fixed_value),
    ):
        if ((var < 0) | (var >= len(tree.schema))).any():
            raise damaged(path, f"{name}_var")
        if len(value) != len(var) or (value >= tree.schema.arity[var]).any():
            raise damaged(path, f"{name}_value")
    # The F-node of the A-node that each edge starts at; the root belongs to none.
    owner = np.concatenate([[-1], np.repeat(np.arange(n_f), n_branches)])
    above = np.repeat(owner, np.diff(tree.child_start))
    if ((tree.child <= above) | (tree.child >= n_f)).any():
        raise damaged(path, "child")
    if np.isnan(tree.log_prob).any() or tree.log_prob[0] != 0.0:
        raise damaged(path, "log_prob")
