"""Nodes of an arithmetic circuit that another model is written as."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.variables.schema import Schema

PRODUCT, SUM = 0, 1


class CircuitNodes:
    """Numbers products and sums, children before parents.

    n_leaves : Number of literals and parameters, whose numbers come first.
    """

    def __init__(self, schema: Schema, n_leaves: int) -> None:
        self._schema = schema
        self._n_leaves = n_leaves
        self._kinds: list[int] = []
        self._lists: list[list[int]] = []

    def add(self, kind: int, below: list[int]) -> int:
        """Add a product or sum of nodes and return its number."""
        self._kinds.append(kind)
        self._lists.append(below)
        return self._n_leaves + len(self._kinds) - 1

    def value(self, v: int, value: int) -> int:
        """Return the literal of a state of a variable of two states or more."""
        column, bit = self._schema.literal(v, value)
        return 2 * column + bit

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]]:
        """Return the kinds, the places where lists of children start, and the children."""
        return (
            np.array(self._kinds, np.uint8),
            np.cumsum([0, *map(len, self._lists)], dtype=np.int64),
            np.concatenate(self._lists).astype(np.int32),
        )
