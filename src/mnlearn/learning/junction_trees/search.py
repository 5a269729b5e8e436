"""Learning junction trees: the greedy k-tree, and what grid points share."""

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest
from mnlearn.learning.junction_trees.consistent import (
    Clique,
    Cliques,
    Examples,
    Separators,
    examples_of,
)
from mnlearn.learning.parameters import parameter
from mnlearn.models.circuit_building import NO_PARENT
from mnlearn.models.junction_tree import JunctionTree


def grow_greedily(examples: Examples, treewidth: int) -> Cliques:
    """Return the cliques of the greedy tree.

    The variable and the clique of `treewidth` variables that share most are joined, until all are
    in; with treewidth 1 this is the tree of the highest likelihood (Chow & Liu 1968).
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
            v = first_greatest(np.where(self._outside, self._told, -np.inf), EQUAL)
            face, above = self._face[v]
            self._add(tuple(sorted((*face, v))), above)
        return Cliques(tuple(self._members), tuple(self._parent))

    def _strongest_pair(self) -> Clique:
        """Return the first of the pairs that share most."""
        n = len(self._own)
        told = np.full((n, n), -np.inf)
        for a in range(n - 1):
            others = np.arange(a + 1, n)
            joint = self._examples.entropies_with((a,), others)
            told[a, others] = self._own[a] + self._own[others] - joint
        return divmod(first_greatest(told.ravel(), EQUAL), n)

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
        better = told > self._told[others] + EQUAL
        self._told[others[better]] = told[better]
        for v in others[better].tolist():
            self._face[v] = (face, len(self._members) - 1)


SEARCHES = ("lpac", "greedy")


@dataclass(eq=False)
class SearchSettings:
    """How the cliques are found; with treewidth 1 both searches give the most likely tree."""

    treewidth: int = parameter(2, "cliques have at most one variable more", low=1, high=3)
    search: str = parameter("lpac", "how the tree is found", choices=SEARCHES)
    threshold: float = parameter(
        0.0,
        "variables that share more nats, given a separator, are on one side of it; raised until "
        "there is a tree",
        low=0,
        high=1e9,
    )
    subset_size: int = parameter(
        2, "variables looked at together for shared information", low=2, high=3
    )


class TreeSearch:
    """Finds junction trees of one training set, each once for settings that share it."""

    def __init__(self, train: Dataset, threads: int = 1) -> None:
        self.examples = examples_of(train)
        self._threads = threads
        self._separators: dict[tuple[int, int], Separators] = {}
        self._found: dict[tuple[Any, ...], Cliques] = {}

    def find(self, settings: SearchSettings) -> Cliques:
        """Return the cliques of some settings."""
        if settings.treewidth == 1:
            settings = SearchSettings(1, "greedy")
        elif settings.search == "greedy":
            settings = replace(settings, threshold=0.0, subset_size=2)
        key = astuple(settings)
        if key not in self._found:
            self._found[key] = self._find(settings)
        return self._found[key]

    def _find(self, settings: SearchSettings) -> Cliques:
        n, treewidth = len(self.examples), settings.treewidth
        together = 1 if settings.search == "greedy" else settings.subset_size
        self.examples.check_joint_values(treewidth + together)
        if settings.search == "greedy":
            return grow_greedily(self.examples, treewidth)
        if n < treewidth + 2:
            return Cliques((tuple(range(n)),), (NO_PARENT,), settings.threshold)
        key = (treewidth, settings.subset_size)
        if key not in self._separators:
            self._separators[key] = Separators(self.examples, *key, self._threads)
        return self._separators[key].find(settings.threshold)


def learn_junction_tree(
    train: Dataset, settings: SearchSettings, pseudocount: float = 1.0
) -> JunctionTree:
    """Return the junction tree of the training data."""
    search = TreeSearch(train)
    return search.examples.fit(search.find(settings), pseudocount)
