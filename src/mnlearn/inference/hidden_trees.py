"""Exact inference in trees of hidden variables: passes of messages, for a batch of rows at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mnlearn.models.hidden_tree import HiddenTree, children_of
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.threads import map_ranges, single_threaded

# Messages are scaled after so many products, each of a factor of at most 1.
_PRODUCTS = 4


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a tree in one precision.

    order : all variables, parents before children. transition : ndarray, (n_vars, n_states,
    n_states). See `HiddenTree`. leaf : ndarray, (n_vars, n_states, most). The factor of the
    evidence X_v = x for each value of Z_v, at [v, j, x]. parent : int32, (n_vars,). start : int64,
    (n_vars + 1,). The columns of the variables.
    """

    order: tuple[int, ...]
    transition: NDArray
    leaf: NDArray
    parent: NDArray[np.int32]
    start: NDArray[np.int64]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each variable."""
        return children_of(self.parent)


def tables_of(tree: HiddenTree, dtype: DTypeLike = np.float64) -> Tables:
    """Return the tables of a tree, with evidence that is certain."""
    leaf = read_only(tree.leaf.clip(0.0).astype(dtype))
    return Tables(tree.order, tree.transition.astype(dtype), leaf, tree.parent, tree.schema.start)


class TreePasses:
    """Messages of a batch: arrays with a row for each hidden value and a column for each example.

    Columns are contiguous, so that scaling a message and multiplying two of them are loops over
    neighbouring numbers. The product over the edges, `up`, is kept for the way down.
    """

    def __init__(self, tables: Tables, size: int, keep_all: bool = True) -> None:
        self._tables = tables
        n_vars, n_states, _ = tables.leaf.shape
        dtype = tables.leaf.dtype
        self._own = np.empty((n_vars, n_states, size), dtype)
        self._up = np.empty((n_vars if keep_all else 1, n_states, size), dtype)
        self._scale = np.empty((2 * n_vars, size), dtype)
        self._evidence = np.zeros((n_vars, tables.leaf.shape[2], size), dtype)
        width = np.diff(tables.start)
        self._single = width == 1
        # The variable and the state of each column of several.
        self._column = np.flatnonzero(np.repeat(width > 1, width))
        self._variable = np.repeat(np.arange(n_vars), width)[self._column]
        self._state = self._column - tables.start[self._variable]
        self._value = np.empty(size, dtype)
        self._tiny = dtype.type(1e-30 if dtype == np.float32 else 1e-290)
        self._all = keep_all
        self._n = 0

    def rise(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-probability of each row of evidence, in nats; messages go to the root.

        rows : uint8, shape (n_rows, n_columns), with UNKNOWN for what is not known.
        """
        tables, n = self._tables, len(rows)
        self._n = n
        if self._single.all():
            self._evidence[:, 0, :n] = rows.T != 1
            self._evidence[:, 1, :n] = rows.T != 0
        else:
            own = rows.T[tables.start[:-1][self._single]]
            self._evidence[self._single, 0, :n] = own != 1
            self._evidence[self._single, 1, :n] = own != 0
            self._evidence[self._variable, self._state, :n] = rows.T[self._column] != 0
        log_scale = np.zeros(n)
        n_scales = 0
        for v in reversed(tables.order):
            own = self._own[v, :, :n]
            np.matmul(tables.leaf[v], self._evidence[v, :, :n], out=own)
            for number, c in enumerate(tables.children[v], start=1):
                up = self._up[c if self._all else 0, :, :n]
                np.matmul(tables.transition[c], self._own[c, :, :n], out=up)
                np.multiply(own, up, out=own)
                if number % _PRODUCTS == 0 or number == len(tables.children[v]):
                    n_scales = self._rescale(own, n_scales, log_scale)
        root = tables.order[0]
        np.matmul(tables.transition[root, 0], self._own[root, :, :n], out=self._value[:n])
        log_scale += _sum_of_logs(self._scale[:n_scales, :n])
        with np.errstate(divide="ignore"):
            return np.asarray(log_scale + np.log(self._value[:n].astype(np.float64)))

    def _rescale(self, own: NDArray, n_scales: int, log_scale: NDArray[np.float64]) -> int:
        """Divide each column by its greatest number, and note the number."""
        if n_scales == len(self._scale):
            log_scale += _sum_of_logs(self._scale[:, : self._n])
            n_scales = 0
        scale = self._scale[n_scales, : self._n]
        np.max(own, axis=0, out=scale)
        # Evidence of probability 0 stays 0.
        np.maximum(scale, self._tiny, out=scale)
        np.divide(own, scale, out=own)
        return n_scales + 1

    def fall(self, weight: NDArray, visit: "Visitor") -> None:
        """Visit each variable with its posterior, parents first; `rise` comes before.

        weight : shape (n_rows,), by which posteriors are multiplied.
        """
        tables, n = self._tables, self._n
        root = tables.order[0]
        factor = weight / np.maximum(self._value[:n], self._tiny)
        self._own[root, :, :n] *= tables.transition[root, 0][:, None]
        self._own[root, :, :n] *= factor.astype(self._own.dtype)
        down = np.empty_like(self._own[0])[:, :n]
        for v in tables.order:
            posterior = self._own[v, :, :n]
            visit.at_variable(v, posterior, self._evidence[v, :, :n])
            for c in tables.children[v]:
                rest, own = self._up[c, :, :n], self._own[c, :, :n]
                np.maximum(rest, self._tiny, out=rest)
                np.divide(posterior, rest, out=rest)
                visit.at_edge(c, rest, own)
                np.matmul(tables.transition[c].T, rest, out=down)
                np.multiply(own, down, out=own)


