"""Learning junction trees: the choice of the search, and what grid points share."""

from collections.abc import Callable, Sequence
from typing import Any

from mnlearn.data.dataset import Dataset
from mnlearn.learning.junction_trees.consistent import Found, Separators
from mnlearn.learning.junction_trees.examples import Cliques, examples_of
from mnlearn.learning.junction_trees.greedy import grow_greedily
from mnlearn.models.junction_tree import NO_PARENT, JunctionTree

SEARCHES = ("lpac", "greedy")


class Workspace:
    """Finds trees for one training set; separators and trees are found once.

    Parameters
    ----------
    train : Dataset
        The training data.
    groups : sequence of sequence of int
        Columns of each variable with more than two values; exactly one is 1 in each row.
    threads : int
        Number of threads; the result does not depend on it.
    """

    def __init__(
        self, train: Dataset, groups: Sequence[Sequence[int]] = (), threads: int = 1
    ) -> None:
        self.examples = examples_of(train, groups)
        self._threads = threads
        self._separators: dict[tuple[int, int], Separators] = {}
        self._found: dict[tuple, Found] = {}

    def find(self, search: str, treewidth: int, threshold: float, subset_size: int) -> Found:
        """Return the tree of a search; the threshold is that at which it is consistent."""
        n = len(self.examples)
        if search == "greedy" or treewidth == 1:
            return self._once(("greedy", treewidth), self._grow, treewidth)
        if n < treewidth + 2:
            return Found(Cliques((tuple(range(n)),), (NO_PARENT,)), threshold)
        key = (treewidth, subset_size)
        if key not in self._separators:
            self._separators[key] = Separators(self.examples, *key, self._threads)
        return self._once((*key, threshold), self._separators[key].find, threshold)

    def _grow(self, treewidth: int) -> Found:
        return Found(grow_greedily(self.examples, treewidth), 0.0)

    def _once(self, key: tuple, find: Callable[[Any], Found], argument: float) -> Found:
        if key not in self._found:
            self._found[key] = find(argument)
        return self._found[key]


def learn_junction_tree(
    train: Dataset,
    *,
    search: str = "lpac",
    treewidth: int = 2,
    threshold: float = 0.01,
    subset_size: int = 2,
    pseudocount: float = 1.0,
    groups: Sequence[Sequence[int]] = (),
) -> JunctionTree:
    """Return the junction tree of the training data; `methods.junction_tree` has the parameters.

    Parameters
    ----------
    train : Dataset
        The training data.
    search : str
        "lpac" or "greedy".
    treewidth, threshold, subset_size, pseudocount
        See `methods.junction_tree`.
    groups : sequence of sequence of int
        Columns of each variable with more than two values; exactly one is 1 in each row.

    Raises
    ------
    InputError
        A row gives a group no value, or several; or there are too many sets of variables.
    """
    workspace = Workspace(train, groups)
    found = workspace.find(search, treewidth, threshold, subset_size)
    return workspace.examples.fit(found.cliques, pseudocount)
