"""Expected counts of a hidden tree: the first half of an iteration of EM."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.tree_passes import Tables, TreePasses, Visitor, batch_size
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.threads import map_ranges

# Rows are cut into pieces, which do not depend on the number of threads, so that sums do not
# either. Each piece has counts of its own, of at most this many numbers in all.
_PIECES, _NUMBERS = 8, 64 << 20
# Rows of a piece, so that its sums cost little beside its messages.
_FEWEST = 256
# The least probability of a table, so that no message becomes 0 in single precision.
_LEAST = 1e-20


@dataclass(frozen=True, eq=False)
class Counts:
    """Expected numbers of examples.

    Attributes
    ----------
    edge : ndarray, shape (n_vars, n_states, n_states)
        With Z_parent = i and Z_v = j, at [v, i, j]. At the root they stand at [root, 0, j].
    leaf : ndarray, shape (n_vars, n_states, 2)
        With Z_v = j and X_v = x, at [v, j, x].
    log_likelihood : float
        Sum over examples of the log-probability of their evidence, in nats.
    """

    edge: NDArray
    leaf: NDArray[np.float64]
    log_likelihood: float


class CountedRows:
    """Training examples whose evidence may be softened.

    Parameters
    ----------
    rows : ndarray of uint8, shape (n_rows, n_vars)
        The distinct rows.
    weight : ndarray of float64, shape (n_rows,)
        Number of examples equal to each row.
    belief : ndarray of float64, shape (n_vars, 2)
        The probability with which X_v is 1 where a row has x, at [v, x].
    """

    def __init__(
        self, rows: NDArray[np.uint8], weight: NDArray[np.float64], belief: NDArray[np.float64]
    ) -> None:
        self.rows, self.weight, self.belief = rows, weight, belief

    def counts(
        self,
        tree: HiddenTree,
        chosen: NDArray[np.intp] | None = None,
        threads: int = 1,
        dtype: type[np.floating] = np.float32,
    ) -> Counts:
        """Return the expected counts of some rows, or of all; see `Counts`."""
        rows = self.rows if chosen is None else self.rows[chosen]
        weight = self.weight if chosen is None else self.weight[chosen]
        tables = _tables(tree, self.belief, dtype)
        pieces = _pieces(len(rows), tree)

        def add_pieces(first: int, last: int) -> list["_Sums"]:
            size = batch_size(tree.n_vars, tree.n_states)
            passes = TreePasses(tables, min(size, len(rows)))
            found = []
            for k in range(first, last):
                sums = _Sums(tables)
                for begin in range(pieces[k], pieces[k + 1], size):
                    end = min(begin + size, pieces[k + 1])
                    sums.log_likelihood += float(weight[begin:end] @ passes.rise(rows[begin:end]))
                    passes.fall(weight[begin:end], sums)
                found.append(sums)
            return found

        parts = [p for chunk in map_ranges(add_pieces, len(pieces) - 1, threads) for p in chunk]
        edge, leaf = parts[0].edge, parts[0].leaf
        for part in parts[1:]:
            edge += part.edge
            leaf += part.leaf
        edge *= tables.transition
        edge[tree.root] = 0
        edge[tree.root, 0] = leaf[tree.root].sum(axis=1)
        log_likelihood = sum(part.log_likelihood for part in parts)
        return Counts(edge, self._observed(tree, leaf), log_likelihood)

    def _observed(self, tree: HiddenTree, leaf: NDArray) -> NDArray[np.float64]:
        """Return the counts of values of X from those of rows that have x.

        A row that has x counts for both values of X, as its belief and the emission say.
        """
        given = leaf.astype(np.float64)
        one = self.belief[:, None, :] * tree.emission[:, :, None]
        zero = (1.0 - self.belief[:, None, :]) * (1.0 - tree.emission[:, :, None])
        share = one / np.maximum(one + zero, _LEAST)
        ones = (given * share).sum(axis=2)
        return np.stack([given.sum(axis=2) - ones, ones], axis=2)


class _Sums(Visitor):
    """The sums of one piece; those of edges are still to be multiplied by the transition."""

    def __init__(self, tables: Tables) -> None:
        self.edge = np.zeros_like(tables.transition)
        self.leaf = np.zeros_like(tables.leaf)
        self.log_likelihood = 0.0
        self._edge = np.empty_like(tables.transition[0])

    def at_variable(self, v: int, posterior: NDArray, evidence: NDArray) -> None:
        self.leaf[v] += posterior @ evidence.T

    def at_edge(self, c: int, rest: NDArray, own: NDArray) -> None:
        np.matmul(rest, own.T, out=self._edge)
        self.edge[c] += self._edge


def _tables(tree: HiddenTree, belief: NDArray[np.float64], dtype: type[np.floating]) -> Tables:
    """Return the tables of a tree in which no number is 0."""
    emission = tree.emission[:, :, None]
    leaf = belief[:, None, :] * emission + (1.0 - belief[:, None, :]) * (1.0 - emission)
    return Tables(
        tree.order,
        read_only(np.maximum(tree.transition, _LEAST).astype(dtype)),
        read_only(np.maximum(leaf, _LEAST).astype(dtype)),
        tree.parent,
    )


def _pieces(n_rows: int, tree: HiddenTree) -> list[int]:
    """Return the bounds of the pieces of the rows."""
    fitting = max(2, _NUMBERS // tree.transition.size)
    n_pieces = max(1, min(_PIECES, fitting, n_rows // _FEWEST))
    return [n_rows * k // n_pieces for k in range(n_pieces + 1)]
