"""LEM: tractable Markov networks whose features divide the examples until variables fall apart."""

import time
from dataclasses import dataclass

from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.lem.growth import (
    LITERALS,
    SEARCHES,
    SIDE_SCORES,
    SMALL_SIDES,
    LemSettings,
    learn_feature_tree,
)
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class LEM(Learner):
    """Feature tree: features divide the examples, and the variables fall apart."""

    delta: float = parameter(
        LemSettings.delta,
        "variables that share more nats of information stay together",
        low=0,
        high=1e9,
    )
    subset_size: int = parameter(
        LemSettings.subset_size,
        "variables looked at together for shared information",
        low=2,
        high=3,
    )
    max_feature_length: int = parameter(
        LemSettings.max_feature_length, "most literals of a feature", low=1, high=100
    )
    search: str = parameter(LemSettings.search, "how features are found", choices=SEARCHES)
    side_score: str = parameter(
        LemSettings.side_score,
        "score of a feature: 1/(d1 + d0) or 1/d1 + 1/d0",
        choices=SIDE_SCORES,
    )
    small_side: str = parameter(
        LemSettings.small_side, "what a side with too few examples counts as", choices=SMALL_SIDES
    )
    min_rows: int = parameter(
        LemSettings.min_rows, "examples needed to look for shared information", low=0, high=1e9
    )
    pseudocount: float = parameter(
        LemSettings.pseudocount, "added to every count", low=1e-9, high=1e9
    )
    bias_correction: bool = parameter(
        LemSettings.bias_correction,
        "subtract the expected bias of the estimate of shared information",
    )
    table_below: int = parameter(
        LemSettings.table_below,
        "fewer variables that do not fall apart get a table",
        low=1,
        high=20,
    )
    similar: float = parameter(
        LemSettings.similar, "share by which similar scores may differ", low=0, high=1
    )
    balance: bool = parameter(
        LemSettings.balance, "of similar features, take that with the most even sides"
    )
    literals: str = parameter(
        LemSettings.literals,
        "values that longer features ask binary variables for",
        choices=LITERALS,
    )

    def learn(self, task: Task) -> Fitted:
        """Return the feature tree of one choice (Algorithm 2)."""
        began = time.process_time()
        settings = LemSettings(**{name: getattr(self, name) for name in self.fields()})
        tree = learn_feature_tree(task.train, settings)
        seconds = {"structure": time.process_time() - began, "weights": 0.0}
        return Fitted(tree, seconds, tree.describe())

    title = "LEM"
    reads_groups = True
    citation = "Gogate, Webb & Domingos 2010, Algorithms 1 and 2, Section 4"
    stages = (
        Stage(
            ("delta", "side_score", "bias_correction", "min_rows", "pseudocount"),
            learn,
            split="all",
        ),
    )
    formats = suffixes.CIRCUIT_OF_FEATURES
    variant = ("delta",)
    criterion = "ll"
