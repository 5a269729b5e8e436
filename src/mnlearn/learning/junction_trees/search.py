"""Learning junction trees: the choice of the search, and what grid points share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnlearn.data.dataset import Dataset
from mnlearn.learning.junction_trees.consistent import Found, Separators
from mnlearn.learning.junction_trees.examples import Cliques, examples_of
from mnlearn.learning.junction_trees.greedy import grow_greedily
from mnlearn.learning.junction_trees.moves import move_variables
from mnlearn.models.junction_tree import NO_PARENT, JunctionTree

SEARCHES = ("lpac", "greedy")


@dataclass(frozen=True)
class SearchSettings:
    """How the cliques are found.

    Attributes
    ----------
    treewidth : int
        Cliques have at most one variable more.
    search : str
        "lpac", a tree that is consistent with what separators separate, or "greedy". With treewidth
        1 both give the tree with the highest likelihood.
    threshold : float
        Variables that share more nats of information, given a separator, are on one side of it.
    subset_size : int
        Variables that are looked at together for shared information, 2 or 3.
    local_search : bool
        Whether single variables then move to better cliques.
    """

    treewidth: int = 2
    search: str = "lpac"
    threshold: float = 0.0
    subset_size: int = 2
    local_search: bool = False


class TreeSearch:
    """Finds the cliques of junction trees of one training set.

    Separators and trees are found once, for all settings that share them.

    Parameters
    ----------
    train : Dataset
        The training data.
    groups : sequence of sequence of int
        Columns of each variable with more than two values; exactly one is 1 in each row. Those of
        the data if not given.
    threads : int
        Number of threads; the result does not depend on it.

    Raises
    ------
    InputError
        A row gives a group no value, or several.
    """

    def __init__(
        self, train: Dataset, groups: Sequence[Sequence[int]] | None = None, threads: int = 1
    ) -> None:
        self.examples = examples_of(train, groups)
        self._threads = threads
        self._separators: dict[tuple[int, int], Separators] = {}
        self._found: dict[SearchSettings, Found] = {}

    def find(self, settings: SearchSettings) -> Found:
        """Return the cliques, and the threshold at which they are consistent (0 for greedy).

        Raises
        ------
        InputError
            There are too many sets of variables to compare, or too many joint values to count.
        """
        if settings.treewidth == 1:
            settings = SearchSettings(1, "greedy")
        elif settings.search == "greedy":
            settings = replace(settings, threshold=0.0, subset_size=2)
        if settings not in self._found:
            self._found[settings] = self._find(settings)
        return self._found[settings]

    def _find(self, settings: SearchSettings) -> Found:
        if settings.local_search:
            start = self.find(replace(settings, local_search=False))
            return Found(move_variables(self.examples, start.cliques), start.threshold)
        n, treewidth = len(self.examples), settings.treewidth
        together = 1 if settings.search == "greedy" else settings.subset_size
        self.examples.check_joint_values(treewidth + together)
        if settings.search == "greedy":
            return Found(grow_greedily(self.examples, treewidth), 0.0)
        if n < treewidth + 2:
            return Found(Cliques((tuple(range(n)),), (NO_PARENT,)), settings.threshold)
        key = (treewidth, settings.subset_size)
        if key not in self._separators:
            self._separators[key] = Separators(self.examples, *key, self._threads)
        return self._separators[key].find(settings.threshold)


def learn_junction_tree(
    train: Dataset,
    settings: SearchSettings,
    pseudocount: float = 1.0,
    groups: Sequence[Sequence[int]] | None = None,
) -> JunctionTree:
    """Return the junction tree of the training data.

    Parameters
    ----------
    train : Dataset
        The training data.
    settings : SearchSettings
        How the cliques are found.
    pseudocount : float
        Added to each cell of the table of each clique.
    groups : sequence of sequence of int
        Columns of each variable with more than two values; exactly one is 1 in each row. Those of
        the data if not given.

    Raises
    ------
    InputError
        A row gives a group no value, or several; or there are too many sets of variables.
    """
    search = TreeSearch(train, groups)
    return search.examples.fit(search.find(settings).cliques, pseudocount)
