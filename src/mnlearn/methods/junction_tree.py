"""Thin junction trees: tractable networks of bounded treewidth."""

import time
from dataclasses import dataclass

from mnlearn.learning.junction_trees.search import SearchSettings, TreeSearch
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class JunctionTree(SearchSettings, Learner):
    """Junction tree of bounded treewidth."""

    pseudocount: float = parameter(
        1.0, "added to each cell of the table of each clique", low=0, high=1e9
    )

    @staticmethod
    def prepare(task: Task) -> TreeSearch:
        return TreeSearch(task.train, threads=task.threads)

    def learn(self, search: TreeSearch) -> Fitted:
        began = time.process_time()
        names = SearchSettings.__dataclass_fields__
        found = search.find(SearchSettings(**{name: getattr(self, name) for name in names}))
        learned = time.process_time()
        tree = search.examples.fit(found, self.pseudocount)
        seconds = {"structure": learned - began, "weights": time.process_time() - learned}
        return Fitted(tree, seconds, {**tree.describe(), "threshold_used": found.threshold})

    title = "Junction tree"
    citation = "Chechetka & Guestrin 2007"
    stages = (
        Stage(
            ("treewidth", "search", "subset_size", "threshold", "pseudocount"),
            learn,
            split=("treewidth", "search", "subset_size"),
        ),
    )
    formats = suffixes.CIRCUIT_OF_CPDS
    criterion = "ll"
