"""LEM: tractable Markov networks whose features divide the examples until variables fall apart."""

import time
from dataclasses import dataclass

from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.lem.growth import LemSettings, learn_feature_tree
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class LEM(LemSettings, Learner):
    """Feature tree: features divide the examples, and the variables fall apart."""

    def learn(self, task: Task) -> Fitted:
        """Return the feature tree of one choice (Algorithm 2)."""
        began = time.process_time()
        tree = learn_feature_tree(task.train, self)
        seconds = {"structure": time.process_time() - began, "weights": 0.0}
        return Fitted(tree, seconds, tree.describe())

    title = "LEM"
    citation = "Gogate, Webb & Domingos 2010, Algorithms 1 and 2, Section 4"
    stages = (
        Stage(
            (
                *("delta", "subset_size", "max_feature_length", "side_score", "bias_correction"),
                *("min_rows", "pseudocount"),
            ),
            learn,
            split="all",
        ),
    )
    formats = suffixes.CIRCUIT_OF_FEATURES
    variant = ("delta",)
    criterion = "ll"
