"""The greedy k-tree: each variable joins the clique that tells most about it."""

import numpy as np

from mnlearn.learning.junction_trees.examples import Clique, Cliques, Examples
from mnlearn.models.junction_tree import NO_PARENT

# A later clique has to tell more than this above an earlier one, in nats.
_MORE = 1e-12


def grow_greedily(examples: Examples, treewidth: int) -> Cliques:
    """Return the cliques of the greedy tree.

    It starts with the two variables that share most information. Then the variable and the clique
    of `treewidth` variables that share most are joined, until all variables are in. With treewidth
    1 this is the tree of the highest likelihood (Chow & Liu 1968).

    Parameters
    ----------
    examples : Examples
        The training data.
    treewidth : int
        Cliques have at most one variable more.
    """
    if len(examples) == 1:
        return Cliques(((0,),), (NO_PARENT,))
    return _Growth(examples, treewidth).grow()


class _Growth:
    """Keeps for each variable outside the clique that tells most about it."""

    def __init__(self, examples: Examples, treewidth: int) -> None:
        n = len(examples)
        self._examples, self._treewidth = examples, treewidth
        self._own = examples.entropies_with((), np.arange(n))
        self._outside = np.ones(n, bool)
        self._told = np.full(n, -np.inf)
        # For each variable: a set of variables inside, and a clique that has them all.
        self._face: list[tuple[Clique, int]] = [((), NO_PARENT)] * n
        self._members: list[Clique] = []
        self._parent: list[int] = []

    def grow(self) -> Cliques:
        """Return the cliques of the tree."""
        self._add(self._strongest_pair(), NO_PARENT)
        while self._outside.any():
            v = int(np.argmax(np.where(self._outside, self._told, -np.inf)))
            face, above = self._face[v]
            self._add(tuple(sorted((*face, v))), above)
        return Cliques(tuple(self._members), tuple(self._parent))

    def _strongest_pair(self) -> Clique:
        """Return the first of the pairs that share most."""
        best, pair = -np.inf, (0, 1)
        for a in range(len(self._own) - 1):
            others = np.arange(a + 1, len(self._own))
            told = self._own[a] + self._own[others] - self._examples.entropies_with((a,), others)
            k = int(np.argmax(told))
            if told[k] > best:
                best, pair = told[k], (a, int(others[k]))
        return pair

    def _add(self, clique: Clique, above: int) -> None:
        """Add a clique, and look at what the new sets of variables in it tell."""
        new = [v for v in clique if self._outside[v]]
        self._outside[new] = False
        self._members.append(clique)
        self._parent.append(above)
        if len(clique) <= self._treewidth:
            # The clique may still grow; no variable joins a part of it.
            self._told[:] = -np.inf
            self._look(clique)
            return
        for dropped in reversed(clique):
            face = tuple(v for v in clique if v != dropped)
            if any(v in face for v in new):
                self._look(face)

    def _look(self, face: Clique) -> None:
        """Keep a set of variables for those outside about which it tells more than others."""
        others = np.flatnonzero(self._outside)
        if not len(others):
            return
        told = self._own[others] + self._examples.entropy(face)
        told -= self._examples.entropies_with(face, others)
        better = told > self._told[others] + _MORE
        self._told[others[better]] = told[better]
        for v in others[better].tolist():
            self._face[v] = (face, len(self._members) - 1)
