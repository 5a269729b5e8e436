"""The tree of most mutual information between binary variables (Chow & Liu 1968)."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.chow_liu import add_pair_counts
from mnlearn.kernels.spanning_tree import fill_spanning_tree

# Numbers of examples below this are counted in integers of 32 bits.
_MOST_COUNTED = 2**31
# Columns that are packed together, which bounds the memory.
_COLUMNS = 64
# Its product with its logarithm is nothing beside any probability.
_LEAST = 1e-300


class PairTables:
    """The tables of all pairs of variables, computed from counts when they are asked for.

    Parameters
    ----------
    data : Dataset
        The examples.
    pseudocount : float
        Added to each cell of the table of each pair.
    """

    def __init__(self, data: Dataset, pseudocount: float) -> None:
        self.n_vars = data.n_vars
        self._n_examples, self._pseudocount = data.n_examples, pseudocount
        self._both = count_pairs(data)
        self._ones = np.diag(self._both).astype(np.float64)
        # A variable has the same probabilities in all of its tables; those with variable 0 will do.
        first = self._tables(self._both[0], self._ones, self._ones[0])
        self._single = first.sum(axis=1)
        self._negative_entropy = negative_entropy(self._single)

    def _tables(
        self,
        both: NDArray,
        u_ones: NDArray[np.float64] | float,
        v_ones: NDArray[np.float64] | float,
    ) -> NDArray[np.float64]:
        """Return P(X_u = a, X_v = b) at [a, b, ...] from the weights of ones."""
        n = self._n_examples
        cells = [[n - u_ones - v_ones + both, v_ones - both], [u_ones - both, both + 0.0]]
        return (np.array(cells) + self._pseudocount) / (n + 4.0 * self._pseudocount)

    def all(self) -> NDArray[np.float64]:
        """Return P(X_u = a, X_v = b) at [a, b, u, v]."""
        return self._tables(self._both, self._ones[:, None], self._ones)

    def joint(self, u: int, v: int) -> NDArray[np.float64]:
        """Return P(X_u = a, X_v = b) at [a, b]."""
        return self._tables(self._both[u, v], self._ones[u], self._ones[v])

    def single(self, v: int) -> NDArray[np.float64]:
        """Return P(X_v = a) at [a]."""
        return self._single[:, v]

    def information(self, u: int, others: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the mutual information of one variable and each of some, in nats, (n_others,)."""
        pairs = self._tables(self._both[u, others], self._ones[u], self._ones[others])
        apart = self._negative_entropy[u] + self._negative_entropy[others]
        # Pairs that differ by rounding errors only are equal, on every machine.
        return np.rint((negative_entropy(pairs.reshape(4, -1)) - apart) / EQUAL) * EQUAL

    def tree(self) -> NDArray[np.int64]:
        """Return the parent of each variable in the tree of most information."""
        everyone = np.arange(self.n_vars)
        weight = np.array([self.information(u, everyone) for u in range(self.n_vars)])
        parent, joined = np.empty(self.n_vars, np.int64), np.empty(self.n_vars, np.int64)
        fill_spanning_tree(weight, parent, joined)
        return parent


def count_pairs(data: Dataset) -> NDArray:
    """Return the weight of the examples in which two variables are 1, shape (n_vars, n_vars).

    The dtype is int32 if all weights are whole numbers, else float64.
    """
    weight = data.weight
    if data.n_examples >= _MOST_COUNTED or (weight != np.floor(weight)).any():
        return (data.rows * weight[:, None]).T @ data.rows.astype(np.float64)
    out = np.zeros((data.n_vars, data.n_vars), np.int32)
    whole = weight.astype(np.int64)
    for bit in range(int(whole.max()).bit_length()):
        kept = np.flatnonzero(whole >> bit & 1)
        if len(kept):
            add_pair_counts(_packed_columns(data.rows, kept), 1 << bit, out)
    return out


def _packed_columns(rows: NDArray[np.uint8], kept: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the columns of some rows as bits, shape (n_vars, n_words)."""
    out = np.zeros((rows.shape[1], -(-len(kept) // 64) * 8), np.uint8)
    for begin in range(0, rows.shape[1], _COLUMNS):
        part = rows[kept, begin : begin + _COLUMNS].T
        bits = np.packbits(part, axis=1, bitorder="little")
        out[begin : begin + _COLUMNS, : bits.shape[1]] = bits
    return out.view(np.uint64)


def conditional_probabilities(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(X_v = b | X_u = a) at [a, b] from the joint probabilities at [a, b].

    Where P(X_u = a) is 0, X_v is as it is whatever X_u.
    """
    given = table.sum(axis=1, keepdims=True)
    out = np.broadcast_to(table.sum(axis=0), table.shape).copy()
    return np.divide(table, given, out=out, where=given > 0)


def negative_entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of p log p over the first axis, in nats; 0 log 0 is 0."""
    return (p * np.log(np.maximum(p, _LEAST))).sum(axis=0)
