"""Tables of a hidden tree from expected counts: the second half of an iteration of EM."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.hidden_trees import entropy
from mnlearn.learning.hidden_trees.counts import Counts
from mnlearn.models.hidden_tree import HiddenTree

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """What tables are held to beside the examples.

    pseudocount : added to the counts of each distribution, in equal shares. entropy : weight of the
        entropy of all hidden and observed variables, for each example.
    """

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
                leaves = np.log(tree.emission).sum() + np.log(1.0 - tree.emission).sum()
            out += self.pseudocount * float(logs / k + leaves / 2.0)
        if self.entropy:
            out += self.entropy * n_examples * entropy.entropy(tree)
        return out


def maximise(tree: HiddenTree, counts: Counts, n_examples: float, penalty: Penalty) -> HiddenTree:
    """Return the tree with the best tables for expected counts.

    With an entropy, a table at a time is the best one for the others, from the leaves to the root.
    So the expected penalised log-likelihood never falls, though it need not be at its greatest.

    Parameters
    ----------
    tree : HiddenTree
        The tree whose expected counts they are.
    counts : Counts
        The expected counts.
    n_examples : float
        Number of examples that were counted.
    penalty : Penalty
        What is added to the log-likelihood.
    """
    if penalty.entropy:
        return _with_entropy(tree, counts, n_examples, penalty)
    leaf = counts.leaf + penalty.pseudocount / 2.0
    transition = np.empty_like(tree.transition)
    for v in range(tree.n_vars):
        transition[v] = _shares(_smooth(tree, counts, v, penalty), tree.transition[v])
    emission = _shares(leaf, np.stack([1.0 - tree.emission, tree.emission], axis=2))[:, :, 1]
    return HiddenTree(tree.parent, transition, emission, tree.names)


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
    price = np.maximum(weight * entropy.state_probabilities(tree), 1e-12)
    transition, emission = np.empty_like(tree.transition), np.empty_like(tree.emission)
    below = np.zeros_like(tree.emission)
    for v in reversed(tree.order):
        leaf = counts.leaf[v] + penalty.pseudocount / 2.0
        both = entropy.best_rows(leaf, price[v], np.zeros(2))
        emission[v] = both[:, 1]
        below[v] -= (both * np.log(np.maximum(both, 1e-300))).sum(axis=1)
        own = _smooth(tree, counts, v, penalty)
        if v == tree.root:
            transition[v] = entropy.best_rows(own[:1], np.array([weight]), below[v])
            continue
        above = int(tree.parent[v])
        given = entropy.best_rows(own, price[above], below[v])
        transition[v] = given
        below[above] += given @ below[v]
        below[above] -= (given * np.log(np.maximum(given, 1e-300))).sum(axis=1)
    return HiddenTree(tree.parent, transition, emission, tree.names)
