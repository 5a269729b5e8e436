"""HCLT: hidden Chow-Liu trees, learned by expectation maximisation."""

import time
from dataclasses import dataclass

from mnlearn.learning.hidden_trees import (
    Settings,
    hold_out,
    learn_hidden_tree,
    mean_log_likelihood,
)
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.models.io import suffixes
from mnlearn.runtime.random_streams import stream


@dataclass(eq=False, kw_only=True)
class HCLT(Settings, Learner):
    """Chow-Liu tree of hidden variables with several values, each with one observed variable."""

    def learn(self, task: Task) -> Fitted:
        began = time.process_time()
        data, judge = task.train, task.criterion
        if judge is None:
            rng = stream(self.em_seed, "hclt", "hold-out")
            data, held = hold_out(data, self.holdout, rng)
            judge = None if held is None else mean_log_likelihood(held, task.threads)
        found = learn_hidden_tree(data, self, judge, task.threads)
        details = {
            "n_epochs": found.n_epochs,
            "n_iterations": found.n_iterations,
            "n_parameters": found.best.n_parameters,
        }
        seconds = {"structure": 0.0, "weights": time.process_time() - began}
        return Fitted(found.best, seconds, details)

    title = "HCLT"
    citation = "Liu & Van den Broeck 2021"
    stages = (
        Stage(
            ("n_states", "pseudocount", "batch_rows"),
            learn,
            split="all",
        ),
    )
    formats = suffixes.HIDDEN
    criterion = "ll"
