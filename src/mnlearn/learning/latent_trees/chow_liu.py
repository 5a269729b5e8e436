"""The tree of most mutual information between variables (Chow & Liu 1968)."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.rows import Ones
from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.chow_liu import add_pair_counts, fill_spanning_tree
from mnlearn.kernels.trees import cooccurrence
from mnlearn.models.circuit_building import NO_PARENT

# Numbers of examples below this are counted in integers of 32 bits.
_MOST_COUNTED = 2**31
# Columns that are packed together, which bounds the memory.
_COLUMNS = 64
# Its product with its logarithm is nothing beside any probability.
_LEAST = 1e-300


class PairTables:
    """The tables of all pairs of variables of two states, computed when they are asked for."""

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
        everyone, weight = np.arange(self.n_vars), np.empty((self.n_vars, self.n_vars))
        for u in range(self.n_vars):
            weight[u] = self.information(u, everyone)
        return spanning_tree(weight)


class StateTables:
    """The tables of all pairs of variables of any numbers of states, in one matrix.

    Four times the pseudocount is spread over the cells of each table, so that a variable has the
    same probabilities in all. The states of variable v begin at first[v].
    """

    def __init__(self, data: Dataset, pseudocount: float) -> None:
        self.arity = data.schema.arity
        self.first = np.cumsum(self.arity) - self.arity
        added = 4.0 * pseudocount / np.repeat(self.arity, self.arity)
        total = data.n_examples + 4.0 * pseudocount
        counts = _count_states(data)
        spread = np.outer(added, 1.0 / np.repeat(self.arity, self.arity))
        variable = np.repeat(np.arange(len(self.arity)), self.arity)
        spread[variable[:, None] == variable] = 0.0
        self.table = (counts + spread + np.diag(added)) / total

    def all(self) -> NDArray[np.float64]:
        """Return P(X_u = a, X_v = b) at [a, b, u, v], of variables with as many states each."""
        n, k = len(self.arity), int(self.arity[0])
        return self.table.reshape(n, k, n, k).transpose(1, 3, 0, 2)

    def joint(self, u: int, v: int) -> NDArray[np.float64]:
        """Return P(X_u = a, X_v = b) at [a, b]."""
        return self.table[self._states(u), self._states(v)]

    def single(self, v: int) -> NDArray[np.float64]:
        """Return P(X_v = a) at [a]."""
        return np.diag(self.joint(v, v))

    def _states(self, v: int) -> slice:
        return slice(self.first[v], self.first[v] + self.arity[v])

    def tree(self) -> NDArray[np.int64]:
        """Return the parent of each variable in the tree of most information."""
        return tree_of_states(self.table, self.first, self.arity)


def tree_of_states(
    table: NDArray[np.float64], first: NDArray[np.int64], arity: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the parents in the tree of most information; a variable of one state is not in it.

    What is below the diagonal of `table` is not read.
    """
    p_log_p = table * np.log(np.maximum(table, _LEAST))
    joint = np.add.reduceat(np.add.reduceat(p_log_p, first, axis=0), first, axis=1)
    single = np.add.reduceat(np.diag(p_log_p), first)
    # Pairs that differ by rounding errors only are equal, on every machine.
    weight = np.triu(np.rint((joint - single[:, None] - single) / EQUAL) * EQUAL, 1)
    kept = np.flatnonzero(arity > 1)
    below = spanning_tree((weight + weight.T)[np.ix_(kept, kept)])
    parent = np.full(len(arity), NO_PARENT, np.int64)
    parent[kept] = np.where(below == NO_PARENT, NO_PARENT, kept[below])
    return parent


def pair_tables(data: Dataset, pseudocount: float) -> PairTables | StateTables:
    """Return the tables of all pairs of variables."""
    return (PairTables if data.schema.is_binary else StateTables)(data, pseudocount)


def spanning_tree(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the parent of each node in the tree of greatest weight, float64 (n_nodes, n_nodes)."""
    parent, joined = np.empty((2, len(weight)), np.int64)
    fill_spanning_tree(weight, parent, joined)
    return parent


def _count_states(data: Dataset) -> NDArray[np.float64]:
    """Return the weight of the examples with two states, (n_places, n_places)."""
    schema, both = data.schema, count_pairs(data).astype(np.float64)
    ones = np.diag(both)
    counts = np.block([[np.array([[data.n_examples]]), ones[None]], [ones[:, None], both]])
    # A state holds where its column is 1, and the first of two states where it is not.
    state = np.zeros((int(schema.arity.sum()), 1 + schema.n_columns))
    first = np.cumsum(schema.arity) - schema.arity
    for v, place in enumerate(first.tolist()):
        columns = schema.columns(v)
        if len(columns) < 2:
            state[place, 0] = 1.0
        for k, c in enumerate(columns):
            state[place + k + (len(columns) == 1), 1 + c] = 1.0
        if len(columns) == 1:
            state[place, 1 + columns[0]] = -1.0
    return np.asarray(state @ counts @ state.T)


def count_pairs(data: Dataset) -> NDArray:
    """Return the weight of the examples in which two columns are 1; int32 if weights are whole."""
    weight = data.weight
    is_whole = data.n_examples < _MOST_COUNTED and not (weight % 1.0).any()
    out = np.zeros((data.n_columns, data.n_columns), np.int32 if is_whole else np.float64)
    if isinstance(data.stored, Ones) or not is_whole:
        ones = data.lists()
        cooccurrence(ones.start, ones.column, weight.astype(out.dtype), out)
        return out
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
    """Return P(X_v = b | X_u = a) at [a, b] from the joint ones; P(X_v = b) if P(a) is 0."""
    given = table.sum(axis=1, keepdims=True)
    out = np.broadcast_to(table.sum(axis=0), table.shape).copy()
    return np.divide(table, given, out=out, where=given > 0)


def negative_entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of p log p over the first axis, in nats; 0 log 0 is 0."""
    return (p * np.log(np.maximum(p, _LEAST))).sum(axis=0)
