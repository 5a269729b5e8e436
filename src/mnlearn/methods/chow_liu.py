"""Chow-Liu trees: the tree-shaped network of highest likelihood."""

import time
from dataclasses import dataclass

import numpy as np

from mnlearn.learning.latent_trees.chow_liu import conditional_probabilities, pair_tables
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.circuit_building import NO_PARENT, tree_circuit
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class ChowLiu(Learner):
    """The tree of most mutual information, as a circuit."""

    pseudocount: float = parameter(
        1.0,
        "added to each cell of the table of each pair of variables of two states; other tables get "
        "as much in all",
        low=0,
        high=1e9,
    )

    def learn(self, task: Task) -> Fitted:
        """Return the tree of one pseudocount (Chow & Liu 1968)."""
        began = time.process_time()
        pairs = pair_tables(task.train, self.pseudocount)
        parent = pairs.tree()
        schema = task.train.schema
        n_vars, most = len(schema), schema.arity.max()
        log_prob = np.zeros((n_vars, most, most))
        with np.errstate(divide="ignore"):
            for v in range(n_vars):
                if parent[v] == NO_PARENT:
                    table = pairs.single(v)[None]
                else:
                    table = conditional_probabilities(pairs.joint(parent[v], v))
                log_prob[v, : table.shape[0], : table.shape[1]] = np.log(table)
        model = tree_circuit(parent, log_prob, schema)
        details = {"n_edges": model.n_edges}
        return Fitted(model, {"structure": time.process_time() - began, "weights": 0.0}, details)

    title = "Chow-Liu tree"
    citation = "Chow & Liu 1968"
    stages = (Stage(("pseudocount",), learn),)
    formats = suffixes.CIRCUIT_OF_CPDS
    criterion = "ll"
