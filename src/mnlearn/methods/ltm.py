"""Latent tree models: trees of observed and hidden variables."""

import time
from dataclasses import dataclass, replace

import numpy as np

from mnlearn.learning.latent_trees.search import GROUPINGS, learn_latent_tree
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes
from mnlearn.variables.schema import Schema


@dataclass(eq=False, kw_only=True)
class LTM(Learner):
    """A tree of observed and hidden variables with as many states each."""

    grouping: str = parameter(
        "joining",
        "how a tree is built from the distances",
        choices=GROUPINGS,
    )
    pseudocount: float = parameter(
        1.0, "added to each cell of the table of each edge", low=1e-9, high=1e9
    )
    trial_iterations: int = parameter(
        20, "iterations of EM before a change of the tree is judged", low=1, high=1e6
    )
    max_iterations: int = parameter(100, "iterations of EM on the tree chosen", low=1, high=1e6)
    tolerance: float = parameter(
        1e-5, "EM stops at smaller relative gains in log-likelihood", low=0, high=1
    )

    def learn(self, task: Task) -> Fitted:
        began = time.process_time()
        schema = task.train.schema
        # Variables of one state have no columns and are in no tree.
        kept = np.flatnonzero(schema.arity > 1).astype(np.int32)
        inside = Schema(tuple(schema[v] for v in kept.tolist()), schema.is_named)
        tree = learn_latent_tree(
            replace(task.train, schema=inside),
            self.grouping,
            self.pseudocount,
            self.trial_iterations,
            n_iterations=self.max_iterations,
            tolerance=self.tolerance,
        )
        model = tree.circuit(inside)
        target = None if model.target is None else kept[model.target]
        model = replace(model, schema=schema, target=target)
        seconds = {"structure": time.process_time() - began, "weights": 0.0}
        details = {
            "n_edges": model.n_edges,
            "n_hidden": tree.n_hidden,
            "log_likelihood": tree.log_likelihood,
        }
        return Fitted(model, seconds, details)

    title = "LTM"
    citation = "Choi, Tan, Anandkumar & Willsky 2011, Sections 4 and 5"
    stages = (Stage(("grouping", "pseudocount"), learn, split="all"),)
    formats = suffixes.HIDDEN
    criterion = "ll"
