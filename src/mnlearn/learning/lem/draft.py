"""A feature tree while it grows: lists, parents before children."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.feature_tree import ROOT, FeatureTree, feature_tree
from mnlearn.models.grouped_variables import GroupedVariables

Literal = tuple[int, int]


class Draft:
    """Takes F-nodes and tables in the order in which they are found."""

    def __init__(self) -> None:
        self._literal_length: list[int] = []
        self._literals: list[Literal] = []
        self._n_branches: list[int] = []
        self._log_prob: list[float] = [0.0]
        self._fixed_length: list[int] = [0]
        self._fixed: list[Literal] = []
        # The A-node above each F-node.
        self._above: list[int] = []
        # What is fixed at A-nodes after they were added.
        self._fixed_later: list[tuple[int, Literal]] = []

    def add_feature(
        self,
        above: int,
        literals: Sequence[Literal],
        log_prob: Sequence[float],
        fixed: Sequence[Sequence[Literal]],
    ) -> int:
        """Add an F-node below an A-node; return its first A-node, that of 0."""
        first = len(self._log_prob)
        self._above.append(above)
        self._literal_length.append(len(literals))
        self._literals += literals
        self._n_branches.append(len(log_prob))
        self._log_prob += log_prob
        self._fixed_length += map(len, fixed)
        for own in fixed:
            self._fixed += own
        return first

    def add_table(
        self, above: int, variables: NDArray, cells: NDArray, log_prob: NDArray[np.float64]
    ) -> None:
        """Add a table below an A-node.

        cells : values, shape (n_cells, n_variables), in lexicographic order.
        """
        self._above.append(above)
        self._literal_length.append(0)
        self._n_branches.append(len(cells))
        self._log_prob += log_prob.tolist()
        self._fixed_length += [len(variables)] * len(cells)
        names = variables.tolist()
        for cell in cells.tolist():
            self._fixed += zip(names, cell, strict=True)

    def fix(self, above: int, literals: Sequence[Literal]) -> None:
        """Fix more variables at an A-node."""
        self._fixed_later += ((above, literal) for literal in literals)

    def tree(self, variables: GroupedVariables, names: tuple[str, ...] | None) -> FeatureTree:
        """Return the tree."""
        literals = np.array(self._literals, np.int64).reshape(-1, 2)
        n_fixed = np.array(self._fixed_length)
        fixed = np.array(self._fixed, np.int64).reshape(-1, 2)
        if self._fixed_later:
            # Those of an A-node without others share their place with those of the next A-node.
            in_order = sorted(self._fixed_later, key=lambda entry: entry[0])
            later = np.array([a for a, _ in in_order])
            fixed = np.insert(
                fixed, np.cumsum(n_fixed)[later], [pair for _, pair in in_order], axis=0
            )
            n_fixed = n_fixed + np.bincount(later, minlength=len(n_fixed))
        above = np.array(self._above)
        n_a_nodes = len(self._log_prob)
        arrays = {
            "literal_start": np.cumsum([0, *self._literal_length]),
            "literal_var": literals[:, 0],
            "literal_value": literals[:, 1],
            "branch_start": np.cumsum([ROOT + 1, *self._n_branches]),
            "log_prob": np.array(self._log_prob),
            "fixed_start": np.concatenate([[0], np.cumsum(n_fixed)]),
            "fixed_var": fixed[:, 0],
            "fixed_value": fixed[:, 1],
            "child_start": np.concatenate(
                [[0], np.cumsum(np.bincount(above, minlength=n_a_nodes))]
            ),
            "child": np.argsort(above, kind="stable"),
        }
        return feature_tree(variables, arrays, names)