class Visitor:
    """What a pass down is for."""

    def at_variable(self, v: int, posterior: NDArray, evidence: NDArray) -> None:
        """Take P(Z_v = j | row) times the weight of the row at [j, row].

        evidence : shape (most, n_rows), whether X_v may be in each state.
        """

    def at_edge(self, c: int, rest: NDArray, own: NDArray) -> None:
        """Take the two messages across the edge above `c`, from the parent and from the child.

        Their product with P(Z_c = j | Z_parent = i) is the posterior of both values.
        """


def _sum_of_logs(scale: NDArray) -> NDArray[np.float64]:
    return np.asarray(np.log(scale).sum(axis=0, dtype=np.float64))


def batch_size(n_vars: int, n_states: int) -> int:
    """Return the rows of a batch, which depend on the tree only and not on the threads.

    Results for a row may depend on the batch in which it is, in their last bits.
    """
    # 64 MiB for each of the two kinds of messages in single precision.
    fitting = (16 << 20) // (n_vars * n_states)
    return max(32, min(512, fitting // 32 * 32))


_DRAWN = 4096


def log_value(tree: HiddenTree, rows: NDArray[np.uint8], threads: int = 1) -> NDArray[np.float64]:
    """Return the log-probability of each row of evidence.

    rows : uint8, (n_rows, n_columns). 0, 1, or UNKNOWN for a column to be summed out.
    """
    return _run(tree, rows, threads)


def conditionals(
    tree: HiddenTree, rows: NDArray[np.uint8], threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-probability of each row of evidence, and P(column = x | evidence)."""
    found = np.empty((len(rows), tree.n_vars, tree.leaf.shape[2]))
    log_values_of = _run(tree, rows, threads, found=found)
    found[~np.isfinite(log_values_of)] = np.nan
    schema = tree.schema
    if schema.is_binary:
        return log_values_of, found
    out = np.empty((*rows.shape, 2))
    for v in range(len(schema)):
        own = schema.columns(v)
        if len(own) == 1:
            out[:, own[0]] = found[:, v, :2]
        elif own:
            out[:, own, 1] = found[:, v, : len(own)]
            out[:, own, 0] = 1.0 - out[:, own, 1]
    return log_values_of, out


def log_partition(_tree: HiddenTree) -> float:
    """Return log Z, which is 0."""
    return 0.0


def log_conditionals(
    tree: HiddenTree, rows: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return log P(X_v = x_v | all others) of each row and variable, in nats.

    Z_v has a posterior given the other variables; the factor P(x_v | Z_v) makes that given all
    variables of it. So the conditional probability of x_v is one over the mean of 1 / P(x_v | Z_v)
    given all variables.
    """
    # A variable of one state, which is not in the tree, has the conditional probability 1.
    inverse = np.ones((len(rows), tree.n_vars))
    _run(tree, rows, threads, inverse=inverse)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(inverse))


class _Conditionals(Visitor):
    """Writes what is asked of the posteriors of one batch."""

    def __init__(
        self,
        leaf: NDArray[np.float64],
        found: NDArray[np.float64] | None,
        inverse: NDArray[np.float64] | None,
    ) -> None:
        self._leaf, self._found, self._inverse = leaf, found, inverse

    def at_variable(self, v: int, posterior: NDArray, evidence: NDArray) -> None:
        leaf = self._leaf[v]
        if self._found is not None:
            # The posterior has the factor of the evidence, which is divided out again.
            given = posterior / np.maximum(leaf @ evidence, 1e-290)
            self._found[:, v] = (leaf.T @ given * evidence).T
        if self._inverse is not None:
            given = posterior / np.maximum(leaf @ evidence, 1e-290)
            self._inverse[:, v] = given.sum(axis=0)


def _run(
    tree: HiddenTree,
    rows: NDArray[np.uint8],
    threads: int,
    *,
    found: NDArray[np.float64] | None = None,
    inverse: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the log-probability of all rows; the batches do not depend on the threads."""
    out = np.empty(len(rows))
    tables = tables_of(tree)
    size = batch_size(tree.n_vars, tree.n_states)
    falls = found is not None or inverse is not None

    def pass_over(first: int, last: int) -> None:
        passes = TreePasses(tables, min(size, len(rows)), keep_all=falls)
        for k in range(first, last):
            own = slice(k * size, min((k + 1) * size, len(rows)))
            out[own] = passes.rise(rows[own])
            if falls:
                parts = (each if each is None else each[own] for each in (found, inverse))
                passes.fall(np.ones(own.stop - own.start), _Conditionals(tables.leaf, *parts))

    with single_threaded():
        map_ranges(pass_over, -(-len(rows) // size), threads)
    return out


def draw(tree: HiddenTree, n_rows: int, seed: int, _threads: int = 1) -> NDArray[np.uint8]:
    """Return independent examples; example i depends on the seed and on i."""
    schema = tree.schema
    out = np.zeros((n_rows, tree.n_columns), np.uint8)
    below = np.cumsum(tree.leaf, axis=2)
    rng = np.random.default_rng(seed)
    limits = np.cumsum(tree.transition, axis=2)
    # Rounding must not leave a number above the last limit.
    limits[:, :, -1] = 1.0
    for first in range(0, n_rows, _DRAWN):
        n = min(_DRAWN, n_rows - first)
        uniform = rng.random((n, tree.n_vars, 2))
        state = np.zeros((tree.n_vars, n), np.int64)
        for v in tree.order:
            above = np.zeros(n, np.int64) if v == tree.root else state[tree.parent[v]]
            state[v] = (limits[v][above] <= uniform[:, v, :1]).sum(axis=1)
            own = schema.columns(v)
            if len(own) == 1:
                drawn = uniform[:, v, 1] < tree.emission[own[0]][state[v]]
                out[first : first + n, own[0]] = drawn
                continue
            # Rounding must not leave a number above the last limit.
            reached = below[v][state[v], : len(own) - 1] <= uniform[:, v, 1:]
            out[first + np.arange(n), own[0] + reached.sum(axis=1)] = 1
    return out
