"""The two halves of an iteration of EM of a hidden tree: expected counts, and the best tables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.hidden_trees import Tables, TreePasses, Visitor, batch_size
from mnlearn.models.hidden_tree import NO_PARENT, HiddenTree, emission_of
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


class CountedRows:
    """Training examples whose evidence may be softened; `belief` is that of `em.beliefs`."""

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
        """Return the counts of states of X; a row counts for several, by its belief."""
        given = leaf.astype(np.float64)
        if self.belief.ndim == 3:
            expected = np.matmul(tree.leaf, self.belief.transpose(0, 2, 1))
            share = given / np.maximum(expected, _LEAST)
            return np.asarray(np.matmul(share, self.belief) * tree.leaf)
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
    if belief.ndim == 3:
        leaf = np.matmul(tree.leaf, belief.transpose(0, 2, 1))
    else:
        emission = tree.emission[:, :, None]
        leaf = belief[:, None, :] * emission + (1.0 - belief[:, None, :]) * (1.0 - emission)
    return Tables(
        tree.order,
        read_only(np.maximum(tree.transition, _LEAST).astype(dtype)),
        read_only(np.maximum(leaf, _LEAST).astype(dtype)),
        tree.parent,
        tree.schema.start,
    )


def _pieces(n_rows: int, tree: HiddenTree) -> list[int]:
    """Return the bounds of the pieces of the rows."""
    fitting = max(2, _NUMBERS // tree.transition.size)
    n_pieces = max(1, min(_PIECES, fitting, n_rows // _FEWEST))
    return [n_rows * k // n_pieces for k in range(n_pieces + 1)]


Array = NDArray[np.float64]
# Newton's method on a convex function: it ends at the first step below this, or after so many.
_STEP, _STEPS = 1e-10, 60


def entropies_below(tree: HiddenTree) -> Array:
    """Return the entropy, in nats, of X_v and all below Z_v given Z_v = j, at [v, j]."""
    out = _entropy_of_shares(tree.leaf)
    for v in reversed(tree.order):
        for c in tree.children[v]:
            out[v] += _entropy_of_shares(tree.transition[c]) + tree.transition[c] @ out[c]
    return out


def entropy(tree: HiddenTree) -> float:
    """Return the entropy of all hidden and observed variables together, in nats."""
    prior = tree.transition[tree.root, 0]
    return float(_entropy_of_shares(prior[None])[0] + prior @ entropies_below(tree)[tree.root])


def state_probabilities(tree: HiddenTree) -> Array:
    """Return P(Z_v = j) at [v, j]."""
    out = np.zeros((tree.n_vars, tree.n_states))
    for v in tree.order:
        above = int(tree.parent[v])
        given = tree.transition[v]
        out[v] = given[0] if above == NO_PARENT else out[above] @ given
    return out


def best_rows(counts: Array, price: Array, below: Array) -> Array:
    """Return rows t that maximise sum of counts log t + price (-sum of t log t + sum of t below).

    With d = counts / price, a stationary point has log t = omega(log d + y - below) - (y - below)
    for one number y, with the Wright omega function. The log of the sum of t is convex and falls
    with y, so that Newton's method from the left rises to the y at which it is 0.
    """
    from scipy.special import wrightomega

    d = counts / price[:, None]
    total = d.sum(axis=1, keepdims=True)
    uniform = 1.0 / d.shape[1]
    # Any distribution: at its least y, no t is below its share.
    start = np.where(total > 0, 0.5 * d / np.maximum(total, 1e-300), 0.0)
    start = (start + 0.5 * uniform) / (start + 0.5 * uniform).sum(axis=1, keepdims=True)
    y = (d / start - np.log(start) + below).min(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        log_d = np.log(d)
    for _ in range(_STEPS):
        u = y - below
        omega = wrightomega(log_d + u)
        log_t = omega - u
        top = log_t.max(axis=1, keepdims=True)
        t = np.exp(log_t - top)
        sums = t.sum(axis=1, keepdims=True)
        slope = (t / (1.0 + omega)).sum(axis=1, keepdims=True) / sums
        step = (top + np.log(sums)) / slope
        y = y + step
        if np.abs(step).max() < _STEP * (1.0 + np.abs(y).max()):
            break
    return np.asarray(t / sums)


def _entropy_of_shares(shares: Array) -> Array:
    """Return the entropy of distributions along the last axis, in nats."""
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(-(shares * logs).sum(axis=-1))


@dataclass(frozen=True)
class Penalty:
    """What tables are held to: counts of each distribution, and a weight of the entropy."""

    pseudocount: float
    entropy: float = 0.0

    def value(self, tree: HiddenTree, n_examples: float) -> float:
        """Return what the penalty adds to the log-likelihood of the examples, in nats."""
        k = tree.n_states
        out = 0.0
        if self.pseudocount:
            with np.errstate(divide="ignore"):
                # A variable at a time: the tables of all may be most of the memory.
                logs = np.log(tree.transition[tree.root, 0]).sum()
                logs += sum(np.log(tree.transition[v]).sum() for v in tree.order[1:])
                if tree.schema.is_binary:
                    leaves = np.log(tree.emission).sum() + np.log(1.0 - tree.emission).sum()
                    leaves /= 2.0
                else:
                    leaves = sum(
                        np.log(own).sum() / own.shape[1] for own in map(tree.leaf_of, tree.order)
                    )
            out += self.pseudocount * float(logs / k + leaves)
        if self.entropy:
            out += self.entropy * n_examples * entropy(tree)
        return out


def maximise(tree: HiddenTree, counts: Counts, n_examples: float, penalty: Penalty) -> HiddenTree:
    """Return the tree with the best tables for expected counts.

    With an entropy, each table is the best one for the others, from the leaves to the root, so that
    the expected penalised log-likelihood never falls.
    """
    if penalty.entropy:
        return _with_entropy(tree, counts, n_examples, penalty)
    schema, most = tree.schema, counts.leaf.shape[2]
    has_state = np.arange(most) < schema.arity[:, None]
    leaf = counts.leaf + (has_state * (penalty.pseudocount / schema.arity)[:, None])[:, None]
    transition = np.empty_like(tree.transition)
    for v in range(tree.n_vars):
        transition[v] = _shares(_smooth(tree, counts, v, penalty), tree.transition[v])
    emission = emission_of(_shares(leaf, tree.leaf), schema)
    return HiddenTree(tree.parent, transition, emission, schema)


def _smooth(tree: HiddenTree, counts: Counts, v: int, penalty: Penalty) -> Array:
    """Return the counts above a variable; all rows of the root are equal."""
    own = counts.edge[v].astype(np.float64)
    if v == tree.root:
        own = np.broadcast_to(own[0], own.shape)
    return np.asarray(own + penalty.pseudocount / tree.n_states)


def _shares(counts: Array, otherwise: Array) -> Array:
    """Return counts divided by their sums; what no example reaches keeps its probabilities."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, total, out=otherwise.copy(), where=total > 0)


