"""The two halves of an iteration of EM of a hidden tree: expected counts, and the best tables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.hidden_trees import Tables, TreePasses, Visitor, batch_size
from mnlearn.models.hidden_tree import HiddenTree, emission_of
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
    """Expected numbers of examples, and their log-likelihood in nats.

    edge : at [v, i, j], with Z_parent = i and Z_v = j; at [root, 0, j] at the root.
    leaf : at [v, j, x], with Z_v = j and X_v = x.
    """

    edge: NDArray
    leaf: NDArray[np.float64]
    log_likelihood: float


def expected_counts(
    tree: HiddenTree,
    rows: NDArray[np.uint8],
    weight: NDArray[np.float64],
    threads: int = 1,
    dtype: type[np.floating] = np.float32,
) -> Counts:
    """Return the expected counts of weighted rows; see `Counts`."""
    tables = _tables(tree, dtype)
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
    return Counts(edge, leaf.astype(np.float64), log_likelihood)


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


def _tables(tree: HiddenTree, dtype: type[np.floating]) -> Tables:
    """Return the tables of a tree in which no number is 0."""
    transition, leaf = (
        read_only(np.maximum(table, _LEAST).astype(dtype)) for table in (tree.transition, tree.leaf)
    )
    return Tables(tree.order, transition, leaf, tree.parent, tree.schema.start)


def _pieces(n_rows: int, tree: HiddenTree) -> list[int]:
    """Return the bounds of the pieces of the rows."""
    fitting = max(2, _NUMBERS // tree.transition.size)
    n_pieces = max(1, min(_PIECES, fitting, n_rows // _FEWEST))
    return [n_rows * k // n_pieces for k in range(n_pieces + 1)]


def log_prior(tree: HiddenTree, pseudocount: float) -> float:
    """Return what the pseudocounts add to the log-likelihood of the examples, in nats."""
    if not pseudocount:
        return 0.0
    with np.errstate(divide="ignore"):
        # A variable at a time: the tables of all may be most of the memory.
        logs = np.log(tree.transition[tree.root, 0]).sum()
        logs += sum(np.log(tree.transition[v]).sum() for v in tree.order[1:])
        if tree.schema.is_binary:
            leaves = np.log(tree.emission).sum() + np.log(1.0 - tree.emission).sum()
            leaves /= 2.0
        else:
            leaves = sum(np.log(own).sum() / own.shape[1] for own in map(tree.leaf_of, tree.order))
    return pseudocount * float(logs / tree.n_states + leaves)


def maximise(tree: HiddenTree, counts: Counts, pseudocount: float) -> HiddenTree:
    """Return the tree with the best tables for expected counts.

    The pseudocount is added to the counts of each distribution, in equal shares.
    """
    schema, most = tree.schema, counts.leaf.shape[2]
    has_state = np.arange(most) < schema.arity[:, None]
    leaf = counts.leaf + (has_state * (pseudocount / schema.arity)[:, None])[:, None]
    transition = np.empty_like(tree.transition)
    for v in range(tree.n_vars):
        own = counts.edge[v].astype(np.float64)
        if v == tree.root:
            own = np.broadcast_to(own[0], own.shape)
        transition[v] = _shares(own + pseudocount / tree.n_states, tree.transition[v])
    emission = emission_of(_shares(leaf, tree.leaf), schema)
    return HiddenTree(tree.parent, transition, emission, schema)


def _shares(counts: NDArray[np.float64], otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return counts divided by their sums; what no example reaches keeps its probabilities."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, total, out=otherwise.copy(), where=total > 0)
