"""Chow-Liu trees: the tree-shaped network of highest likelihood."""

import time
from dataclasses import dataclass

import numpy as np

from mnlearn.learning.latent_trees.chow_liu import PairTables, conditional_probabilities
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes
from mnlearn.models.tree_circuit import NO_PARENT, tree_circuit


@dataclass(eq=False, kw_only=True)
class ChowLiu(Learner):
    """The tree of most mutual information, as a circuit."""

    pseudocount: float = parameter(
        1.0, "added to each cell of the table of each pair", low=0, high=1e9
    )

    def learn(self, task: Task) -> Fitted:
        """Return the tree of one pseudocount (Chow & Liu 1968)."""
        began = time.process_time()
        pairs = PairTables(task.train, self.pseudocount)
        parent = pairs.tree()
        n_vars = task.train.n_vars
        log_prob = np.zeros((n_vars, 2, 2))
        with np.errstate(divide="ignore"):
            for v in range(n_vars):
                if parent[v] == NO_PARENT:
                    log_prob[v, 0] = np.log(pairs.single(v))
                else:
                    table = pairs.joint(parent[v], v)
                    log_prob[v] = np.log(conditional_probabilities(table))
        model = tree_circuit(parent, log_prob, task.train.schema)
        details = {"n_edges": model.n_edges}
        return Fitted(model, {"structure": time.process_time() - began, "weights": 0.0}, details)

    title = "Chow-Liu tree"
    citation = "Chow & Liu 1968"
    stages = (Stage(("pseudocount",), learn),)
    formats = suffixes.CIRCUIT_OF_CPDS
    criterion = "ll"