def _with_entropy(
    tree: HiddenTree, counts: Counts, n_examples: float, penalty: Penalty
) -> HiddenTree:
    """Return the tree whose tables are each best for counts and entropy."""
    weight = penalty.entropy * n_examples
    # A price of 0 would leave nothing to divide by.
    price = np.maximum(weight * state_probabilities(tree), 1e-12)
    transition, leaf = np.array(tree.transition), np.zeros_like(tree.leaf)
    below = np.zeros((tree.n_vars, tree.n_states))
    for v in reversed(tree.order):
        width = int(tree.schema.arity[v])
        own_leaf = counts.leaf[v, :, :width] + penalty.pseudocount / width
        both = best_rows(own_leaf, price[v], np.zeros(width))
        leaf[v, :, :width] = both
        below[v] -= (both * np.log(np.maximum(both, 1e-300))).sum(axis=1)
        own = _smooth(tree, counts, v, penalty)
        if v == tree.root:
            transition[v] = best_rows(own[:1], np.array([weight]), below[v])
            continue
        above = int(tree.parent[v])
        given = best_rows(own, price[above], below[v])
        transition[v] = given
        below[above] += given @ below[v]
        below[above] -= (given * np.log(np.maximum(given, 1e-300))).sum(axis=1)
    return HiddenTree(tree.parent, transition, emission_of(leaf, tree.schema), tree.schema)
