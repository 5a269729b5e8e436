"""Nodes of an arithmetic circuit that another model is written as."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.grouped_variables import GroupedVariables

PRODUCT, SUM = 0, 1


class CircuitNodes:
    """Numbers products and sums, children before parents.

    Parameters
    ----------
    variables : GroupedVariables
        The variables of the model, with the columns that stand for them.
    n_leaves : int
        Number of literals and parameters, whose numbers come first.
    """

    def __init__(self, variables: GroupedVariables, n_leaves: int) -> None:
        self._variables = variables
        self._n_leaves = n_leaves
        self._kinds: list[int] = []
        self._lists: list[list[int]] = []
        self._values: dict[tuple[int, int], int] = {}

    def add(self, kind: int, below: list[int]) -> int:
        """Add a product or sum of nodes and return its number."""
        self._kinds.append(kind)
        self._lists.append(below)
        return self._n_leaves + len(self._kinds) - 1

    def value(self, v: int, value: int) -> int:
        """Return the node of a value of a variable: a literal, or a product of those of a group."""
        columns = self._variables.columns(v)
        if len(columns) == 1:
            return 2 * columns[0] + value
        if (v, value) not in self._values:
            literals = [2 * c + (k == value) for k, c in enumerate(columns)]
            self._values[v, value] = self.add(PRODUCT, literals)
        return self._values[v, value]

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]]:
        """Return the kinds, the places where lists of children start, and the children."""
        return (
            np.array(self._kinds, np.uint8),
            np.cumsum([0, *map(len, self._lists)], dtype=np.int64),
            np.concatenate(self._lists).astype(np.int32),
        )
