"""Thin junction trees: tractable networks of bounded treewidth."""

import time
from dataclasses import dataclass
from typing import ClassVar

from mnlearn.inference.score import Scorer
from mnlearn.learning.junction_trees.search import SEARCHES, Workspace
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.scoring import feature_trees


@dataclass(eq=False, kw_only=True)
class JunctionTree(Learner):
    """Junction tree of bounded treewidth."""

    treewidth: int = parameter(2, "cliques have at most one variable more than this", low=1, high=3)
    search: str = parameter("lpac", "how the tree is found", choices=SEARCHES)
    threshold: float = parameter(
        0.01,
        "variables that share more nats of information, given a separator, are on one side of it",
        low=0,
        high=1e9,
    )
    subset_size: int = parameter(
        2, "variables looked at together for shared information", low=2, high=3
    )
    pseudocount: float = parameter(
        1.0, "added to each cell of the table of each clique", low=0, high=1e9
    )

    @staticmethod
    def prepare(task: Task) -> Workspace:
        """Return the workspace that keeps the counts and the trees of all grid points."""
        return Workspace(task.train, threads=task.threads)

    def learn(self, workspace: Workspace) -> Fitted:
        """Return the junction tree of one choice."""
        began = time.monotonic()
        found = workspace.find(self.search, self.treewidth, self.threshold, self.subset_size)
        learned = time.monotonic()
        tree = workspace.examples.fit(found.cliques, self.pseudocount)
        seconds = {"structure": learned - began, "weights": time.monotonic() - learned}
        return Fitted(tree, seconds, {**tree.describe(), "threshold_used": found.threshold})

    title = "Junction tree"
    citation = "Chechetka & Guestrin 2007"
    stages = (Stage(("treewidth", "search", "subset_size", "threshold", "pseudocount"), learn),)
    scorer: ClassVar[Scorer] = feature_trees
    criterion = "ll"
