"""Exact inference in trees of hidden variables: log-likelihood, marginals and samples."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.tree_passes import UNKNOWN, TreePasses, Visitor, batch_size, tables_of
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.runtime.blas import single_threaded
from mnlearn.runtime.threads import map_ranges

_DRAWN = 4096


def log_value(tree: HiddenTree, rows: NDArray[np.uint8], threads: int = 1) -> NDArray[np.float64]:
    """Return the log-probability of each row of evidence.

    Parameters
    ----------
    tree : HiddenTree
        The model.
    rows : ndarray of uint8, shape (n_rows, n_vars)
        0, 1, or UNKNOWN for a variable to be summed out.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        In nats; minus infinity for evidence of probability 0.
    """
    return _run(tree, rows, threads)


def conditionals(
    tree: HiddenTree, rows: NDArray[np.uint8], threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log-probability of each row of evidence, and P(X_v = x | evidence).

    Parameters
    ----------
    tree, rows, threads
        See `log_value`.

    Returns
    -------
    log_value : ndarray of float64, shape (n_rows,)
        In nats.
    p : ndarray of float64, shape (n_rows, n_vars, 2)
        NaN where the evidence has probability 0.
    """
    found = np.empty((*rows.shape, 2))
    log_values_of = _run(tree, rows, threads, found=found)
    found[~np.isfinite(log_values_of)] = np.nan
    return log_values_of, found


def marginals(tree: HiddenTree, rows: NDArray[np.uint8], threads: int = 1) -> NDArray[np.float64]:
    """Return P(X_v = 1 | evidence), float64 of shape (n_rows, n_vars); see `conditionals`."""
    p = conditionals(tree, rows, threads)[1]
    return np.asarray(p[:, :, 1] / p.sum(axis=2))


def log_conditionals(
    tree: HiddenTree, rows: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return log P(X_v = x_v | all others) of each row and variable, in nats.

    Parameters
    ----------
    tree, threads
        See `log_value`.
    rows : ndarray of uint8, shape (n_rows, n_vars)
        Without UNKNOWN.

    Notes
    -----
    Z_v has a posterior given the other variables; the factor P(x_v | Z_v) makes that given all
    variables of it. So the conditional probability of x_v is one over the mean of 1 / P(x_v | Z_v)
    given all variables.
    """
    inverse = np.empty(rows.shape)
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


def draw(tree: HiddenTree, n_rows: int, seed: int) -> NDArray[np.uint8]:
    """Return independent examples; example i depends on the seed and on i.

    Returns
    -------
    ndarray of uint8, shape (n_rows, n_vars)
    """
    out = np.empty((n_rows, tree.n_vars), np.uint8)
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
            out[first : first + n, v] = uniform[:, v, 1] < tree.emission[v][state[v]]
    return out


__all__ = ["UNKNOWN", "conditionals", "draw", "log_conditionals", "log_value", "marginals"]
