"""HCLT: hidden Chow-Liu trees, learned by expectation maximisation."""

import time
from dataclasses import dataclass

from mnlearn.learning.hidden_trees.em import (
    STARTS,
    Settings,
    hold_out,
    learn_hidden_tree,
    mean_log_likelihood,
)
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes
from mnlearn.runtime.random_streams import stream


@dataclass(eq=False, kw_only=True)
class HCLT(Learner):
    """Chow-Liu tree of hidden variables with several values, each with one observed variable."""

    n_states: int = parameter(Settings.n_states, "values of each hidden variable", low=1, high=256)
    pseudocount: float = parameter(
        Settings.pseudocount,
        "added to the counts of each distribution, in equal shares",
        low=0,
        high=1e9,
    )
    softness: float = parameter(
        Settings.softness,
        "share of each value that is replaced by the frequency of its variable (data softening)",
        low=0,
        high=1,
    )
    entropy: float = parameter(
        Settings.entropy,
        "weight of the entropy of hidden and observed variables (entropy regularisation)",
        low=0,
        high=1e3,
    )
    start: str = parameter(Settings.start, "tables at which EM starts", choices=STARTS)
    batch_rows: int = parameter(
        Settings.batch_rows,
        "distinct rows after which tables are renewed at first",
        low=1,
        high=1e9,
    )
    batch_epochs: int = parameter(
        Settings.batch_epochs, "most passes in which tables are renewed so often", low=0, high=1e6
    )
    max_iterations: int = parameter(
        Settings.max_iterations, "then most iterations of EM on all rows", low=0, high=1e6
    )
    tolerance: float = parameter(
        Settings.tolerance,
        "EM stops at smaller relative gains in penalised log-likelihood",
        low=0,
        high=1,
    )
    patience: int = parameter(
        Settings.patience,
        "passes without a better validation score after which EM stops",
        low=1,
        high=1e6,
    )
    holdout: float = parameter(
        0.1,
        "share of the training data that is held out for this score if there are no validation "
        "data; 0 for none",
        low=0,
        high=0.9,
    )
    em_seed: int = parameter(
        20, "seed of the start, of parts and of the hold-out", low=0, high=2**63
    )

    def learn(self, task: Task) -> Fitted:
        """Return the tree of one choice."""
        began = time.process_time()
        names = Settings.__dataclass_fields__
        values = {name: getattr(self, name) for name in names if name != "seed"}
        settings = Settings(**values, seed=self.em_seed)
        data, judge = task.train, task.criterion
        if judge is None:
            rng = stream(self.em_seed, "hclt", "hold-out")
            data, held = hold_out(data, self.holdout, rng)
            judge = None if held is None else mean_log_likelihood(held, task.threads)
        found = learn_hidden_tree(data, settings, judge, task.threads)
        details = {
            "n_epochs": found.n_epochs,
            "n_iterations": found.n_iterations,
            "n_parameters": found.tree.n_parameters,
        }
        seconds = {"structure": 0.0, "weights": time.process_time() - began}
        return Fitted(found.tree, seconds, details)

    title = "HCLT"
    citation = "Liu & Van den Broeck 2021"
    stages = (
        Stage(
            ("n_states", "pseudocount", "softness", "entropy", "start", "batch_rows"),
            learn,
            split="all",
        ),
    )
    formats = suffixes.HIDDEN
    criterion = "ll"
