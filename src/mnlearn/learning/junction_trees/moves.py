"""Local search: single variables move to other cliques while the likelihood rises."""

import itertools

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.junction_trees.examples import Clique, Cliques, Examples
from mnlearn.models.junction_tree import NO_PARENT

# A move has to raise the mean log-likelihood by more than this, in nats.
_MORE = 1e-9


def move_variables(examples: Examples, cliques: Cliques) -> Cliques:
    """Return a tree that no move of a variable improves, with cliques of the same size.

    A variable that is in one clique only can leave it and join any set of as many variables that
    are together in another clique. Each variable in turn makes its best move, until none is left.

    Parameters
    ----------
    examples : Examples
        The training data.
    cliques : Cliques
        The tree to start from. All its cliques have the same number of variables, but for those
        inside others.
    """
    treewidth = max(map(len, cliques.members)) - 1
    if len(examples) < treewidth + 2:
        return cliques
    moves = _Moves(examples, treewidth, [c for c in cliques.members if len(c) == treewidth + 1])
    while sum(moves.improve(v) for v in range(len(examples))):
        pass
    return rooted(moves.cliques, len(examples))


class _Moves:
    """The cliques, and what each set of `treewidth` variables in them tells about the others."""

    def __init__(self, examples: Examples, treewidth: int, cliques: list[Clique]) -> None:
        self.cliques = cliques
        self._examples, self._treewidth = examples, treewidth
        self._every = np.arange(len(examples))
        self._own = examples.entropies_with((), self._every)
        self._known: dict[Clique, NDArray[np.float64]] = {}

    def improve(self, v: int) -> bool:
        """Make the best move of a variable; tell whether there is one."""
        own = [c for c in self.cliques if v in c]
        if len(own) > 1:
            return False
        others = [c for c in self.cliques if v not in c]
        faces = {f for c in others for f in itertools.combinations(c, self._treewidth)}
        now = self._told(tuple(u for u in own[0] if u != v))[v]
        best, face = max((self._told(f)[v], f) for f in sorted(faces))
        if best <= now + _MORE:
            return False
        self.cliques = [*others, tuple(sorted((*face, v)))]
        return True

    def _told(self, face: Clique) -> NDArray[np.float64]:
        """Return what a set of variables tells about each variable, in nats."""
        if face not in self._known:
            told = self._own + self._examples.entropy(face)
            told -= self._examples.entropies_with(face, self._every)
            self._known[face] = told
        return self._known[face]


def rooted(cliques: list[Clique], n_variables: int) -> Cliques:
    """Return the tree of the cliques of a k-tree, each clique with one new variable.

    cliques : sets of k + 1 variables, ascending.
    """
    left = sorted(cliques)
    taken: list[tuple[Clique, int]] = []
    while len(left) > 1:
        times = np.bincount(list(itertools.chain(*left)), minlength=n_variables)
        # A leaf: it has a variable that no other clique has.
        leaf = next(c for c in reversed(left) if any(times[v] == 1 for v in c))
        left.remove(leaf)
        taken.append((leaf, next(v for v in leaf if times[v] == 1)))
    members, parent = left, [NO_PARENT]
    for clique, new in reversed(taken):
        common = set(clique) - {new}
        parent.append(next(k for k, c in enumerate(members) if common <= set(c)))
        members.append(clique)
    return Cliques(tuple(members), tuple(parent))
